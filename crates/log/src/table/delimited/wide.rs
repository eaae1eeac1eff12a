//! Delimited tables with a row per sample and epoch, on all threads.
//!
//! Workers take piece after piece, each with a block of columns to parse it into, and append blocks in the order of
//! the file. There are enough blocks that a worker seldom waits for one; a block is taken before its piece, so that
//! the piece whose turn it is always has one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::str;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use errorbar_core::{ColumnBlock, MetadataColumn, ScoreColumns};
use memchr::{memchr_iter, memchr2};
use serde_json::Value as Json;

use super::fields::append_separators;
use super::pieces::{Piece, PieceReader};
use super::{DelimitedReader, DelimitedRow, LONG_PIECE};
use crate::table::layout::ColumnRole;
use crate::table::{TableError, TableErrorKind, cell};

/// The rows that memory is reserved for at the start, at most: the size of a file is only a hint.
const MOST_RESERVED: usize = 1 << 24;

/// The memory of the columns is checked after this many blocks, and at the end.
const CHECK_EVERY: usize = 16;

/// Where workers get pieces, and blocks that are free.
type PieceQueue<'a> = Mutex<(&'a mut PieceReader, Receiver<ColumnBlock>)>;

/// What was read so far.
struct Appended {
    columns: ScoreColumns,
    /// Blocks that came before their turn, which is that of the number `next`.
    early: BTreeMap<usize, Result<ColumnBlock, TableError>>,
    next: usize,
    /// Where blocks go that are free again; none once something failed, which ends all workers.
    free: Option<Sender<ColumnBlock>>,
    error: Option<TableError>,
}

impl DelimitedReader<'_> {
    /// Reads a table with a row per sample and epoch.
    pub(super) fn read_wide(&self, pieces: &mut PieceReader) -> Result<ScoreColumns, TableError> {
        let expected = pieces.estimate();
        let workers = rayon::current_num_threads().min(expected).max(1);
        let (free, free_blocks) = channel();
        for _ in 0..workers + 3 {
            let _ = free.send(ColumnBlock::new(self.layout.scores.len(), self.layout.metadata.len()));
        }
        let queue = Mutex::new((pieces, free_blocks));
        let columns = ScoreColumns::new(&self.layout.scores);
        let appended =
            Mutex::new(Appended { columns, early: BTreeMap::new(), next: 0, free: Some(free), error: None });
        rayon::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|_| {
                    let work = AssertUnwindSafe(|| self.work(&queue, &appended, expected));
                    if let Err(panic) = catch_unwind(work) {
                        // Others must not wait for the block that this one took.
                        lock(&appended).free = None;
                        resume_unwind(panic);
                    }
                });
            }
        });
        let Appended { columns, error, .. } = appended.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(columns), Err)
    }

    /// Parses and appends piece after piece, until the file ends or something fails.
    fn work(&self, queue: &PieceQueue<'_>, appended: &Mutex<Appended>, expected: usize) {
        let (mut piece, mut scratch) = (Piece::default(), Scratch::default());
        loop {
            let (mut block, read) = {
                let (pieces, free) = &mut *lock(queue);
                let Ok(block) = free.recv() else { return };
                (block, pieces.next(&mut piece))
            };
            let parsed = match read {
                Ok(true) => self.parse(&piece, &mut scratch, &mut block).map(|()| block),
                Ok(false) => return,
                Err(error) => Err(error),
            };
            self.append_in_turn(&mut lock(appended), piece.number, parsed, expected);
        }
    }

    /// Appends a block and those that waited for it, or leaves it to wait for its turn. The first error of the file is
    /// the one that counts.
    fn append_in_turn(
        &self,
        appended: &mut Appended,
        number: usize,
        block: Result<ColumnBlock, TableError>,
        expected: usize,
    ) {
        appended.early.insert(number, block);
        while appended.error.is_none()
            && let Some(block) = appended.early.remove(&appended.next)
        {
            appended.next += 1;
            let (number, columns) = (appended.next, &mut appended.columns);
            match block.and_then(|block| self.append(block, columns, number, expected)) {
                Ok(block) => {
                    if let Some(free) = &appended.free {
                        let _ = free.send(block);
                    }
                }
                Err(error) => (appended.free, appended.error) = (None, Some(error)),
            }
        }
    }

    /// Appends the rows of a block, and gives it back empty.
    fn append(
        &self,
        mut block: ColumnBlock,
        columns: &mut ScoreColumns,
        number: usize,
        expected: usize,
    ) -> Result<ColumnBlock, TableError> {
        let rows = columns.len() as u64;
        if self.layout.is_numbered {
            let count = std::mem::take(&mut block.ids).len() as u64;
            (rows + 1..=rows + count).for_each(|number| block.ids.push(&number.to_string()));
        }
        if rows == 0 {
            let rows = block.ids.len().saturating_mul(expected).min(MOST_RESERVED);
            columns.reserve(rows, self.layout.metadata());
        }
        if rows + block.ids.len() as u64 > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.in_row(u64::from(u32::MAX) + 1));
        }
        columns.append(self.layout.metadata(), &mut block);
        // Adding up what is held takes a look at all chunks of ids, so not each time.
        if number.is_multiple_of(CHECK_EVERY) || number + 1 >= expected {
            self.budget.check(columns.heap_bytes() as u64)?;
        }
        Ok(block)
    }

    /// Reads the rows of a piece into a block.
    fn parse(&self, piece: &Piece, scratch: &mut Scratch, block: &mut ColumnBlock) -> Result<(), TableError> {
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
        self.for_each_row(piece, |row| self.row(row, block))
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

    fn row(&self, row: &DelimitedRow<'_>, block: &mut ColumnBlock) -> Result<(), TableError> {
        if self.layout.is_numbered {
            // Its number is known when the rows of the pieces before are.
            block.ids.push("");
        }
        for column in &self.layout.columns {
            let text = row.text(column)?;
            match column.role {
                ColumnRole::Id if text.is_empty() => {
                    return Err(row.error(TableErrorKind::BadId("empty".to_owned())));
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
