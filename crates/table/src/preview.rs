//! The names of the columns of a table and its first rows, to find out which column is what.

use std::io::{BufRead, BufReader, Read};

use errorbar_core::Leaf;
use errorbar_files::json_value;
use serde_json::Value as Json;

use super::input::{InputBytes, TableFormat, TableInput};
use super::{TableErrorKind, TableOptions};

/// How many rows are looked at.
const ROWS: usize = 1000;
/// How many bytes of a text are read for them, at most.
const BYTES: u64 = 1 << 20;
/// The same for the names of the columns.
const HEADER_BYTES: u64 = 1 << 16;

/// The first rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TablePreview {
    /// The names of the columns; of JSON lines, the keys of the first ones.
    pub(super) names: Vec<String>,
    /// Rows, each with a cell for every name; none where a row lacks it.
    pub(super) rows: Vec<Vec<Option<Json>>>,
}

impl TablePreview {
    /// The names of the columns, and no more than a row.
    pub(super) fn header(input: &TableInput, options: &TableOptions) -> Result<Self, TableErrorKind> {
        TablePreview::read(input, options, 1, HEADER_BYTES)
    }

    /// The first rows.
    pub(super) fn rows(input: &TableInput, options: &TableOptions) -> Result<Self, TableErrorKind> {
        TablePreview::read(input, options, ROWS, BYTES)
    }

    /// Reads the first rows. What is wrong with them is left to the reader of the table.
    fn read(
        input: &TableInput,
        options: &TableOptions,
        rows: usize,
        most: u64,
    ) -> Result<Self, TableErrorKind> {
        let bytes = input.bytes().map_err(TableErrorKind::Open)?;
        Ok(match input.format() {
            #[cfg(feature = "arrow")]
            TableFormat::Arrow(table) => table.preview(options, rows)?,
            TableFormat::Delimited(dialect) => delimited(bytes, dialect.delimiter, options, rows, most),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => parquet(bytes, options, rows),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => TablePreview::default(),
            TableFormat::JsonLines => json_lines(bytes, options, rows, most),
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|found| found == name)
    }

    /// The cells of a column.
    pub(super) fn column(&self, name: &str) -> impl Iterator<Item = Option<&Json>> {
        let at = self.names.iter().position(|found| found == name);
        self.rows.iter().map(move |row| row.get(at?).and_then(Option::as_ref))
    }
}

fn delimited(
    bytes: InputBytes,
    delimiter: u8,
    options: &TableOptions,
    rows: usize,
    most: u64,
) -> TablePreview {
    let mut text = Vec::new();
    // A file that cannot be read fails when its rows are.
    let _ = bytes.take(most + 1).read_to_end(&mut text);
    if text.len() as u64 > most {
        // The last row may be cut off.
        let end = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        text.truncate(end);
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
    let mut records = reader.byte_records().map_while(Result::ok);
    let cell = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let Some(header) = records.next().filter(|header| header.len() <= options.limits.max_columns) else {
        return TablePreview::default();
    };
    let names: Vec<String> = header.iter().map(|field| cell(field).trim().to_owned()).collect();
    let rows = records.take(rows).filter(|record| record.len() == names.len());
    let rows =
        rows.filter(|record| record.len() < 2 || record.iter().any(|field| !field.trim_ascii().is_empty()));
    let rows =
        rows.map(|record| record.iter().map(|field| Some(Json::from(cell(field)))).collect()).collect();
    TablePreview { names, rows }
}

fn json_lines(bytes: InputBytes, options: &TableOptions, rows: usize, most: u64) -> TablePreview {
    let mut preview = TablePreview::default();
    let mut lines = BufReader::new(bytes.take(most));
    let mut line = Vec::new();
    while preview.rows.len() < rows {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            continue;
        }
        let Some(object) = object(text) else { break };
        let mut row: Vec<Option<Json>> = vec![None; preview.names.len()];
        for (key, value) in object {
            match preview.names.iter().position(|name| *name == key) {
                Some(at) => row.get_mut(at).into_iter().for_each(|cell| *cell = Some(value.clone())),
                None if preview.names.len() < options.limits.max_columns => {
                    preview.names.push(key);
                    row.push(Some(value));
                }
                None => return preview,
            }
        }
        preview.rows.push(row);
    }
    let width = preview.names.len();
    preview.rows.iter_mut().for_each(|row| row.resize(width, None));
    for path in options.paths() {
        add_path(&mut preview, path);
    }
    preview
}

/// Adds the values at a path into objects as a column, if there are any.
fn add_path(preview: &mut TablePreview, path: String) {
    let value = |row: &Vec<Option<Json>>| {
        preview.names.iter().zip(row).find_map(|(root, cell)| at_path(root, cell.as_ref()?, &path)).cloned()
    };
    let cells: Vec<Option<Json>> = preview.rows.iter().map(value).collect();
    if preview.has(&path) || cells.iter().all(Option::is_none) {
        return;
    }
    preview.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    preview.names.push(path);
}

/// What is at a path, if it leads through the value under this key.
fn at_path<'v>(key: &str, value: &'v Json, path: &str) -> Option<&'v Json> {
    match (path.strip_prefix(key)?, value) {
        ("", value) => Some(value),
        (rest, Json::Object(object)) => {
            let rest = rest.strip_prefix('.')?;
            object.iter().find_map(|(key, value)| at_path(key, value, rest))
        }
        _ => None,
    }
}

#[cfg(feature = "parquet")]
fn parquet(bytes: InputBytes, options: &TableOptions, rows: usize) -> TablePreview {
    use super::parquet::ParquetRecords;
    let no_column: &[String] = &[];
    // The names alone take the footer alone.
    let columns = (rows <= 1).then_some(no_column);
    let Ok(mut records) = ParquetRecords::of_bytes(bytes, columns) else { return TablePreview::default() };
    let roots = records.names().to_vec();
    let mut preview = TablePreview { names: records.table_names(), rows: Vec::new() };
    if preview.names.len() > options.limits.max_columns {
        return TablePreview::default();
    }
    while preview.rows.len() < rows && columns.is_none() {
        match records.next_row() {
            Ok(Some(row)) => {
                // The fields of a structure are columns of their own.
                let value = |name: &String| {
                    roots.iter().zip(&row).find_map(|(root, value)| at_path(root, value, name)).cloned()
                };
                preview.rows.push(preview.names.iter().map(value).collect());
            }
            Ok(None) | Err(_) => break,
        }
    }
    preview
}

/// A line as an object. Bare `NaN`, which serde_json refuses, is read as null.
fn object(text: &[u8]) -> Option<serde_json::Map<String, Json>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut json = jiter::Jiter::new(text.as_bytes()).with_allow_inf_nan();
    let peek = json.peek().ok()?;
    let mut allowance = json_value::MemoryAllowance::new(BYTES * 16);
    match json_value::any_within(&mut json, peek, &mut allowance).ok()? {
        Json::Object(object) => Some(object),
        _ => None,
    }
}

/// A cell as it is written.
pub(super) fn text_of(cell: &Json) -> String {
    match cell {
        Json::String(text) => text.clone(),
        cell => cell.to_string(),
    }
}

/// A cell as a scalar, as readers of scores make it; none for a list or a map, and what is empty.
pub(super) fn scalar(cell: &Json, is_text: bool) -> Option<Leaf> {
    match cell {
        Json::String(text) if is_text => super::cell::score(text).and_then(|value| match value.view() {
            errorbar_core::ValueRef::Leaf(leaf) => Some(leaf.to_leaf()),
            _ => None,
        }),
        Json::String(text) => Some(Leaf::from(text.as_str())),
        Json::Bool(value) => Some(Leaf::from(*value)),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Some(Leaf::from(int)),
            (None, Some(float)) => Some(Leaf::from(float)),
            _ => None,
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}
