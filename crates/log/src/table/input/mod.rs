//! How bytes become a table: where they come from, and what format they are in.

mod bytes;

use std::io;
use std::path::Path;

pub use bytes::InputBytes;

use super::TableErrorKind;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// CSV, TSV and their kin.
    Delimited(TableDialect),
    /// An object per line.
    JsonLines,
    /// Parquet.
    Parquet,
}

/// How a delimited table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableDialect {
    /// What is between the fields of a row.
    pub delimiter: u8,
    /// What is between the integer and the fraction of a number: `.` or `,`.
    pub decimal: u8,
}

impl TableDialect {
    /// Fields with this between them, numbers with a point.
    pub const fn new(delimiter: u8) -> Self {
        TableDialect { delimiter, decimal: b'.' }
    }
}

/// An open table: its bytes, decompressed and as UTF-8, and their format.
#[derive(Debug)]
pub struct TableInput {
    bytes: InputBytes,
    format: TableFormat,
}

impl TableInput {
    /// Opens a table.
    ///
    /// # Errors
    /// A file that cannot be opened, or is no table.
    pub fn open(path: &Path) -> Result<Self, TableErrorKind> {
        // That a file does not exist matters more than what it is called.
        let bytes = InputBytes::open(path).map_err(TableErrorKind::Open)?;
        let format = by_extension(path)?;
        // A pipe can be read once, and tables are read from the start several times.
        let bytes = match bytes.size() {
            Some(_) => bytes,
            None => bytes.spool().map_err(TableErrorKind::Read)?,
        };
        Ok(TableInput { bytes, format })
    }

    /// The format of the bytes.
    pub fn format(&self) -> TableFormat {
        self.format
    }

    /// The same table, to be read from the start.
    ///
    /// # Errors
    /// Those of opening the file again.
    pub fn reopen(&self) -> io::Result<Self> {
        Ok(TableInput { bytes: self.bytes.reopen()?, format: self.format })
    }

    /// The bytes, for a reader of the format.
    pub fn into_bytes(self) -> InputBytes {
        self.bytes
    }
}

fn by_extension(path: &Path) -> Result<TableFormat, TableErrorKind> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("csv") => Ok(TableFormat::Delimited(TableDialect::new(b','))),
        Some("tsv") => Ok(TableFormat::Delimited(TableDialect::new(b'\t'))),
        Some("jsonl" | "ndjson") => Ok(TableFormat::JsonLines),
        Some("parquet") => Ok(TableFormat::Parquet),
        Some("eval" | "json") => Err(TableErrorKind::EvalLog),
        _ => Err(TableErrorKind::UnknownFormat { extension }),
    }
}
