//! Is one model better than another? Runs become sides with names, tasks and a base; that they have the same samples is
//! checked before anything is computed.

mod alignment;
mod flips;
mod sides;

use std::collections::HashSet;
use std::path::PathBuf;

use errorbar_inference::{ComparisonOptions, ComparisonReport, Correction};
use errorbar_macros::Setters;
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use self::alignment::MatchedRun;
pub use self::alignment::{Alignment, text_of};
pub use self::flips::ListedFlips;
pub use self::sides::{Side, Sides, named_sides, short_task};
pub use crate::compare::flips::Flip;
use crate::diagnostic::{Diagnostic, Diagnostics, Outcome};
use crate::read::{Files, RunRequest, below_threshold_problem};
use crate::request::{
    ErrorRequest, GateRequest, LimitRequest, PlanChanges, ReadRequest, TableRequest, as_text, one_or_many,
};
use crate::text::Opt;
use crate::{Analysis, Answer, text};

/// What to compare, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_display_order = 1))]
pub struct CompareRequest {
    /// With one input, the column or metadata key whose values are compared; given a second time, or with several
    /// inputs, the metadata key to compare by, group for group
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "KEY",
        value_parser = clap::builder::NonEmptyStringValueParser::new()))]
    pub by: Vec<String>,
    /// The side that others are compared with [default: the first]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub base: Option<String>,
    /// Compare these scorers of one log or table; the first is the base
    #[serde(rename = "compare_scorers", deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "scorers", value_name = "NAME", num_args = 2.., conflicts_with = "scorers"))]
    pub compared_scorers: Vec<String>,
    /// Compare every side with every other
    #[cfg_attr(feature = "clap", arg(long))]
    pub all_pairs: bool,
    /// How p-values of several comparisons are corrected: for any false alarm (holm), or for the share of
    /// false alarms (bh)
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD", value_parser = corrections()))]
    pub correction: Option<Correction>,
    /// Do not match samples: they are different ones, or their ids mean nothing
    #[cfg_attr(feature = "clap", arg(long))]
    pub unpaired: bool,
    /// Take the same id for the same sample, though input or target differ
    #[cfg_attr(feature = "clap", arg(long))]
    pub trust_ids: bool,
    /// Compare logs of different tasks as if they were of one
    #[cfg_attr(feature = "clap", arg(long))]
    pub ignore_tasks: bool,
    /// List the samples whose score changed, with input and answers: up to N of each comparison, or `all`
    #[serde(deserialize_with = "listed")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "20"))]
    pub flips: Option<ListedCount>,
    /// List the samples that only one side has: up to N of each side, or `all`
    #[serde(deserialize_with = "listed")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "20"))]
    pub unmatched: Option<ListedCount>,
    /// A metric to compare, with its arguments; may be repeated [default: those that the logs record;
    /// for tables accuracy, or mean if a score is outside of 0 to 1]
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "metric", short, value_name = "SPEC"))]
    pub metrics: Vec<String>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: as the logs record;
    /// mean for tables]
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "reducer", short, value_name = "SPEC"))]
    pub reducers: Vec<String>,
    /// Only this scorer; may be repeated
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "scorer", value_name = "NAME"))]
    pub scorers: Vec<String>,
    /// Seed for random numbers (bootstrap) [default: as a log records; 0 for a table]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seed: Option<u64>,
    /// Skip samples that cannot be read; they are reported and counted
    #[cfg_attr(feature = "clap", arg(long))]
    pub skip_bad_samples: bool,
    /// What the difference must show.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub gate: GateRequest,
    /// How errors and intervals are computed.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub errors: ErrorRequest,
    /// How tables are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub tables: TableRequest,
    /// How logs are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    #[setters(LimitRequest)]
    pub read: ReadRequest,
}

/// The number of samples that are listed unless a number is given.
const LISTED: usize = 20;

/// The number of samples that a list has at most: a number, or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ListedCount(pub usize);

impl std::str::FromStr for ListedCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(ListedCount(usize::MAX)),
            text => {
                let count = text.parse().map_err(|_| "expected a number of samples, or `all`".to_owned());
                count.map(ListedCount)
            }
        }
    }
}

/// How many are listed: `true` for the usual number, a number, or `all`.
fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ListedCount>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected true, a number of samples, or \"all\"")]
    enum Form {
        Whether(bool),
        Count(usize),
        Text(String),
    }
    Ok(match Option::<Form>::deserialize(deserializer)? {
        None | Some(Form::Whether(false)) => None,
        Some(Form::Whether(true)) => Some(ListedCount(LISTED)),
        Some(Form::Count(count)) => Some(ListedCount(count)),
        Some(Form::Text(text)) => Some(text.parse().map_err(serde::de::Error::custom)?),
    })
}

#[cfg(feature = "clap")]
fn corrections() -> impl clap::builder::TypedValueParser<Value = Correction> {
    crate::request::one_of(
        [Correction::Holm, Correction::Bh].map(|correction| (correction.name(), correction)),
    )
}

/// How runs become sides.
#[derive(Clone, Copy, Debug)]
pub struct SideRequest<'a> {
    /// What is read of them.
    pub runs: RunRequest<'a>,
    /// The side that others are compared with; the first if unset.
    pub base: Option<&'a str>,
    /// Whether the same id is the same sample, though input or target differ.
    pub trust_ids: bool,
    /// Whether logs of different tasks are compared as if they were of one.
    pub ignore_tasks: bool,
    /// Whether runs are called by the whole names of their models: data outlive the other runs beside them.
    pub whole_names: bool,
}

/// Comparisons, with what is shown beside them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Comparisons {
    /// The figures.
    pub report: ComparisonReport,
    /// The samples that changed, if they were asked for.
    pub flips: Option<ListedFlips>,
    /// What all sides have in common: the task, or the file.
    pub title: Option<String>,
    /// The task of all sides, if it is one.
    pub task: Option<String>,
}

impl Comparisons {
    /// What a reader of the figures should know.
    pub fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        self.report.warnings.iter().map(|warning| Diagnostic::warning(warning.to_string()))
    }
}

impl CompareRequest {
    /// What is asked for in place of recorded and default metrics, reducers and errors, if all of it is valid.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn changes(&self, analysis: &Analysis<'_>) -> Result<PlanChanges, Diagnostics> {
        let changes = PlanChanges::new(&self.metrics, &self.reducers, false, analysis.specs())?;
        let mut changes = changes.errors(&self.errors)?.seed(self.seed);
        self.gate.check(&self.errors)?;
        changes.gate = self.gate.clone();
        let mut seen = HashSet::new();
        if let Some(name) = self.compared_scorers.iter().find(|name| !seen.insert(*name)) {
            let problem = format!("scorer `{name}` is given twice, and would be compared with itself");
            return Err(Diagnostic::error(problem)
                .about_option(Opt::ComparedScorers)
                .hint(text!("name different ones: {ComparedScorers=A B}"))
                .into());
        }
        Ok(changes)
    }

    /// What `by` names: the column or key whose values are the sides, if there is one file and no scorers are compared;
    /// and the key of the groups.
    ///
    /// # Errors
    /// More keys than that.
    pub fn split_and_groups(&self, is_one_file: bool) -> Result<(Option<&str>, Option<&str>), Diagnostic> {
        let mut keys = self.by.iter().map(String::as_str);
        let split = if is_one_file && self.compared_scorers.is_empty() { keys.next() } else { None };
        let groups = keys.next();
        match keys.next() {
            None => Ok((split, groups)),
            Some(_) => {
                Err(Diagnostic::error("sides are compared by one key").about_option(Opt::By).hint(text!(
                    "with one input, give {By} for the sides and once more for the groups; with \
                     several, once for the groups"
                )))
            }
        }
    }
}

impl Analysis<'_> {
    /// The differences of models. The outcome is negative if a gate is not met, and an error if it has nothing to decide.
    pub fn compare(&self, sources: &[PathBuf], request: &CompareRequest) -> Answer<Comparisons> {
        let compared = || {
            let changes = request.changes(self)?;
            let files = Files::find(sources, &self.tables)?;
            self.compare_files(files, request, &changes)
        };
        let answer = Answer::of(compared());
        let gated = answer.value.as_ref().map(|comparisons| request.gate.outcome(&comparisons.report));
        Answer { outcome: answer.outcome.max(gated.unwrap_or(Outcome::Done)), ..answer }
    }

    /// The same of files that have been found, with changes that have been built.
    ///
    /// # Errors
    /// What cannot be read or compared, with everything else that there is to report.
    pub fn compare_files(
        &self,
        files: Files,
        request: &CompareRequest,
        changes: &PlanChanges,
    ) -> Result<(Comparisons, Diagnostics), Diagnostics> {
        let (split, groups) = request.split_and_groups(files.is_one())?;
        let keys: Vec<String> = groups.map(str::to_owned).into_iter().collect();
        let repeated = text!(
            "if the rows are of several models, compare the table alone, and name the column that \
             tells them apart with {By}"
        );
        let runs = RunRequest {
            scorers: &request.scorers,
            compared_scorers: &request.compared_scorers,
            split,
            groups: (&keys, Opt::By),
            skip_bad_samples: request.skip_bad_samples,
            questions: !request.unpaired && !request.trust_ids && request.compared_scorers.is_empty(),
            answers: request.flips.is_some(),
            needs_ids: !request.unpaired,
            takes_unscored: false,
            takes_recorded: split.is_none() && groups.is_none() && request.compared_scorers.is_empty(),
            repeated_hint: Some(&repeated),
            ..RunRequest::new(changes, &request.tables, &request.read)
        };
        let sides = SideRequest {
            runs,
            base: request.base.as_deref(),
            trust_ids: request.trust_ids,
            ignore_tasks: request.ignore_tasks,
            whole_names: true,
        };
        let (read, mut diagnostics) = files.read(&runs, self)?;
        match self.compare_runs(read, &sides, request, groups, &mut diagnostics) {
            Ok(comparisons) => Ok((comparisons, diagnostics)),
            // What was skipped may be the reason.
            Err(problems) => {
                diagnostics.extend(problems);
                Err(diagnostics)
            }
        }
    }

    fn compare_runs(
        &self,
        runs: Vec<crate::run::Run>,
        request_of_sides: &SideRequest<'_>,
        request: &CompareRequest,
        groups: Option<&str>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Comparisons, Diagnostics> {
        let sides = Sides::new(runs, request_of_sides, self, diagnostics)?;
        // Of logs it is among the warnings of reading them.
        for side in sides.sides.iter().filter(|side| side.run.table().is_some()) {
            let problem = below_threshold_problem(&side.run.plan, &side.run.scores);
            diagnostics.extend(problem.map(|problem| problem.about(&side.name)));
        }
        let alignment = match request.unpaired {
            true => None,
            false => Some(Alignment::check(&sides.sides, request_of_sides, diagnostics)?),
        };
        let mut options = ComparisonOptions::default();
        options.by = groups.map(str::to_owned);
        (options.unpaired, options.all_pairs, options.correction) =
            (request.unpaired, request.all_pairs, request.correction);
        options.gate = request.gate.gate();
        let report = sides.compare(&options)?;
        match (&alignment, request.unmatched) {
            (Some(alignment), Some(ListedCount(most))) => diagnostics.extend(alignment.unmatched(most)),
            (Some(alignment), None) if alignment.has_unmatched() => {
                let text = "samples without a partner on the other side are left out";
                diagnostics.push(Diagnostic::note(text).hint(text!("{Unmatched} lists them")));
            }
            _ => {}
        }
        let flips = match request.flips {
            Some(ListedCount(most)) => Some(flips::flips(&sides, &report, most, diagnostics)?),
            None => None,
        };
        Ok(Comparisons { report, flips, title: sides.title(), task: sides.task() })
    }
}
