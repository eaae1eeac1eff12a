//! The rows of a piece as a block, column by column where all rows are whole.

use std::str;

use errorbar_core::engine::{ColumnBlock, MetadataColumn, ValueColumn};
use memchr::{memchr_iter, memchr2};
use serde_json::Value as Json;

use super::fields::append_separators;
use super::pieces::Piece;
use super::{DelimitedRow, DelimitedSource, LONG_PIECE};
use crate::blocks::text_column;
use crate::layout::{ColumnRole, TableColumn};
use crate::{TableError, TableErrorKind, cell};

impl DelimitedSource<'_> {
    /// Reads the rows of a piece into a block.
    pub(super) fn parse_piece(
        &self,
        piece: &Piece,
        scratch: &mut Scratch,
        block: &mut ColumnBlock,
    ) -> Result<(), TableError> {
        block.widen(self.layout.scores.len(), self.layout.metadata.len());
        let is_plain = !self.layout.is_numbered
            && piece.unclosed.is_none()
            && memchr2(b'"', b'\r', &piece.bytes).is_none();
        if is_plain
            && let Ok(text) = str::from_utf8(&piece.bytes)
            && self.regular(text, scratch, block).is_some()
        {
            return Ok(());
        }
        // The rows one by one, to report what is wrong and where, or to skip what is not a row.
        block.clear();
        let is_long = piece.bytes.len() >= LONG_PIECE;
        self.for_each_row(piece, |row| {
            self.row(row, block)?;
            // A long row can hold a structure that takes many times the bytes that it is written in.
            if is_long {
                self.budget.check(block.heap_bytes() as u64).map_err(|kind| row.error(kind))
            } else {
                Ok(())
            }
        })
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
            let texts = rows.texts(column.at);
            match column.role {
                ColumnRole::Id => {
                    for id in texts {
                        if id.is_empty() {
                            return None;
                        }
                        block.ids.push(id);
                    }
                }
                ColumnRole::Epoch if rows.digits(column.at, digits) => block.epochs.extend_bytes(digits),
                ColumnRole::Epoch => {
                    for text in texts {
                        block.epochs.push(cell::epoch(text).ok()?);
                    }
                }
                ColumnRole::Score(number) => {
                    let values = block.scores.get_mut(number)?;
                    if rows.digits(column.at, digits) {
                        values.extend_bytes(digits);
                    } else {
                        for text in texts {
                            self.push_score(values, column, text).ok()?;
                        }
                    }
                }
                ColumnRole::Error => {
                    let errored = (0..).zip(texts).filter(|(_, text)| !text.is_empty());
                    block.errored.extend(errored.map(|(row, _)| row));
                }
                ColumnRole::Metadata(number) => {
                    let values = block.metadata.get_mut(number)?;
                    texts.for_each(|text| push_metadata(values, text));
                }
                role => {
                    let values = text_column(block, role)?;
                    texts.for_each(|text| push_text(values, text));
                }
            }
        }
        Some(())
    }

    fn row(&self, row: &DelimitedRow<'_>, block: &mut ColumnBlock) -> Result<(), TableError> {
        let number = block.len();
        let mut id = "";
        for column in &self.layout.columns {
            let text = row.text(column)?;
            match column.role {
                ColumnRole::Id if text.is_empty() => {
                    return Err(row.error(TableErrorKind::BadId("empty".to_owned())));
                }
                ColumnRole::Id => id = text,
                ColumnRole::Epoch => {
                    block.epochs.push(cell::epoch(text).map_err(|kind| row.error(kind))?);
                }
                ColumnRole::Score(number) => {
                    if let Some(values) = block.scores.get_mut(number) {
                        self.push_score(values, column, text).map_err(|kind| row.error(kind))?;
                    }
                }
                ColumnRole::Error if text.is_empty() => {}
                ColumnRole::Error => block.errored.push(number as u32),
                ColumnRole::Metadata(number) => {
                    block.metadata.get_mut(number).into_iter().for_each(|values| push_metadata(values, text));
                }
                role => text_column(block, role).into_iter().for_each(|values| push_text(values, text)),
            }
        }
        // At the end, because it makes a row of the cells. A number is known when the rows of the pieces before are.
        block.ids.push(id);
        Ok(())
    }

    #[inline]
    fn push_score(
        &self,
        values: &mut ValueColumn,
        column: &TableColumn,
        text: &str,
    ) -> Result<(), TableErrorKind> {
        let structures = self.layout.has_structured_text().then_some((column.name.as_str(), self.budget));
        cell::push_score(values, text, structures)
    }
}

/// Memory that a piece is parsed with.
#[derive(Default)]
pub(super) struct Scratch {
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
    /// Whether each row has its number of fields and ends with one of the line feeds, or with the text.
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

/// Appends a string; an empty one is absent.
#[inline]
fn push_text(column: &mut MetadataColumn, text: &str) {
    if text.is_empty() { column.push_absent() } else { column.push_text(text) }
}
