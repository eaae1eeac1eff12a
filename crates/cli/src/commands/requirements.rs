//! `--require`: what results must show. One line for each requirement and each file, and the exit code.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_analysis::{Opt, Snippet};
use errorbar_core::{Error, Estimate, Plan, Undefined};
use errorbar_files::{FileAccess, write_file};
use errorbar_inference::{EstimatePart, Requirement, RequirementOutcome};
use errorbar_report::{CaseOutcome, EstimateText, JUnitCase, Report, TestSuite};

use crate::diagnostic::{Diagnostic, Diagnostics, all};
use crate::format::significant;

/// What results must show.
#[derive(Debug, Args)]
#[command(next_help_heading = "Requirements")]
pub(crate) struct RequirementArgs {
    /// What the results must show, else the exit code is 1; may be repeated. A figure, or lower(…), upper(…), width(…),
    /// stderr(…), n(…) or absent(…) of it, a comparison and a number: 'lower(accuracy) >= 0.75'. The figure is a metric,
    /// SCORER/METRIC or SCORER/METRIC/REDUCER; of a group METRIC[KEY=GROUP]
    #[arg(long = "require", value_name = "REQUIREMENT")]
    requirements: Vec<String>,
    /// Write which requirements are met to this file, as JUnit XML
    #[arg(long, value_name = "FILE", requires = "requirements")]
    junit: Option<PathBuf>,
}

/// The requirements of a command.
pub(crate) struct Requirements<'a> {
    args: &'a RequirementArgs,
    /// With their texts.
    list: Vec<(&'a str, Requirement)>,
}

impl RequirementArgs {
    /// The requirements, or everything that is wrong with them.
    pub(crate) fn parse(&self) -> Result<Requirements<'_>, Diagnostics> {
        let parse = |text: &'_ String| {
            text.parse::<Requirement>().map_err(|error| Diagnostic::of_spec(Opt::Require, text, &error))
        };
        if let Some(path) = &self.junit {
            check_junit(path)?;
        }
        let list = all(self.requirements.iter().map(|text| Ok((text.as_str(), parse(text)?))))?;
        Ok(Requirements { args: self, list })
    }
}

impl Requirements<'_> {
    /// Checks that a plan has the figures, as far as that is known before it is computed.
    pub(crate) fn check_plan(&self, plan: &Plan) -> Result<(), Diagnostics> {
        let checked = self.list.iter().map(|(text, requirement)| {
            requirement.check_plan(plan).map_err(|error| unknown(text, &error).into())
        });
        all(checked).map(|_| ())
    }

    /// Holds the results against the requirements, and writes the file of test results.
    pub(crate) fn check(&self, command: &str, reports: &[Report]) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        let mut suite = TestSuite { name: format!("errorbar {command}"), cases: Vec::new() };
        for report in reports {
            for (text, requirement) in &self.list {
                let class = report.task.as_deref().unwrap_or(&report.log);
                let (outcome, details, diagnostic) = match requirement.check(&report.results) {
                    Err(error) => (CaseOutcome::Failed(error.to_string()), None, unknown(text, &error)),
                    Ok(outcome) => {
                        let figure = figure_text(requirement, &outcome);
                        let line = line(text, requirement, &outcome, &figure);
                        let estimate = EstimateText::from(&outcome.estimate);
                        let details = format!("{}: {} {estimate}", report.log, requirement.path);
                        let (decided, diagnostic) = match outcome.is_met {
                            true => (CaseOutcome::Passed, Diagnostic::note(line)),
                            false => {
                                let hint = hint(requirement, &outcome);
                                (CaseOutcome::Failed(line.clone()), Diagnostic::failure(line).hint_if(hint))
                            }
                        };
                        (decided, Some(details), diagnostic)
                    }
                };
                let (name, class_name) = ((*text).to_owned(), class.to_owned());
                suite.cases.push(JUnitCase { name, class_name, outcome, details });
                diagnostics.push(diagnostic.about(&report.log));
            }
        }
        if reports.is_empty() {
            // Without results nothing is met, and no file of test results may look as if all were well.
            let case = |(text, _): &(&str, Requirement)| {
                let outcome = CaseOutcome::Failed("there are no results".to_owned());
                let (name, class_name) = ((*text).to_owned(), "errorbar".to_owned());
                JUnitCase { name, class_name, outcome, details: None }
            };
            suite.cases.extend(self.list.iter().map(case));
        }
        if let Some(path) = &self.args.junit {
            diagnostics.extend(write_junit(path, &suite).err());
        }
        diagnostics
    }
}

/// `accuracy >= 0.85 is not met: 0.8194; the interval [0.750, 0.888] contains 0.85`.
fn line(text: &str, requirement: &Requirement, outcome: &RequirementOutcome, figure: &str) -> String {
    let verdict = if outcome.is_met { "is met" } else { "is not met" };
    let open = is_open(requirement, outcome).then(|| {
        let ends = EstimateText::from(&outcome.estimate).interval_text();
        format!("; the interval {ends} contains {}", requirement.limit)
    });
    format!("{} {verdict}: {figure}{}", text.trim(), open.unwrap_or_default())
}

/// Whether the interval of the figure leaves open on which side of the limit it is: another run may end otherwise.
fn is_open(requirement: &Requirement, outcome: &RequirementOutcome) -> bool {
    let is_ordered = requirement.relation.is_order();
    let interval = outcome.estimate.interval.as_ref().ok().filter(|interval| interval.lower < interval.upper);
    let contains = |limit: f64| interval.is_some_and(|ends| ends.lower <= limit && limit <= ends.upper);
    requirement.part == EstimatePart::Value && is_ordered && contains(requirement.limit)
}

/// The figure, with as many digits as show on which side of the limit it is.
fn figure_text(requirement: &Requirement, outcome: &RequirementOutcome) -> String {
    const DIGITS: usize = 4;
    let figure = match &outcome.figure {
        Ok(figure) => *figure,
        Err(reason) => return EstimateText::from(&Estimate::undefined(reason.clone())).to_string(),
    };
    if matches!(requirement.part, EstimatePart::N | EstimatePart::Absent) {
        return figure.to_string();
    }
    let limit = requirement.limit;
    let reads_right = |text: &String| {
        text.parse().is_ok_and(|shown: f64| shown.total_cmp(&limit) == figure.total_cmp(&limit))
    };
    let text = (DIGITS..=17).map(|digits| significant(figure, digits)).find(reads_right);
    text.unwrap_or_else(|| figure.to_string())
}

/// What to do about a requirement that is not met, if it is not about the figure.
fn hint(requirement: &Requirement, outcome: &RequirementOutcome) -> Option<String> {
    let has_no_error =
        requirement.part == EstimatePart::Stderr && matches!(outcome.figure, Err(Undefined::NoSpread { .. }));
    let has_width = EstimatePart::Width.of(&outcome.estimate).is_ok();
    (has_no_error && has_width).then(|| {
        let width = format!("width({})", requirement.path);
        format!("equal scores have no standard error, but an interval; its width is {width}")
    })
}

/// A figure that there is none of, or several.
fn unknown(text: &str, error: &Error) -> Diagnostic {
    let hint = match error {
        Error::UnknownMetric { metric, known, .. } => {
            let part = EstimatePart::named(metric).and_then(EstimatePart::name);
            let of = known.first().map_or("accuracy", String::as_str);
            part.map(|part| format!("`{part}` is a part of a figure: {part}({of})"))
        }
        _ => None,
    };
    Diagnostic::error(error.to_string())
        .marked(Snippet::of_option(Opt::Require, text, 0..text.len()))
        .hint_if(hint)
}

/// Checks that the file can be written, before anything takes long. A file that is there is replaced only if it is XML:
/// a slip must not cost a log.
pub(super) fn check_junit(path: &Path) -> Result<(), Diagnostic> {
    let about = |problem: &str| Diagnostic::error(problem).about(path.display());
    let hint = "name a file for the test results: --junit results.xml";
    if path.is_dir() {
        return Err(about("--junit names a folder").hint(hint));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        let problem = format!("the folder {} does not exist", parent.display());
        return Err(about(&problem).hint("create it first"));
    }
    if path.is_file() && !is_xml(path) {
        return Err(about("the file of --junit exists and holds something else than XML").hint(hint));
    }
    Ok(())
}

/// Whether a file is empty or starts as XML does.
fn is_xml(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut start));
    let text = read.ok().and_then(|length| start.get(..length)).unwrap_or(b"?");
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii_start();
    text.is_empty() || text.starts_with(b"<")
}

/// Writes the file.
pub(super) fn write_junit(path: &Path, suite: &TestSuite) -> Result<(), Diagnostic> {
    check_junit(path)?;
    let written = write_file(path, suite.to_xml().as_bytes(), FileAccess::Umask);
    written.map(drop).map_err(|error| {
        Diagnostic::error(format!("the test results cannot be written: {error}")).about(path.display())
    })
}
