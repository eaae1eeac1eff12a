//! The rows of an export: a sample, an epoch and a scorer each.

use errorbar_core::Score;
use serde_json::Value as Json;

use super::cell::Cell;
use super::columns::Source;
use crate::eval::StoredSample;

/// What is the same for all samples of a log.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) log: String,
    pub(super) task: String,
    pub(super) model: String,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) run: &'a Run,
    pub(super) sample: &'a StoredSample,
    /// The scorer and its score; nothing for a sample without scores.
    pub(super) scored: Option<(&'a str, &'a Score)>,
    pub(super) metadata: &'a [Option<&'a Json>],
}

impl<'a> Row<'a> {
    /// What stands under a column.
    pub(super) fn cell(&self, source: Source) -> Cell<'a> {
        let score = self.scored.map(|(_, score)| score);
        let of_score = |text: fn(&Score) -> Option<&str>| Cell::text_or_null(score.and_then(text));
        match source {
            Source::Log => Cell::Text(&self.run.log),
            Source::Task => Cell::Text(&self.run.task),
            Source::Model => Cell::Text(&self.run.model),
            Source::Id => Cell::Id(&self.sample.id),
            Source::Epoch => Cell::Epoch(self.sample.epoch),
            Source::Scorer => Cell::text_or_null(self.scored.map(|(scorer, _)| scorer)),
            // Not null, which would be an answer that could not be scored.
            Source::Value => score.map_or(Cell::Missing, |score| Cell::Score(&score.value)),
            Source::Answer => of_score(|score| score.answer.as_deref()),
            Source::Explanation => of_score(|score| score.explanation.as_deref()),
            Source::Reason => of_score(|score| score.reason.as_deref()),
            Source::Error => Cell::text_or_null(self.sample.error.as_deref()),
            Source::Limit => Cell::text_or_null(self.sample.limit.as_deref()),
            Source::Metadata(at) => {
                self.metadata.get(at).copied().flatten().map_or(Cell::Missing, Cell::Metadata)
            }
        }
    }
}
