//! Rows as JSON lines.

use std::io::Write;

use super::RowSink;
use super::cell::{ExportCell, write_text};
use super::columns::ExportColumn;
use super::error::ExportError;
use super::rows::ExportRow;

/// An object a line. What the sample does not have is absent; what it has as null is null.
pub(super) struct JsonlSink<'a> {
    out: &'a mut (dyn Write + Send),
    columns: &'a [ExportColumn],
    /// The names as JSON, with the colon.
    keys: Vec<String>,
    line: String,
}

impl<'a> JsonlSink<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send), columns: &'a [ExportColumn]) -> Self {
        let key = |column: &ExportColumn| {
            let mut key = String::new();
            write_text(&column.name, &mut key);
            key + ":"
        };
        JsonlSink { out, columns, keys: columns.iter().map(key).collect(), line: String::new() }
    }
}

impl RowSink for JsonlSink<'_> {
    fn row(&mut self, row: &ExportRow<'_>) -> Result<(), ExportError> {
        self.line.clear();
        self.line.push('{');
        for (column, key) in self.columns.iter().zip(&self.keys) {
            let cell = row.cell(column.source);
            if cell == ExportCell::Missing {
                continue;
            }
            if self.line.len() > 1 {
                self.line.push(',');
            }
            self.line.push_str(key);
            cell.write_json(&mut self.line);
        }
        self.line.push_str("}\n");
        Ok(self.out.write_all(self.line.as_bytes())?)
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}
