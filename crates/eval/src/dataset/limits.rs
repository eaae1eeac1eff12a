//! How much of a dataset or of recorded outputs is believed before it is refused.
//!
//! Samples stay in memory for the whole run, so a file of any size is read; what is bounded is one line, the
//! number of columns, and how many times larger than the file the samples may be.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use memchr::{memchr, memrchr};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value as Json};

use crate::{Input, Sample};

/// The most bytes of a line.
pub(crate) const MAX_LINE: u64 = 64 << 20;
/// The most columns of a CSV.
pub(super) const MAX_COLUMNS: usize = 10_000;
/// The most bytes of a file, and of what an endless one gives.
const MAX_FILE: u64 = 16 << 30;
/// What samples may take in memory, however small the file is.
const LEAST_MEMORY: u64 = 256 << 20;
const MEMORY_PER_BYTE: u64 = 6;
/// What one record may take, lists and maps included.
const MAX_RECORD: u64 = 48 << 20;

/// The text of a file, and how long its longest line is.
pub(super) struct FileText {
    pub(super) text: String,
    pub(super) longest_line: u64,
}

/// Reads a file whole; lists in JSON may be in one line, however long.
pub(super) fn read_text(path: &Path, may_be_list: bool) -> Result<FileText, String> {
    const CHUNK: u64 = 1 << 20;
    let problem = |error: io::Error| error.to_string();
    let mut file = File::open(path).map_err(problem)?;
    let mut bytes = Vec::new();
    let (mut line_start, mut longest_line) = (0, 0);
    loop {
        let start = bytes.len();
        let read = (&mut file).take(CHUNK).read_to_end(&mut bytes).map_err(problem)?;
        let chunk = bytes.get(start..).unwrap_or_default();
        if let Some(first) = memchr(b'\n', chunk) {
            longest_line = longest_line.max((start + first - line_start) as u64);
            line_start = start + memrchr(b'\n', chunk).unwrap_or(first) + 1;
        }
        longest_line = longest_line.max((bytes.len() - line_start) as u64);
        let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let is_list = may_be_list && content.trim_ascii_start().starts_with(b"[");
        if longest_line > MAX_LINE && !is_list {
            let number = memchr::memchr_iter(b'\n', &bytes).count() + 1;
            return Err(too_long(number as u64));
        }
        if bytes.len() as u64 > MAX_FILE {
            return Err(format!("it has more than {} GiB; split it", MAX_FILE >> 30));
        }
        if (read as u64) < CHUNK {
            break;
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Ok(FileText { text, longest_line })
}

fn too_long(number: u64) -> String {
    format!(
        "line {number} is longer than {} MiB; check that the file is what its name says, or split the line",
        MAX_LINE >> 20
    )
}

/// The lines of a file, each within the limit, with their numbers.
pub(crate) struct Lines {
    reader: BufReader<File>,
    number: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Lines { reader: BufReader::new(File::open(path)?), number: 0 })
    }

    /// The next line without its end; nothing at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, String)>, String> {
        let mut bytes = Vec::new();
        let mut bounded = (&mut self.reader).take(MAX_LINE + 1);
        if bounded.read_until(b'\n', &mut bytes).map_err(|error| error.to_string())? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if bytes.len() as u64 > MAX_LINE && bytes.last() != Some(&b'\n') {
            return Err(too_long(self.number));
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("line {} is not UTF-8 text", self.number))?;
        Ok(Some((self.number, text.trim_end_matches(['\n', '\r']).to_owned())))
    }
}

/// Adds up what is held, and says when it is too much for a file of its size.
pub(crate) struct MemoryBudget {
    bytes: u64,
    limit: u64,
}

impl MemoryBudget {
    pub(crate) fn of_file(path: &Path) -> Self {
        let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        MemoryBudget { bytes: 0, limit: size.saturating_mul(MEMORY_PER_BYTE).max(LEAST_MEMORY) }
    }

    /// Takes so many bytes more into account.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes > self.limit {
            true => Err(format!(
                "up to here it takes more than {} MiB of memory, far more than a file of its size should; \
                 check that the file is what its name says, or split it",
                self.limit >> 20
            )),
            false => Ok(()),
        }
    }
}

/// About how many bytes a sample takes in memory.
pub(super) fn sample_bytes(sample: &Sample) -> u64 {
    /// With its name, its place and its entry among those that were seen.
    const SAMPLE_BYTES: usize = size_of::<Sample>() + 256;
    const MESSAGE_BYTES: usize = 256;
    let text = |text: &String| size_of::<String>() + text.len();
    let input = match &sample.input {
        Input::Text(text) => text.len(),
        Input::Messages(messages) => messages.iter().map(|m| MESSAGE_BYTES + m.content.len()).sum(),
    };
    let targets: usize = sample.target.iter().map(text).sum();
    let choices: usize = sample.choices.iter().map(text).sum();
    let metadata: u64 = sample.metadata.iter().map(|(key, value)| entry_bytes(key) + json_bytes(value)).sum();
    (SAMPLE_BYTES + input + targets + choices) as u64 + metadata
}

/// What an entry of a map takes, its value aside.
fn entry_bytes(key: &str) -> u64 {
    (size_of::<Json>() + size_of::<String>() + 16 + key.len()) as u64
}

fn json_bytes(value: &Json) -> u64 {
    match value {
        Json::String(text) => text.len() as u64,
        Json::Array(items) => items.iter().map(|item| size_of::<Json>() as u64 + json_bytes(item)).sum(),
        Json::Object(map) => map.iter().map(|(key, value)| entry_bytes(key) + json_bytes(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

/// Reads any JSON value, as long as it does not take too much memory: a list of short numbers takes fifty times
/// what it is written in.
pub(crate) struct BoundedJson<'a> {
    left: &'a Cell<u64>,
}

/// Room for one record.
pub(crate) fn room() -> Cell<u64> {
    Cell::new(MAX_RECORD)
}

impl<'a> BoundedJson<'a> {
    pub(crate) fn new(left: &'a Cell<u64>) -> Self {
        BoundedJson { left }
    }

    fn take<E: serde::de::Error>(&self, bytes: u64) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.ok_or_else(|| {
            E::custom(format!("the record takes more than {} MiB of memory", MAX_RECORD >> 20))
        })?);
        Ok(())
    }
}

/// One record from a line.
pub(super) fn record(line: &str) -> serde_json::Result<Json> {
    let left = room();
    let mut json = serde_json::Deserializer::from_str(line);
    let value = BoundedJson::new(&left).deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

impl<'de> DeserializeSeed<'de> for BoundedJson<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedJson<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }
    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Json, E> {
        self.take(value.len() as u64)?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(BoundedJson::new(self.left))? {
            self.take(size_of::<Json>() as u64)?;
            list.push(item);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.take(entry_bytes(&key))?;
            let value = entries.next_value_seed(BoundedJson::new(self.left))?;
            map.insert(key, value);
        }
        Ok(Json::Object(map))
    }
}

/// Calls a function with each record of a list, one after the other, so that the list as a whole is never held.
pub(super) fn for_each_record<E>(
    text: &str,
    mut each: impl FnMut(usize, Json) -> Result<(), E>,
) -> Result<(), ListProblem<E>> {
    struct Records<'f, E> {
        each: &'f mut dyn FnMut(usize, Json) -> Result<(), E>,
        problem: &'f mut Option<E>,
    }

    impl<'de, E> Visitor<'de> for Records<'_, E> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of records")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            let mut number = 0;
            loop {
                let left = room();
                let Some(item) = items.next_element_seed(BoundedJson::new(&left))? else { return Ok(()) };
                number += 1;
                if let Err(problem) = (self.each)(number, item) {
                    *self.problem = Some(problem);
                    return Err(A::Error::custom("a record is wrong"));
                }
            }
        }
    }

    let mut problem = None;
    let mut json = serde_json::Deserializer::from_str(text);
    let records = Records { each: &mut each, problem: &mut problem };
    let read = json.deserialize_seq(records).and_then(|()| json.end());
    match (problem, read) {
        (Some(problem), _) => Err(ListProblem::Record(problem)),
        (None, Err(error)) => Err(ListProblem::Json(error)),
        (None, Ok(())) => Ok(()),
    }
}

/// What is wrong with a list: its JSON, or what a function thinks of a record.
pub(super) enum ListProblem<E> {
    Json(serde_json::Error),
    Record(E),
}

/// Reads a value of a type from a line, after a long one was checked for what it takes.
pub(crate) fn from_line<'de, T: Deserialize<'de>>(line: &'de str) -> serde_json::Result<T> {
    const LONG: usize = 1 << 20;
    if line.len() > LONG {
        record(line)?;
    }
    serde_json::from_str(line)
}
