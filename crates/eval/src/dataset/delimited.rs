//! Records from CSV and TSV files.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::io::{self, Read};
use std::mem;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use errorbar_table::input::Utf16;
use errorbar_table::{BUFFER_BYTES, DecompressedFile, QuoteState};
use serde_json::Value as Json;

use super::error::{DatasetError, RecordLocation, RecordPosition};
use super::limits::{MAX_COLUMNS, MAX_LINE, too_long};
use super::record::{FieldNames, Record, RecordSink, Stop};
use super::source::RecordSource;

/// Reads a file whose fields are separated by this character, unless the source names another.
pub(super) fn read(
    path: &Arc<Path>,
    source: &RecordSource,
    delimiter: u8,
    sink: &mut RecordSink<'_>,
) -> Result<Stop, DatasetError> {
    let unreadable = |problem: String| DatasetError::Read { path: path.to_path_buf(), problem };
    let delimiter = source.delimiter.unwrap_or(delimiter);
    let has_header = source.header.unwrap_or(source.columns.is_none());
    let file = DecompressedFile::open(path).map_err(|error| unreadable(error.to_string()))?;
    let scan = Rc::new(RefCell::new(RowScan::new(delimiter)));
    let rows = ScannedRows { source: file, scan: scan.clone() };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(rows);
    let on_line =
        |line: u64| RecordLocation { path: Some(path.clone()), line: Some(RecordPosition::Line(line)) };
    let wrong = |line: u64, problem: String| DatasetError::Record { place: on_line(line), problem };
    let mut row = csv::StringRecord::new();
    // The line of the next row, if there is one.
    let mut next = |row: &mut csv::StringRecord| -> Result<Option<u64>, DatasetError> {
        let is_row = reader.read_record(row);
        let mut scan = scan.borrow_mut();
        match (is_row, scan.problem.take()) {
            (_, Some(RowProblem::LongLine(line))) => Err(unreadable(too_long(line))),
            (_, Some(RowProblem::ManyFields(line, fields))) => Err(wrong(
                line,
                format!("the row has {fields} fields; check that the file is what its name says"),
            )),
            (Ok(true), None) => Ok(Some(scan.next_line())),
            (Ok(false), None) => Ok(None),
            (Err(error), None) => Err(match error.into_kind() {
                csv::ErrorKind::Utf8 { .. } => wrong(scan.next_line(), not_utf8(path)),
                csv::ErrorKind::Io(error) => unreadable(error.to_string()),
                _ => unreadable("it is no table of rows and columns".to_owned()),
            }),
        }
    };
    let Some(mut line) = next(&mut row)? else { return Ok(Stop::AtTheEnd) };
    let names = names(source, delimiter, has_header, &row).map_err(|problem| wrong(line, problem))?;
    let names = Arc::new(FieldNames::new(names));
    let mut is_row = !has_header;
    sink.names(path, names.all())?;
    loop {
        if is_row {
            let width = names.all().len();
            if row.len() != width {
                // A quote that is never closed is the likelier mistake, and swallows rows.
                let found = row.len();
                while next(&mut row)?.is_some() {}
                return Err(open_quote(&scan.borrow()).map_or_else(
                    || {
                        let width_of =
                            if source.columns.is_some() { "there are names for" } else { "the header has" };
                        let first = if has_header || source.columns.is_some() {
                            width_of
                        } else {
                            "the first row has"
                        };
                        wrong(
                            line,
                            format!(
                                "{found} fields where {first} {width}; quote {} within a field",
                                delimiter_name(delimiter)
                            ),
                        )
                    },
                    |line| wrong(line, OPEN_QUOTE.to_owned()),
                ));
            }
            let bytes = row.as_slice().len() + row.len();
            let values = row.iter().map(Json::from);
            let record = Record::with_names(on_line(line), names.clone(), values);
            if sink.take(record, bytes as u64)? == Stop::Early {
                return Ok(Stop::Early);
            }
        }
        is_row = true;
        match next(&mut row)? {
            Some(at) => line = at,
            None => break,
        }
    }
    match open_quote(&scan.borrow()) {
        Some(line) => Err(wrong(line, OPEN_QUOTE.to_owned())),
        None => Ok(Stop::AtTheEnd),
    }
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

const OPEN_QUOTE: &str = "a quotation mark is opened here and never closed";

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

/// The line of the row whose quotation mark is open at the end.
fn open_quote(scan: &RowScan) -> Option<u64> {
    scan.state.is_quoted().then_some(scan.row_line)
}

/// A row may have more fields than there is memory for the list of them.
const MANY_FIELDS: usize = 1 << 20;

/// What a file is seen to hold while its bytes go by on their way to the parser: the line of each row, which the
/// parser does not know, and what it would need too much memory for.
struct RowScan {
    delimiter: u8,
    state: QuoteState,
    line: u64,
    line_bytes: u64,
    /// Whether a row starts at the next byte that is no line end.
    is_start: bool,
    /// Where the row of the last byte starts, and its fields so far.
    row_line: u64,
    fields: usize,
    /// The lines of rows that the parser has not returned yet.
    starts: VecDeque<u64>,
    problem: Option<RowProblem>,
}

enum RowProblem {
    LongLine(u64),
    /// The line of the row, and how many fields it has.
    ManyFields(u64, usize),
}

impl RowScan {
    fn new(delimiter: u8) -> Self {
        RowScan {
            delimiter,
            state: QuoteState::default(),
            line: 1,
            line_bytes: 0,
            is_start: true,
            row_line: 1,
            fields: 1,
            starts: VecDeque::new(),
            problem: None,
        }
    }

    fn next_line(&mut self) -> u64 {
        self.starts.pop_front().unwrap_or(self.row_line)
    }

    fn scan(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let is_quoted = self.state.is_quoted();
            if !is_quoted && matches!(byte, b'\n' | b'\r') {
                if !mem::replace(&mut self.is_start, true) && self.fields > MANY_FIELDS {
                    self.problem = Some(RowProblem::ManyFields(self.row_line, self.fields));
                }
            } else {
                if mem::replace(&mut self.is_start, false) {
                    (self.row_line, self.fields) = (self.line, 1);
                    self.starts.push_back(self.line);
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
        }
    }
}

/// A file on its way to the parser.
struct ScannedRows<R> {
    source: R,
    scan: Rc<RefCell<RowScan>>,
}

impl<R: Read> Read for ScannedRows<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut scan = self.scan.borrow_mut();
        loop {
            let count = self.source.read(buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            scan.scan(bytes);
            // Only counted to their end, so that the parser never holds them.
            if count > 0 && scan.problem.is_none() && !scan.is_start && scan.fields > MANY_FIELDS {
                continue;
            }
            if count == 0 && scan.problem.is_none() && !scan.is_start && scan.fields > MANY_FIELDS {
                scan.problem = Some(RowProblem::ManyFields(scan.row_line, scan.fields));
            }
            return match scan.problem {
                Some(_) => Err(io::Error::other("the file is refused")),
                None => Ok(count),
            };
        }
    }
}
