//! What all readers of tables share at the end.

use errorbar_core::ScoreColumns;

use super::error::{ReadError, TableLocation};
use super::{ScoreTable, TableErrorKind};

/// The table, if no sample has an epoch twice.
///
/// The engine refuses a repeated epoch too, but it cannot say where the two rows are.
pub(super) fn finish(columns: ScoreColumns, metadata_keys: Vec<String>) -> Result<ScoreTable, ReadError> {
    if let Some((row, first)) = columns.repeated_row() {
        let (epoch, first) = (columns.epoch(row), TableLocation::Row(first as u64 + 1));
        let kind = TableErrorKind::DuplicateRow { epoch, first };
        return Err(kind.in_row(row as u64 + 1).of_sample(columns.id(row)));
    }
    Ok(ScoreTable { columns, metadata_keys })
}

/// A text from a file, short and in quotes.
pub(crate) fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}{}", if short.len() < text.len() { "…" } else { "" })
}
