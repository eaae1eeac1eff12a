//! Parquet tables with a row per sample and epoch: a thread per column.

use std::sync::PoisonError;

use errorbar_core::{ColumnBlock, EpochColumn, MetadataColumn, ScoreColumns, TextColumn, ValueColumn};
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::column::{ColumnDecoder, ParquetCell, column_problem};
use super::types::ValueKind;
use super::{ParquetColumn, ParquetTable, epoch_of, id_into, metadata_of, rows_of, score_of};
use crate::table::TableErrorKind;
use crate::table::error::ReadError;
use crate::table::layout::ColumnRole;
use crate::table::limits::Budget;
use crate::table::long::value_bytes;

pub(super) fn read(
    table: &ParquetTable<'_>,
    columns: &[ParquetColumn<'_>],
) -> Result<ScoreColumns, ReadError> {
    let layout = table.layout;
    let mut result = ScoreColumns::new(&layout.scores);
    let mut block = ColumnBlock::new(layout.scores.len(), layout.metadata.len());
    for group in table.metadata.row_groups().iter().filter(|group| rows_of(group) > 0) {
        let rows_before = result.len() as u64;
        if rows_before.saturating_add(rows_of(group) as u64) > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.into());
        }
        table.held.restart(result.heap_bytes() as u64)?;
        if let Err(RowError { row, kind }) = read_row_group(table, group, columns, &mut block) {
            return Err(kind.in_row_of(rows_before + row as u64 + 1, block.ids.get(row)));
        }
        result.append(layout.metadata(), &mut block);
    }
    table.held.restart(result.heap_bytes() as u64)?;
    Ok(result)
}

/// Pages are read ahead in row groups of so many columns, so that no stack grows with the columns.
const MOST_COLUMNS_AHEAD: usize = 64;
/// A page from which on only one is in memory at a time.
const LARGE_PAGE: u64 = 16 << 20;

/// What is wrong with a row, counted within its row group from 0.
struct RowError {
    row: usize,
    kind: TableErrorKind,
}

/// Reads a row group into a block. Of several errors the one in the first row is reported, and of those in one
/// row that of the first column.
fn read_row_group(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    columns: &[ParquetColumn<'_>],
    block: &mut ColumnBlock,
) -> Result<(), RowError> {
    let (budget, left) = (table.budget, table.held.column().left());
    // Columns are in the order of their roles, and so are the sinks.
    let with_role = |is_wanted: fn(ColumnRole) -> bool| {
        columns.iter().copied().filter(move |column| is_wanted(column.column.role))
    };
    let mut sinks: Vec<Box<dyn CellSink + '_>> =
        vec![Box::new(IdSink { ids: &mut block.ids, digits: String::new(), left, budget })];
    if with_role(|role| role == ColumnRole::Epoch).next().is_some() {
        sinks.push(Box::new(EpochSink(&mut block.epochs)));
    }
    let metadata = with_role(|role| matches!(role, ColumnRole::Metadata(_)));
    for (values, column) in block.metadata.iter_mut().zip(metadata) {
        sinks.push(Box::new(MetadataSink { values, column, budget }));
    }
    let scores = with_role(|role| matches!(role, ColumnRole::Score(_)));
    for (values, column) in block.scores.iter_mut().zip(scores) {
        sinks.push(Box::new(ScoreSink { values, column, budget, nested: 0 }));
    }
    let tasks: Vec<_> = columns.iter().copied().zip(sinks).collect();
    let read = |(column, mut sink): (ParquetColumn<'_>, Box<dyn CellSink + '_>)| {
        let mut row = 0;
        read_column(table, group, column, &mut row, &mut *sink).err().map(|kind| RowError { row, kind })
    };
    let errors: Vec<RowError> = tasks.into_par_iter().with_max_len(1).filter_map(read).collect();
    errors.into_iter().min_by_key(|error| error.row).map_or(Ok(()), Err)
}

/// Gives the cells of a column to a sink, and counts them.
fn read_column(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    column: ParquetColumn<'_>,
    row: &mut usize,
    sink: &mut dyn CellSink,
) -> Result<(), TableErrorKind> {
    let checked = table.open(group, column)?;
    // One thread at a time has pages that are large; it does not wait for others meanwhile.
    let is_large = checked.largest_page > LARGE_PAGE;
    let _alone = is_large.then(|| table.large.lock().unwrap_or_else(PoisonError::into_inner));
    // A thread that waits for a page takes up another column, on top of the one that waits.
    let reads_ahead = !is_large && group.num_columns() <= MOST_COLUMNS_AHEAD;
    let held = table.held.column();
    let (mut pages, mut decoder) = table.decoder(checked, column)?;
    let mut next = pages.next()?;
    while let Some(page) = next.take() {
        decoder.set_page(page);
        let mut decode = || -> Result<(), TableErrorKind> {
            while decoder.decode()? {
                sink.take(&decoder, row)?;
                held.grow(sink.held())?;
            }
            Ok(())
        };
        // The next page is decompressed meanwhile, if a thread has nothing else to do.
        let (decoded, ahead) = match reads_ahead {
            true => rayon::join(decode, || pages.next()),
            false => (decode(), pages.next()),
        };
        decoded?;
        next = ahead?;
    }
    match rows_of(group) {
        rows if rows == *row => Ok(()),
        rows => Err(column_problem(column.name(), format!("it has {row} rows in a row group of {rows}"))),
    }
}

/// Takes the cells of a column, in order.
trait CellSink: Send {
    /// How many bytes it holds.
    fn held(&self) -> u64;

    /// Takes a batch of cells, counting them in `row`.
    fn take(&mut self, batch: &ColumnDecoder<'_>, row: &mut usize) -> Result<(), TableErrorKind>;
}

struct IdSink<'a> {
    ids: &'a mut TextColumn,
    digits: String,
    /// How many bytes they may still have: a cell of a dictionary can stand in any number of rows.
    left: u64,
    budget: Budget,
}

impl CellSink for IdSink<'_> {
    fn held(&self) -> u64 {
        self.ids.heap_bytes() as u64
    }

    fn take(&mut self, batch: &ColumnDecoder<'_>, row: &mut usize) -> Result<(), TableErrorKind> {
        batch.for_each(row, |cell| {
            match cell {
                ParquetCell::Text(id) if !id.is_empty() => {
                    self.left =
                        self.left.checked_sub(id.len() as u64).ok_or_else(|| self.budget.refusal())?;
                    self.ids.push(id);
                }
                cell => {
                    self.digits.clear();
                    id_into(&mut self.digits, cell)?;
                    self.ids.push(&self.digits);
                }
            }
            Ok(())
        })
    }
}

struct EpochSink<'a>(&'a mut EpochColumn);

impl CellSink for EpochSink<'_> {
    fn held(&self) -> u64 {
        self.0.heap_bytes() as u64
    }

    fn take(&mut self, batch: &ColumnDecoder<'_>, row: &mut usize) -> Result<(), TableErrorKind> {
        batch.for_each(row, |cell| epoch_of(cell).map(|epoch| self.0.push(epoch)))
    }
}

struct MetadataSink<'a> {
    values: &'a mut MetadataColumn,
    column: ParquetColumn<'a>,
    budget: Budget,
}

impl CellSink for MetadataSink<'_> {
    fn held(&self) -> u64 {
        self.values.heap_bytes() as u64
    }

    fn take(&mut self, batch: &ColumnDecoder<'_>, row: &mut usize) -> Result<(), TableErrorKind> {
        let kind = self.column.kind;
        // All at once looks at the whole dictionary, which does not pay for a few cells.
        let coded = batch.numbers().filter(|(texts, numbers)| numbers.len() >= texts.len() / 8);
        if let Some((texts, numbers)) = coded.filter(|_| kind == ValueKind::Text)
            && let Some(texts) = texts.all()
        {
            let numbers: Vec<u32> = numbers.iter().map(|number| number.cast_unsigned()).collect();
            self.values.extend_coded(&texts, &numbers);
            *row += numbers.len();
            return Ok(());
        }
        batch.for_each(row, |cell| {
            match cell {
                ParquetCell::Text(text) if kind == ValueKind::Text => self.values.push_text(text),
                cell => self.values.push(&metadata_of(cell, kind, self.column.name(), self.budget)?),
            }
            Ok(())
        })
    }
}

struct ScoreSink<'a> {
    values: &'a mut ValueColumn,
    column: ParquetColumn<'a>,
    budget: Budget,
    /// What the items of lists and maps take.
    nested: u64,
}

impl CellSink for ScoreSink<'_> {
    fn held(&self) -> u64 {
        self.values.heap_bytes() as u64 + self.nested
    }

    fn take(&mut self, batch: &ColumnDecoder<'_>, row: &mut usize) -> Result<(), TableErrorKind> {
        let kind = self.column.kind;
        batch.for_each(row, |cell| {
            match cell {
                ParquetCell::Int(int) => self.values.push_int(int),
                ParquetCell::Float(float) => self.values.push_float(float),
                ParquetCell::Text(text) if kind == ValueKind::Text => self.values.push_text(text),
                cell => {
                    let score = score_of(cell, kind, self.column.name(), self.budget)?;
                    self.nested += score.as_ref().map_or(0, value_bytes);
                    self.budget.check(self.nested)?;
                    self.values.push(score);
                }
            }
            Ok(())
        })
    }
}
