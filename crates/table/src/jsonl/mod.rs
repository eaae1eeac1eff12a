//! Tables as JSON lines: one object a row, read in pieces on all threads.

mod keys;
mod lines;
mod parse;
mod paths;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use errorbar_core::engine::ColumnBlock;

use self::keys::{LateKeys, LineKeys};
use self::lines::{LONG_PIECE, LinePiece, LineReader};
use self::parse::LineParser;
use super::blocks::{RowSource, lock, read_blocks};
use super::builder::TableBuilder;
use super::error::{MISSING, TableError, TableLocation};
use super::input::InputBytes;
use super::limits::Budget;
use super::{ScoreTable, TableErrorKind, TableOptions};
use crate::delimited::line_at;

pub(super) fn read(file: InputBytes, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let mut lines = LineReader::new(file, options.limits);
    rows(&mut lines, options).map_err(|error| {
        error.locate(|location| {
            let offset = match location {
                TableLocation::Offset(offset) => Some(offset),
                TableLocation::Row(row) => lines.offset_of_row(row),
                TableLocation::Line(_) | TableLocation::Unordered => return location,
            };
            let line = offset.and_then(|offset| line_at(lines.file(), offset).ok());
            line.map_or(location, TableLocation::Line)
        })
    })
}

fn rows(lines: &mut LineReader, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let budget = options.limits.budget(lines.file());
    let keys = LineKeys::first(lines, options)?;
    let mut source = LineSource::new(keys, lines, options, budget)?;
    let mut read = read_blocks(&source, budget);
    if source.has_other_keys.load(Ordering::Relaxed) {
        let keys = LineKeys::all(lines, options)?;
        source = LineSource::new(keys, lines, options, budget)?;
        read = read_blocks(&source, budget);
    }
    let tables = read?.finish(&source.keys().layout)?;
    // Where epochs are counted from 0, a line that has none is of no certain epoch.
    match source.without_epoch.load(Ordering::Relaxed) {
        offset if offset < u64::MAX && tables.iter().any(|table| table.epochs_from_zero) => {
            Err(TableErrorKind::BadEpoch(MISSING.to_owned()).at_offset(offset))
        }
        _ => Ok(tables),
    }
}

/// What rows are read by.
struct LineSource<'a> {
    /// More as lines have them.
    keys: RwLock<Arc<LineKeys>>,
    lines: Mutex<&'a mut LineReader>,
    options: &'a TableOptions,
    budget: Budget,
    /// Whether a key came up that makes others something else.
    has_other_keys: AtomicBool,
    /// The first line that has no epoch.
    without_epoch: AtomicU64,
}

impl<'a> LineSource<'a> {
    fn new(
        keys: LineKeys,
        lines: &'a mut LineReader,
        options: &'a TableOptions,
        budget: Budget,
    ) -> Result<Self, TableErrorKind> {
        lines.rewind()?;
        Ok(LineSource {
            keys: RwLock::new(Arc::new(keys)),
            lines: Mutex::new(lines),
            options,
            budget,
            has_other_keys: AtomicBool::new(false),
            without_epoch: AtomicU64::new(u64::MAX),
        })
    }

    fn keys(&self) -> Arc<LineKeys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RowSource for LineSource<'_> {
    type Piece = LinePiece;
    type Scratch = ();

    fn estimate(&self) -> usize {
        lock(&self.lines).estimate()
    }

    fn next(&self, piece: &mut LinePiece) -> Option<(usize, Result<(), TableError>)> {
        match lock(&self.lines).next(piece) {
            Ok(true) => Some((piece.number, Ok(()))),
            Ok(false) => None,
            Err(error) => Some((piece.number, Err(error))),
        }
    }

    fn is_large(&self, piece: &LinePiece) -> bool {
        piece.bytes.len() >= LONG_PIECE
    }

    fn parse(&self, piece: &mut LinePiece, (): &mut (), block: &mut ColumnBlock) -> Result<(), TableError> {
        let keys = self.keys();
        block.widen(keys.layout.scores.len(), keys.layout.metadata.len());
        let (options, budget) = (self.options, self.budget);
        let (id, has_epoch, new_keys) = (String::new(), false, Vec::new());
        let mut parser = LineParser { keys: &keys, options, budget, id, has_epoch, new_keys };
        let mut new_keys = std::mem::take(&mut piece.new_keys);
        let parsed = piece.lines().try_for_each(|(offset, line)| {
            let text =
                str::from_utf8(line).map_err(|_| TableErrorKind::InvalidUtf8(None).at_offset(offset))?;
            let parsed = parser.parse(text, block).and_then(|()| match self.is_large(piece) {
                true => budget.check(block.heap_bytes() as u64),
                false => Ok(()),
            });
            parsed.map_err(|kind| kind.at_offset(offset).of_sample(&parser.id))?;
            new_keys.extend(parser.new_keys.drain(..).map(|key| (key, offset)));
            if !parser.has_epoch && self.without_epoch.load(Ordering::Relaxed) > offset {
                self.without_epoch.fetch_min(offset, Ordering::Relaxed);
            }
            Ok(())
        });
        piece.new_keys = new_keys;
        parsed
    }

    fn append(
        &self,
        piece: &mut LinePiece,
        (): &mut (),
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        if !piece.new_keys.is_empty() {
            let (keys, is_read) = match self.keys().with(piece, self.options)? {
                LateKeys::Skipped(keys) => (keys, false),
                LateKeys::Read(keys) => (keys, true),
                LateKeys::Others => {
                    self.has_other_keys.store(true, Ordering::Relaxed);
                    return Err(TableErrorKind::Empty.into());
                }
            };
            // A key that comes up late has a place in every row before.
            self.budget.check(builder.rows().saturating_mul(keys.layout.metadata.len() as u64 * 4))?;
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
            if is_read {
                piece.new_keys.clear();
                block.clear();
                self.parse(piece, &mut (), block)?;
            }
        }
        builder.append(&self.keys().layout, block)
    }
}
