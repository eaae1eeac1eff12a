//! Rows as CSV.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{ExportCell, RowSink, WriteError, WrittenColumn};

/// A header, then a line per row; quotes where they are needed.
pub(super) struct CsvSink<'a> {
    out: csv::Writer<&'a mut (dyn Write + Send)>,
    /// What is written for the text of a cell.
    cell: fn(&str) -> Cow<'_, str>,
}

impl<'a> CsvSink<'a> {
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        columns: &[WrittenColumn],
        cell: fn(&str) -> Cow<'_, str>,
    ) -> Result<Self, WriteError> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(columns.iter().map(|column| cell(&column.name).into_owned())).map_err(unwrapped)?;
        Ok(CsvSink { out, cell })
    }
}

impl RowSink for CsvSink<'_> {
    fn row(&mut self, cells: &[ExportCell<'_>]) -> Result<(), WriteError> {
        for cell in cells {
            let text = cell.text().unwrap_or_default();
            self.out.write_field((self.cell)(&text).as_bytes()).map_err(unwrapped)?;
        }
        Ok(self.out.write_record(None::<&[u8]>).map_err(unwrapped)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}

/// The error within: that a pipe was closed should be seen.
fn unwrapped(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
