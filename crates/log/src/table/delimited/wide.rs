//! Delimited tables with a row per sample and epoch, on all threads.

use std::str;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use errorbar_core::{ColumnBlock, MetadataColumn, ScoreColumns};
use memchr::{memchr, memchr_iter};
use serde_json::Value as Json;

use super::fields::Separators;
use super::pieces::{Piece, Pieces};
use super::{Fields, RecordRow, for_each_record};
use crate::table::error::Problem;
use crate::table::layout::{Column, Layout};
use crate::table::{EPOCH, ID, TableErrorKind, cell};

/// Reads tables with a row per sample and epoch.
pub(super) struct WideReader<'a> {
    pub(super) layout: &'a Layout,
    pub(super) scores: &'a [Column],
    pub(super) delimiter: u8,
}

/// What the threads put together, piece by piece.
struct Joined {
    columns: ScoreColumns,
    /// The piece whose turn it is.
    next: usize,
    problem: Option<Problem>,
}

impl WideReader<'_> {
    pub(super) fn read(&self, pieces: &mut Pieces, first: Piece) -> Result<ScoreColumns, Problem> {
        let columns = ScoreColumns::new(self.scores.iter().map(|column| &column.name));
        let joined = Mutex::new(Joined { columns, next: 0, problem: None });
        let turn = Condvar::new();
        let threads = rayon::current_num_threads().min(pieces.estimate()).max(1);
        let source = Mutex::new((pieces, Some(first)));
        if threads == 1 {
            self.work(&source, &joined, &turn);
        } else {
            rayon::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|_| self.work(&source, &joined, &turn));
                }
            });
        }
        let joined = joined.into_inner().unwrap_or_else(PoisonError::into_inner);
        joined.problem.map_or(Ok(joined.columns), Err)
    }

    /// Takes piece after piece, until there is none or something is wrong. A thread waits only for pieces
    /// before its own, which others are at work on, so some thread always gets ahead.
    fn work(&self, source: &Mutex<(&mut Pieces, Option<Piece>)>, joined: &Mutex<Joined>, turn: &Condvar) {
        let mut piece = Piece::default();
        let mut ends = Vec::new();
        let mut block = ColumnBlock::new(self.scores.len(), self.layout.metadata.len());
        loop {
            let taken = {
                let (pieces, first) = &mut *lock(source);
                match first.take() {
                    Some(first) => {
                        piece = first;
                        Ok(true)
                    }
                    None => pieces.next(&mut piece),
                }
            };
            let read = match taken {
                Ok(false) => return,
                Ok(true) => self.piece(&piece, &mut ends, &mut block),
                Err(error) => Err(TableErrorKind::Read(error).into()),
            };
            let mut joined = lock(joined);
            while joined.next < piece.number && joined.problem.is_none() {
                joined = turn.wait(joined).unwrap_or_else(PoisonError::into_inner);
            }
            if joined.problem.is_some() {
                return;
            }
            joined.next += 1;
            joined.problem = read.and_then(|()| self.join(&mut joined.columns, &mut block)).err();
            turn.notify_all();
        }
    }

    fn join(&self, columns: &mut ScoreColumns, block: &mut ColumnBlock) -> Result<(), Problem> {
        let rows = columns.len() as u64;
        if rows + block.ids.len() as u64 > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.in_row(u64::from(u32::MAX) + 1));
        }
        columns.append(self.layout.metadata.iter().map(|column| column.name.as_str()), block);
        Ok(())
    }

    /// Reads the rows of a piece into a block; `ends` is memory to work with.
    fn piece(&self, piece: &Piece, ends: &mut Vec<u32>, block: &mut ColumnBlock) -> Result<(), Problem> {
        let plain = !piece.has_quotes && memchr(b'\r', &piece.bytes).is_none();
        match str::from_utf8(&piece.bytes) {
            Ok(text) if plain => self.plain(text, piece.offset, ends, block)?,
            _ => for_each_record(piece, self.delimiter, |record, offset| {
                self.row(&RecordRow { record }, offset, block)
            })?,
        }
        match piece.unclosed {
            Some(row) => Err(TableErrorKind::UnclosedQuote.at_offset(row)),
            None => Ok(()),
        }
    }

    /// Rows without quotes and carriage returns.
    fn plain(
        &self,
        text: &str,
        offset: u64,
        ends: &mut Vec<u32>,
        block: &mut ColumnBlock,
    ) -> Result<(), Problem> {
        if self.regular(text, ends, block).is_some() {
            return Ok(());
        }
        // Something is out of the ordinary: the rows one by one, to say what and where, or to pass over it.
        block.clear();
        let bytes = text.as_bytes();
        let mut row = PlainRow { text, start: 0, ends: Vec::with_capacity(self.layout.columns) };
        for at in Separators::new(bytes, self.delimiter).chain([bytes.len()]) {
            row.ends.push(at);
            if bytes.get(at).is_none_or(|byte| *byte == b'\n') {
                // Blank lines are no rows.
                if at > row.start {
                    self.row(&row, offset + row.start as u64, block)?;
                }
                row.start = at + 1;
                row.ends.clear();
            }
        }
        Ok(())
    }

    /// Rows that all have the right number of fields, column by column, which takes half the time.
    /// Nothing, and the block in any state, if there is something else or something wrong.
    fn regular(&self, text: &str, ends: &mut Vec<u32>, block: &mut ColumnBlock) -> Option<()> {
        let bytes = text.as_bytes();
        u32::try_from(bytes.len()).ok()?;
        ends.clear();
        ends.extend(Separators::new(bytes, self.delimiter).map(|at| at as u32));
        if bytes.last() != Some(&b'\n') {
            ends.push(bytes.len() as u32);
        }
        // As many line feeds as rows, each at the end of one: then there is none within a row.
        let feeds = memchr_iter(b'\n', bytes).count() + usize::from(bytes.last() != Some(&b'\n'));
        let rows = ends.chunks_exact(self.layout.columns);
        let ends_row =
            |row: &[u32]| row.last().and_then(|end| bytes.get(*end as usize)).is_none_or(|b| *b == b'\n');
        if !rows.remainder().is_empty() || feeds != rows.len() || !rows.clone().all(ends_row) {
            return None;
        }
        // The cells of a column; a row starts behind the end of the one before.
        let cells = |at: usize| {
            let mut row_start = 0;
            rows.clone().map(move |row| {
                let start = if at == 0 { row_start } else { row.get(at - 1).map_or(0, |end| end + 1) };
                row_start = row.last().map_or(0, |end| end + 1);
                row.get(at).and_then(|end| text.get(start as usize..*end as usize)).unwrap_or_default()
            })
        };
        for id in cells(self.layout.id) {
            if id.is_empty() {
                return None;
            }
            block.ids.push(id);
        }
        if let Some(at) = self.layout.epoch {
            block.epochs.reserve(rows.len());
            for epoch in cells(at) {
                block.epochs.push(cell::epoch(epoch).ok()?);
            }
        }
        for (column, values) in self.layout.metadata.iter().zip(&mut block.metadata) {
            cells(column.at).for_each(|text| push_metadata(values, text));
        }
        for (column, values) in self.scores.iter().zip(&mut block.scores) {
            cells(column.at).for_each(|text| cell::push_score(values, text));
        }
        Some(())
    }

    #[inline]
    fn row(&self, row: &impl Fields, offset: u64, block: &mut ColumnBlock) -> Result<(), Problem> {
        let layout = self.layout;
        let text = |at: usize, name: &str| {
            let invalid = || TableErrorKind::InvalidUtf8 { column: Some(name.to_owned()) };
            row.field(at).ok_or_else(|| invalid().at_offset(offset))
        };
        let id = text(layout.id, ID)?;
        let of_row = |kind: TableErrorKind| kind.at_offset(offset).of_sample(id);
        if row.count() != layout.columns {
            return Err(of_row(TableErrorKind::FieldCount { expected: layout.columns, found: row.count() }));
        }
        if let Some(at) = layout.epoch {
            block.epochs.push(cell::epoch(text(at, EPOCH)?).map_err(of_row)?);
        }
        for (column, values) in layout.metadata.iter().zip(&mut block.metadata) {
            push_metadata(values, text(column.at, &column.name)?);
        }
        if id.is_empty() {
            return Err(of_row(TableErrorKind::BadId { found: "empty".to_owned() }));
        }
        block.ids.push(id);
        for (column, values) in self.scores.iter().zip(&mut block.scores) {
            cell::push_score(values, text(column.at, &column.name)?);
        }
        Ok(())
    }
}

/// Appends a cell as metadata; an empty one is null.
#[inline]
fn push_metadata(column: &mut MetadataColumn, text: &str) {
    if text.is_empty() { column.push(&Json::Null) } else { column.push_text(text) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct PlainRow<'a> {
    text: &'a str,
    start: usize,
    /// Where each field ends.
    ends: Vec<usize>,
}

impl Fields for PlainRow<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn field(&self, at: usize) -> Option<&str> {
        let start = match at.checked_sub(1).map(|before| self.ends.get(before)) {
            None => self.start,
            Some(Some(end)) => end + 1,
            Some(None) => return Some(""),
        };
        Some(self.ends.get(at).and_then(|end| self.text.get(start..*end)).unwrap_or_default())
    }
}
