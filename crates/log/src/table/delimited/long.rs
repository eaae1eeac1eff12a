//! Delimited tables with a row per sample, epoch and scorer.

use super::pieces::{Piece, PieceReader};
use super::{DelimitedReader, DelimitedRow};
use crate::table::long_parts::LongParts;
use crate::table::row::TableRow;
use crate::table::{ScoreTable, TableError, TableErrorKind};

impl DelimitedReader<'_> {
    /// Reads a table with a row per sample, epoch and scorer, one row after the other.
    pub(super) fn read_long(&self, pieces: &mut PieceReader) -> Result<Vec<ScoreTable>, TableError> {
        let mut builder = LongParts::new(self.budget);
        let (mut piece, mut row) = (Piece::default(), TableRow::default());
        while pieces.next(&mut piece)? {
            self.for_each_row(&piece, |cells| self.push_long(cells, &mut row, &mut builder))?;
        }
        Ok(builder.finish(self.layout.metadata_keys.clone()))
    }

    fn push_long(
        &self,
        cells: &DelimitedRow<'_>,
        row: &mut TableRow,
        builder: &mut LongParts,
    ) -> Result<(), TableError> {
        row.clear(self.layout.scores.len());
        for column in &self.layout.columns {
            let text = cells.text(column)?;
            row.set_text(column, text, self.budget).map_err(|kind| cells.error(kind))?;
        }
        builder.push(row, self.layout.row_names()).map_err(|kind| match kind {
            // Two rows are concerned, and both are found by their numbers.
            TableErrorKind::DuplicateScore { .. } => kind.in_row(builder.rows()).of_sample(&row.id),
            kind => cells.error(kind),
        })
    }
}
