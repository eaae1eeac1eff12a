//! Rows as JSON lines.

use std::io::Write;

use super::cell::{ExportCell, write_text};
use super::{RowSink, WriteError, WrittenColumn};

/// An object a line. What the sample does not have is absent; what it has as null is null.
pub(super) struct JsonlSink<'a> {
    out: &'a mut (dyn Write + Send),
    /// The names as JSON, with the colon.
    keys: Vec<String>,
    line: String,
}

impl<'a> JsonlSink<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send), columns: &[WrittenColumn]) -> Self {
        let key = |column: &WrittenColumn| {
            let mut key = String::new();
            write_text(&column.name, &mut key);
            key + ":"
        };
        JsonlSink { out, keys: columns.iter().map(key).collect(), line: String::new() }
    }
}

impl RowSink for JsonlSink<'_> {
    fn row(&mut self, cells: &[ExportCell<'_>]) -> Result<(), WriteError> {
        self.line.clear();
        self.line.push('{');
        for (cell, key) in cells.iter().zip(&self.keys) {
            if *cell == ExportCell::Missing {
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

    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}
