//! Row groups as blocks: a thread per column.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use errorbar_core::engine::{ColumnBlock, MetadataColumn, TextColumn, ValueColumn};
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::column::{ColumnDecoder, column_problem};
use super::{ParquetColumn, ParquetTable, rows_of};
use crate::builder::TableBuilder;
use crate::layout::ColumnRole;
use crate::limits::Budget;
use crate::location::RowLocations;
use crate::typed::{TypedCell, ValueKind, epoch_of, push_error, push_id, push_metadata, push_text, score_of};
use crate::{TableError, TableErrorKind, cell};

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
/// The memory of scores that may be lists or maps is checked each time this many bytes were parsed.
const CHECK_EVERY: usize = 1 << 16;

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
    let mut sinks = Sinks::new(table, block);
    // Columns are in the order of their roles, and so are metadata and scores in the block.
    let sinks: Vec<CellSink<'_>> = columns.iter().map(|column| sinks.of(*column)).collect();
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

/// Where the cells of columns go, each taken once.
struct Sinks<'a> {
    ids: Option<&'a mut TextColumn>,
    epochs: Option<&'a mut Vec<u32>>,
    metadata: std::slice::IterMut<'a, MetadataColumn>,
    scores: std::slice::IterMut<'a, ValueColumn>,
    errored: Option<&'a mut Vec<u32>>,
    texts: [(ColumnRole, Option<&'a mut MetadataColumn>); 7],
    left: u64,
    has_structured_text: bool,
    budget: Budget,
}

impl<'a> Sinks<'a> {
    fn new(table: &ParquetTable<'_>, block: &'a mut ColumnBlock) -> Self {
        let (details, labels) = (&mut block.details, &mut block.labels);
        Sinks {
            ids: Some(&mut block.ids),
            epochs: Some(&mut block.epochs),
            metadata: block.metadata.iter_mut(),
            scores: block.scores.iter_mut(),
            errored: Some(&mut block.errored),
            texts: [
                (ColumnRole::Scorer, Some(&mut labels.scorers)),
                (ColumnRole::Answer, Some(&mut details.answers)),
                (ColumnRole::Explanation, Some(&mut details.explanations)),
                (ColumnRole::Reason, Some(&mut details.reasons)),
                (ColumnRole::Log, Some(&mut labels.parts)),
                (ColumnRole::Task, Some(&mut labels.tasks)),
                (ColumnRole::Model, Some(&mut labels.models)),
            ],
            left: table.held.left(),
            has_structured_text: table.layout.has_structured_text(),
            budget: table.budget,
        }
    }

    fn of(&mut self, column: ParquetColumn<'a>) -> CellSink<'a> {
        let budget = self.budget;
        let sink = match column.column.role {
            ColumnRole::Id => self.ids.take().map(|ids| id_sink(ids, self.left, budget)),
            ColumnRole::Epoch => self.epochs.take().map(epoch_sink),
            ColumnRole::Metadata(_) => self.metadata.next().map(|to| metadata_sink(to, column, budget)),
            ColumnRole::Score(_) => {
                let structures = self.has_structured_text.then_some((column.name(), budget));
                self.scores.next().map(|to| score_sink(to, column, structures, budget))
            }
            ColumnRole::Error => self.errored.take().map(error_sink),
            role => {
                let text = self.texts.iter_mut().find(|(of, _)| *of == role).and_then(|(_, to)| to.take());
                text.map(text_sink)
            }
        };
        // A layout has a role once, and readers know all roles.
        sink.unwrap_or_else(|| Box::new(|batch, row| batch.for_each(row, |_| Ok(())).map(|()| 0)))
    }
}

/// Ids may have `left` bytes: a cell of a dictionary can stand in any number of rows.
fn id_sink(ids: &mut TextColumn, mut left: u64, budget: Budget) -> CellSink<'_> {
    let mut digits = String::new();
    Box::new(move |batch, row| {
        batch.for_each(row, |cell| {
            if let TypedCell::Text(id) = cell {
                left = left.checked_sub(id.len() as u64).ok_or_else(|| budget.refusal())?;
            }
            push_id(ids, cell, &mut digits)
        })?;
        Ok(ids.heap_bytes() as u64)
    })
}

fn epoch_sink(epochs: &mut Vec<u32>) -> CellSink<'_> {
    Box::new(|batch, row| {
        match batch.bytes() {
            Some(bytes) => {
                epochs.extend(bytes.iter().copied().map(u32::from));
                *row += bytes.len();
            }
            None => batch.for_each(row, |cell| epoch_of(cell).map(|epoch| epochs.push(epoch)))?,
        }
        Ok(epochs.capacity() as u64 * 4)
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
            batch.for_each(row, |cell| push_metadata(values, cell, kind, column.name(), budget))?;
        }
        Ok(values.heap_bytes() as u64)
    })
}

/// Strings; a null or an empty one is absent.
fn text_sink(texts: &mut MetadataColumn) -> CellSink<'_> {
    Box::new(move |batch, row| {
        let coded = batch.numbers().filter(|(texts, numbers)| numbers.len() >= texts.len() / 8);
        let known = coded.and_then(|(texts, numbers)| Some((texts.all()?, numbers)));
        if let Some((known, numbers)) = known.filter(|(known, _)| !known.contains(&"")) {
            let numbers: Vec<u32> = numbers.iter().map(|number| number.cast_unsigned()).collect();
            texts.extend_coded(&known, &numbers);
            *row += numbers.len();
        } else {
            batch.for_each(row, |cell| {
                push_text(texts, cell);
                Ok(())
            })?;
        }
        Ok(texts.heap_bytes() as u64)
    })
}

/// The rows that have a string.
fn error_sink(errored: &mut Vec<u32>) -> CellSink<'_> {
    Box::new(|batch, row| {
        let mut number = *row as u32;
        batch.for_each(row, |cell| {
            push_error(errored, cell, &mut number);
            Ok(())
        })?;
        Ok(errored.capacity() as u64 * 4)
    })
}

/// Scores; a column that holds grades or maps beside numbers may hold them all as strings, as a CSV does.
fn score_sink<'a>(
    values: &'a mut ValueColumn,
    column: ParquetColumn<'a>,
    structures: Option<(&'a str, Budget)>,
    budget: Budget,
) -> CellSink<'a> {
    let kind = column.kind;
    Box::new(move |batch, row| {
        if let Some(bytes) = batch.bytes() {
            values.extend_bytes(&bytes);
            *row += bytes.len();
            return Ok(values.heap_bytes() as u64);
        }
        // What is nested takes many times the bytes of the page.
        let mut unchecked = 0_usize;
        batch.for_each(row, |cell| {
            match cell {
                TypedCell::Int(int) => values.push_int(int),
                TypedCell::Float(float) => values.push_float(float),
                TypedCell::Text(text) if kind == ValueKind::Text && structures.is_none() => {
                    values.push_text(text);
                }
                TypedCell::Text(text) if kind == ValueKind::Text => {
                    unchecked += text.len();
                    cell::push_score(values, text, structures)?;
                }
                TypedCell::Text(text) => {
                    unchecked += text.len();
                    values.push(Some(cell::structure(text, column.name(), budget)?));
                }
                cell => values.push(score_of(cell)),
            }
            if unchecked > CHECK_EVERY {
                unchecked = 0;
                budget.check(values.heap_bytes() as u64)?;
            }
            Ok(())
        })?;
        Ok(values.heap_bytes() as u64)
    })
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
