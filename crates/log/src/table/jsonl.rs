//! Tables as JSON lines: one object a row.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::str;

use errorbar_core::{Leaf, MetadataKeys, Score, ScoreColumns, Value};
use jiter::{Jiter, JiterError, Peek};
use serde_json::Value as Json;

use super::builder::{excerpt, finish};
use super::cell::epoch;
use super::error::{ReadError, TableLocation, UnresolvedLocation};
use super::layout::{ANSWER, DEFAULT_SCORES, ERROR, EXPLANATION, LONG_SCORES, REASON, SCORER};
use super::limits::Budget;
use super::long::{LongBuilder, LongRow, value_bytes};
use super::{EPOCH, ID, ScoreTable, TableErrorKind, TableLimits, TableOptions, no_score_column};
use crate::json_value::{self, MemoryAllowance, Scalar};

const BUFFER_BYTES: usize = 1 << 18;
/// How many keys that are not needed are remembered for messages. A table has a few; hostile ones must not
/// fill the memory.
const MAX_KEYS: usize = 10_000;
/// After so many bytes it is checked how much memory the columns take.
const CHECK_EVERY: usize = 1 << 20;

pub(super) fn read(file: File, options: &TableOptions) -> Result<ScoreTable, ReadError> {
    let budget = options.limits.budget(&file);
    let mut lines = LineReader::new(file, options.limits);
    rows(&mut lines, options, budget).map_err(|problem| {
        problem.locate(|at| match at {
            UnresolvedLocation::Known(TableLocation::Row(row)) => {
                lines.line_of_row(row).map(TableLocation::Line)
            }
            UnresolvedLocation::Known(place) => Some(place),
            UnresolvedLocation::Offset(_) => None,
        })
    })
}

fn rows(lines: &mut LineReader, options: &TableOptions, budget: Budget) -> Result<ScoreTable, ReadError> {
    if !options.score_columns.is_empty() {
        return Ok(wide(lines, &options.score_columns, options, false, budget)?.unwrap_or_default());
    }
    let score = default_score(lines, DEFAULT_SCORES, options, budget)?;
    if let Some(table) = wide(lines, &[score], options, true, budget)? {
        return Ok(table);
    }
    let value = default_score(lines, LONG_SCORES, options, budget)?;
    long(lines, value, options, budget)
}

/// A row per sample and epoch; nothing if scorers may have rows of their own and do.
fn wide(
    lines: &mut LineReader,
    scorers: &[String],
    options: &TableOptions,
    may_be_long: bool,
    budget: Budget,
) -> Result<Option<ScoreTable>, ReadError> {
    lines.rewind().map_err(TableErrorKind::Read)?;
    let mut columns = ScoreColumns::new(scorers);
    let mut keys = LineKeys::new(scorers, options, false);
    let mut row = ParsedRow::new(budget);
    let (mut nested, mut unchecked) = (0, 0);
    while let Some((line, text)) = lines.next()? {
        let bytes = text.len();
        row.read(text, &mut keys).map_err(|kind| kind.on_line(line).of_sample(&row.id))?;
        if keys.names_scorers && may_be_long {
            return Ok(None);
        }
        nested += row.scores.iter().flatten().map(value_bytes).sum::<u64>();
        row.add(&keys, &mut columns).map_err(|kind| kind.on_line(line).of_sample(&row.id))?;
        unchecked += bytes;
        if unchecked > CHECK_EVERY || nested > budget.limit() {
            unchecked = 0;
            let held = nested.saturating_add(columns.heap_bytes() as u64);
            budget.check(held).map_err(|kind| kind.on_line(line))?;
        }
    }
    if lines.number == 0 || keys.found.is_empty() {
        return Err(TableErrorKind::Empty.into());
    }
    for (scorer, seen) in scorers.iter().zip(&keys.score_seen) {
        if !seen {
            return Err(no_score_column(&[scorer], keys.found));
        }
    }
    finish(columns, keys.into_metadata()).map(Some)
}

/// A row per sample, epoch and scorer.
fn long(
    lines: &mut LineReader,
    value: String,
    options: &TableOptions,
    budget: Budget,
) -> Result<ScoreTable, ReadError> {
    lines.rewind().map_err(TableErrorKind::Read)?;
    let score_names = [value];
    let mut builder = LongBuilder::new(budget);
    let mut keys = LineKeys::new(&score_names, options, true);
    let mut row = ParsedRow::new(budget);
    while let Some((line, text)) = lines.next()? {
        let of_row = |kind: TableErrorKind, id: &str| kind.on_line(line).of_sample(id);
        row.read(text, &mut keys).map_err(|kind| of_row(kind, &row.id))?;
        row.add_long(&keys, &mut builder).map_err(|kind| of_row(kind, &row.id))?;
    }
    Ok(builder.finish(keys.into_metadata()))
}

/// Which default score column the table has: the first line that has one decides for the first name at
/// once, and for the second only if the first is nowhere.
fn default_score(
    lines: &mut LineReader,
    names: [&str; 2],
    options: &TableOptions,
    budget: Budget,
) -> Result<String, ReadError> {
    lines.rewind().map_err(TableErrorKind::Read)?;
    let [first, second] = names;
    let owned = names.map(str::to_owned);
    let no_metadata = TableOptions { metadata: MetadataKeys::NONE, ..options.clone() };
    let mut keys = LineKeys::new(&owned, &no_metadata, false);
    let mut row = ParsedRow::new(budget);
    while let Some((_, text)) = lines.next()? {
        // What is wrong with a line is said when the rows are read.
        if row.read(text, &mut keys).is_err() || keys.score_seen.first() == Some(&true) {
            return Ok(first.to_owned());
        }
    }
    match keys.score_seen.as_slice() {
        [_, true] => Ok(second.to_owned()),
        _ if keys.found.is_empty() => Err(TableErrorKind::Empty.into()),
        _ => Err(no_score_column(&names, keys.found)),
    }
}

/// The lines of a file that are not blank, with their numbers.
struct LineReader {
    reader: BufReader<File>,
    buffer: Vec<u8>,
    number: u64,
    limits: TableLimits,
}

impl LineReader {
    fn new(file: File, limits: TableLimits) -> Self {
        let reader = BufReader::with_capacity(BUFFER_BYTES, file);
        LineReader { reader, buffer: Vec::new(), number: 0, limits }
    }

    /// The line of a row, both counted from 1.
    fn line_of_row(&mut self, row: u64) -> Option<u64> {
        self.rewind().ok()?;
        for _ in 1..row {
            self.next().ok()?;
        }
        Some(self.next().ok()??.0)
    }

    fn rewind(&mut self) -> std::io::Result<()> {
        self.number = 0;
        self.reader.rewind()
    }

    fn next(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        loop {
            self.buffer.clear();
            let limit = self.limits.max_line;
            let mut bounded = (&mut self.reader).take(limit.saturating_add(1));
            if bounded.read_until(b'\n', &mut self.buffer).map_err(TableErrorKind::Read)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.buffer.len() as u64 > limit && self.buffer.last() != Some(&b'\n') {
                let kind = TableErrorKind::LineTooLong { limit, is_header: false, in_quote: false };
                return Err(kind.on_line(self.number));
            }
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
enum KeyRole {
    Id,
    Epoch,
    Score(usize),
    /// These only where scorers have rows of their own.
    Scorer,
    ScoreDetail(ScoreDetail),
    Error,
    /// Metadata to fetch, by its number among the keys found.
    Metadata(usize),
    Skipped,
    /// No metadata, and skipped too.
    Unread,
}

/// What is recorded with a score.
#[derive(Clone, Copy)]
enum ScoreDetail {
    Answer,
    Explanation,
    Reason,
}

/// Every key met so far.
struct LineKeys<'a> {
    fields: HashMap<String, KeyRole>,
    /// The keys in order of appearance.
    found: Vec<String>,
    score_names: &'a [String],
    score_seen: Vec<bool>,
    options: &'a TableOptions,
    /// How many keys are metadata to fetch.
    fetched: usize,
    /// Whether scorers have rows of their own.
    is_long: bool,
    /// Whether a line has the key `scorer`.
    names_scorers: bool,
}

impl<'a> LineKeys<'a> {
    fn new(score_names: &'a [String], options: &'a TableOptions, is_long: bool) -> Self {
        let score_seen = vec![false; score_names.len()];
        let (fields, found) = (HashMap::new(), Vec::new());
        LineKeys {
            fields,
            found,
            score_names,
            score_seen,
            options,
            fetched: 0,
            is_long,
            names_scorers: false,
        }
    }

    /// The keys that are metadata, fetched or not.
    fn into_metadata(self) -> Vec<String> {
        let is_metadata =
            |key: &String| matches!(self.fields.get(key), Some(KeyRole::Metadata(_) | KeyRole::Skipped));
        self.found.into_iter().filter(is_metadata).collect()
    }

    fn field(&mut self, key: &str) -> KeyRole {
        if let Some(field) = self.fields.get(key) {
            return *field;
        }
        self.names_scorers |= key == SCORER;
        let field = match key {
            ID => KeyRole::Id,
            EPOCH => KeyRole::Epoch,
            SCORER if self.is_long => KeyRole::Scorer,
            ANSWER | EXPLANATION if self.is_long && !self.options.details => KeyRole::Unread,
            ANSWER if self.is_long => KeyRole::ScoreDetail(ScoreDetail::Answer),
            EXPLANATION if self.is_long => KeyRole::ScoreDetail(ScoreDetail::Explanation),
            REASON if self.is_long => KeyRole::ScoreDetail(ScoreDetail::Reason),
            ERROR if self.is_long => KeyRole::Error,
            key => match self.score_names.iter().position(|name| name == key) {
                Some(at) => {
                    if let Some(seen) = self.score_seen.get_mut(at) {
                        *seen = true;
                    }
                    KeyRole::Score(at)
                }
                None if self.options.metadata.contains(key) => {
                    self.fetched += 1;
                    KeyRole::Metadata(self.found.len())
                }
                None => KeyRole::Skipped,
            },
        };
        if !matches!(field, KeyRole::Skipped) || self.found.len() < MAX_KEYS {
            self.fields.insert(key.to_owned(), field);
            self.found.push(key.to_owned());
        }
        field
    }
}

/// One line, read. Keys come in any order, so a row is complete only at its end.
struct ParsedRow {
    budget: Budget,
    id: String,
    has_id: bool,
    epoch: Option<u32>,
    scores: Vec<Option<Value>>,
    metadata: Vec<(usize, Json)>,
    scorer: Option<String>,
    details: [Option<String>; 3],
    errored: bool,
    /// A score that is nested too deep; told at the end, when the sample is known.
    nested: Option<TableErrorKind>,
}

impl ParsedRow {
    fn new(budget: Budget) -> Self {
        ParsedRow {
            budget,
            id: String::new(),
            has_id: false,
            epoch: None,
            scores: Vec::new(),
            metadata: Vec::new(),
            scorer: None,
            details: [None, None, None],
            errored: false,
            nested: None,
        }
    }

    fn read(&mut self, text: &str, keys: &mut LineKeys<'_>) -> Result<(), TableErrorKind> {
        self.id.clear();
        self.has_id = false;
        self.epoch = None;
        self.scores.clear();
        self.scores.resize(keys.score_names.len(), None);
        self.metadata.clear();
        self.scorer = None;
        self.details = [None, None, None];
        self.errored = false;
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
        let max_columns = keys.options.limits.max_columns;
        // Of what a line may take, lists and maps take many times the bytes that they are written in.
        let mut allowance = MemoryAllowance::new(self.budget.limit());
        while let Some(known) = field {
            let read = self.field(known, &mut json, &mut allowance, keys.score_names, &invalid);
            read.map_err(|kind| if allowance.is_used_up() { self.budget.refusal() } else { kind })?;
            if keys.fetched.max(self.metadata.len()) > max_columns {
                return Err(TableErrorKind::TooManyColumns { limit: max_columns });
            }
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
        field: KeyRole,
        json: &mut Jiter<'_>,
        allowance: &mut MemoryAllowance,
        score_names: &[String],
        invalid: &impl Fn(JiterError) -> TableErrorKind,
    ) -> Result<(), TableErrorKind> {
        let twice = |name: &str| Err(TableErrorKind::DuplicateColumn { name: name.to_owned() });
        let peek = json.peek().map_err(invalid)?;
        match field {
            KeyRole::Id if self.has_id => return twice(ID),
            KeyRole::Id => {
                self.has_id = true;
                match json_value::scalar(json, peek).map_err(invalid)? {
                    Some(Scalar::Text(text)) => self.id.push_str(text),
                    Some(Scalar::Int(int)) => self.id = int.to_string(),
                    Some(other) => return Err(TableErrorKind::BadId { found: other.describe() }),
                    None => return Err(TableErrorKind::BadId { found: json_value::kind(peek).to_owned() }),
                }
            }
            KeyRole::Epoch if self.epoch.is_some() => return twice(EPOCH),
            KeyRole::Epoch => {
                self.epoch = Some(match json_value::scalar(json, peek).map_err(invalid)? {
                    Some(Scalar::Int(int)) => epoch(&int.to_string())?,
                    Some(Scalar::Text(text)) => {
                        return Err(TableErrorKind::BadEpoch { found: excerpt(text) });
                    }
                    Some(other) => return Err(TableErrorKind::BadEpoch { found: other.describe() }),
                    None => {
                        return Err(TableErrorKind::BadEpoch { found: json_value::kind(peek).to_owned() });
                    }
                });
            }
            KeyRole::Score(at) => {
                let name = score_names.get(at).map(String::as_str).unwrap_or_default();
                let Some(slot) = self.scores.get_mut(at).filter(|slot| slot.is_none()) else {
                    return twice(name);
                };
                match json_value::score_within(json, peek, allowance).map_err(invalid)? {
                    Ok(value) => *slot = Some(value),
                    Err(found) => {
                        *slot = Some(Value::from(Leaf::Null));
                        let column = name.to_owned();
                        self.nested.get_or_insert(TableErrorKind::NestedScore { column, found });
                    }
                }
            }
            KeyRole::Scorer if self.scorer.is_some() => return twice(SCORER),
            KeyRole::Scorer => {
                self.scorer = Some(match json_value::scalar(json, peek).map_err(invalid)? {
                    Some(Scalar::Text(text)) => text.to_owned(),
                    Some(Scalar::Null) => String::new(),
                    Some(other) => return Err(TableErrorKind::BadScorer { found: other.describe() }),
                    None => {
                        return Err(TableErrorKind::BadScorer { found: json_value::kind(peek).to_owned() });
                    }
                });
            }
            KeyRole::ScoreDetail(detail) => {
                let text = match json_value::any_within(json, peek, allowance).map_err(invalid)? {
                    Json::Null => None,
                    Json::String(text) => Some(text),
                    other => Some(other.to_string()),
                };
                if let Some(slot) = self.details.get_mut(detail as usize) {
                    *slot = text;
                }
            }
            KeyRole::Error => {
                let value = json_value::any_within(json, peek, allowance).map_err(invalid)?;
                self.errored =
                    !matches!(&value, Json::Null | Json::Bool(false)) && value.as_str() != Some("");
            }
            KeyRole::Metadata(key) => {
                let value = json_value::any_within(json, peek, allowance).map_err(invalid)?;
                self.metadata.push((key, value));
            }
            KeyRole::Skipped | KeyRole::Unread => json.known_skip(peek).map_err(invalid)?,
        }
        Ok(())
    }

    fn add(&mut self, keys: &LineKeys<'_>, columns: &mut ScoreColumns) -> Result<(), TableErrorKind> {
        if self.id.is_empty() {
            return Err(TableErrorKind::BadId { found: "empty".to_owned() });
        }
        if u32::try_from(columns.len()).is_err() {
            return Err(TableErrorKind::TooManyRows);
        }
        // A key that comes up late has a place in every row before.
        self.budget.check((columns.len() as u64).saturating_mul(keys.fetched as u64 * 4))?;
        let mut row = columns.push(&self.id, self.epoch.unwrap_or(1)).metadata_all(self.metadata(keys));
        for (name, value) in keys.score_names.iter().zip(&mut self.scores) {
            if let Some(value) = value.take() {
                row = row.score(name, Score::new(value))?;
            }
        }
        Ok(())
    }

    fn add_long(&mut self, keys: &LineKeys<'_>, builder: &mut LongBuilder) -> Result<(), TableErrorKind> {
        let scorer = self.scorer.as_deref().unwrap_or_default();
        let value = self.scores.first_mut().and_then(Option::take);
        let [answer, explanation, reason] = &self.details;
        let row = LongRow {
            id: &self.id,
            epoch: self.epoch.unwrap_or(1),
            scorer,
            // A null without a scorer is no score that somebody could not give.
            value: value.filter(|value| !scorer.trim().is_empty() || *value != Value::Unscored),
            answer: answer.as_deref(),
            explanation: explanation.as_deref(),
            reason: reason.as_deref(),
            errored: self.errored,
        };
        let column = keys.score_names.first().map(String::as_str).unwrap_or_default();
        builder.push(row, self.metadata(keys), column)
    }

    fn metadata<'k>(&'k self, keys: &'k LineKeys<'_>) -> impl Iterator<Item = (&'k str, &'k Json)> {
        let named = |(key, value): &'k (usize, Json)| Some((keys.found.get(*key)?.as_str(), value));
        self.metadata.iter().filter_map(named)
    }
}
