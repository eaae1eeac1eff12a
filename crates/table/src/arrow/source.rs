//! Batches as blocks, on all threads.

use std::sync::Mutex;

use arrow_array::RecordBatch;
use errorbar_core::engine::{BUCKETS, ColumnBlock};

use super::cells::ArrowColumn;
use super::{ArrowTable, ReadColumn};
use crate::blocks::{RowSource, lock, text_column};
use crate::builder::TableBuilder;
use crate::layout::{ColumnRole, TableLayout};
use crate::limits::Budget;
use crate::location::RowLocations;
use crate::typed::{TypedCell, ValueKind, epoch_of, push_error, push_id, push_metadata, push_text, score_of};
use crate::{TableError, TableErrorKind, cell};

/// How many rows a piece has, at most; small batches are put together.
const PIECE_ROWS: usize = 1 << 16;

pub(super) struct ArrowSource<'a> {
    table: &'a ArrowTable,
    layout: &'a TableLayout,
    columns: Vec<ReadColumn<'a>>,
    budget: Budget,
    position: Mutex<Position>,
}

/// How far the stream has been read.
#[derive(Default)]
struct Position {
    batch: usize,
    /// What is left of a batch that is larger than a piece.
    rest: Option<RecordBatch>,
    rows: u64,
    pieces: usize,
    is_end: bool,
}

/// Some rows.
#[derive(Default)]
pub(super) struct Piece {
    batches: Vec<RecordBatch>,
    /// The number of rows before them.
    start: u64,
}

/// What is wrong with a row of a piece, counted from 0.
struct RowError {
    row: usize,
    kind: Box<TableErrorKind>,
}

impl<'a> ArrowSource<'a> {
    pub(super) fn new(
        table: &'a ArrowTable,
        layout: &'a TableLayout,
        columns: Vec<ReadColumn<'a>>,
        budget: Budget,
    ) -> Self {
        ArrowSource { table, layout, columns, budget, position: Mutex::default() }
    }

    /// The next batches; false at the end.
    fn fill(&self, position: &mut Position, piece: &mut Piece) -> Result<bool, TableErrorKind> {
        let mut rows = 0;
        while rows < PIECE_ROWS && !position.is_end {
            let batch = match position.rest.take() {
                Some(rest) => rest,
                None => match self.table.lock().batch(position.batch)? {
                    Some(batch) => {
                        position.batch += 1;
                        // Once for all of it: pieces of it share dictionaries and the items of lists.
                        self.check(&batch)?;
                        batch
                    }
                    None => {
                        position.is_end = true;
                        break;
                    }
                },
            };
            let taken = batch.num_rows().min(PIECE_ROWS - rows);
            if taken < batch.num_rows() {
                position.rest = Some(batch.slice(taken, batch.num_rows() - taken));
            }
            if taken > 0 {
                piece.batches.push(batch.slice(0, taken));
            }
            rows += taken;
        }
        position.rows += rows as u64;
        Ok(rows > 0)
    }

    /// Refuses a batch with a column that is read and invalid.
    fn check(&self, batch: &RecordBatch) -> Result<(), TableErrorKind> {
        self.columns.iter().try_for_each(|column| {
            let invalid = |problem: String| {
                let problem =
                    format!("the column `{}` is no valid Arrow array: {problem}", column.column.name);
                TableErrorKind::invalid(problem, "make the column anew; strings must be UTF-8")
            };
            column.path.check(batch).map_err(invalid)
        })
    }

    /// Reads the first rows of a piece into an empty block, all of them or as many as are good.
    fn parse_rows(&self, piece: &Piece, most: usize, block: &mut ColumnBlock) -> Result<(), RowError> {
        block.widen(self.layout.scores.len(), self.layout.metadata.len());
        let mut start = 0;
        for batch in &piece.batches {
            let batch = batch.slice(0, batch.num_rows().min(most - start));
            let mut errors = Vec::new();
            for column in &self.columns {
                let Some(cells) = column.path.column(&batch) else { continue };
                let mut row = start;
                errors.extend(
                    self.column(column, &cells, &mut row, block)
                        .err()
                        .map(|kind| RowError { row, kind: Box::new(kind) }),
                );
            }
            // Of several errors that of the first row, and there that of the first column.
            if let Some(error) = errors.into_iter().min_by_key(|error| error.row) {
                return Err(error);
            }
            start += batch.num_rows();
            if self.layout.is_numbered {
                // The builder numbers them.
                (0..batch.num_rows()).for_each(|_| block.ids.push(""));
            }
            if start >= most {
                break;
            }
        }
        Ok(())
    }

    /// Appends the cells of a column, and counts them.
    fn column(
        &self,
        column: &ReadColumn<'_>,
        cells: &ArrowColumn,
        row: &mut usize,
        block: &mut ColumnBlock,
    ) -> Result<(), TableErrorKind> {
        match column.column.role {
            ColumnRole::Id => {
                if cells.extend_ids(&mut block.ids) {
                    *row += cells.len();
                    return Ok(());
                }
                let mut digits = String::new();
                cells.for_each(row, |cell| push_id(&mut block.ids, cell, &mut digits))
            }
            ColumnRole::Epoch => match cells.bytes() {
                Some(bytes) => {
                    block.epochs.extend_bytes(&bytes);
                    *row += bytes.len();
                    Ok(())
                }
                None => cells.for_each(row, |cell| epoch_of(cell).map(|epoch| block.epochs.push(epoch))),
            },
            ColumnRole::Bucket => {
                let buckets = &mut block.labels.buckets;
                if let Some(narrowed) = cells.narrowed(i64::from(BUCKETS) - 1, |int| int as u16) {
                    buckets.extend_from_slice(&narrowed);
                    *row += narrowed.len();
                    return Ok(());
                }
                let bad = || {
                    let name = &column.column.name;
                    let problem = format!("a hash bucket in the column `{name}` is no number from 0 to 4095");
                    let hint = "compute the bucket of every row from group and id alone";
                    TableErrorKind::invalid(problem, hint)
                };
                cells.for_each(row, |cell| {
                    buckets.push(bucket_of(cell).ok_or_else(bad)?);
                    Ok(())
                })
            }
            ColumnRole::Score(at) => self.scores(column, cells, row, block, at),
            ColumnRole::Metadata(at) => {
                let Some(values) = block.metadata.get_mut(at) else { return Ok(()) };
                if column.kind == ValueKind::Nested {
                    (0..cells.len()).for_each(|at| values.push(&cells.json(at)));
                    *row += cells.len();
                    return Ok(());
                }
                if let Some((texts, codes)) = cells.coded() {
                    values.extend_coded(&texts, &codes);
                    *row += codes.len();
                    return Ok(());
                }
                let name = column.column.name.as_str();
                cells.for_each(row, |cell| push_metadata(values, cell, column.kind, name, self.budget))
            }
            ColumnRole::Error => {
                let mut number = *row as u32;
                cells.for_each(row, |cell| {
                    push_error(&mut block.errored, cell, &mut number);
                    Ok(())
                })
            }
            role => {
                let Some(texts) = text_column(block, role) else { return Ok(()) };
                cells.for_each(row, |cell| {
                    push_text(texts, cell);
                    Ok(())
                })
            }
        }
    }

    /// Appends scores; a column that holds grades or maps beside numbers may hold them all as strings, as a CSV does.
    fn scores(
        &self,
        column: &ReadColumn<'_>,
        cells: &ArrowColumn,
        row: &mut usize,
        block: &mut ColumnBlock,
        at: usize,
    ) -> Result<(), TableErrorKind> {
        let Some(values) = block.scores.get_mut(at) else { return Ok(()) };
        let name = column.column.name.as_str();
        if column.kind == ValueKind::Nested {
            for at in 0..cells.len() {
                let nested = |found| TableErrorKind::nested_score(name, found);
                values.push(cells.structure(at).map_err(nested)?);
                *row += 1;
            }
            return Ok(());
        }
        if let Some(bytes) = cells.bytes() {
            values.extend_bytes(&bytes);
            *row += bytes.len();
            return Ok(());
        }
        let structures = self.layout.has_structured_text().then_some((name, self.budget));
        cells.for_each(row, |cell| {
            match cell {
                TypedCell::Int(int) => values.push_int(int),
                TypedCell::Float(float) => values.push_float(float),
                TypedCell::Text(text) if structures.is_none() => values.push_text(text),
                TypedCell::Text(text) => cell::push_score(values, text, structures)?,
                cell => values.push(score_of(cell)),
            }
            Ok(())
        })
    }
}

impl RowSource for ArrowSource<'_> {
    type Piece = Piece;

    fn estimate(&self) -> usize {
        let first = || {
            let mut stream = self.table.lock();
            // A table of one batch is known as a whole; of others at least the first.
            stream.first(1).ok();
            stream.batches.iter().flatten().map(RecordBatch::num_rows).sum()
        };
        self.table.rows.unwrap_or_else(first).div_ceil(PIECE_ROWS).max(1)
    }

    fn next(&self, piece: &mut Piece) -> Option<(usize, Result<(), TableError>)> {
        piece.batches.clear();
        let position = &mut *lock(&self.position);
        piece.start = position.rows;
        let filled = self.fill(position, piece);
        let number = position.pieces;
        position.pieces += 1;
        match filled {
            Ok(true) => Some((number, Ok(()))),
            Ok(false) => None,
            Err(kind) => {
                position.is_end = true;
                Some((number, Err(kind.into())))
            }
        }
    }

    fn is_large(&self, _: &Piece) -> bool {
        false
    }

    fn parse(&self, piece: &mut Piece, block: &mut ColumnBlock) -> Result<(), TableError> {
        let parsed = self.parse_rows(piece, usize::MAX, block);
        let parsed = parsed.map_err(|RowError { row, kind }| {
            let has_id = row < block.ids.len() && !self.layout.is_numbered;
            let sample = if has_id { block.ids.get(row).to_owned() } else { String::new() };
            let part = block.labels.parts.text(row).map(str::to_owned);
            // The rows before it may hold an error that comes first.
            block.clear();
            let _ = self.parse_rows(piece, row, block);
            kind.in_row(piece.start + row as u64 + 1).of_sample(&sample).of_part(part.as_deref())
        });
        // Not needed any more, and perhaps large.
        piece.batches.clear();
        parsed
    }

    fn append(
        &self,
        _: &mut Piece,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        builder.append(self.layout, block, &RowLocations::default())
    }
}

/// The hash bucket of a cell, if it is one.
#[inline]
fn bucket_of(cell: TypedCell<'_>) -> Option<u16> {
    let bucket = match cell {
        TypedCell::Int(int) => u16::try_from(int).ok(),
        TypedCell::Unsigned(int) => u16::try_from(int).ok(),
        _ => None,
    };
    bucket.filter(|bucket| *bucket < BUCKETS)
}
