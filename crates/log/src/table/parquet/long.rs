//! Parquet tables with a row per sample, epoch and scorer: all columns side by side, row after row.

use parquet::file::metadata::RowGroupMetaData;
use serde_json::Value as Json;

use super::column::{CellReader, ParquetCell};
use super::types::{ColumnRole, ValueKind};
use super::{ParquetColumn, ParquetTable, epoch_of, id_into, metadata_of, rows_of, score_of, wrong_length};
use crate::table::error::ReadError;
use crate::table::layout::{ANSWER, ERROR, EXPLANATION, LongColumns, REASON, SCORER};
use crate::table::long::{LongBuilder, LongRow};
use crate::table::{EPOCH, ID, TableErrorKind, cell};

pub(super) fn read(table: &ParquetTable<'_>, long: &LongColumns) -> Result<LongBuilder, ReadError> {
    let optional = |at: Option<usize>, name: &'static str, role: ColumnRole| {
        at.map(|at| table.source(at, name, role)).transpose()
    };
    let [answer, explanation] = long.details();
    let sources = LongSources {
        id: table.source(table.layout.id, ID, ColumnRole::Id)?,
        epoch: optional(table.layout.epoch, EPOCH, ColumnRole::Epoch)?,
        scorer: table.source(long.scorer, SCORER, ColumnRole::Scorer)?,
        value: table.source(long.value.at, &long.value.name, ColumnRole::Score)?,
        answer: optional(answer, ANSWER, ColumnRole::Detail)?,
        explanation: optional(explanation, EXPLANATION, ColumnRole::Detail)?,
        reason: optional(long.reason, REASON, ColumnRole::Detail)?,
        error: optional(long.error, ERROR, ColumnRole::Detail)?,
        metadata: table.metadata_sources()?,
    };
    let mut builder = LongBuilder::new(table.budget);
    for group in table.metadata.row_groups() {
        if rows_of(group) == 0 {
            continue;
        }
        let mut rows = RowGroupRows::open(table, group, &sources)?;
        for row in 0..rows_of(group) {
            let number = builder.rows() + 1;
            let mut id = String::new();
            let pushed = rows.push_next(&mut id, table, row, &mut builder);
            pushed.map_err(|kind| match kind {
                // What is wrong with the file is wrong with no sample.
                TableErrorKind::ParquetColumn { .. }
                | TableErrorKind::TooDense { .. }
                | TableErrorKind::TooMuchMemory { .. } => kind.into(),
                kind => kind.in_row(number).of_sample(&id),
            })?;
        }
    }
    Ok(builder)
}

/// The columns to be read.
struct LongSources<'a> {
    id: ParquetColumn<'a>,
    epoch: Option<ParquetColumn<'a>>,
    scorer: ParquetColumn<'a>,
    value: ParquetColumn<'a>,
    answer: Option<ParquetColumn<'a>>,
    explanation: Option<ParquetColumn<'a>>,
    reason: Option<ParquetColumn<'a>>,
    error: Option<ParquetColumn<'a>>,
    metadata: Vec<ParquetColumn<'a>>,
}

/// The rows of a row group.
struct RowGroupRows<'a> {
    group: &'a RowGroupMetaData,
    id: CellReader<'a>,
    epoch: Option<CellReader<'a>>,
    scorer: CellReader<'a>,
    value: CellReader<'a>,
    answer: Option<CellReader<'a>>,
    explanation: Option<CellReader<'a>>,
    reason: Option<CellReader<'a>>,
    error: Option<CellReader<'a>>,
    metadata: Vec<CellReader<'a>>,
    entries: Vec<Json>,
}

impl<'a> RowGroupRows<'a> {
    fn open(
        table: &'a ParquetTable<'_>,
        group: &'a RowGroupMetaData,
        sources: &LongSources<'a>,
    ) -> Result<Self, TableErrorKind> {
        // A page of each column is in memory at the same time.
        let largest = std::cell::Cell::new(0u64);
        let open = |source: ParquetColumn<'a>| {
            let column = table.open(group, source)?;
            largest.set(largest.get().saturating_add(column.largest_page));
            table.budget.check(largest.get())?;
            column.cells(source, &table.work)
        };
        let optional = |source: Option<ParquetColumn<'a>>| source.map(open).transpose();
        Ok(RowGroupRows {
            group,
            id: open(sources.id)?,
            epoch: optional(sources.epoch)?,
            scorer: open(sources.scorer)?,
            value: open(sources.value)?,
            answer: optional(sources.answer)?,
            explanation: optional(sources.explanation)?,
            reason: optional(sources.reason)?,
            error: optional(sources.error)?,
            metadata: sources.metadata.iter().copied().map(open).collect::<Result<_, _>>()?,
            entries: vec![Json::Null; sources.metadata.len()],
        })
    }

    /// Adds the next row; `id` is its sample, for messages.
    fn push_next(
        &mut self,
        id: &mut String,
        table: &ParquetTable<'_>,
        row: usize,
        builder: &mut LongBuilder,
    ) -> Result<(), TableErrorKind> {
        let group = self.group;
        id_into(id, next(&mut self.id, row, group)?)?;
        let epoch = match &mut self.epoch {
            Some(epoch) => epoch_of(next(epoch, row, group)?)?,
            None => 1,
        };
        for (cells, entry) in self.metadata.iter_mut().zip(&mut self.entries) {
            let (kind, name) = (cells.kind(), cells.name());
            *entry = metadata_of(next(cells, row, group)?, kind, name, table.budget)?;
        }
        let (kind, column) = (self.value.kind(), self.value.name());
        let value = match next(&mut self.value, row, group)? {
            // A column that holds grades or maps beside numbers holds them all as texts, as a CSV does.
            ParquetCell::Text(text) if kind == ValueKind::Text => {
                cell::score_or_structure(text, column, table.budget)?
            }
            cell => score_of(cell, kind, column, table.budget)?,
        };
        let row = LongRow {
            id,
            epoch,
            scorer: text_of(next(&mut self.scorer, row, group)?).unwrap_or_default(),
            value,
            answer: optional_text(&mut self.answer, row, group)?,
            explanation: optional_text(&mut self.explanation, row, group)?,
            reason: optional_text(&mut self.reason, row, group)?,
            errored: optional_text(&mut self.error, row, group)?.is_some(),
        };
        let names = table.layout.metadata.iter().map(|column| column.name.as_str());
        builder.push(row, names.zip(&self.entries), column)
    }
}

fn next<'c>(
    cells: &'c mut CellReader<'_>,
    row: usize,
    group: &RowGroupMetaData,
) -> Result<ParquetCell<'c>, TableErrorKind> {
    let name = cells.name();
    cells.next()?.ok_or_else(|| wrong_length(name, row, group))
}

fn text_of(cell: ParquetCell<'_>) -> Option<&str> {
    match cell {
        ParquetCell::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn optional_text<'c>(
    cells: &'c mut Option<CellReader<'_>>,
    row: usize,
    group: &RowGroupMetaData,
) -> Result<Option<&'c str>, TableErrorKind> {
    match cells {
        Some(cells) => Ok(text_of(next(cells, row, group)?)),
        None => Ok(None),
    }
}
