//! Parquet tables with a row per sample and epoch.

use errorbar_core::{ColumnBlock, EpochColumn, MetadataColumn, ScoreColumns, TextColumn, ValueColumn};
use parquet::file::metadata::RowGroupMetaData;
use rayon::prelude::*;

use super::column::Cell;
use super::pages::{Dictionary, Pages, Sink, is_simple};
use super::types::{Kind, Role};
use super::{Source, Table, epoch_of, id_into, metadata_of, rows_of, score_of, wrong_length};
use crate::table::error::Problem;
use crate::table::layout::Column;
use crate::table::{EPOCH, ID, TableErrorKind};

pub(super) fn read(table: &Table<'_>, scores: &[Column]) -> Result<ScoreColumns, Problem> {
    let layout = table.layout;
    let mut sources = vec![table.source(layout.id, ID, Role::Id)?];
    if let Some(at) = layout.epoch {
        sources.push(table.source(at, EPOCH, Role::Epoch)?);
    }
    sources.extend(table.metadata_sources()?);
    for column in scores {
        sources.push(table.source(column.at, &column.name, Role::Score)?);
    }
    let mut columns = ScoreColumns::new(scores.iter().map(|column| &column.name));
    let mut block = ColumnBlock::new(scores.len(), layout.metadata.len());
    for group in table.metadata.row_groups() {
        let rows_before = columns.len() as u64;
        if rows_before.saturating_add(rows_of(group) as u64) > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.into());
        }
        row_group(table, group, &sources, &mut block, rows_before)?;
        columns.append(layout.metadata.iter().map(|column| column.name.as_str()), &mut block);
    }
    Ok(columns)
}

/// Pages are read ahead in row groups of so many columns, so that no stack grows with the columns.
const MOST_COLUMNS_AHEAD: usize = 64;

/// What is wrong with a row, counted within its row group from 0.
struct RowProblem {
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
    table: &Table<'_>,
    group: &RowGroupMetaData,
    sources: &[Source<'_>],
    block: &mut ColumnBlock,
    rows_before: u64,
) -> Result<(), Problem> {
    let mut targets: Vec<Target<'_>> = vec![Target::Ids(&mut block.ids)];
    targets.extend(table.layout.epoch.map(|_| Target::Epochs(&mut block.epochs)));
    targets.extend(block.metadata.iter_mut().map(Target::Metadata));
    targets.extend(block.scores.iter_mut().map(Target::Scores));
    let tasks: Vec<(&Source<'_>, Target<'_>)> = sources.iter().zip(targets).collect();
    let problems: Vec<RowProblem> = tasks
        .into_par_iter()
        .with_max_len(1)
        .filter_map(|(source, target)| column(table, group, *source, target).err())
        .collect();
    match problems.into_iter().min_by_key(|problem| problem.row) {
        None => Ok(()),
        // What is wrong with the file is wrong with no sample.
        Some(RowProblem {
            kind: kind @ (TableErrorKind::ParquetColumn { .. } | TableErrorKind::Open(_)),
            ..
        }) => Err(kind.into()),
        Some(RowProblem { row, kind }) => {
            Err(kind.in_row(rows_before + row as u64 + 1).of_sample(block.ids.get(row)))
        }
    }
}

fn column(
    table: &Table<'_>,
    group: &RowGroupMetaData,
    source: Source<'_>,
    target: Target<'_>,
) -> Result<(), RowProblem> {
    let mut row = 0;
    let read = match target {
        Target::Ids(ids) => cells(table, group, source, &mut row, &mut Ids { ids, digits: String::new() }),
        Target::Epochs(epochs) => cells(table, group, source, &mut row, &mut Epochs { epochs, source }),
        Target::Metadata(column) => cells(table, group, source, &mut row, &mut Metadata { column, source }),
        Target::Scores(column) => cells(table, group, source, &mut row, &mut Scores { column, source }),
    };
    let kind = match read {
        Ok(()) if row == rows_of(group) => return Ok(()),
        Ok(()) => wrong_length(source.name, row, group),
        Err(kind) => kind,
    };
    Err(RowProblem { row, kind })
}

/// Gives the cells of a column to a sink, counting them.
fn cells(
    table: &Table<'_>,
    group: &RowGroupMetaData,
    source: Source<'_>,
    row: &mut usize,
    sink: &mut impl Sink,
) -> Result<(), TableErrorKind> {
    let chunk = table.chunk(group, source)?;
    if is_simple(chunk) {
        let pages = Pages {
            name: source.name,
            physical: chunk.column_type(),
            unsigned: source.kind == Kind::Unsigned,
            optional: chunk.column_descr().max_def_level() > 0,
            rows: rows_of(group),
            // A thread that waits for a page takes up another column, on top of the one that waits.
            read_ahead: group.num_columns() <= MOST_COLUMNS_AHEAD,
        };
        return pages.read(&mut table.pages(group, chunk, source.name)?, row, sink);
    }
    let mut cells = table.cells(group, source)?;
    while let Some(cell) = cells.next()? {
        sink.take(cell)?;
        *row += 1;
    }
    Ok(())
}

struct Ids<'a> {
    ids: &'a mut TextColumn,
    digits: String,
}

impl Sink for Ids<'_> {
    #[inline(always)]
    fn take(&mut self, cell: Cell<'_>) -> Result<(), TableErrorKind> {
        match cell {
            Cell::Text(id) if !id.is_empty() => self.ids.push(id),
            cell => {
                id_into(&mut self.digits, cell)?;
                self.ids.push(&self.digits);
            }
        }
        Ok(())
    }
}

struct Epochs<'a> {
    epochs: &'a mut EpochColumn,
    source: Source<'a>,
}

impl Sink for Epochs<'_> {
    #[inline(always)]
    fn take(&mut self, cell: Cell<'_>) -> Result<(), TableErrorKind> {
        self.epochs.push(epoch_of(cell)?);
        Ok(())
    }

    fn take_coded(&mut self, dictionary: &Dictionary, codes: &[u32]) -> bool {
        let Dictionary::Ints(ints) = dictionary else { return false };
        let epoch = |int: &i64| epoch_of(Cell::Int(*int)).ok();
        let epochs: Option<Vec<u32>> = ints.iter().map(epoch).collect();
        let Some(epochs) = epochs.filter(|_| self.source.kind == Kind::Int) else { return false };
        self.epochs.extend_coded(&epochs, codes);
        true
    }
}

struct Metadata<'a> {
    column: &'a mut MetadataColumn,
    source: Source<'a>,
}

impl Sink for Metadata<'_> {
    #[inline(always)]
    fn take(&mut self, cell: Cell<'_>) -> Result<(), TableErrorKind> {
        match cell {
            Cell::Text(text) if self.source.kind == Kind::Text => self.column.push_text(text),
            cell => self.column.push(&metadata_of(cell, self.source.kind, self.source.name)?),
        }
        Ok(())
    }

    fn take_coded(&mut self, dictionary: &Dictionary, codes: &[u32]) -> bool {
        let Dictionary::Texts(texts) = dictionary else { return false };
        let Some(texts) = texts.all().filter(|_| self.source.kind == Kind::Text) else { return false };
        self.column.extend_coded(&texts, codes);
        true
    }
}

struct Scores<'a> {
    column: &'a mut ValueColumn,
    source: Source<'a>,
}

impl Sink for Scores<'_> {
    #[inline(always)]
    fn take(&mut self, cell: Cell<'_>) -> Result<(), TableErrorKind> {
        match cell {
            Cell::Int(int) => self.column.push_int(int),
            Cell::Float(float) => self.column.push_float(float),
            Cell::Text(text) if self.source.kind == Kind::Text => self.column.push_text(text),
            cell => self.column.push(score_of(cell, self.source.kind, self.source.name)?),
        }
        Ok(())
    }

    fn take_coded(&mut self, dictionary: &Dictionary, codes: &[u32]) -> bool {
        let (Dictionary::Ints(ints), Kind::Int) = (dictionary, self.source.kind) else { return false };
        self.column.extend_coded_ints(ints, codes);
        true
    }
}
