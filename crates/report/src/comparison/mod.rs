//! What comparisons show: formats for people write the tables of `tables.rs`, those for machines the records of `record.rs`.
//!
//! Nothing here decides whether sides differ in another way than the figures that are shown: a verdict reads the interval
//! beside it, or the corrected p-value if there is a correction.

pub(crate) mod figures;
mod finding;
pub(crate) mod flip;
mod gate;
mod grid;
pub(crate) mod legend;
mod pair;
mod record;
pub(crate) mod tables;
pub(crate) mod verdict;

pub(crate) use figures::{lines, p_text, subject, two_digits};
pub(crate) use finding::{Finding, finding};
pub(crate) use gate::{claim as gate_claim, rule as gate_rule};
pub(crate) use legend::test_title;
pub(crate) use pair::Pair;
pub(crate) use record::ranking_record;

use errorbar_analysis::Comparisons;
pub use errorbar_analysis::Flip;
pub use gate::gate_reason;
pub use record::comparison_columns;

use errorbar_inference::ComparisonReport;

use crate::record::Record;

/// The JSON schema of comparisons; see `docs/output.md`.
pub const COMPARISON_SCHEMA: &str = include_str!("../../schema/compare.schema.json");

/// Comparisons as they are to be shown: every [`Render`](crate::Render) writes them with `comparison`.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonView<'a> {
    /// What was compared.
    pub report: &'a ComparisonReport,
    /// The samples that changed, if they were asked for.
    pub flips: Option<&'a [Flip]>,
    /// The number of samples that changed, if not all are listed.
    pub changed: Option<usize>,
    /// The title: the task, or the table that the scores are from.
    pub title: Option<&'a str>,
    /// The name of the only task, for JSON and CSV. Of several tasks each comparison has its own, and the mean over them has
    /// none.
    pub task: Option<&'a str>,
}

impl<'a> ComparisonView<'a> {
    /// Comparisons without a list of the samples that changed.
    pub fn new(report: &'a ComparisonReport) -> Self {
        ComparisonView { report, flips: None, changed: None, title: None, task: None }
    }

    /// A record for each comparison, as in JSON.
    pub fn records(&self) -> Vec<Record> {
        self.report.comparisons.iter().map(|one| record::record(one, self)).collect()
    }

    /// The comparisons of an answer, with what is shown beside them.
    pub fn of(comparisons: &'a Comparisons) -> Self {
        ComparisonView {
            report: &comparisons.report,
            flips: comparisons.flips.as_ref().map(|found| found.flips.as_slice()),
            changed: comparisons.flips.as_ref().map(|found| found.changed),
            title: comparisons.title.as_deref(),
            task: comparisons.task.as_deref(),
        }
    }

    /// The number of samples that changed, listed or not.
    pub(crate) fn changed_count(&self) -> Option<usize> {
        self.flips.map(|flips| self.changed.unwrap_or(flips.len()).max(flips.len()))
    }

    /// The task that comparisons without one are of.
    pub(crate) fn only_task(&self) -> Option<&'a str> {
        let has_tasks = self.report.comparisons.iter().any(|comparison| comparison.task.is_some());
        self.task.filter(|_| !has_tasks)
    }
}
