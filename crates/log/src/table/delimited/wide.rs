//! Delimited tables with a row per sample and epoch, on all threads.
//!
//! A round of pieces is read and parsed into blocks of columns while the blocks of the round before are
//! appended to the columns of the result.

use std::str;

use errorbar_core::{ColumnBlock, MetadataColumn, ScoreColumns};
use memchr::{memchr, memchr_iter};
use serde_json::Value as Json;

use super::fields::append_separators;
use super::pieces::{Piece, PieceReader};
use super::{DelimitedReader, DelimitedRow, LONG_PIECE};
use crate::table::error::ReadError;
use crate::table::layout::ColumnRole;
use crate::table::{TableErrorKind, cell};

/// How many pieces a round has for each thread: few, so that blocks stay in the caches, but enough that threads
/// seldom wait for each other at its end.
const PIECES_PER_THREAD: usize = 4;

/// The rows that memory is reserved for at the start, at most: the size of a file is only a hint.
const MOST_RESERVED: usize = 1 << 24;

/// After so many blocks, and at the end, it is checked how much memory the columns take.
const CHECK_EVERY: usize = 16;

/// A piece and the block that it is parsed into; the memory is used again in the next round but one.
struct Slot {
    piece: Piece,
    block: ColumnBlock,
    scratch: Scratch,
    result: Result<(), ReadError>,
}

impl DelimitedReader<'_> {
    /// Reads a table with a row per sample and epoch.
    pub(super) fn read_wide(
        &self,
        pieces: &mut PieceReader,
        first: Piece,
    ) -> Result<ScoreColumns, ReadError> {
        let blocks = pieces.estimate();
        let mut columns = ScoreColumns::new(&self.layout.scores);
        let mut round = vec![self.slot()];
        if let Some(slot) = round.first_mut() {
            slot.piece = first;
            self.parse(slot);
        }
        let (mut next, mut used) = (Vec::new(), round.len());
        while used > 0 {
            let (appended, read) = rayon::join(
                || round.iter_mut().take(used).try_for_each(|slot| self.append(slot, &mut columns, blocks)),
                || self.read_round(pieces, &mut next),
            );
            appended?;
            std::mem::swap(&mut round, &mut next);
            used = read;
        }
        self.budget.check(columns.heap_bytes() as u64)?;
        Ok(columns)
    }

    fn slot(&self) -> Slot {
        let block = ColumnBlock::new(self.layout.scores.len(), self.layout.metadata.len());
        Slot { piece: Piece::default(), block, scratch: Scratch::default(), result: Ok(()) }
    }

    /// Reads the next pieces into slots, each parsed as soon as it is there, and says how many.
    fn read_round(&self, pieces: &mut PieceReader, slots: &mut Vec<Slot>) -> usize {
        slots.resize_with(PIECES_PER_THREAD * rayon::current_num_threads(), || self.slot());
        rayon::scope(|scope| {
            let mut used = 0;
            for slot in slots.iter_mut() {
                match pieces.next(&mut slot.piece) {
                    Ok(false) => break,
                    Ok(true) => scope.spawn(|_| self.parse(slot)),
                    // Those before it may hold an error that comes first.
                    Err(error) => {
                        slot.result = Err(error);
                        return used + 1;
                    }
                }
                used += 1;
            }
            used
        })
    }

    /// Appends the rows of a slot, and empties its block.
    fn append(&self, slot: &mut Slot, columns: &mut ScoreColumns, blocks: usize) -> Result<(), ReadError> {
        std::mem::replace(&mut slot.result, Ok(()))?;
        let (rows, block) = (columns.len() as u64, &mut slot.block);
        if rows == 0 {
            let expected = block.ids.len().saturating_mul(blocks).min(MOST_RESERVED);
            columns.reserve(expected, self.layout.metadata());
        }
        if rows + block.ids.len() as u64 > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.in_row(u64::from(u32::MAX) + 1));
        }
        columns.append(self.layout.metadata(), block);
        // Adding up what is held takes a look at all chunks of ids, so not each time.
        if slot.piece.number.is_multiple_of(CHECK_EVERY) {
            self.budget.check(columns.heap_bytes() as u64)?;
        }
        Ok(())
    }

    /// Reads the rows of a piece into its block.
    fn parse(&self, slot: &mut Slot) {
        let Slot { piece, block, scratch, result } = slot;
        let is_plain = !piece.has_quotes && memchr(b'\r', &piece.bytes).is_none();
        let is_regular = match str::from_utf8(&piece.bytes) {
            Ok(text) if is_plain && piece.unclosed.is_none() => self.regular(text, scratch, block).is_some(),
            _ => false,
        };
        if !is_regular {
            // The rows one by one, to say what is wrong and where, or to skip what is not a row.
            block.clear();
            *result = self.for_each_row(piece, |row| self.row(row, block));
        }
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
        append_separators(bytes, self.delimiter, ends);
        if bytes.last() != Some(&b'\n') {
            ends.push(bytes.len() as u32);
        }
        // As many line feeds as rows, each at the end of one: then there is none within a row.
        let feeds = memchr_iter(b'\n', bytes).count() + usize::from(bytes.last() != Some(&b'\n'));
        let rows = RegularRows { text, ends, columns: self.layout.width };
        if !rows.are_whole(feeds) {
            return None;
        }
        for column in &self.layout.columns {
            match column.role {
                ColumnRole::Id => {
                    for id in rows.texts(column.at) {
                        if id.is_empty() {
                            return None;
                        }
                        block.ids.push(id);
                    }
                }
                ColumnRole::Epoch if rows.digits(column.at, digits) && !digits.contains(&0) => {
                    block.epochs.extend_bytes(digits);
                }
                ColumnRole::Epoch => {
                    for text in rows.texts(column.at) {
                        block.epochs.push(cell::epoch(text).ok()?);
                    }
                }
                ColumnRole::Metadata(number) => {
                    let values = block.metadata.get_mut(number)?;
                    rows.texts(column.at).for_each(|text| push_metadata(values, text));
                }
                ColumnRole::Score(number) => {
                    let values = block.scores.get_mut(number)?;
                    if rows.digits(column.at, digits) {
                        values.extend_bytes(digits);
                    } else {
                        rows.texts(column.at).for_each(|text| cell::push_score(values, text));
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    fn row(&self, row: &DelimitedRow<'_>, block: &mut ColumnBlock) -> Result<(), ReadError> {
        for column in &self.layout.columns {
            let text = row.text(column)?;
            match column.role {
                ColumnRole::Id if text.is_empty() => {
                    return Err(row.error(TableErrorKind::BadId { found: "empty".to_owned() }));
                }
                ColumnRole::Id => block.ids.push(text),
                ColumnRole::Epoch => {
                    block.epochs.push(cell::epoch(text).map_err(|kind| row.error(kind))?);
                }
                ColumnRole::Metadata(number) => {
                    block.metadata.get_mut(number).into_iter().for_each(|values| push_metadata(values, text));
                }
                ColumnRole::Score(number) => {
                    block
                        .scores
                        .get_mut(number)
                        .into_iter()
                        .for_each(|values| cell::push_score(values, text));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Memory that a piece is parsed with.
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
