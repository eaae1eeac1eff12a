//! Delimited tables with a row per sample and epoch, on all threads.

use std::str;
use std::sync::Mutex;

use errorbar_core::{ColumnBlock, MetadataColumn, ScoreColumns};
use memchr::{memchr, memchr_iter};
use serde_json::Value as Json;

use super::fields::Separators;
use super::join::{BlockJoiner, lock};
use super::pieces::{Piece, PieceReader};
use super::{LONG_PIECE, RecordFields, RecordRow, for_each_record};
use crate::table::error::ReadError;
use crate::table::layout::{TableColumn, TableLayout};
use crate::table::limits::Budget;
use crate::table::{EPOCH, ID, TableErrorKind, cell};

/// Reads tables with a row per sample and epoch.
pub(super) struct WideReader<'a> {
    pub(super) layout: &'a TableLayout,
    pub(super) scores: &'a [TableColumn],
    pub(super) delimiter: u8,
    pub(super) budget: Budget,
}

impl WideReader<'_> {
    pub(super) fn read(&self, pieces: &mut PieceReader, first: Piece) -> Result<ScoreColumns, ReadError> {
        let count = pieces.estimate();
        let threads = rayon::current_num_threads().min(count).max(1);
        let joiner = BlockJoiner::new(self.layout, self.scores, count, threads, self.budget);
        let source = Mutex::new((pieces, Some(first)));
        if threads == 1 {
            self.work(&source, &joiner);
        } else {
            rayon::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|_| self.work(&source, &joiner));
                }
            });
        }
        joiner.finish()
    }

    /// Takes piece after piece, until there is none or something is wrong.
    fn work(&self, source: &Mutex<(&mut PieceReader, Option<Piece>)>, joiner: &BlockJoiner<'_>) {
        let _panic_guard = joiner.panic_guard();
        let mut piece = Piece::default();
        let mut scratch = Scratch::default();
        while !joiner.has_failed() {
            let mut block = joiner.block();
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
                Ok(true) => self.piece(&piece, &mut scratch, &mut block),
                Err(problem) => Err(problem),
            };
            joiner.give(piece.number, read.map(|()| block));
        }
    }

    /// Reads the rows of a piece into a block.
    fn piece(&self, piece: &Piece, scratch: &mut Scratch, block: &mut ColumnBlock) -> Result<(), ReadError> {
        let plain = !piece.has_quotes && memchr(b'\r', &piece.bytes).is_none();
        match str::from_utf8(&piece.bytes) {
            Ok(text) if plain => self.plain(text, piece.offset, scratch, block)?,
            _ => for_each_record(piece, self.delimiter, self.layout.columns, |record, offset| {
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
        scratch: &mut Scratch,
        block: &mut ColumnBlock,
    ) -> Result<(), ReadError> {
        if self.regular(text, scratch, block).is_some() {
            return Ok(());
        }
        // Something is out of the ordinary: the rows one by one, to say what and where, or to pass over it.
        block.clear();
        let bytes = text.as_bytes();
        let columns = self.layout.columns;
        let mut row = PlainRow { text, start: 0, ends: Vec::with_capacity(columns), count: 0 };
        for at in Separators::new(bytes, self.delimiter).chain([bytes.len()]) {
            row.count += 1;
            // A row of too many fields is refused, and the places of millions of them are not needed for that.
            if row.count <= columns {
                row.ends.push(at);
            }
            if bytes.get(at).is_none_or(|byte| *byte == b'\n') {
                // Blank lines are no rows.
                if at > row.start {
                    self.row(&row, offset + row.start as u64, block)?;
                }
                (row.start, row.count) = (at + 1, 0);
                row.ends.clear();
            }
        }
        Ok(())
    }

    /// Rows that all have the right number of fields, column by column, which takes half the time.
    /// Nothing, and the block in any state, if there is something else or something wrong.
    fn regular(&self, text: &str, scratch: &mut Scratch, block: &mut ColumnBlock) -> Option<()> {
        let Scratch { ends, digits } = scratch;
        let bytes = text.as_bytes();
        // A row that is far longer than others may have far more fields, and the places of all would be listed.
        if bytes.len() >= LONG_PIECE {
            return None;
        }
        ends.clear();
        Separators::new(bytes, self.delimiter).append_to(ends);
        if bytes.last() != Some(&b'\n') {
            ends.push(bytes.len() as u32);
        }
        // As many line feeds as rows, each at the end of one: then there is none within a row.
        let feeds = memchr_iter(b'\n', bytes).count() + usize::from(bytes.last() != Some(&b'\n'));
        let rows = RegularRows { text, ends, columns: self.layout.columns };
        if !rows.are_whole(feeds) {
            return None;
        }
        for id in rows.texts(self.layout.id) {
            if id.is_empty() {
                return None;
            }
            block.ids.push(id);
        }
        if let Some(at) = self.layout.epoch {
            if rows.digits(at, digits) && !digits.contains(&0) {
                block.epochs.extend_bytes(digits);
            } else {
                for text in rows.texts(at) {
                    block.epochs.push(cell::epoch(text).ok()?);
                }
            }
        }
        for (column, values) in self.layout.metadata.iter().zip(&mut block.metadata) {
            rows.texts(column.at).for_each(|text| push_metadata(values, text));
        }
        for (column, values) in self.scores.iter().zip(&mut block.scores) {
            if rows.digits(column.at, digits) {
                values.extend_bytes(digits);
            } else {
                rows.texts(column.at).for_each(|text| cell::push_score(values, text));
            }
        }
        Some(())
    }

    #[inline]
    fn row(&self, row: &impl RecordFields, offset: u64, block: &mut ColumnBlock) -> Result<(), ReadError> {
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

/// Memory that a thread works with.
#[derive(Default)]
struct Scratch {
    /// Where fields end.
    ends: Vec<u32>,
    digits: Vec<u8>,
}

/// Rows of a text that have all their fields.
#[derive(Clone, Copy)]
struct RegularRows<'a> {
    text: &'a str,
    /// Where the fields end, one row after the other.
    ends: &'a [u32],
    columns: usize,
}

impl<'a> RegularRows<'a> {
    /// Whether each row has its number of fields and ends with one of so many line feeds, or with the text.
    fn are_whole(&self, feeds: usize) -> bool {
        let bytes = self.text.as_bytes();
        let ends_row = |end: &u32| bytes.get(*end as usize).is_none_or(|byte| *byte == b'\n');
        self.ends.len() == feeds * self.columns
            && self.ends.iter().skip(self.columns - 1).step_by(self.columns).all(ends_row)
    }

    /// Where the cells of a column start and end.
    #[inline]
    fn cells(self, at: usize) -> impl Iterator<Item = (u32, u32)> {
        // A row starts behind the end of the one before.
        let mut row_start = 0;
        self.ends.chunks_exact(self.columns).map(move |row| {
            let start = if at == 0 { row_start } else { row.get(at - 1).map_or(0, |end| end + 1) };
            row_start = row.last().map_or(0, |end| end + 1);
            (start, row.get(at).copied().unwrap_or(start))
        })
    }

    #[inline]
    fn texts(self, at: usize) -> impl Iterator<Item = &'a str> {
        self.cells(at).map(move |cell| self.text(cell))
    }

    #[inline]
    fn text(self, (start, end): (u32, u32)) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The cells of a column as numbers, if each is of one digit; false if not, and then they are anything.
    /// Scores and epochs mostly are, and then nothing is decided cell by cell.
    fn digits(self, at: usize, digits: &mut Vec<u8>) -> bool {
        let bytes = self.text.as_bytes();
        let mut all = true;
        digits.clear();
        digits.extend(self.cells(at).map(|(start, end)| {
            let digit = bytes.get(start as usize).map_or(u8::MAX, |byte| byte.wrapping_sub(b'0'));
            all &= (end == start + 1) & (digit <= 9);
            digit
        }));
        all
    }
}

/// Appends a cell as metadata; an empty one is null.
#[inline]
fn push_metadata(column: &mut MetadataColumn, text: &str) {
    if text.is_empty() { column.push(&Json::Null) } else { column.push_text(text) }
}

struct PlainRow<'a> {
    text: &'a str,
    start: usize,
    /// Where each field ends, as far as there are columns.
    ends: Vec<usize>,
    /// How many fields there are.
    count: usize,
}

impl RecordFields for PlainRow<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.count
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
