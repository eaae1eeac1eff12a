//! Parquet tables with a row per sample, epoch and scorer: all columns side by side, row after row.

use parquet::file::metadata::RowGroupMetaData;
use serde_json::Value as Json;

use super::column::{Cell, Cells};
use super::types::{Kind, Role};
use super::{Source, Table, epoch_of, id_into, metadata_of, rows_of, score_of, wrong_length};
use crate::table::error::Problem;
use crate::table::layout::{ANSWER, ERROR, EXPLANATION, LongColumns, REASON, SCORER};
use crate::table::long::{LongBuilder, LongRow};
use crate::table::{EPOCH, ID, TableErrorKind, cell};

pub(super) fn read(table: &Table<'_>, long: &LongColumns) -> Result<LongBuilder, Problem> {
    let optional = |at: Option<usize>, name: &'static str, role: Role| {
        at.map(|at| table.source(at, name, role)).transpose()
    };
    let [answer, explanation] = long.details();
    let sources = Sources {
        id: table.source(table.layout.id, ID, Role::Id)?,
        epoch: optional(table.layout.epoch, EPOCH, Role::Epoch)?,
        scorer: table.source(long.scorer, SCORER, Role::Scorer)?,
        value: table.source(long.value.at, &long.value.name, Role::Score)?,
        answer: optional(answer, ANSWER, Role::Detail)?,
        explanation: optional(explanation, EXPLANATION, Role::Detail)?,
        reason: optional(long.reason, REASON, Role::Detail)?,
        error: optional(long.error, ERROR, Role::Detail)?,
        metadata: table.metadata_sources()?,
    };
    let mut builder = LongBuilder::new(table.budget);
    for group in table.metadata.row_groups() {
        if rows_of(group) == 0 {
            continue;
        }
        let mut rows = Rows::open(table, group, &sources)?;
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
struct Sources<'a> {
    id: Source<'a>,
    epoch: Option<Source<'a>>,
    scorer: Source<'a>,
    value: Source<'a>,
    answer: Option<Source<'a>>,
    explanation: Option<Source<'a>>,
    reason: Option<Source<'a>>,
    error: Option<Source<'a>>,
    metadata: Vec<Source<'a>>,
}

/// The rows of a row group.
struct Rows<'a> {
    group: &'a RowGroupMetaData,
    id: Cells<'a>,
    epoch: Option<Cells<'a>>,
    scorer: Cells<'a>,
    value: Cells<'a>,
    answer: Option<Cells<'a>>,
    explanation: Option<Cells<'a>>,
    reason: Option<Cells<'a>>,
    error: Option<Cells<'a>>,
    metadata: Vec<Cells<'a>>,
    entries: Vec<Json>,
}

impl<'a> Rows<'a> {
    fn open(
        table: &'a Table<'_>,
        group: &'a RowGroupMetaData,
        sources: &Sources<'a>,
    ) -> Result<Self, TableErrorKind> {
        // A page of each column is in memory at the same time.
        let largest = std::cell::Cell::new(0u64);
        let open = |source: Source<'a>| {
            let column = table.open(group, source)?;
            largest.set(largest.get().saturating_add(column.largest_page));
            table.budget.check(largest.get())?;
            column.cells(source, &table.work)
        };
        let optional = |source: Option<Source<'a>>| source.map(open).transpose();
        Ok(Rows {
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
        table: &Table<'_>,
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
            Cell::Text(text) if kind == Kind::Text => cell::score_or_structure(text, column, table.budget)?,
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
    cells: &'c mut Cells<'_>,
    row: usize,
    group: &RowGroupMetaData,
) -> Result<Cell<'c>, TableErrorKind> {
    let name = cells.name();
    cells.next()?.ok_or_else(|| wrong_length(name, row, group))
}

fn text_of(cell: Cell<'_>) -> Option<&str> {
    match cell {
        Cell::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn optional_text<'c>(
    cells: &'c mut Option<Cells<'_>>,
    row: usize,
    group: &RowGroupMetaData,
) -> Result<Option<&'c str>, TableErrorKind> {
    match cells {
        Some(cells) => Ok(text_of(next(cells, row, group)?)),
        None => Ok(None),
    }
}
