//! Row groups as blocks: a thread per column.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use errorbar_core::engine::ColumnBlock;
use parquet::basic::Compression;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use rayon::prelude::*;

use super::column::{ColumnDecoder, PageSource, column_problem, guarded};
use super::headers::largest_page;
use super::{ParquetColumn, ParquetTable, rows_of};
use crate::builder::TableBuilder;
use crate::limits::Budget;
use crate::location::RowLocations;
use crate::typed::{CellSink, RowError};
use crate::{TableError, TableErrorKind};

pub(super) fn read(
    table: &ParquetTable<'_>,
    columns: &[ParquetColumn<'_>],
) -> Result<TableBuilder, TableError> {
    let layout = table.layout;
    let mut builder = TableBuilder::new(table.budget);
    let mut block = ColumnBlock::new(layout.scores.len(), layout.metadata.len());
    for group in table.metadata.row_groups().iter().filter(|group| rows_of(group) > 0) {
        let rows_before = builder.rows();
        if rows_before.saturating_add(rows_of(group) as u64) > u64::from(u32::MAX) {
            return Err(TableErrorKind::too_many_rows().into());
        }
        table.held.restart(builder.heap_bytes())?;
        if let Err(RowError { row, kind }) = read_row_group(table, group, columns, &mut block) {
            return Err(kind.in_row_of(rows_before + row as u64 + 1, block.ids.get(row)));
        }
        if layout.is_numbered {
            // The builder numbers them.
            (0..rows_of(group)).for_each(|_| block.ids.push(""));
        }
        builder.append(layout, &mut block, &RowLocations::default())?;
    }
    table.held.restart(builder.heap_bytes())?;
    Ok(builder)
}

/// Pages are read ahead in row groups of at most this many columns, so that no stack grows with the columns.
const MOST_COLUMNS_AHEAD: usize = 64;
/// A page from which on only one is in memory at a time.
const LARGE_PAGE: u64 = 16 << 20;
/// Reads a row group into a block. Of several errors the one in the first row is reported, and of those in one
/// row that of the first column.
fn read_row_group(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    columns: &[ParquetColumn<'_>],
    block: &mut ColumnBlock,
) -> Result<(), RowError> {
    let sinks = CellSink::all(block, table.layout, columns, table.budget, table.held.left());
    let tasks: Vec<_> = columns.iter().zip(sinks).collect();
    let read = |(column, mut sink): (&ParquetColumn<'_>, CellSink<'_>)| {
        let mut row = 0;
        let read = read_column(table, group, column, &mut row, &mut sink);
        read.err().map(|kind| RowError { row, kind: Box::new(kind) })
    };
    let errors: Vec<RowError> = tasks.into_par_iter().with_max_len(1).filter_map(read).collect();
    RowError::first(errors)
}

/// Gives the cells of a column to a sink, and counts them.
fn read_column(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    column: &ParquetColumn<'_>,
    row: &mut usize,
    sink: &mut CellSink<'_>,
) -> Result<(), TableErrorKind> {
    let (name, rows) = (column.name(), rows_of(group));
    let problem = |problem: &str| column_problem(name, problem.to_owned());
    let chunk = group.columns().get(column.place).ok_or_else(|| problem("a row group lacks it"))?;
    if let Compression::BROTLI(_) = chunk.compression() {
        return Err(problem(
            "it is compressed with brotli, which is not supported; write it with zstd or snappy",
        ));
    }
    // A separate file handle: threads that share one would share its position too.
    let mut file = table.source.reopen().map_err(TableErrorKind::Open)?;
    let largest_page = largest_page(&mut file, chunk, name, rows, &table.work)?;
    // One thread at a time has pages that are large; it does not wait for others meanwhile.
    let is_large = largest_page > LARGE_PAGE;
    let _alone = is_large.then(|| table.large.lock().unwrap_or_else(PoisonError::into_inner));
    // A thread that waits for a page takes up another column, on top of the one that waits.
    let reads_ahead = !is_large && group.num_columns() <= MOST_COLUMNS_AHEAD;
    let mut held = 0;
    let pages = guarded(|| SerializedPageReader::new(Arc::new(file), chunk, rows, None));
    let mut pages = PageSource::new(name, pages.map_err(|found| column_problem(name, found))?, chunk);
    let mut decoder = ColumnDecoder::new(chunk, name, column.kind, largest_page, &table.work)?;
    let mut next = pages.next()?;
    while let Some(page) = next.take() {
        decoder.set_page(page);
        let mut decode = || -> Result<(), TableErrorKind> {
            while decoder.decode()? {
                sink.append(&decoder, row)?;
                table.held.grow(&mut held, sink.heap_bytes())?;
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
    match rows == *row {
        true => Ok(()),
        false => Err(column_problem(name, format!("it has {row} rows in a row group of {rows}"))),
    }
}

/// What is held of a table, added up over all columns.
#[derive(Debug)]
pub(super) struct MemoryUse {
    bytes: AtomicU64,
    budget: Budget,
}

impl MemoryUse {
    pub(super) fn new(budget: Budget) -> Self {
        MemoryUse { bytes: AtomicU64::new(0), budget }
    }

    /// Starts over with what is held of the row groups before, if that is not too much already.
    pub(super) fn restart(&self, bytes: u64) -> Result<(), TableErrorKind> {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.budget.check(bytes)
    }

    /// Counts a column that holds `bytes` by now, and held `before`.
    pub(super) fn grow(&self, before: &mut u64, bytes: u64) -> Result<(), TableErrorKind> {
        let more = bytes.saturating_sub(std::mem::replace(before, bytes));
        let all = self.bytes.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.budget.check(all)
    }

    /// How much more may be held.
    pub(super) fn left(&self) -> u64 {
        self.budget.limit().saturating_sub(self.bytes.load(Ordering::Relaxed))
    }
}
