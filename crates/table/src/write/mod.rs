//! Tables written: rows of cells as CSV, JSON lines or Parquet.
//!
//! What the rows are is known to whoever writes them: a [`RowSink`] gets a cell for each column, and each format has its own
//! way to write a cell.
//!
//! ```
//! use errorbar_core::Value;
//! use errorbar_table::write::{ColumnKind, ExportCell, ExportFormat, WrittenColumn, row_sink};
//!
//! let columns = [("id", ColumnKind::Text), ("value", ColumnKind::Float)];
//! let columns = columns.map(|(name, kind)| WrittenColumn { name: name.to_owned(), kind });
//! let mut csv = Vec::new();
//! let mut sink = row_sink(ExportFormat::Csv, &mut csv, &columns)?;
//! sink.row(&[ExportCell::Text("q1"), ExportCell::Score(&Value::Float(0.5))])?;
//! sink.finish()?;
//! assert_eq!(csv, b"id,value\nq1,0.5\n");
//! # Ok::<(), errorbar_table::write::WriteError>(())
//! ```

mod cell;
mod csv;
mod error;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_pages;
mod spreadsheet;

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

pub use cell::ExportCell;
pub use error::WriteError;
pub use spreadsheet::spreadsheet_cell;

/// What rows are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// Comma-separated values.
    Csv,
    /// The same for spreadsheets: no cell is taken for a formula ([`spreadsheet_cell`]).
    SafeCsv,
    /// A JSON object a line. Strict: a number that is not finite is null.
    JsonLines,
    /// Parquet, compressed with zstd; only with the feature `parquet`.
    Parquet,
}

impl ExportFormat {
    /// The format by the extension of a file: `.csv`, `.jsonl` or `.ndjson`, `.parquet`.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        match extension.as_str() {
            "csv" => Some(ExportFormat::Csv),
            "jsonl" | "ndjson" => Some(ExportFormat::JsonLines),
            "parquet" => Some(ExportFormat::Parquet),
            _ => None,
        }
    }
}

/// A column of a table that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenColumn {
    /// Its name.
    pub name: String,
    /// The type that it has in formats with types.
    pub kind: ColumnKind,
}

/// What all cells of a column are, or null. Only Parquet has types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Booleans.
    Bool,
    /// Epochs, as integers of 32 bits.
    Int32,
    /// Integers of 64 bits.
    Int64,
    /// Floats; unscored is not a number.
    Float,
    /// Strings, structures, or of several kinds.
    Text,
}

/// Somewhere that rows go.
pub trait RowSink {
    /// Writes a row: a cell for each column.
    ///
    /// # Errors
    /// Those of the output; a cell that is not of the kind of its column.
    fn row(&mut self, cells: &[ExportCell<'_>]) -> Result<(), WriteError>;

    /// Writes what is held back, and the end of the table.
    ///
    /// # Errors
    /// Those of the output.
    fn finish(self: Box<Self>) -> Result<(), WriteError>;
}

/// Starts a table with these columns.
///
/// # Errors
/// Those of the output; Parquet without the feature of that name.
pub fn row_sink<'a>(
    format: ExportFormat,
    out: &'a mut (dyn Write + Send),
    columns: &[WrittenColumn],
) -> Result<Box<dyn RowSink + 'a>, WriteError> {
    Ok(match format {
        ExportFormat::Csv => Box::new(csv::CsvSink::new(out, columns, |text| Cow::Borrowed(text))?),
        ExportFormat::SafeCsv => Box::new(csv::CsvSink::new(out, columns, spreadsheet_cell)?),
        ExportFormat::JsonLines => Box::new(jsonl::JsonlSink::new(out, columns)),
        #[cfg(feature = "parquet")]
        ExportFormat::Parquet => Box::new(parquet::ParquetSink::new(out, columns)?),
        #[cfg(not(feature = "parquet"))]
        ExportFormat::Parquet => return Err(WriteError::NoParquet),
    })
}
