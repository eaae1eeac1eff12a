//! Records from JSON files: a list of objects, an object a line, or an object that has one list of objects.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use errorbar_core::IndexMap;
use errorbar_table::{BUFFER_BYTES, DecompressedFile};
use serde::Deserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::error::{DatasetError, RecordLocation, RecordPosition};
use super::limits::{MAX_LINE, record, too_long};
use super::record::{FieldNames, Record, RecordSink, Stop, field_names};

const ONE_A_LINE: &str = "; the file holds one JSON object a line, or one list of objects";

/// The most bytes of an object that has the list of records, which is read whole.
const MAX_DOCUMENT: u64 = 1 << 30;

pub(super) fn read(path: &Arc<Path>, sink: &mut RecordSink<'_>) -> Result<Stop, DatasetError> {
    let unreadable = |problem: String| DatasetError::Read { path: path.to_path_buf(), problem };
    let failed = |error: io::Error| unreadable(error.to_string());
    let mut file = DecompressedFile::open(path).map_err(failed)?;
    // What it starts with decides what it is.
    let mut start = Vec::new();
    (&mut file).take(BUFFER_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    let is_list = text.trim_ascii_start().first() == Some(&b'[');
    let is_document = begins_document(path, text);
    let bom = (start.len() - text.len()) as u64;
    let mut start = Cursor::new(start);
    start.set_position(bom);
    let mut objects = Objects { path, names: Arc::default(), sink };
    match is_list {
        true => read_list(start.chain(file), &mut objects),
        false if is_document => {
            let mut text = String::new();
            let length =
                start.chain(file).take(MAX_DOCUMENT + 1).read_to_string(&mut text).map_err(failed)?;
            if length as u64 > MAX_DOCUMENT {
                return Err(unreadable(format!("it has more than {} MiB{ONE_A_LINE}", MAX_DOCUMENT >> 20)));
            }
            match records_of(&text) {
                Ok(list) => read_list(list.as_bytes(), &mut objects),
                // A first line that was longer than what was looked at, with others behind it.
                Err(_) if is_lines(&text) => read_lines(text.as_bytes(), &mut objects),
                Err(problem) => Err(unreadable(problem)),
            }
        }
        false => read_lines(BufReader::with_capacity(BUFFER_BYTES, start.chain(file)), &mut objects),
    }
}

/// Whether the first of several lines is an object.
fn is_lines(text: &str) -> bool {
    let first = text.trim_ascii().split_once('\n').map(|(first, _)| first);
    first.is_some_and(|line| serde_json::from_str::<de::IgnoredAny>(line).is_ok())
}

/// Takes an object a line.
fn read_lines(mut lines: impl BufRead, objects: &mut Objects<'_, '_>) -> Result<Stop, DatasetError> {
    let path = objects.path.clone();
    let unreadable = |problem: String| DatasetError::Read { path: path.to_path_buf(), problem };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let count = (&mut lines)
            .take(MAX_LINE + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| unreadable(error.to_string()))?;
        if count == 0 {
            break;
        }
        if count as u64 > MAX_LINE {
            return Err(unreadable(too_long(number)));
        }
        let text = str::from_utf8(&line)
            .map_err(|_| unreadable(format!("it is not UTF-8 text (line {number})")))?
            .trim();
        if !text.is_empty() && objects.take(text, RecordPosition::Line(number), ONE_A_LINE)? == Stop::Early {
            return Ok(Stop::Early);
        }
    }
    Ok(Stop::AtTheEnd)
}

/// Whether a file is one object that holds the records: its first line is the start of an object that goes on, or it is
/// a `.json` file of one line with nothing but a list of objects.
fn begins_document(path: &Path, text: &[u8]) -> bool {
    /// What lists of records are called, beside which there may be other fields.
    const NAMES: [&str; 6] = ["data", "rows", "records", "examples", "samples", "instances"];
    let text = text.trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if !text.starts_with(b"{") {
        return false;
    }
    let has_one_line = text.get(line.len()..).unwrap_or_default().trim_ascii().is_empty();
    let name = path.to_string_lossy();
    let may_be_one = has_one_line && !name.contains(".jsonl") && !name.contains(".ndjson");
    match serde_json::from_slice::<IndexMap<String, de::IgnoredAny>>(line) {
        // A record may have a list of objects among its fields.
        Ok(fields) => {
            let is_named = fields.len() == 1 || NAMES.iter().any(|name| fields.contains_key(*name));
            may_be_one && is_named && str::from_utf8(line).is_ok_and(|line| records_of(line).is_ok())
        }
        Err(error) if !has_one_line => error.is_eof(),
        // The line is longer than what was read of it.
        Err(error) => error.is_eof() && may_be_one && starts_with_list(line),
    }
}

/// Whether the first value of an object is a list of objects: `{"data": [{`.
fn starts_with_list(line: &[u8]) -> bool {
    let start: Vec<u8> = line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(200).collect();
    let start = String::from_utf8_lossy(&start);
    let value = start.strip_prefix("{\"").and_then(|rest| rest.split_once("\":"));
    value.is_some_and(|(key, value)| !key.contains('"') && value.starts_with("[{"))
}

/// The one list of objects that an object has.
fn records_of(text: &str) -> Result<&str, String> {
    let fields: IndexMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let is_list = |value: &&RawValue| {
        let inner = value.get().strip_prefix('[').map(str::trim_start);
        inner.is_some_and(|inner| inner.starts_with('{'))
    };
    let lists: Vec<(&String, &&RawValue)> = fields.iter().filter(|(_, value)| is_list(value)).collect();
    match lists.as_slice() {
        [(_, list)] => Ok(list.get()),
        [] => Err(format!("it is an object without a list of objects{ONE_A_LINE}")),
        several => {
            let names: Vec<String> = several.iter().map(|(name, _)| format!("`{name}`")).collect();
            Err(format!("it has several lists of objects ({}){ONE_A_LINE}", names.join(", ")))
        }
    }
}

/// Objects on their way to the samples.
struct Objects<'a, 's> {
    path: &'a Arc<Path>,
    /// The names of the fields of the last record: most have the same.
    names: Arc<FieldNames>,
    sink: &'a mut RecordSink<'s>,
}

impl Objects<'_, '_> {
    fn take(&mut self, json: &str, position: RecordPosition, advice: &str) -> Result<Stop, DatasetError> {
        let place = RecordLocation { path: Some(self.path.clone()), line: Some(position) };
        let wrong = |problem: String| DatasetError::Record { place: place.clone(), problem };
        match record(json).map_err(|problem| wrong(format!("{problem}{advice}")))? {
            Json::Object(fields) => {
                if !fields.keys().eq(self.names.keys()) {
                    self.names = field_names(fields.keys().cloned());
                }
                let values = fields.into_iter().map(|(_, value)| value);
                let record = Record::with_names(place, self.names.clone(), values);
                self.sink.take(record, json.len() as u64)
            }
            other => Err(wrong(format!(
                "a record is an object {{\"input\": …, \"target\": …}}, found {}",
                kind(&other)
            ))),
        }
    }
}

/// Takes the records of a list one by one, so that the list as a whole is never held.
fn read_list(source: impl Read, objects: &mut Objects<'_, '_>) -> Result<Stop, DatasetError> {
    /// Takes items until one is wrong, or no more are wanted.
    struct Items<'i, 'a, 's> {
        objects: &'i mut Objects<'a, 's>,
        ended: &'i mut Option<Result<Stop, DatasetError>>,
        since: Rc<Cell<u64>>,
    }

    impl<'de> Visitor<'de> for Items<'_, '_, '_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of records")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            let mut number = 0;
            while let Some(item) = items.next_element::<Box<RawValue>>()? {
                self.since.set(0);
                number += 1;
                match self.objects.take(item.get(), RecordPosition::Record(number), "") {
                    Ok(Stop::AtTheEnd) => {}
                    // The rest is not read.
                    ended => {
                        *self.ended = Some(ended);
                        return Err(de::Error::custom("enough"));
                    }
                }
            }
            Ok(())
        }
    }

    let path = objects.path.clone();
    let (since, mut ended) = (Rc::new(Cell::new(0)), None);
    let bounded = BoundedItems { source, since: since.clone() };
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, bounded));
    let read = (&mut json).deserialize_seq(Items { objects, ended: &mut ended, since });
    if let Some(ended) = ended {
        return ended;
    }
    let problem = |error: serde_json::Error| DatasetError::Read {
        path: path.to_path_buf(),
        problem: error.to_string(),
    };
    read.map_err(problem)?;
    json.end().map_err(problem)?;
    Ok(Stop::AtTheEnd)
}

/// Refuses to read much further than one item may be long.
struct BoundedItems<R> {
    source: R,
    /// How many bytes were read since the last item.
    since: Rc<Cell<u64>>,
}

impl<R: Read> Read for BoundedItems<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.since.set(self.since.get() + count as u64);
        match self.since.get() > MAX_LINE + BUFFER_BYTES as u64 {
            true => Err(io::Error::other(format!("a record is longer than {} MiB", MAX_LINE >> 20))),
            false => Ok(count),
        }
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
