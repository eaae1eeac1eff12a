//! Tables that are read row by row, one for each log that the rows name.

use indexmap::IndexMap;

use super::error::TableLocation;
use super::limits::Budget;
use super::long::{LongBuilder, RowNames};
use super::row::TableRow;
use super::{ScoreTable, TableErrorKind};

/// How many logs a table may be of: each has its own columns.
const MAX_LOGS: usize = 10_000;
/// The memory of all logs together is checked each time this many rows were pushed.
const CHECK_EVERY: u64 = 1 << 14;
/// What a log takes by itself.
const LOG_BYTES: u64 = 4 << 10;

/// A table for each log, in the order in which they come; one if no column names them.
#[derive(Debug)]
pub(super) struct LongParts {
    /// By log or value of the column that the table is split by, and in the latter case by task.
    parts: IndexMap<(String, Option<String>), LogPart>,
    /// The log of the last row; the next one is mostly of the same.
    last: usize,
    rows: u64,
    budget: Budget,
}

#[derive(Debug)]
struct LogPart {
    builder: LongBuilder,
    task: Option<String>,
    model: Option<String>,
    /// The number of scores of a row.
    row_scores: u64,
    /// Where rows that follow each other begin: the number of the first score in this log, and of the row in the table.
    runs: Vec<(u64, u64)>,
}

impl LongParts {
    pub(super) fn new(budget: Budget) -> Self {
        LongParts { parts: IndexMap::new(), last: 0, rows: 0, budget }
    }

    /// How many rows of the table were pushed, the last one, that may have been refused, included.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row to the table of its log; see [`LongBuilder::push`].
    pub(super) fn push(&mut self, row: &mut TableRow, names: RowNames<'_>) -> Result<(), TableErrorKind> {
        self.rows += 1;
        if self.parts.len() > 1 && self.rows.is_multiple_of(CHECK_EVERY) {
            let held: u64 = self.parts.values().map(|part| LOG_BYTES + part.builder.held()).sum();
            self.budget.check(held)?;
        }
        let number = self.rows;
        let part = self.part(row, names)?;
        part.row_scores = if names.names_scorers { 1 } else { names.scores.len().max(1) as u64 };
        let pushed = part.builder.rows();
        let is_next = |(own, table): &(u64, u64)| (number - table) * part.row_scores == pushed + 1 - own;
        let follows = part.runs.last().is_some_and(is_next);
        if !follows {
            part.runs.push((pushed + 1, number));
        }
        part.builder.push(row, names).map_err(|kind| part.located(kind))
    }

    /// The table of the row's log, made when it is first met.
    fn part(&mut self, row: &mut TableRow, names: RowNames<'_>) -> Result<&mut LogPart, TableErrorKind> {
        let log = match (row.log.take().filter(|log| !log.is_empty()), names.split) {
            (None, Some(column)) => return Err(TableErrorKind::EmptySplit(column.to_owned())),
            (None, None) => (String::new(), None),
            // A log has one task.
            (Some(log), split) => (log, row.task.clone().filter(|_| split.is_some())),
        };
        if self.parts.get_index(self.last).is_none_or(|(last, _)| *last != log) {
            self.last = self.parts.get_index_of(&log).unwrap_or(self.parts.len());
        }
        if self.last == MAX_LOGS {
            return Err(TableErrorKind::TooManyLogs { limit: MAX_LOGS });
        }
        let (budget, last) = (self.budget, self.last);
        if last == self.parts.len() {
            let (task, model) = (row.task.take(), row.model.take());
            let builder = LongBuilder::new(budget);
            self.parts.insert(log, LogPart { builder, task, model, row_scores: 1, runs: Vec::new() });
        }
        // It was found or made just now.
        self.parts
            .get_index_mut(last)
            .map(|(_, part)| part)
            .ok_or(TableErrorKind::TooManyLogs { limit: MAX_LOGS })
    }

    pub(super) fn finish(self, metadata_keys: Vec<String>) -> Vec<ScoreTable> {
        let table = |((log, _), part): ((String, Option<String>), LogPart)| ScoreTable {
            log: Some(log).filter(|log| !log.is_empty()),
            task: part.task,
            model: part.model,
            ..part.builder.finish(metadata_keys.clone())
        };
        match self.parts.is_empty() {
            true => vec![ScoreTable { metadata_keys, ..ScoreTable::default() }],
            false => self.parts.into_iter().map(table).collect(),
        }
    }
}

impl LogPart {
    /// The error with the number of the row in the whole table.
    fn located(&self, kind: TableErrorKind) -> TableErrorKind {
        match kind {
            TableErrorKind::DuplicateScore { epoch, scorer, first: TableLocation::Row(row) } => {
                let run = self.runs.iter().rev().find(|(own, _)| *own <= row);
                let row = run.map_or(row, |(own, table)| table + (row - own) / self.row_scores);
                TableErrorKind::DuplicateScore { epoch, scorer, first: TableLocation::Row(row) }
            }
            kind => kind,
        }
    }
}
