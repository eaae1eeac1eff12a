//! Records from CSV and TSV files.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use errorbar_table::input::Utf16;
use errorbar_table::{BUFFER_BYTES, DecompressedFile, QuoteState};
use serde_json::Value as Json;

use super::error::{DatasetError, RecordLocation, RecordPosition};
use super::limits::{MAX_COLUMNS, MAX_LINE, too_long};
use super::record::{Record, RecordSink, Stop, field_names};
use super::source::RecordSource;

/// Reads a file whose fields are separated by this character, unless the source names another.
pub(super) fn read(
    path: &Arc<Path>,
    source: &RecordSource,
    delimiter: u8,
    sink: &mut RecordSink<'_>,
) -> Result<Stop, DatasetError> {
    let delimiter = source.delimiter.unwrap_or(delimiter);
    let has_header = source.header.unwrap_or(source.columns.is_none());
    let mut rows = Rows::open(path, delimiter)?;
    let Some(line) = rows.next()? else { return Ok(Stop::AtTheEnd) };
    let names =
        names(source, delimiter, has_header, &rows.row).map_err(|problem| rows.wrong(line, problem))?;
    let names = field_names(names);
    let width = names.len();
    sink.names(path, &names)?;
    let mut next = if has_header { rows.next()? } else { Some(line) };
    while let Some(line) = next {
        let found = rows.row.len();
        if found != width {
            // A quote that is never closed is the likelier mistake, and swallows rows.
            while rows.next()?.is_some() {}
            rows.check_quotes()?;
            let width_of = match (&source.columns, has_header) {
                (Some(_), _) => "there are names for",
                (None, true) => "the header has",
                (None, false) => "the first row has",
            };
            let delimiters = delimiter_name(delimiter);
            let problem =
                format!("{found} fields where {width_of} {width}; quote {delimiters} within a field");
            return Err(rows.wrong(line, problem));
        }
        let bytes = rows.row.as_slice().len() + found;
        let record = Record::with_names(rows.on_line(line), names.clone(), rows.row.iter().map(Json::from));
        if sink.take(record, bytes as u64)? == Stop::Early {
            return Ok(Stop::Early);
        }
        next = rows.next()?;
    }
    rows.check_quotes()?;
    Ok(Stop::AtTheEnd)
}

/// The rows of a file, one after the other.
struct Rows<'p> {
    path: &'p Arc<Path>,
    reader: csv::Reader<RowBytes>,
    row: csv::StringRecord,
}

impl<'p> Rows<'p> {
    fn open(path: &'p Arc<Path>, delimiter: u8) -> Result<Self, DatasetError> {
        let file = DecompressedFile::open(path).map_err(|error| unreadable(path, error.to_string()))?;
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(RowBytes::new(file, delimiter));
        Ok(Rows { path, reader, row: csv::StringRecord::new() })
    }

    /// Reads the next row, if there is one, and returns its line.
    fn next(&mut self) -> Result<Option<u64>, DatasetError> {
        let is_row = self.reader.read_record(&mut self.row);
        let bytes = self.reader.get_mut();
        let line = bytes.row_line;
        match (is_row, bytes.problem.take()) {
            (_, Some(RowProblem::LongLine(line))) => Err(unreadable(self.path, too_long(line))),
            (_, Some(RowProblem::ManyFields(fields))) => {
                let advice = "check that the file is what its name says";
                Err(self.wrong(line, format!("the row has {fields} fields; {advice}")))
            }
            (Ok(is_row), None) => Ok(is_row.then_some(line)),
            (Err(error), None) => Err(match error.into_kind() {
                csv::ErrorKind::Utf8 { .. } => self.wrong(line, not_utf8(self.path)),
                csv::ErrorKind::Io(error) => unreadable(self.path, error.to_string()),
                _ => unreadable(self.path, "it is no table of rows and columns".to_owned()),
            }),
        }
    }

    /// Refuses a quotation mark that is open at the end.
    fn check_quotes(&self) -> Result<(), DatasetError> {
        let bytes = self.reader.get_ref();
        match bytes.state.is_quoted() {
            true => {
                Err(self.wrong(bytes.row_line, "a quotation mark is opened here and never closed".to_owned()))
            }
            false => Ok(()),
        }
    }

    fn on_line(&self, line: u64) -> RecordLocation {
        RecordLocation { path: Some(self.path.clone()), line: Some(RecordPosition::Line(line)) }
    }

    fn wrong(&self, line: u64, problem: String) -> DatasetError {
        DatasetError::Record { place: self.on_line(line), problem }
    }
}

fn unreadable(path: &Path, problem: String) -> DatasetError {
    DatasetError::Read { path: path.to_path_buf(), problem }
}

/// What a delimiter is called, in the plural.
fn delimiter_name(delimiter: u8) -> String {
    match delimiter {
        b',' => "commas".to_owned(),
        b'\t' => "tabs".to_owned(),
        b';' => "semicolons".to_owned(),
        other => format!("each {:?}", char::from(other)),
    }
}

/// Refuses a header of one column that has another delimiter in it.
fn check_delimiter(header: &csv::StringRecord, delimiter: u8) -> Result<(), String> {
    let Some(only) = header.get(0).filter(|_| header.len() == 1) else { return Ok(()) };
    let other = [';', '\t', '|', ','].into_iter().find(|other| {
        u8::try_from(*other) != Ok(delimiter)
            && only.split(*other).filter(|name| !name.trim().is_empty()).count() > 1
    });
    match other {
        None => Ok(()),
        Some(other) => {
            let shown = if other == '\t' { "\\t".to_owned() } else { other.to_string() };
            let header: String = only.chars().take(60).collect();
            Err(format!(
                "the header {header:?} is one column; if its fields are separated by {}, name that: delimiter = \"{shown}\"",
                delimiter_name(u8::try_from(other).unwrap_or(b','))
            ))
        }
    }
}

/// What a file is that is not UTF-8.
fn not_utf8(path: &Path) -> String {
    const LOOKED_AT: u64 = 512;
    let mut head = Vec::new();
    let read = DecompressedFile::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut head));
    match read.ok().and_then(|_| Utf16::of(&head)) {
        Some(encoding) => format!("it is {} text; save it as UTF-8", encoding.name()),
        None => "it is not UTF-8 text".to_owned(),
    }
}

/// The names of the columns: those given, those of the header, or numbered ones.
fn names(
    source: &RecordSource,
    delimiter: u8,
    has_header: bool,
    first: &csv::StringRecord,
) -> Result<Vec<String>, String> {
    let names: Vec<String> = match (&source.columns, has_header) {
        (Some(names), false) => names.clone(),
        (Some(names), true) if names.len() == first.len() => names.clone(),
        (Some(names), true) => {
            return Err(format!("the header has {} columns, and {} are named", first.len(), names.len()));
        }
        (None, true) => {
            if source.delimiter.is_none() {
                check_delimiter(first, delimiter)?;
            }
            first.iter().map(|name| name.trim().to_owned()).collect()
        }
        (None, false) => (1..=first.len()).map(|number| format!("column_{number}")).collect(),
    };
    if names.len() > MAX_COLUMNS {
        let problem = format!("the header has {} columns, at most {MAX_COLUMNS} are read", names.len());
        return Err(problem + "; remove those that are not needed");
    }
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) if has_header && names.len() == first.len() && source.columns.is_none() => Err(format!(
            "the header has two columns `{name}`; rename one, or name them: columns = [\"…\", …]"
        )),
        Some(name) => Err(format!("two columns are named `{name}`")),
        None => Ok(names),
    }
}

/// A row may have more fields than there is memory for the list of them.
const MANY_FIELDS: usize = 1 << 20;

/// The bytes of a file on their way to the parser, which gets no more than one row at a time: its line is not known to
/// the parser, nor what it would need too much memory for.
struct RowBytes {
    source: BufReader<DecompressedFile>,
    delimiter: u8,
    state: QuoteState,
    line: u64,
    line_bytes: u64,
    /// Whether a row starts at the next byte that is no line end.
    is_start: bool,
    /// Where the row of the last byte starts, and its fields so far.
    row_line: u64,
    fields: usize,
    problem: Option<RowProblem>,
}

enum RowProblem {
    LongLine(u64),
    /// How many fields the row has.
    ManyFields(usize),
}

impl RowBytes {
    fn new(file: DecompressedFile, delimiter: u8) -> Self {
        RowBytes {
            source: BufReader::with_capacity(BUFFER_BYTES, file),
            delimiter,
            state: QuoteState::default(),
            line: 1,
            line_bytes: 0,
            is_start: true,
            row_line: 1,
            fields: 1,
            problem: None,
        }
    }

    /// Looks at the next byte. Whether a row ends with it.
    fn ends_row(&mut self, byte: u8) -> bool {
        let is_quoted = self.state.is_quoted();
        let is_end = !is_quoted && matches!(byte, b'\n' | b'\r');
        if is_end {
            self.is_start = true;
        } else {
            if mem::replace(&mut self.is_start, false) {
                (self.row_line, self.fields) = (self.line, 1);
            }
            self.fields += usize::from(!is_quoted && byte == self.delimiter);
        }
        self.line_bytes += 1;
        if byte == b'\n' {
            self.line += 1;
            self.line_bytes = 0;
        }
        if self.problem.is_none() && self.line_bytes > MAX_LINE {
            self.problem = Some(RowProblem::LongLine(self.line));
        }
        self.state.step(byte, self.delimiter);
        is_end
    }
}

impl Read for RowBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let ahead = self.source.fill_buf()?;
            let most = ahead.len().min(buffer.len());
            let bytes = buffer.get_mut(..most).unwrap_or_default();
            bytes.copy_from_slice(ahead.get(..most).unwrap_or_default());
            let end = bytes.iter().position(|byte| self.ends_row(*byte));
            let count = end.map_or(most, |end| end + 1);
            self.source.consume(count);
            if self.fields > MANY_FIELDS && self.problem.is_none() {
                // Only counted to their end, so that the parser never holds them.
                if end.is_none() && count > 0 {
                    continue;
                }
                self.problem = Some(RowProblem::ManyFields(self.fields));
            }
            return match self.problem {
                Some(_) => Err(io::Error::other("the file is refused")),
                None => Ok(count),
            };
        }
    }
}
