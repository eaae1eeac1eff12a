//! What people look at: estimates as terminal tables, Markdown, LaTeX, CSV and JSON.
//!
//! One format, one module, one trait ([`Render`]), for results, comparisons and lists ([`Listing`]). The formats for
//! people ([`TerminalTable`], [`Markdown`], [`Latex`]) share the rows of `rows.rs` and the tables of `comparison`; the
//! formats for machines ([`Json`], [`Csv`]) have an [`EstimateRecord`] for each estimate. Nothing here computes a
//! statistic or decides by the name of a metric: which error belongs to which number is core's [`Results::rows`]. Nothing
//! knows whether it writes to a terminal: colour and width come from the caller. Names may hold anything. A
//! [`TerminalTable`] is for terminals, so it is [`clean`]; every other format keeps names as they are, as they may be
//! read again, and the caller cleans one of them that goes to a terminal.
//!
//! ```
//! use errorbar_core::{MetricResult, MetricValue, Results, Role, ScoreResult};
//! use errorbar_core::{Estimate, Spec};
//! use errorbar_report::{Render, Report, TerminalTable};
//!
//! let estimate = Estimate::new(0.8194).with_stderr(0.0342).with_interval(0.7501, 0.8879, 0.95).with_n(144);
//! let mut score = ScoreResult::default();
//! score.scorer = "choice".to_owned();
//! score.counts.scored = 144;
//! score.metrics = vec![MetricResult::new(Spec::new("accuracy"), Role::Location, MetricValue::One(estimate))];
//! let mut results = Results::default();
//! results.scores = vec![score];
//! let text = TerminalTable::default().to_text(&[Report::new("quiz.csv", results)]);
//! assert!(text.contains("accuracy  0.819 ± 0.034 [0.750, 0.888]"), "{text}");
//! ```
#![forbid(unsafe_code)]

pub mod assets;
mod bar;
mod chance;
mod comparison;
mod csv;
mod evaluation_set;
mod figure;
pub mod fragment;
pub mod html;
mod json;
mod junit;
mod latex;
mod listing;
mod markdown;
mod matrix;
mod notes;
mod number;
pub mod plot;
mod record;
mod rows;
mod run_names;
pub mod samples;
mod side_by_side;
pub mod svg;
mod table;
mod terminal;
mod text;
mod title;
mod transcript;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use errorbar_core::Results;
use serde::Serialize;

/// The JSON schema of results; see `docs/output.md`.
pub const RESULTS_SCHEMA: &str = include_str!("../schema/results.schema.json");

pub use chance::ChanceLevel;
pub use comparison::{
    COMPARISON_SCHEMA, ComparisonRecord, ComparisonView, Flip, UndefinedComparisonParts, gate_reason,
};
pub use csv::{Csv, SafeCsv};
pub use evaluation_set::EvaluationSet;
pub use figure::EstimateText;
pub use json::Json;
pub use junit::{CaseOutcome, JUnitCase, TestSuite, gate_cases, gate_name, gate_subject};
pub use latex::{Latex, comment as latex_comment, escape as escape_latex};
pub use listing::{Listing, ListingCell};
pub use markdown::{Markdown, escape as escape_markdown};
pub use number::grouped;
pub use record::{ClusterCounts, ColumnType, EstimateRecord, UndefinedParts, all_estimates, estimates};
pub use rows::Sort;
pub use run_names::{RunIdentity, fitting_names, run_names};
pub use side_by_side::SideBySide;
pub use terminal::TerminalTable;
pub use text::{REPLACEMENT, clean, clean_lines, is_unsafe, pad, truncate_middle, width, wrap};
pub use transcript::{TranscriptView, Verdict};

/// The results of one log or table, and where they come from.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The path, as it was given.
    pub log: String,
    /// The number of rows of a table as it is in the file, where that is not the number of samples and epochs.
    pub rows: Option<usize>,
    /// The task, where it is known.
    pub task: Option<String>,
    /// The model, where it is known.
    pub model: Option<String>,
    /// How the run ended, if it did not reach its end.
    pub partial_run: Option<PartialRun>,
    /// How many samples times epochs could not be read and are in no figure.
    pub skipped: usize,
    /// How many samples times epochs a limit ended and were judged as they were, by its kind: `token`, `time` and so on.
    pub limits: BTreeMap<String, usize>,
    /// The rule that stopped the run early, if one did.
    pub early_stop: Option<StoppedRun>,
    /// The model that graded its own answers, if it did.
    pub self_graded: Option<String>,
    /// Whether the results are those of an earlier run, which was complete.
    pub earlier_run: bool,
    /// Whether the figures are those that the log records, because it has no samples.
    pub recorded: bool,
    /// The results.
    pub results: Results,
}

impl Report {
    /// The results of a table, which knows neither task nor model.
    pub fn new(log: impl Into<String>, results: Results) -> Self {
        Report { log: log.into(), results, ..Report::default() }
    }

    /// The same of a task and a model.
    #[must_use]
    pub fn of_run(mut self, task: impl Into<String>, model: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self.model = Some(model.into());
        self
    }
}

/// A run that did not reach its end: its results are over a part of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialRun {
    /// How it ended: `cancelled`, `error`, or `started` if that is unknown.
    pub status: String,
    /// How many samples times epochs it should have had, where that is known.
    pub planned: Option<usize>,
}

/// A run that a rule stopped early: its estimates are for all the samples that were planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoppedRun {
    /// The rule that held.
    pub rule: String,
    /// Why it held, in words.
    pub reason: String,
    /// The number of samples that the run took.
    pub samples: u64,
    /// The number of samples that were planned.
    pub planned: u64,
}

/// A format that results and lists can be written in.
pub trait Render {
    /// Writes the results of several logs or tables, in order.
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()>;

    /// Writes a list.
    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()>;

    /// Writes comparisons.
    fn comparison(&self, view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()>;

    /// The results as a string.
    fn to_text(&self, reports: &[Report]) -> String {
        text_of(|out| self.render(reports, out))
    }

    /// A list as a string.
    fn listing_text(&self, listing: &Listing) -> String {
        text_of(|out| self.listing(listing, out))
    }

    /// Comparisons as a string.
    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
        text_of(|out| self.comparison(view, out))
    }
}

fn text_of(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = write(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
