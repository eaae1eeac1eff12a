//! Parquet tables with a row per sample and epoch: a thread per column.

use std::sync::PoisonError;

use errorbar_core::{ColumnBlock, EpochColumn, MetadataColumn, ScoreColumns, TextColumn, ValueColumn};
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::column::{ColumnDecoder, ParquetCell, column_problem};
use super::types::ValueKind;
use super::{ParquetColumn, ParquetTable, epoch_of, id_into, metadata_of, rows_of, score_of};
use crate::table::layout::ColumnRole;
use crate::table::limits::Budget;
use crate::table::long::value_bytes;
use crate::table::{TableError, TableErrorKind};

pub(super) fn read(
    table: &ParquetTable<'_>,
    columns: &[ParquetColumn<'_>],
) -> Result<ScoreColumns, TableError> {
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

/// Pages are read ahead in row groups of at most this many columns, so that no stack grows with the columns.
const MOST_COLUMNS_AHEAD: usize = 64;
/// A page from which on only one is in memory at a time.
const LARGE_PAGE: u64 = 16 << 20;

/// What is wrong with a row, counted within its row group from 0.
struct RowError {
    row: usize,
    kind: Box<TableErrorKind>,
}

/// Reads a row group into a block. Of several errors the one in the first row is reported, and of those in one
/// row that of the first column.
fn read_row_group(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    columns: &[ParquetColumn<'_>],
    block: &mut ColumnBlock,
) -> Result<(), RowError> {
    let budget = table.budget;
    // Columns are in the order of their roles, and so are the sinks.
    let with_role = |is_wanted: fn(ColumnRole) -> bool| {
        columns.iter().copied().filter(move |column| is_wanted(column.column.role))
    };
    let mut sinks: Vec<CellSink<'_>> = vec![id_sink(&mut block.ids, table.held.left(), budget)];
    if with_role(|role| role == ColumnRole::Epoch).next().is_some() {
        sinks.push(epoch_sink(&mut block.epochs));
    }
    let metadata = with_role(|role| matches!(role, ColumnRole::Metadata(_)));
    sinks.extend(block.metadata.iter_mut().zip(metadata).map(|(to, from)| metadata_sink(to, from, budget)));
    let scores = with_role(|role| matches!(role, ColumnRole::Score(_)));
    sinks.extend(block.scores.iter_mut().zip(scores).map(|(to, from)| score_sink(to, from, budget)));
    let tasks: Vec<_> = columns.iter().copied().zip(sinks).collect();
    let read = |(column, mut sink): (ParquetColumn<'_>, CellSink<'_>)| {
        let mut row = 0;
        read_column(table, group, column, &mut row, &mut sink)
            .err()
            .map(|kind| RowError { row, kind: Box::new(kind) })
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
    sink: &mut CellSink<'_>,
) -> Result<(), TableErrorKind> {
    let checked = table.open(group, column)?;
    // One thread at a time has pages that are large; it does not wait for others meanwhile.
    let is_large = checked.largest_page > LARGE_PAGE;
    let _alone = is_large.then(|| table.large.lock().unwrap_or_else(PoisonError::into_inner));
    // A thread that waits for a page takes up another column, on top of the one that waits.
    let reads_ahead = !is_large && group.num_columns() <= MOST_COLUMNS_AHEAD;
    let mut held = 0;
    let (mut pages, mut decoder) = table.decoder(checked, column)?;
    let mut next = pages.next()?;
    while let Some(page) = next.take() {
        decoder.set_page(page);
        let mut decode = || -> Result<(), TableErrorKind> {
            while decoder.decode()? {
                table.held.grow(&mut held, sink(&decoder, row)?)?;
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

/// Takes a batch of the cells of a column, counts them, and returns how many bytes it holds by now.
type CellSink<'a> = Box<dyn FnMut(&ColumnDecoder<'_>, &mut usize) -> Result<u64, TableErrorKind> + Send + 'a>;

/// Ids may have `left` bytes: a cell of a dictionary can stand in any number of rows.
fn id_sink(ids: &mut TextColumn, mut left: u64, budget: Budget) -> CellSink<'_> {
    let mut digits = String::new();
    Box::new(move |batch, row| {
        batch.for_each(row, |cell| {
            match cell {
                ParquetCell::Text(id) if !id.is_empty() => {
                    left = left.checked_sub(id.len() as u64).ok_or_else(|| budget.refusal())?;
                    ids.push(id);
                }
                cell => {
                    digits.clear();
                    id_into(&mut digits, cell)?;
                    ids.push(&digits);
                }
            }
            Ok(())
        })?;
        Ok(ids.heap_bytes() as u64)
    })
}

fn epoch_sink(epochs: &mut EpochColumn) -> CellSink<'_> {
    Box::new(|batch, row| {
        match batch.bytes().filter(|bytes| !bytes.contains(&0)) {
            Some(bytes) => {
                epochs.extend_bytes(&bytes);
                *row += bytes.len();
            }
            None => batch.for_each(row, |cell| epoch_of(cell).map(|epoch| epochs.push(epoch)))?,
        }
        Ok(epochs.heap_bytes() as u64)
    })
}

fn metadata_sink<'a>(
    values: &'a mut MetadataColumn,
    column: ParquetColumn<'a>,
    budget: Budget,
) -> CellSink<'a> {
    let kind = column.kind;
    Box::new(move |batch, row| {
        // All at once looks at the whole dictionary, which does not pay for a few cells.
        let coded = batch.numbers().filter(|(texts, numbers)| numbers.len() >= texts.len() / 8);
        if let Some((texts, numbers)) = coded.filter(|_| kind == ValueKind::Text)
            && let Some(texts) = texts.all()
        {
            let numbers: Vec<u32> = numbers.iter().map(|number| number.cast_unsigned()).collect();
            values.extend_coded(&texts, &numbers);
            *row += numbers.len();
        } else {
            batch.for_each(row, |cell| {
                match cell {
                    ParquetCell::Text(text) if kind == ValueKind::Text => values.push_text(text),
                    cell => values.push(&metadata_of(cell, kind, column.name(), budget)?),
                }
                Ok(())
            })?;
        }
        Ok(values.heap_bytes() as u64)
    })
}

fn score_sink<'a>(values: &'a mut ValueColumn, column: ParquetColumn<'a>, budget: Budget) -> CellSink<'a> {
    let kind = column.kind;
    // What the items of lists and maps take.
    let mut nested = 0;
    Box::new(move |batch, row| {
        if let Some(bytes) = batch.bytes() {
            values.extend_bytes(&bytes);
            *row += bytes.len();
            return Ok(values.heap_bytes() as u64 + nested);
        }
        batch.for_each(row, |cell| {
            match cell {
                ParquetCell::Int(int) => values.push_int(int),
                ParquetCell::Float(float) => values.push_float(float),
                ParquetCell::Text(text) if kind == ValueKind::Text => values.push_text(text),
                cell => {
                    let score = score_of(cell, kind, column.name(), budget)?;
                    nested += score.as_ref().map_or(0, value_bytes);
                    budget.check(nested)?;
                    values.push(score);
                }
            }
            Ok(())
        })?;
        Ok(values.heap_bytes() as u64 + nested)
    })
}
