//! How much of a dataset or of recorded outputs is believed before it is refused.
//!
//! Samples stay in memory for the whole run, so a file of any size is read; what is bounded is one line, the
//! number of columns, and how many times larger than the file the samples may be.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use errorbar_table::BUFFER_BYTES;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::expression::{entry_bytes, json_bytes};
use crate::{Input, Sample};

/// The most bytes of a line.
pub(super) const MAX_LINE: u64 = 64 << 20;
/// The most columns of a CSV.
pub(super) const MAX_COLUMNS: usize = 10_000;
/// The most bytes of a file, and of what an endless one gives.
const MAX_FILE: u64 = 16 << 30;
/// What samples may take in memory, however small the file is.
const LEAST_MEMORY: u64 = 256 << 20;
const MEMORY_PER_BYTE: u64 = 6;
/// What one record may take, lists and maps included.
const MAX_RECORD: usize = 48 << 20;

/// Reads a file whole; lists in JSON may be in one line, however long.
pub(crate) fn read_text(path: &Path, may_be_list: bool) -> Result<String, String> {
    let problem = |error: io::Error| error.to_string();
    let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(problem)?);
    let mut bytes = Vec::new();
    for number in 1.. {
        let read = (&mut file).take(MAX_LINE + 1).read_until(b'\n', &mut bytes).map_err(problem)?;
        let is_list = || {
            let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            may_be_list && content.trim_ascii_start().starts_with(b"[")
        };
        if read as u64 > MAX_LINE && !bytes.ends_with(b"\n") && !is_list() {
            return Err(too_long(number));
        }
        if bytes.len() as u64 > MAX_FILE {
            return Err(format!("it has more than {} GiB; split it", MAX_FILE >> 30));
        }
        if read == 0 {
            break;
        }
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

pub(super) fn too_long(number: u64) -> String {
    format!(
        "line {number} is longer than {} MiB; check that the file is what its name says, or split the line",
        MAX_LINE >> 20
    )
}

/// Adds up what is held, and reports when it is too much for a file of its size.
#[derive(Default)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    allowed: u64,
}

impl MemoryBudget {
    pub(crate) fn of_file(path: &Path) -> Self {
        let mut budget = MemoryBudget::default();
        budget.allow(std::fs::metadata(path).map_or(0, |metadata| metadata.len()));
        budget
    }

    /// Allows what this many bytes of input may take.
    pub(super) fn allow(&mut self, bytes: u64) {
        self.allowed = self.allowed.saturating_add(bytes.saturating_mul(MEMORY_PER_BYTE));
    }

    /// Counts this many bytes more.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        let limit = self.allowed.max(LEAST_MEMORY);
        match self.bytes > limit {
            true => Err(format!(
                "up to here it takes more than {} MiB of memory, far more than a file of its size should; \
                 check that the file is what its name says, or split it",
                limit >> 20
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

/// Refuses a record that would take too much memory: a list of short numbers takes many times what it is written in.
///
/// Counted on the JSON itself, where a value stands after each `[`, `{` and `,`, and a key before each `:`.
fn check_size(json: &str) -> Result<(), String> {
    if json.len().saturating_mul(size_of::<Json>()) <= MAX_RECORD {
        return Ok(());
    }
    let (mut size, mut is_string, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        size += match byte {
            _ if is_string => usize::from(is_escaped || !matches!(byte, b'"' | b'\\')),
            b',' | b'[' | b'{' => size_of::<Json>(),
            b':' => size_of::<String>() + 16,
            _ => 0,
        };
        is_string ^= byte == b'"' && !is_escaped;
        is_escaped = is_string && byte == b'\\' && !is_escaped;
        if size > MAX_RECORD {
            return Err(format!("the record takes more than {} MiB of memory", MAX_RECORD >> 20));
        }
    }
    Ok(())
}

/// Reads a value of a type from a record of JSON, which is one line, within the limit. An integer of more than 64 bits is
/// the text of its digits.
pub(crate) fn record<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    check_size(json)?;
    serde_json::from_str(&exact_integers(json)).map_err(|error| json_problem(&error))
}

/// The same JSON with integers of more than 64 bits in quotes: JSON readers would round them, and ids change in silence.
fn exact_integers(json: &str) -> Cow<'_, str> {
    /// The digits of the smallest integer that does not fit.
    const DIGITS: usize = 19;
    let bytes = json.as_bytes();
    // Few records have as many digits in a row, and only those are read.
    if !bytes.split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() >= DIGITS) {
        return Cow::Borrowed(json);
    }
    let part = |range: Range<usize>| json.get(range).unwrap_or_default();
    let (mut exact, mut copied) = (String::new(), 0);
    let (mut is_string, mut is_escaped, mut start) = (false, false, None);
    for (at, byte) in bytes.iter().copied().chain([b' ']).enumerate() {
        let is_part = matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        match start {
            None if !is_string && (byte.is_ascii_digit() || byte == b'-') => start = Some(at),
            Some(from) if !is_part => {
                let number = part(from..at);
                let digits = number.strip_prefix('-').unwrap_or(number);
                // What is no JSON stays so.
                let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
                let is_key = || part(at..json.len()).trim_start().starts_with(':');
                let is_long = || number.parse::<i64>().is_err() && number.parse::<u64>().is_err();
                if is_integer && is_long() && !is_key() {
                    exact.push_str(part(copied..from));
                    exact.extend(["\"", number, "\""]);
                    copied = at;
                }
                start = None;
            }
            _ => {}
        }
        is_string ^= byte == b'"' && !is_escaped;
        is_escaped = is_string && byte == b'\\' && !is_escaped;
    }
    exact.push_str(part(copied..json.len()));
    Cow::Owned(exact)
}

/// What is wrong with one line of JSON; its line is known, so only the column is named.
fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match error.column() {
        0 => text.to_owned(),
        column => format!("{text} at column {column}"),
    }
}
