//! Delimited tables with a row per sample, epoch and scorer.

use serde_json::Value as Json;

use super::pieces::{Piece, PieceReader};
use super::{RecordFields, RecordRow, for_each_record};
use crate::table::error::ReadError;
use crate::table::layout::{ANSWER, ERROR, EXPLANATION, LongColumns, REASON, SCORER, TableLayout};
use crate::table::limits::Budget;
use crate::table::long::{LongBuilder, LongRow};
use crate::table::{EPOCH, ID, ScoreTable, TableErrorKind, cell};

/// Reads tables with a row per sample, epoch and scorer, one row after the other.
pub(super) struct LongReader<'a> {
    pub(super) layout: &'a TableLayout,
    pub(super) long: &'a LongColumns,
    pub(super) delimiter: u8,
    pub(super) budget: Budget,
}

impl LongReader<'_> {
    pub(super) fn read(&self, pieces: &mut PieceReader, first: Piece) -> Result<ScoreTable, ReadError> {
        let mut builder = LongBuilder::new(self.budget);
        let mut metadata = vec![Json::Null; self.layout.metadata.len()];
        let mut piece = first;
        loop {
            for_each_record(&piece, self.delimiter, self.layout.columns, |record, offset| {
                self.row(&RecordRow { record }, offset, &mut metadata, &mut builder)
            })?;
            if let Some(row) = piece.unclosed {
                return Err(TableErrorKind::UnclosedQuote.at_offset(row));
            }
            if !pieces.next(&mut piece)? {
                return Ok(builder.finish(self.layout.metadata_keys.clone()));
            }
        }
    }

    fn row(
        &self,
        row: &impl RecordFields,
        offset: u64,
        metadata: &mut [Json],
        builder: &mut LongBuilder,
    ) -> Result<(), ReadError> {
        let (layout, long) = (self.layout, self.long);
        let text = |at: usize, name: &str| {
            let invalid = || TableErrorKind::InvalidUtf8 { column: Some(name.to_owned()) };
            row.field(at).ok_or_else(|| invalid().at_offset(offset))
        };
        let optional = |at: Option<usize>, name: &str| {
            let found = at.map(|at| text(at, name)).transpose()?;
            Ok::<_, ReadError>(found.filter(|text| !text.is_empty()))
        };
        let id = text(layout.id, ID)?;
        let of_row = |kind: TableErrorKind| kind.at_offset(offset).of_sample(id);
        if row.count() != layout.columns {
            return Err(of_row(TableErrorKind::FieldCount { expected: layout.columns, found: row.count() }));
        }
        let epoch = match layout.epoch {
            Some(at) => cell::epoch(text(at, EPOCH)?).map_err(of_row)?,
            None => 1,
        };
        for (column, slot) in layout.metadata.iter().zip(metadata.iter_mut()) {
            *slot = match text(column.at, &column.name)? {
                "" => Json::Null,
                text => Json::from(text),
            };
        }
        let value = text(long.value.at, &long.value.name)?;
        let value = cell::score_or_structure(value, &long.value.name, self.budget);
        let [answer, explanation] = long.details();
        let row = LongRow {
            id,
            epoch,
            scorer: text(long.scorer, SCORER)?,
            value: value.map_err(of_row)?,
            answer: optional(answer, ANSWER)?,
            explanation: optional(explanation, EXPLANATION)?,
            reason: optional(long.reason, REASON)?,
            errored: optional(long.error, ERROR)?.is_some(),
        };
        let names = layout.metadata.iter().map(|column| column.name.as_str());
        builder.push(row, names.zip(&*metadata), &long.value.name).map_err(|kind| match kind {
            // Two rows are concerned, and both are found by their numbers.
            TableErrorKind::DuplicateScore { .. } => kind.in_row(builder.rows()).of_sample(id),
            kind => of_row(kind),
        })
    }
}
