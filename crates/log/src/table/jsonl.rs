//! Tables as JSON lines: one object a row.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::str;

use errorbar_core::{Leaf, MetadataKeys, Score, Value};
use jiter::{Jiter, JiterError, Peek};
use serde_json::Value as Json;

use super::builder::{Builder, epoch, shown};
use super::error::Problem;
use super::{DEFAULT_SCORES, EPOCH, ID, ScoreTable, TableErrorKind, TableOptions, no_score_column};
use crate::json_value::{self, Scalar};

const BUFFER_BYTES: usize = 1 << 18;
/// How many keys are remembered for messages. A table has a few; hostile ones must not fill the memory.
const MAX_KEYS: usize = 10_000;

pub(super) fn read(file: File, options: &TableOptions) -> Result<ScoreTable, Problem> {
    let mut lines = Lines::new(file);
    let scorers = match options.score_columns.as_slice() {
        [] => vec![default_score(&mut lines)?],
        named => named.to_vec(),
    };
    lines.rewind().map_err(TableErrorKind::Read)?;

    let mut builder = Builder::new(&scorers);
    let mut keys = Keys::new(&scorers, &options.metadata);
    let mut row = ParsedRow::default();
    while let Some((line, text)) = lines.next()? {
        row.read(text, &mut keys).map_err(|kind| kind.on_line(line).of_sample(&row.id))?;
        row.add(&keys, &mut builder, line)?;
    }
    if lines.number == 0 || keys.found.is_empty() {
        return Err(TableErrorKind::Empty.into());
    }
    for (scorer, seen) in scorers.iter().zip(&keys.score_seen) {
        if !seen {
            return Err(no_score_column(&[scorer], keys.found));
        }
    }
    let is_metadata = |key: &String| key != ID && key != EPOCH && !scorers.contains(key);
    builder.finish(keys.found.into_iter().filter(is_metadata).collect())
}

/// Which default score column the table has: the first line that has one decides for `score` at
/// once, and for `value` only if `score` is nowhere.
fn default_score(lines: &mut Lines) -> Result<String, Problem> {
    let [score, value] = DEFAULT_SCORES;
    let names = DEFAULT_SCORES.map(str::to_owned);
    let no_metadata = MetadataKeys::NONE;
    let mut keys = Keys::new(&names, &no_metadata);
    let mut row = ParsedRow::default();
    while let Some((_, text)) = lines.next()? {
        // What is wrong with a line is said when the rows are read.
        if row.read(text, &mut keys).is_err() || keys.score_seen.first() == Some(&true) {
            return Ok(score.to_owned());
        }
    }
    match keys.score_seen.as_slice() {
        [_, true] => Ok(value.to_owned()),
        _ if keys.found.is_empty() => Err(TableErrorKind::Empty.into()),
        _ => Err(no_score_column(&DEFAULT_SCORES, keys.found)),
    }
}

/// The lines of a file that are not blank, with their numbers.
struct Lines {
    reader: BufReader<File>,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines {
    fn new(file: File) -> Self {
        Lines { reader: BufReader::with_capacity(BUFFER_BYTES, file), buffer: Vec::new(), number: 0 }
    }

    fn rewind(&mut self) -> std::io::Result<()> {
        self.number = 0;
        self.reader.rewind()
    }

    fn next(&mut self) -> Result<Option<(u64, &str)>, Problem> {
        loop {
            self.buffer.clear();
            if self.reader.read_until(b'\n', &mut self.buffer).map_err(TableErrorKind::Read)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !content(&self.buffer, self.number).is_empty() {
                break;
            }
        }
        match str::from_utf8(content(&self.buffer, self.number)) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(_) => Err(TableErrorKind::InvalidUtf8 { column: None }.on_line(self.number)),
        }
    }
}

/// A line without its end, and without the mark that may stand at the start of a file.
fn content(line: &[u8], number: u64) -> &[u8] {
    let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    line.trim_ascii()
}

/// What a key stands for.
#[derive(Clone, Copy)]
enum Field {
    Id,
    Epoch,
    Score(usize),
    /// Metadata to fetch, by its number among the keys found.
    Metadata(usize),
    Skipped,
}

/// Every key met so far.
struct Keys<'a> {
    fields: HashMap<String, Field>,
    /// The keys in order of appearance.
    found: Vec<String>,
    score_names: &'a [String],
    score_seen: Vec<bool>,
    metadata: &'a MetadataKeys,
}

impl<'a> Keys<'a> {
    fn new(score_names: &'a [String], metadata: &'a MetadataKeys) -> Self {
        let score_seen = vec![false; score_names.len()];
        Keys { fields: HashMap::new(), found: Vec::new(), score_names, score_seen, metadata }
    }

    fn field(&mut self, key: &str) -> Field {
        if let Some(field) = self.fields.get(key) {
            return *field;
        }
        let field = match key {
            ID => Field::Id,
            EPOCH => Field::Epoch,
            key => match self.score_names.iter().position(|name| name == key) {
                Some(at) => {
                    if let Some(seen) = self.score_seen.get_mut(at) {
                        *seen = true;
                    }
                    Field::Score(at)
                }
                None if self.metadata.contains(key) => Field::Metadata(self.found.len()),
                None => Field::Skipped,
            },
        };
        if !matches!(field, Field::Skipped) || self.found.len() < MAX_KEYS {
            self.fields.insert(key.to_owned(), field);
            self.found.push(key.to_owned());
        }
        field
    }
}

/// One line, read. Keys come in any order, so a row is complete only at its end.
#[derive(Default)]
struct ParsedRow {
    id: String,
    has_id: bool,
    epoch: Option<u32>,
    scores: Vec<Option<Value>>,
    metadata: Vec<(usize, Json)>,
    /// A score that is nested too deep; told at the end, when the sample is known.
    nested: Option<TableErrorKind>,
}

impl ParsedRow {
    fn read(&mut self, text: &str, keys: &mut Keys<'_>) -> Result<(), TableErrorKind> {
        self.id.clear();
        self.has_id = false;
        self.epoch = None;
        self.scores.clear();
        self.scores.resize(keys.score_names.len(), None);
        self.metadata.clear();
        self.nested = None;

        let mut json = Jiter::new(text.as_bytes()).with_allow_inf_nan();
        let invalid = |error: JiterError| TableErrorKind::Json {
            column: text.get(..error.index).unwrap_or(text).chars().count() + 1,
            problem: error.error_type.to_string(),
        };
        let first = json.peek().map_err(invalid)?;
        if first != Peek::Object {
            // An unreadable line is told as such, whatever it starts with.
            json.next_skip().map_err(invalid)?;
            return Err(TableErrorKind::NotAnObject { found: json_value::kind(first) });
        }
        let mut field = json.known_object().map_err(invalid)?.map(|key| keys.field(key));
        while let Some(known) = field {
            self.field(known, &mut json, keys.score_names, &invalid)?;
            field = json.next_key().map_err(invalid)?.map(|key| keys.field(key));
        }
        json.finish().map_err(invalid)?;
        match self.nested.take() {
            Some(nested) => Err(nested),
            None if !self.has_id => Err(TableErrorKind::BadId { found: "missing".to_owned() }),
            None => Ok(()),
        }
    }

    fn field(
        &mut self,
        field: Field,
        json: &mut Jiter<'_>,
        score_names: &[String],
        invalid: &impl Fn(JiterError) -> TableErrorKind,
    ) -> Result<(), TableErrorKind> {
        let twice = |name: &str| Err(TableErrorKind::DuplicateColumn { name: name.to_owned() });
        let peek = json.peek().map_err(invalid)?;
        match field {
            Field::Id if self.has_id => return twice(ID),
            Field::Id => {
                self.has_id = true;
                match json_value::scalar(json, peek).map_err(invalid)? {
                    Some(Scalar::Text(text)) => self.id.push_str(text),
                    Some(Scalar::Int(int)) => self.id = int.to_string(),
                    Some(other) => return Err(TableErrorKind::BadId { found: other.describe() }),
                    None => return Err(TableErrorKind::BadId { found: json_value::kind(peek).to_owned() }),
                }
            }
            Field::Epoch if self.epoch.is_some() => return twice(EPOCH),
            Field::Epoch => {
                self.epoch = Some(match json_value::scalar(json, peek).map_err(invalid)? {
                    Some(Scalar::Int(int)) => epoch(&int.to_string())?,
                    Some(Scalar::Text(text)) => return Err(TableErrorKind::BadEpoch { found: shown(text) }),
                    Some(other) => return Err(TableErrorKind::BadEpoch { found: other.describe() }),
                    None => {
                        return Err(TableErrorKind::BadEpoch { found: json_value::kind(peek).to_owned() });
                    }
                });
            }
            Field::Score(at) => {
                let name = score_names.get(at).map(String::as_str).unwrap_or_default();
                let Some(slot) = self.scores.get_mut(at).filter(|slot| slot.is_none()) else {
                    return twice(name);
                };
                match json_value::score(json, peek).map_err(invalid)? {
                    Ok(value) => *slot = Some(value),
                    Err(found) => {
                        *slot = Some(Value::from(Leaf::Null));
                        let column = name.to_owned();
                        self.nested.get_or_insert(TableErrorKind::NestedScore { column, found });
                    }
                }
            }
            Field::Metadata(key) => {
                let value = json_value::any(json, peek).map_err(invalid)?;
                self.metadata.push((key, value));
            }
            Field::Skipped => json.known_skip(peek).map_err(invalid)?,
        }
        Ok(())
    }

    fn add(&mut self, keys: &Keys<'_>, builder: &mut Builder, line: u64) -> Result<(), Problem> {
        let named =
            |(key, value): &'_ (usize, Json)| (keys.found.get(*key).map(String::as_str), value.clone());
        let mut row = builder.push(&self.id, self.epoch.unwrap_or(1), line)?;
        for (key, value) in self.metadata.iter().map(named) {
            row = row.metadata(key.unwrap_or_default(), value);
        }
        for (name, value) in keys.score_names.iter().zip(&mut self.scores) {
            if let Some(value) = value.take() {
                row = row
                    .score(name, Score::new(value))
                    .map_err(|error| TableErrorKind::from(error).on_line(line).of_sample(&self.id))?;
            }
        }
        Ok(())
    }
}
