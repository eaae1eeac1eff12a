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

#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_pages;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use errorbar_core::{Leaf, SampleId, Value};
use errorbar_files::json_value::score_json;
use serde_json::Value as Json;

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
        ExportFormat::Csv => Box::new(CsvSink::new(out, columns, |text| Cow::Borrowed(text))?),
        ExportFormat::SafeCsv => Box::new(CsvSink::new(out, columns, spreadsheet_cell)?),
        ExportFormat::JsonLines => Box::new(JsonlSink::new(out, columns)),
        #[cfg(feature = "parquet")]
        ExportFormat::Parquet => Box::new(parquet::ParquetSink::new(out, columns)?),
        #[cfg(not(feature = "parquet"))]
        ExportFormat::Parquet => return Err(WriteError::NoParquet),
    })
}

/// What stands in a row under a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExportCell<'a> {
    /// The sample has no such thing.
    Missing,
    /// The sample has null there.
    Null,
    /// A string.
    Text(&'a str),
    /// The number of an epoch.
    Epoch(u32),
    /// The id of a sample.
    Id(&'a SampleId),
    /// The value of a score.
    Score(&'a Value),
    /// Metadata.
    Json(&'a Json),
    /// A number, which may not be finite.
    Number(f64),
    /// A count.
    Count(u64),
}

impl<'a> ExportCell<'a> {
    /// A string, or null.
    pub fn text_or_null(text: Option<&'a str>) -> Self {
        text.map_or(ExportCell::Null, ExportCell::Text)
    }

    /// The cell as a string: scalars as they are, lists and maps as JSON, in which `NaN` and `Infinity` stay bare.
    /// Nothing if nothing is there.
    fn text(self) -> Option<Cow<'a, str>> {
        Some(match self {
            ExportCell::Missing | ExportCell::Null | ExportCell::Json(Json::Null) => return None,
            ExportCell::Text(text) => Cow::Borrowed(text),
            ExportCell::Json(Json::String(text)) => Cow::Borrowed(text),
            ExportCell::Id(SampleId::Str(id)) => Cow::Borrowed(id),
            ExportCell::Score(Value::Str(text)) => Cow::Borrowed(text),
            ExportCell::Epoch(epoch) => Cow::Owned(epoch.to_string()),
            ExportCell::Id(id) => Cow::Owned(id.to_string()),
            ExportCell::Json(json) => Cow::Owned(json.to_string()),
            ExportCell::Score(value) => Cow::Owned(score_json(value)),
            ExportCell::Number(number) => Cow::Owned(score_json(&Value::Float(number))),
            ExportCell::Count(count) => Cow::Owned(count.to_string()),
        })
    }

    /// Writes the cell as strict JSON: null for a number that is not finite.
    fn write_json(self, out: &mut String) {
        match self {
            ExportCell::Missing | ExportCell::Null => out.push_str("null"),
            ExportCell::Text(text) => write_text(text, out),
            ExportCell::Epoch(epoch) => out.push_str(&epoch.to_string()),
            ExportCell::Id(SampleId::Str(id)) => write_text(id, out),
            ExportCell::Id(SampleId::Int(id)) => out.push_str(&id.to_string()),
            ExportCell::Json(json) => out.push_str(&json.to_string()),
            ExportCell::Number(number) => out.push_str(&Json::from(number).to_string()),
            ExportCell::Count(count) => out.push_str(&count.to_string()),
            ExportCell::Score(value) => out.push_str(&value.to_json().to_string()),
        }
    }

    /// Whether strict JSON has null for a number within this list or map: read again, that is not a number
    /// that is unscored.
    pub fn loses_inside(self) -> bool {
        let lost =
            |leaf: &Leaf| matches!(leaf, Leaf::Unscored) || matches!(leaf, Leaf::Float(f) if !f.is_finite());
        match self {
            ExportCell::Score(Value::List(items)) => items.iter().any(lost),
            ExportCell::Score(Value::Map(map)) => map.values().any(lost),
            _ => false,
        }
    }
}

/// Writes a string as JSON.
fn write_text(text: &str, out: &mut String) {
    // `Value` prints a string without an error to handle; the copy is that of one string.
    out.push_str(&Json::from(text).to_string());
}

/// A header, then a line per row; quotes where they are needed.
struct CsvSink<'a> {
    out: csv::Writer<&'a mut (dyn Write + Send)>,
    /// What is written for the text of a cell.
    cell: fn(&str) -> Cow<'_, str>,
}

impl<'a> CsvSink<'a> {
    fn new(
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

/// Why rows could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// Parquet refuses what it was given.
    #[error("cannot write Parquet: {0}")]
    Parquet(String),
    /// The program was built without Parquet.
    #[error("Parquet is not in this build")]
    NoParquet,
    /// A cell is not of the kind of its column.
    #[error("a cell is not of the kind of its column")]
    CellKind,
}

/// An object a line. What the sample does not have is absent; what it has as null is null.
struct JsonlSink<'a> {
    out: &'a mut (dyn Write + Send),
    /// The names as JSON, with the colon.
    keys: Vec<String>,
    line: String,
}

impl<'a> JsonlSink<'a> {
    fn new(out: &'a mut (dyn Write + Send), columns: &[WrittenColumn]) -> Self {
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

/// A cell of CSV for spreadsheets: one that begins as a formula does, and is no number, gets an apostrophe in front of it,
/// which makes it a text. A formula begins with `=`, `+`, `-` or `@`, also full-width and behind white space and characters
/// that are not shown, because spreadsheets may drop these; and a cell with a tab or the end of a line.
///
/// ```
/// use errorbar_table::write::spreadsheet_cell;
///
/// assert_eq!(spreadsheet_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
/// assert_eq!(["-0.5", "+1e3", "a=b"].map(spreadsheet_cell), ["-0.5", "+1e3", "a=b"]);
/// ```
pub fn spreadsheet_cell(text: &str) -> Cow<'_, str> {
    let is_number = || text.trim().parse().is_ok_and(f64::is_finite);
    let shown = text.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
    let begins_formula = text.starts_with(['\t', '\r', '\n'])
        || shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match begins_formula && !is_number() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a character is a control or a format character (soft hyphens, joiners, marks of direction, the byte-order mark,
/// annotations, variation selectors, tags).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod cell_tests {
    use super::*;
    use serde_json::json;

    fn both(value: Value) -> (String, String) {
        let mut json = String::new();
        ExportCell::Score(&value).write_json(&mut json);
        (ExportCell::Score(&value).text().unwrap().into_owned(), json)
    }

    #[test]
    fn scores_as_text_and_as_json() {
        let cases = [
            (Value::from("C"), "C", "\"C\""),
            (Value::Int(1), "1", "1"),
            (Value::Float(1.0), "1.0", "1.0"),
            (Value::Float(0.5), "0.5", "0.5"),
            (Value::Float(f64::NEG_INFINITY), "-Infinity", "null"),
            (Value::Bool(true), "true", "true"),
            (Value::Unscored, "NaN", "null"),
            (Value::list([1.0, f64::NAN]), "[1.0,NaN]", "[1.0,null]"),
            (
                Value::map([("a\"", Leaf::from("x\n")), ("b", Leaf::Null), ("c", Leaf::Unscored)]),
                r#"{"a\"":"x\n","b":null,"c":NaN}"#,
                r#"{"a\"":"x\n","b":null,"c":null}"#,
            ),
        ];
        for (value, text, json) in cases {
            assert_eq!(both(value), (text.to_owned(), json.to_owned()));
        }
    }

    #[test]
    fn what_is_lost_in_json_is_known() {
        let lost = |value: Value| ExportCell::Score(&value).loses_inside();
        assert!(lost(Value::list([f64::NAN])) && lost(Value::map([("a", f64::INFINITY)])));
        assert!(!lost(Value::Unscored), "null reads as unscored again");
        assert!(!lost(Value::map([("a", Leaf::Null)])));
    }

    #[test]
    fn metadata_as_text() {
        let text = |json: Json| ExportCell::Json(&json).text().map(Cow::into_owned);
        assert_eq!(text(json!("a,\"b")).as_deref(), Some("a,\"b"));
        assert_eq!(text(json!([1, "x", null])).as_deref(), Some("[1,\"x\",null]"));
        assert_eq!(text(json!({})).as_deref(), Some("{}"));
        assert_eq!(text(json!(false)).as_deref(), Some("false"));
        assert_eq!(text(json!(null)), None);
    }
}

#[cfg(test)]
mod spreadsheet_tests {
    use super::*;

    #[test]
    fn a_formula_is_found_behind_what_spreadsheets_drop() {
        let begins =
            ["=1", "+a", "-a", "@SUM(1)", "＝1+1", "＋1+1", "－1+1", "＠SUM(1)", "\ta", "\ra", "\na"];
        let behind = [
            " ",
            "\n",
            "\u{a0}",
            "\u{feff}",
            "\u{b}",
            "\u{c}",
            "\u{85}",
            "\u{2028}",
            "\u{200b}",
            "\u{3000}",
            "\0",
            "\u{ad}",
            "\u{202e}",
            "\u{2060}",
            " \u{feff}\n",
        ];
        let hidden = behind.iter().map(|start| format!("{start}=1"));
        for cell in begins.map(str::to_owned).into_iter().chain(hidden) {
            assert_eq!(spreadsheet_cell(&cell), format!("'{cell}"));
        }
        for cell in [
            "",
            " ",
            "a=1",
            " a",
            "\u{a0}a",
            "é=1",
            "-1",
            " -1",
            "\u{2028}+1e3 ",
            "1-1",
            "(=1)",
            "'=1",
            "数=1",
        ] {
            assert_eq!(spreadsheet_cell(cell), cell);
        }
    }
}
