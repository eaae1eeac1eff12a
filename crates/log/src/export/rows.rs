//! The rows of an export: a sample, an epoch and a scorer each.

use errorbar_core::Score;
use serde_json::Value as Json;

use super::cell::ExportCell;
use super::columns::ColumnSource;
use crate::eval::StoredSample;

/// What is the same for all samples of a log.
#[derive(Clone, Debug)]
pub(super) struct LogContext {
    pub(super) log: String,
    pub(super) task: String,
    pub(super) model: String,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExportRow<'a> {
    pub(super) run: &'a LogContext,
    pub(super) sample: &'a StoredSample,
    /// The scorer and its score; nothing for a sample without scores.
    pub(super) scored: Option<(&'a str, &'a Score)>,
    pub(super) metadata: &'a [Option<&'a Json>],
}

impl<'a> ExportRow<'a> {
    /// What stands under a column.
    pub(super) fn cell(&self, source: ColumnSource) -> ExportCell<'a> {
        let score = self.scored.map(|(_, score)| score);
        let of_score = |text: fn(&Score) -> Option<&str>| ExportCell::text_or_null(score.and_then(text));
        match source {
            ColumnSource::Log => ExportCell::Text(&self.run.log),
            ColumnSource::Task => ExportCell::Text(&self.run.task),
            ColumnSource::Model => ExportCell::Text(&self.run.model),
            ColumnSource::Id => ExportCell::Id(&self.sample.id),
            ColumnSource::Epoch => ExportCell::Epoch(self.sample.epoch),
            ColumnSource::Scorer => ExportCell::text_or_null(self.scored.map(|(scorer, _)| scorer)),
            // Not null, which would be an answer that could not be scored.
            ColumnSource::Value => score.map_or(ExportCell::Missing, |score| ExportCell::Score(&score.value)),
            ColumnSource::Answer => of_score(|score| score.answer.as_deref()),
            ColumnSource::Explanation => of_score(|score| score.explanation.as_deref()),
            ColumnSource::Reason => of_score(|score| score.reason.as_deref()),
            ColumnSource::Error => ExportCell::text_or_null(self.sample.error.as_deref()),
            ColumnSource::Limit => ExportCell::text_or_null(self.sample.limit.as_deref()),
            ColumnSource::Metadata(at) => {
                self.metadata.get(at).copied().flatten().map_or(ExportCell::Missing, ExportCell::Metadata)
            }
        }
    }
}
