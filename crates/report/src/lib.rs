//! What people look at: estimates as terminal tables, Markdown, LaTeX, CSV and JSON.
//!
//! One format, one module, one trait ([`Render`]), for results, comparisons and lists ([`Listing`]). The formats for
//! people ([`TerminalTable`], [`Markdown`], [`Latex`]) share the rows of `table.rs` and the tables of `comparison`; the
//! formats for machines ([`Json`], [`Csv`]) have a [`Record`] for each estimate. Nothing here computes a
//! statistic or decides by the name of a metric: which error belongs to which number is core's
//! [`Results::rows`](errorbar_core::Results::rows). Nothing knows whether it writes to a terminal: colour and width come
//! from the caller. Names may hold anything. A [`TerminalTable`] is for terminals, so it is [`clean`]; every other format
//! keeps names as they are, as they may be read again, and the caller cleans one of them that goes to a terminal.
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
mod comparison;
mod data;
mod figure;
pub mod fragment;
mod gates;
pub mod html;
mod markup;
mod notes;
pub mod plot;
mod record;
pub mod samples;
pub mod svg;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod transcript;
pub mod verification;
mod views;

pub use comparison::{COMPARISON_SCHEMA, ComparisonView, Flip, comparison_columns, gate_reason};
pub use data::{Csv, Json};
pub use errorbar_analysis::{PartialRun, Report, RunIdentity, StoppedRun, fitting_names, run_names};
pub use figure::{ChanceLevel, EstimateText};
pub use gates::{CaseOutcome, JUnitCase, TestSuite, gate_cases, gate_diagnostics, gate_name, gate_subject};
pub use markup::{Latex, Markdown, escape_latex, escape_markdown, latex_comment};
pub use notes::most_frequent;
pub use record::{ColumnType, Listing, ListingCell, Record, all_estimates, estimate_columns, estimates};
pub use table::Sort;
pub use terminal::TerminalTable;
pub use text::{
    REPLACEMENT, clean, clean_lines, grouped, is_unsafe, pad, percent, start, truncate_middle, width, wrap,
};
pub use transcript::{TranscriptView, Verdict};
pub use views::{EvaluationSet, PlansView, SideBySide};

/// The JSON schema of results; see `docs/output.md`.
pub const RESULTS_SCHEMA: &str = include_str!("../schema/results.schema.json");

/// A format that results and lists can be written in.
pub trait Render {
    /// The results of several logs or tables, in order.
    fn to_text(&self, reports: &[Report]) -> String;

    /// A list.
    fn listing_text(&self, listing: &Listing) -> String;

    /// Comparisons.
    fn comparison_text(&self, view: &ComparisonView<'_>) -> String;
}
