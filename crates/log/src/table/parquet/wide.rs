//! Parquet tables with a row per sample and epoch.

use std::sync::PoisonError;

use errorbar_core::{ColumnBlock, EpochColumn, MetadataColumn, ScoreColumns, TextColumn, ValueColumn};
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::column::ParquetCell;
use super::pages::{CellSink, ColumnPages, Dictionary, is_simple};
use super::types::{ColumnRole, ValueKind};
use super::{ParquetColumn, ParquetTable, epoch_of, id_into, metadata_of, rows_of, score_of, wrong_length};
use crate::table::error::ReadError;
use crate::table::layout::TableColumn;
use crate::table::limits::Budget;
use crate::table::long::value_bytes;
use crate::table::{EPOCH, ID, TableErrorKind};

pub(super) fn read(table: &ParquetTable<'_>, scores: &[TableColumn]) -> Result<ScoreColumns, ReadError> {
    let layout = table.layout;
    let mut sources = vec![table.source(layout.id, ID, ColumnRole::Id)?];
    if let Some(at) = layout.epoch {
        sources.push(table.source(at, EPOCH, ColumnRole::Epoch)?);
    }
    sources.extend(table.metadata_sources()?);
    for column in scores {
        sources.push(table.source(column.at, &column.name, ColumnRole::Score)?);
    }
    let mut columns = ScoreColumns::new(scores.iter().map(|column| &column.name));
    let mut block = ColumnBlock::new(scores.len(), layout.metadata.len());
    for group in table.metadata.row_groups() {
        let rows_before = columns.len() as u64;
        if rows_before.saturating_add(rows_of(group) as u64) > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.into());
        }
        if rows_of(group) == 0 {
            continue;
        }
        table.held.restart(columns.heap_bytes() as u64)?;
        row_group(table, group, &sources, &mut block, rows_before)?;
        columns.append(layout.metadata.iter().map(|column| column.name.as_str()), &mut block);
    }
    table.held.restart(columns.heap_bytes() as u64)?;
    Ok(columns)
}

/// Pages are read ahead in row groups of so many columns, so that no stack grows with the columns.
const MOST_COLUMNS_AHEAD: usize = 64;

/// What is wrong with a row, counted within its row group from 0.
struct RowError {
    row: usize,
    kind: TableErrorKind,
}

/// Where the cells of a column go.
enum Target<'a> {
    Ids(&'a mut TextColumn),
    Epochs(&'a mut EpochColumn),
    Metadata(&'a mut MetadataColumn),
    Scores(&'a mut ValueColumn),
}

/// Reads a row group into a block, a thread per column. Of several problems the one in the first row is
/// told, and of those in one row that of the first column.
fn row_group(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    sources: &[ParquetColumn<'_>],
    block: &mut ColumnBlock,
    rows_before: u64,
) -> Result<(), ReadError> {
    let mut targets: Vec<Target<'_>> = vec![Target::Ids(&mut block.ids)];
    targets.extend(table.layout.epoch.map(|_| Target::Epochs(&mut block.epochs)));
    targets.extend(block.metadata.iter_mut().map(Target::Metadata));
    targets.extend(block.scores.iter_mut().map(Target::Scores));
    let tasks: Vec<(&ParquetColumn<'_>, Target<'_>)> = sources.iter().zip(targets).collect();
    let problems: Vec<RowError> = tasks
        .into_par_iter()
        .with_max_len(1)
        .filter_map(|(source, target)| column(table, group, *source, target).err())
        .collect();
    match problems.into_iter().min_by_key(|problem| problem.row) {
        None => Ok(()),
        // What is wrong with the file is wrong with no sample.
        Some(RowError {
            kind:
                kind @ (TableErrorKind::ParquetColumn { .. }
                | TableErrorKind::PageTooLarge { .. }
                | TableErrorKind::TooDense { .. }
                | TableErrorKind::TooMuchMemory { .. }
                | TableErrorKind::Read(_)
                | TableErrorKind::Open(_)),
            ..
        }) => Err(kind.into()),
        Some(RowError { row, kind }) => {
            Err(kind.in_row(rows_before + row as u64 + 1).of_sample(block.ids.get(row)))
        }
    }
}

fn column(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    source: ParquetColumn<'_>,
    target: Target<'_>,
) -> Result<(), RowError> {
    let mut row = 0;
    let read = match target {
        Target::Ids(ids) => {
            let left = table.held.column().left();
            cells(
                table,
                group,
                source,
                &mut row,
                &mut IdSink { ids, digits: String::new(), left, budget: table.budget },
            )
        }
        Target::Epochs(epochs) => cells(table, group, source, &mut row, &mut EpochSink { epochs, source }),
        Target::Metadata(column) => {
            cells(table, group, source, &mut row, &mut MetadataSink { column, source, budget: table.budget })
        }
        Target::Scores(column) => cells(
            table,
            group,
            source,
            &mut row,
            &mut ScoreSink { column, source, budget: table.budget, nested: 0 },
        ),
    };
    let kind = match read {
        Ok(()) if row == rows_of(group) => return Ok(()),
        Ok(()) => wrong_length(source.name, row, group),
        Err(kind) => kind,
    };
    Err(RowError { row, kind })
}

/// Gives the cells of a column to a sink, counting them.
fn cells(
    table: &ParquetTable<'_>,
    group: &RowGroupMetaData,
    source: ParquetColumn<'_>,
    row: &mut usize,
    sink: &mut impl CellSink,
) -> Result<(), TableErrorKind> {
    let column = table.open(group, source)?;
    // One thread at a time has pages that are large; it does not wait for others meanwhile.
    let is_large = column.largest_page > LARGE_PAGE;
    let _alone = is_large.then(|| table.large.lock().unwrap_or_else(PoisonError::into_inner));
    let held = table.held.column();
    if is_simple(column.chunk) {
        let pages = ColumnPages {
            name: source.name,
            physical: column.chunk.column_type(),
            unsigned: source.kind == ValueKind::Unsigned,
            optional: column.chunk.column_descr().max_def_level() > 0,
            rows: rows_of(group),
            // A thread that waits for a page takes up another column, on top of the one that waits.
            read_ahead: !is_large && group.num_columns() <= MOST_COLUMNS_AHEAD,
            held,
        };
        return pages.read(&mut column.pages(source.name)?, row, sink);
    }
    let mut cells = column.cells(source, &table.work)?;
    while let Some(cell) = cells.next()? {
        sink.take(cell)?;
        *row += 1;
        if row.is_multiple_of(CHECK_EVERY) {
            held.grow(sink.held())?;
        }
    }
    Ok(())
}

/// A page from which on only one is in memory at a time.
const LARGE_PAGE: u64 = 16 << 20;
/// After so many cells it is checked how much memory the column takes.
const CHECK_EVERY: usize = 1 << 12;

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

    #[inline(always)]
    fn take(&mut self, cell: ParquetCell<'_>) -> Result<(), TableErrorKind> {
        match cell {
            ParquetCell::Text(id) if !id.is_empty() => {
                self.left = self.left.checked_sub(id.len() as u64).ok_or_else(|| self.budget.refusal())?;
                self.ids.push(id);
            }
            cell => {
                id_into(&mut self.digits, cell)?;
                self.ids.push(&self.digits);
            }
        }
        Ok(())
    }
}

struct EpochSink<'a> {
    epochs: &'a mut EpochColumn,
    source: ParquetColumn<'a>,
}

impl CellSink for EpochSink<'_> {
    fn held(&self) -> u64 {
        self.epochs.heap_bytes() as u64
    }

    #[inline(always)]
    fn take(&mut self, cell: ParquetCell<'_>) -> Result<(), TableErrorKind> {
        self.epochs.push(epoch_of(cell)?);
        Ok(())
    }

    fn take_coded(&mut self, dictionary: &Dictionary, codes: &[u32]) -> bool {
        let Dictionary::Ints(ints) = dictionary else { return false };
        let epoch = |int: &i64| epoch_of(ParquetCell::Int(*int)).ok();
        let epochs: Option<Vec<u32>> = ints.iter().map(epoch).collect();
        let Some(epochs) = epochs.filter(|_| self.source.kind == ValueKind::Int) else { return false };
        self.epochs.extend_coded(&epochs, codes);
        true
    }
}

struct MetadataSink<'a> {
    column: &'a mut MetadataColumn,
    source: ParquetColumn<'a>,
    budget: Budget,
}

impl CellSink for MetadataSink<'_> {
    fn held(&self) -> u64 {
        self.column.heap_bytes() as u64
    }

    #[inline(always)]
    fn take(&mut self, cell: ParquetCell<'_>) -> Result<(), TableErrorKind> {
        match cell {
            ParquetCell::Text(text) if self.source.kind == ValueKind::Text => self.column.push_text(text),
            cell => self.column.push(&metadata_of(cell, self.source.kind, self.source.name, self.budget)?),
        }
        Ok(())
    }

    fn take_coded(&mut self, dictionary: &Dictionary, codes: &[u32]) -> bool {
        let Dictionary::Texts(texts) = dictionary else { return false };
        let Some(texts) = texts.all().filter(|_| self.source.kind == ValueKind::Text) else { return false };
        self.column.extend_coded(&texts, codes);
        true
    }
}

struct ScoreSink<'a> {
    column: &'a mut ValueColumn,
    source: ParquetColumn<'a>,
    budget: Budget,
    /// What the items of lists and maps take.
    nested: u64,
}

impl CellSink for ScoreSink<'_> {
    fn held(&self) -> u64 {
        self.column.heap_bytes() as u64 + self.nested
    }

    #[inline(always)]
    fn take(&mut self, cell: ParquetCell<'_>) -> Result<(), TableErrorKind> {
        match cell {
            ParquetCell::Int(int) => self.column.push_int(int),
            ParquetCell::Float(float) => self.column.push_float(float),
            ParquetCell::Text(text) if self.source.kind == ValueKind::Text => self.column.push_text(text),
            cell => {
                let score = score_of(cell, self.source.kind, self.source.name, self.budget)?;
                self.nested += score.as_ref().map_or(0, value_bytes);
                self.budget.check(self.nested)?;
                self.column.push(score);
            }
        }
        Ok(())
    }

    fn take_coded(&mut self, dictionary: &Dictionary, codes: &[u32]) -> bool {
        let (Dictionary::Ints(ints), ValueKind::Int) = (dictionary, self.source.kind) else { return false };
        self.column.extend_coded_ints(ints, codes);
        true
    }
}
