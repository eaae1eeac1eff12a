//! Records from CSV and TSV files.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::Path;

use errorbar_log::delimited::{QuoteState, ends_in_quote};
use serde_json::Value as Json;

use super::error::{DatasetError, RecordLocation, RecordPosition};
use super::limits::{FileText, MAX_COLUMNS, read_text};
use super::record::Record;

pub(super) fn read(
    path: &Path,
    take: &mut dyn FnMut(Record) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let unreadable = |problem: String| DatasetError::Read { path: path.to_owned(), problem };
    // Whole, because the samples stay in memory anyway, and lines can then be counted when something fails.
    let FileText { text, longest_line } = read_text(path, false).map_err(unreadable)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let delimiter = match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("tsv") => b'\t',
        _ => b',',
    };
    let on_line =
        |line: u64| RecordLocation { path: Some(path.into()), line: Some(RecordPosition::Line(line)) };
    let wrong = |offset: u64, problem: String| DatasetError::Record {
        place: on_line(LineCounter::new(text).at(offset)),
        problem,
    };

    if longest_line > LONG_LINE
        && let Some((offset, fields)) = row_of_many_fields(text, delimiter)
    {
        return Err(wrong(
            offset,
            format!("the row has {fields} fields; check that the file is what its name says"),
        ));
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let offset_of = |row: &csv::StringRecord| row.position().map_or(0, csv::Position::byte);
    let mut row = csv::StringRecord::new();
    let mut next =
        |row: &mut csv::StringRecord| reader.read_record(row).map_err(|error| unreadable(error.to_string()));
    if !next(&mut row)? {
        return Ok(());
    }
    let header: Vec<String> = row.iter().map(|name| name.trim().to_owned()).collect();
    if header.len() > MAX_COLUMNS {
        let problem = format!("the header has {} columns, at most {MAX_COLUMNS} are read", header.len());
        return Err(wrong(0, problem + "; remove those that are not needed"));
    }
    let mut seen = HashSet::with_capacity(header.len());
    if let Some(name) = header.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(wrong(0, format!("the header has two columns `{name}`; rename one")));
    }
    // Lines are counted as records go by: counting from the start for each would be quadratic.
    let mut lines = LineCounter::new(text);
    let mut last = 0;
    while next(&mut row)? {
        last = offset_of(&row);
        if row.len() != header.len() {
            // A quote that is never closed is the likelier mistake, and swallows rows.
            open_quote(text, last, delimiter, &wrong)?;
            return Err(wrong(
                last,
                format!(
                    "{} fields where the header has {}; quote commas within a field",
                    row.len(),
                    header.len()
                ),
            ));
        }
        let fields = header.iter().cloned().zip(row.iter().map(Json::from));
        take(Record::new(on_line(lines.at(last)), fields))?;
    }
    open_quote(text, last, delimiter, &wrong)
}

/// From this length on a row may have so many fields that the list of them would fill the memory.
const LONG_LINE: u64 = 1 << 20;
const MANY_FIELDS: usize = 1 << 20;

/// Where the first row of too many fields starts, and how many it has.
fn row_of_many_fields(text: &str, delimiter: u8) -> Option<(u64, usize)> {
    let (mut state, mut fields, mut start) = (QuoteState::default(), 1, 0);
    let found = |start: usize, fields: usize| (fields > MANY_FIELDS).then_some((start as u64, fields));
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        if !state.is_quoted() {
            if byte == delimiter {
                fields += 1;
            } else if matches!(byte, b'\n' | b'\r') {
                if let Some(found) = found(start, fields) {
                    return Some(found);
                }
                (fields, start) = (1, at + 1);
            }
        }
        state.step(byte, delimiter);
    }
    found(start, fields)
}

fn open_quote(
    text: &str,
    record: u64,
    delimiter: u8,
    wrong: &dyn Fn(u64, String) -> DatasetError,
) -> Result<(), DatasetError> {
    match ends_in_quote(Cursor::new(text.as_bytes()), record, delimiter) {
        Ok(true) => Err(wrong(record, "a quotation mark is opened here and never closed".to_owned())),
        _ => Ok(()),
    }
}

/// The line of ever later bytes.
struct LineCounter<'t> {
    rest: &'t [u8],
    at: u64,
    line: u64,
}

impl<'t> LineCounter<'t> {
    fn new(text: &'t str) -> Self {
        LineCounter { rest: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of the record that starts at or after this byte, past blank lines before it.
    fn at(&mut self, offset: u64) -> u64 {
        while let Some((&byte, rest)) = self.rest.split_first() {
            if self.at >= offset && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            self.line += u64::from(byte == b'\n');
            self.at += 1;
            self.rest = rest;
        }
        self.line
    }
}
