//! What the commands compute, as values: for programs that embed the command line, such as the Python package.
//!
//! Options are those of the commands, by the same names and in the same words, so that there is one place that parses and
//! checks them. Nothing is printed: what a command would print is in the value that its function returns.
//!
//! ```
//! use errorbar::analysis::{Analysis, Severity};
//! use errorbar::prelude::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("scores.csv");
//! std::fs::write(&path, "id,score\nq1,1\nq2,0\nq3,1\n")?;
//! let registry = Registry::built_in();
//! let scored = Analysis::new(&registry).score(["--level", "0.9", path.to_str().unwrap_or_default()]);
//! assert_eq!(scored.reports.len(), 1);
//! assert!(scored.diagnostics.iter().all(|diagnostic| diagnostic.severity() < Severity::Error));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{Args, FromArgMatches};
use errorbar_core::Registry;
use errorbar_inference::ComparisonReport;
use errorbar_log::eval::LogLimits;
use errorbar_report::{ComparisonRecord, Json, Listing, Render, Report, TerminalTable};
pub use errorbar_table::MemoryTables;
use serde_json::Value;

use crate::commands::{Context, Format, LimitArgs, compare, power, score, verify};
pub use crate::commands::{DistributedScore, Status};
use crate::diagnostic::Diagnostics;
pub use crate::diagnostic::{Diagnostic, DiagnosticKind, Severity};

/// Runs commands without printing.
#[derive(Debug, Clone)]
pub struct Analysis<'a> {
    registry: &'a Registry,
    tables: MemoryTables,
}

/// What `score` came to.
#[derive(Debug, Default)]
pub struct Scored {
    /// The results of each log and table that could be scored.
    pub reports: Vec<Report>,
    /// Everything that there is to report.
    pub diagnostics: Vec<Diagnostic>,
}

/// What `compare` came to.
#[derive(Debug)]
pub struct Compared {
    /// The comparisons; none if something could not be read or compared.
    pub comparisons: Option<Comparisons>,
    /// The exit code of the command, which says whether a gate holds.
    pub status: Status,
    /// Everything that there is to report.
    pub diagnostics: Vec<Diagnostic>,
}

/// Comparisons, with what is shown beside them.
#[derive(Debug)]
pub struct Comparisons(compare::Compared);

impl Comparisons {
    /// The figures.
    pub fn report(&self) -> &ComparisonReport {
        &self.0.report
    }

    /// As the command prints them with `--format json`.
    pub fn to_json(&self) -> String {
        self.0.text(&Json)
    }

    /// As the command prints them.
    pub fn to_text(&self) -> String {
        self.0.text(&TerminalTable::default())
    }

    /// A record for each comparison, as in JSON.
    pub fn records(&self) -> Vec<ComparisonRecord> {
        self.0.records()
    }

    /// In another format.
    pub fn render(&self, format: &dyn Render) -> String {
        self.0.text(format)
    }
}

/// What `power` came to.
#[derive(Debug)]
pub struct Planned {
    /// The plans; none if something could not be read or makes no sense.
    pub plans: Option<Plans>,
    /// Everything that there is to report.
    pub diagnostics: Vec<Diagnostic>,
}

/// Plans for evaluations.
#[derive(Debug)]
pub struct Plans {
    json: String,
    text: String,
    listing: Listing,
}

impl Plans {
    /// As the command prints them with `--format json`.
    pub fn to_json(&self) -> &str {
        &self.json
    }

    /// As the command prints them.
    pub fn to_text(&self) -> &str {
        &self.text
    }

    /// A row for each plan.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }
}

/// What `verify` came to.
#[derive(Debug)]
pub struct Verified {
    /// What came of each log, as the command prints it with `--format json`.
    pub json: String,
    /// As the command prints it.
    pub text: String,
    /// An object for each log.
    pub logs: Vec<Value>,
    /// Whether no figure differs; with `--require-checked`, whether all were checked too.
    pub status: Status,
    /// Everything that there is to report.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Analysis<'a> {
    /// With these metrics, reducers and scorers.
    pub fn new(registry: &'a Registry) -> Self {
        Analysis { registry, tables: MemoryTables::default() }
    }

    /// With these tables, which arguments name as they would name files.
    #[must_use]
    pub fn tables(mut self, tables: MemoryTables) -> Self {
        self.tables = tables;
        self
    }

    /// The results of logs and tables: `errorbar score` with these arguments.
    pub fn score(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Scored {
        let computed = parse::<score::ScoreArgs>("score", args).and_then(|mut args| {
            args.tables.memory = self.tables.clone();
            score::results(&args, &self.context())
        });
        let (reports, diagnostics) = computed.unwrap_or_else(|diagnostics| (Vec::new(), diagnostics));
        Scored { reports, diagnostics: diagnostics.into_iter().collect() }
    }

    /// The differences of models: `errorbar compare` with these arguments.
    pub fn compare(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Compared {
        let computed = parse::<compare::CompareArgs>("compare", args).and_then(|mut args| {
            args.tables.memory = self.tables.clone();
            compare::results(&args, &self.context())
        });
        let (comparisons, diagnostics) = match computed {
            Ok((compared, diagnostics)) => (Some(Comparisons(compared)), diagnostics),
            Err(diagnostics) => (None, diagnostics),
        };
        let status = diagnostics.status();
        Compared { comparisons, status, diagnostics: diagnostics.into_iter().collect() }
    }

    /// Plans: `errorbar power` with these arguments.
    pub fn power(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Planned {
        let mut diagnostics = Diagnostics::default();
        let planned = parse::<power::PowerArgs>("power", args).and_then(|mut args| {
            args.from.tables.memory = self.tables.clone();
            power::compute(&args, &self.context(), &mut diagnostics)
        });
        let plans = diagnostics.collect(planned).map(|planned| Plans {
            json: planned.output(Format::Json).plain_text(),
            text: planned.output(Format::Table).plain_text(),
            listing: planned.listing(),
        });
        Planned { plans, diagnostics: diagnostics.into_iter().collect() }
    }

    /// Whether logs record what their samples give: `errorbar verify` with these arguments.
    pub fn verify(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Verified {
        let parsed = parse::<verify::VerifyArgs>("verify", args);
        let (verified, diagnostics, status) = match parsed {
            Ok(args) => {
                let (verified, diagnostics) = verify::results(&args, &self.context());
                let status = verify::status(&args, &verified);
                (verified, diagnostics, status)
            }
            Err(diagnostics) => (Vec::new(), diagnostics, Status::InputError),
        };
        Verified {
            json: verify::to_json(&verified),
            text: verify::to_text(&verified),
            logs: verify::records(&verified),
            status: status.max(diagnostics.status()),
            diagnostics: diagnostics.into_iter().collect(),
        }
    }

    /// What `errorbar score` with these arguments does to a table whose rows are on several machines; the argument that is a
    /// file stands for it.
    ///
    /// # Errors
    /// Options that cannot be used.
    pub fn distributed_score(
        &self,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<DistributedScore, Vec<Diagnostic>> {
        let parsed = parse::<score::ScoreArgs>("score", args);
        let score = parsed.and_then(|args| DistributedScore::new(args, self.registry));
        score.map_err(|diagnostics| diagnostics.into_iter().collect())
    }

    fn context(&self) -> Context<'a> {
        Context { program: "errorbar", registry: self.registry, quiet: true }
    }
}

/// The limits for logs: those of these arguments, such as `--max-memory=1G`, and the default of the others.
///
/// # Errors
/// Arguments that are no such limit.
pub fn log_limits(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<LogLimits, Vec<Diagnostic>> {
    let parsed = parse::<LimitArgs>("limits", args);
    parsed.map(|args| args.limits()).map_err(|diagnostics| diagnostics.into_iter().collect())
}

/// Whether `score`, `compare`, `power` or `verify` has this option and it needs no value, such as `--strict` and `--flips`.
///
/// ```
/// use errorbar::analysis::is_flag;
///
/// assert!(is_flag("--strict") && is_flag("--flips") && is_flag("--require-checked"));
/// assert!(!is_flag("--scale") && !is_flag("--from") && !is_flag("--nothing") && !is_flag("strict"));
/// ```
pub fn is_flag(option: &str) -> bool {
    static FLAGS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let command = [
            score::ScoreArgs::augment_args,
            compare::CompareArgs::augment_args,
            power::PowerArgs::augment_args,
            verify::VerifyArgs::augment_args,
        ];
        let mut commands = command.map(|augment| augment(clap::Command::new("options")));
        // Building them sets how many values an option takes.
        commands.iter_mut().for_each(clap::Command::build);
        let options = commands.iter().flat_map(clap::Command::get_arguments);
        let flags =
            options.filter(|option| option.get_num_args().is_none_or(|values| values.min_values() == 0));
        flags.filter_map(|option| option.get_long().map(str::to_owned)).collect()
    });
    option.strip_prefix("--").is_some_and(|name| FLAGS.contains(name))
}

/// Parses the arguments of a command.
fn parse<A: Args + FromArgMatches>(
    command: &'static str,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> Result<A, Diagnostics> {
    let parser = A::augment_args(clap::Command::new(command).no_binary_name(true).disable_help_flag(true));
    let parsed = parser.try_get_matches_from(args.into_iter().map(Into::into));
    parsed.and_then(|mut matches| A::from_arg_matches_mut(&mut matches)).map_err(|error| {
        let text = error.render().to_string();
        // The usage is that of the command line.
        let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
        let text = lines.collect::<Vec<_>>().join("\n");
        Diagnostic::error(text.trim().strip_prefix("error: ").unwrap_or(&text).trim()).into()
    })
}
