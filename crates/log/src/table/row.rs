//! One row of a table, read cell by cell: what readers put into the columns row after row.

use errorbar_core::Value;
use serde_json::Value as Json;

use super::layout::{ColumnRole, TableColumn};
use super::limits::Budget;
use super::{TableErrorKind, cell};

/// A row; its memory is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct TableRow {
    pub(super) id: String,
    pub(super) epoch: Option<u32>,
    pub(super) scores: Vec<Option<Value>>,
    /// Metadata by its number.
    pub(super) metadata: Vec<(usize, Json)>,
    /// These only where scorers have their own rows.
    pub(super) scorer: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) explanation: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) errored: bool,
    /// These only where a table is split into those of its logs.
    pub(super) log: Option<String>,
    pub(super) task: Option<String>,
    pub(super) model: Option<String>,
}

impl TableRow {
    /// Empties the row, for one with this number of scores.
    pub(super) fn clear(&mut self, scores: usize) {
        self.id.clear();
        self.epoch = None;
        self.scores.clear();
        self.scores.resize(scores, None);
        self.metadata.clear();
        (self.scorer, self.answer, self.explanation, self.reason) = (None, None, None, None);
        self.errored = false;
        (self.log, self.task, self.model) = (None, None, None);
    }

    pub(super) fn set_score(&mut self, number: usize, score: Option<Value>) {
        if let Some(slot) = self.scores.get_mut(number) {
            *slot = score;
        }
    }

    /// Sets a cell from a string; an empty one is absent.
    pub(super) fn set_text(
        &mut self,
        column: &TableColumn,
        text: &str,
        budget: Budget,
    ) -> Result<(), TableErrorKind> {
        let present = Some(text).filter(|text| !text.is_empty());
        match column.role {
            ColumnRole::Id => self.id.push_str(text),
            ColumnRole::Epoch => self.epoch = Some(cell::epoch(text)?),
            ColumnRole::Metadata(number) => {
                self.metadata.push((number, present.map_or(Json::Null, Json::from)))
            }
            ColumnRole::Score(number) => {
                self.set_score(number, cell::score_or_structure(text, &column.name, budget)?);
            }
            ColumnRole::Scorer => self.scorer = present.map(str::to_owned),
            role => self.set_detail(role, present.map(str::to_owned)),
        }
        Ok(())
    }

    /// Sets what is recorded with a score, or whether the sample errored.
    pub(super) fn set_detail(&mut self, role: ColumnRole, text: Option<String>) {
        match role {
            ColumnRole::Answer => self.answer = text,
            ColumnRole::Explanation => self.explanation = text,
            ColumnRole::Reason => self.reason = text,
            ColumnRole::Error => self.errored = text.is_some(),
            ColumnRole::Log => self.log = text,
            ColumnRole::Task => self.task = text,
            ColumnRole::Model => self.model = text,
            _ => {}
        }
    }

    /// The metadata with its names.
    pub(super) fn named_metadata<'r>(
        &'r self,
        names: &'r [String],
    ) -> impl Iterator<Item = (&'r str, &'r Json)> {
        self.metadata.iter().filter_map(|(number, value)| Some((names.get(*number)?.as_str(), value)))
    }
}
