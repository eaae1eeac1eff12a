//! Parquet tables with a row per sample, epoch and scorer: all columns side by side, row after row.

use parquet::file::metadata::RowGroupMetaData;

use super::column::{ColumnDecoder, ParquetCell, column_problem};
use super::pages::PageSource;
use super::types::ValueKind;
use super::{ParquetColumn, ParquetTable, epoch_of, id_into, metadata_of, rows_of, score_of};
use crate::table::layout::ColumnRole;
use crate::table::long_parts::LongParts;
use crate::table::row::TableRow;
use crate::table::{TableError, TableErrorKind};

pub(super) fn read(table: &ParquetTable<'_>, columns: &[ParquetColumn<'_>]) -> Result<LongParts, TableError> {
    let mut builder = LongParts::new(table.budget);
    let mut row = TableRow::default();
    let layout = table.layout;
    for group in table.metadata.row_groups().iter().filter(|group| rows_of(group) > 0) {
        let mut readers = open(table, group, columns)?;
        for _ in 0..rows_of(group) {
            let number = builder.rows() + 1;
            row.clear(layout.scores.len());
            let read = readers.iter_mut().try_for_each(|reader| reader.read(table, &mut row));
            let pushed = read.and_then(|()| builder.push(&mut row, layout.row_names()));
            pushed.map_err(|kind| kind.in_row_of(number, &row.id))?;
        }
    }
    Ok(builder)
}

/// One column of a row group, cell by cell.
struct CellReader<'a> {
    column: ParquetColumn<'a>,
    pages: PageSource<'a>,
    decoder: ColumnDecoder<'a>,
}

fn open<'a>(
    table: &'a ParquetTable<'_>,
    group: &RowGroupMetaData,
    columns: &[ParquetColumn<'a>],
) -> Result<Vec<CellReader<'a>>, TableErrorKind> {
    // A page of each column is in memory at the same time.
    let mut largest = 0u64;
    let open = |column: &ParquetColumn<'a>| {
        let checked = table.open(group, *column)?;
        largest = largest.saturating_add(checked.largest_page);
        table.budget.check(largest)?;
        let (pages, decoder) = table.decoder(checked, *column)?;
        Ok(CellReader { column: *column, pages, decoder })
    };
    columns.iter().map(open).collect()
}

impl CellReader<'_> {
    /// Puts the next cell into its row.
    fn read(&mut self, table: &ParquetTable<'_>, row: &mut TableRow) -> Result<(), TableErrorKind> {
        let ParquetColumn { column, kind, .. } = self.column;
        while self.decoder.is_used_up() {
            if !self.decoder.decode()? {
                let page = self.pages.next()?;
                let missing =
                    || column_problem(&column.name, "it has too few rows in its row group".to_owned());
                self.decoder.set_page(page.ok_or_else(missing)?);
            }
        }
        match (column.role, self.decoder.next()?) {
            (ColumnRole::Id, cell) => id_into(&mut row.id, cell)?,
            (ColumnRole::Epoch, cell) => row.epoch = Some(epoch_of(cell)?),
            (ColumnRole::Metadata(number), cell) => {
                row.metadata.push((number, metadata_of(cell, kind, &column.name, table.budget)?));
            }
            // A column that holds grades or maps beside numbers holds them all as strings, as a CSV does.
            (ColumnRole::Score(_), ParquetCell::Text(text)) if kind == ValueKind::Text => {
                row.set_text(column, text, table.budget)?;
            }
            (ColumnRole::Score(number), cell) => {
                row.set_score(number, score_of(cell, kind, &column.name, table.budget)?);
            }
            (_, ParquetCell::Text(text)) => row.set_text(column, text, table.budget)?,
            _ => {}
        }
        Ok(())
    }
}
