//! Rows into columns, each (sample, epoch) once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use errorbar_core::{Row, ScoreColumns};

use super::error::Problem;
use super::{ScoreTable, TableErrorKind};

/// Columns that grow, and where each row came from.
///
/// The engine refuses a repeated epoch too, but it cannot say where the two rows are. Looking every row
/// up in a table took a third of all reading, so the hashes are only collected, and sorted at the end;
/// the table is made when two of them are equal.
pub(super) struct Builder {
    columns: ScoreColumns,
    lines: Vec<u64>,
    hashes: Vec<u64>,
    /// Keyed per process, so that ids in a hostile table cannot be chosen to collide.
    hasher: RandomState,
}

impl Builder {
    pub(super) fn new(scorers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Builder {
            columns: ScoreColumns::new(scorers),
            lines: Vec::new(),
            hashes: Vec::new(),
            hasher: RandomState::new(),
        }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, id: &str, epoch: u32, line: u64) -> Result<Row<'_>, Problem> {
        if id.is_empty() {
            return Err(TableErrorKind::BadId { found: "empty".to_owned() }.on_line(line));
        }
        if u32::try_from(self.columns.len()).is_err() {
            return Err(TableErrorKind::TooManyRows.on_line(line));
        }
        self.hashes.push(self.hasher.hash_one((id, epoch)));
        self.lines.push(line);
        Ok(self.columns.push(id, epoch))
    }

    /// The table, if no sample has an epoch twice.
    pub(super) fn finish(mut self, metadata_keys: Vec<String>) -> Result<ScoreTable, Problem> {
        self.hashes.sort_unstable();
        if !self.hashes.is_sorted_by(|a, b| a < b) {
            self.refuse_repeats()?;
        }
        Ok(ScoreTable { columns: self.columns, metadata_keys })
    }

    fn refuse_repeats(&self) -> Result<(), Problem> {
        let mut first_lines = HashMap::new();
        for (row, &line) in self.lines.iter().enumerate() {
            let (id, epoch) = (self.columns.id(row), self.columns.epoch(row));
            if let Some(first_line) = first_lines.insert((id, epoch), line) {
                return Err(TableErrorKind::DuplicateRow { epoch, first_line }.on_line(line).of_sample(id));
            }
        }
        Ok(())
    }
}

/// An epoch as it is counted: 1, 2, …
pub(super) fn epoch(text: &str) -> Result<u32, TableErrorKind> {
    match text.trim().parse::<u32>() {
        Ok(epoch) if epoch >= 1 => Ok(epoch),
        _ if text.is_empty() => Err(TableErrorKind::BadEpoch { found: "empty".to_owned() }),
        _ => Err(TableErrorKind::BadEpoch { found: shown(text) }),
    }
}

/// A text from a file, short and in quotes.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}{}", if short.len() < text.len() { "…" } else { "" })
}
