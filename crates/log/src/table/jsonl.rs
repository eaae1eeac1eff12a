//! Tables as JSON lines: one object a row.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Seek};
use std::str;

use errorbar_core::{Leaf, MetadataKeys, Score, ScoreColumns, Value};
use jiter::{Jiter, JiterError, Peek};
use serde_json::Value as Json;

use super::cell::epoch;
use super::error::{MISSING, TableError, TableLocation};
use super::input::InputBytes;
use super::layout::{ColumnRole, DEFAULT_SCORES, EPOCH, LONG_SCORES, SCORER};
use super::limits::Budget;
use super::long::RowNames;
use super::long::value_bytes;
use super::long_parts::LongParts;
use super::row::TableRow;
use super::{
    ScoreTable, TableErrorKind, TableLimits, TableOptions, finish, no_score_column, no_split_column,
};
use crate::json_value::{self, MemoryAllowance, Scalar};

const BUFFER_BYTES: usize = 1 << 18;
/// How many keys that are not needed are remembered for messages. A table has a few; hostile ones must not
/// fill the memory.
const MAX_KEYS: usize = 10_000;
/// The memory of the columns is checked each time this many bytes were read.
const CHECK_EVERY: usize = 1 << 20;

pub(super) fn read(file: InputBytes, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let budget = options.limits.budget(&file);
    let mut lines = LineReader::new(file, options.limits);
    rows(&mut lines, options, budget).map_err(|error| {
        error.locate(|location| match location {
            TableLocation::Row(row) => lines.line_of_row(row).map_or(location, TableLocation::Line),
            location => location,
        })
    })
}

fn rows(
    lines: &mut LineReader,
    options: &TableOptions,
    budget: Budget,
) -> Result<Vec<ScoreTable>, TableError> {
    let named = options.score_columns.as_slice();
    let default;
    let scores = match named {
        [] => {
            default = [default_score(lines, DEFAULT_SCORES, options, budget)?];
            &default[..]
        }
        named => named,
    };
    let keys = LineKeys::new(scores, options, false);
    let form = match wide(lines, keys, named.is_empty(), budget)? {
        WideRows::Table(tables) => {
            return match options.required_column() {
                Some(column) => Err(no_split_column(column, keys_of(&tables, options))),
                None => Ok(tables),
            };
        }
        WideRows::Other(form) => form,
    };
    if form == RowForm::BySample {
        return long(lines, LineKeys::new(scores, options, true), form, budget);
    }
    let value = [default_score(lines, LONG_SCORES, options, budget)?];
    long(lines, LineKeys::new(&value, options, true), form, budget)
}

/// The keys that a table has, for messages.
fn keys_of(tables: &[ScoreTable], options: &TableOptions) -> Vec<String> {
    let metadata = tables.iter().flat_map(|table| table.metadata_keys.iter().cloned());
    std::iter::once(options.id_column.clone()).chain(metadata).collect()
}

/// What a row is, where rows are read one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowForm {
    /// A sample, epoch and scorer.
    ByScorer,
    /// A sample and epoch of some log.
    BySample,
}

/// What rows turned out to be.
enum WideRows {
    Table(Vec<ScoreTable>),
    Other(RowForm),
}

/// A row per sample and epoch; nothing if scorers may have their own rows and do, or if a key names the log.
fn wide(
    lines: &mut LineReader,
    mut keys: LineKeys<'_>,
    may_be_long: bool,
    budget: Budget,
) -> Result<WideRows, TableError> {
    let mut columns = ScoreColumns::new(keys.scores);
    let (mut nested, mut unchecked) = (0, 0);
    let is_wide = for_each_row(lines, &mut keys, budget, |row, keys, bytes| {
        if (keys.names_scorers && may_be_long) || keys.names_log {
            return Ok(false);
        }
        if keys.options.is_numbered {
            row.id = (columns.len() + 1).to_string();
        }
        nested += row.scores.iter().flatten().map(value_bytes).sum::<u64>();
        push_wide(row, keys, &mut columns, budget)?;
        unchecked += bytes;
        if unchecked > CHECK_EVERY || nested > budget.limit() {
            unchecked = 0;
            budget.check(nested.saturating_add(columns.heap_bytes() as u64))?;
        }
        Ok(true)
    })?;
    if !is_wide {
        let is_by_scorer = keys.names_scorers && may_be_long;
        return Ok(WideRows::Other(if is_by_scorer { RowForm::ByScorer } else { RowForm::BySample }));
    }
    if keys.found.is_empty() {
        return Err(TableErrorKind::Empty.into());
    }
    for (scorer, seen) in keys.scores.iter().zip(&keys.score_seen) {
        if !seen {
            return Err(no_score_column(&[scorer], keys.found));
        }
    }
    finish(columns, keys.into_metadata()).map(WideRows::Table)
}

fn push_wide(
    row: &mut TableRow,
    keys: &LineKeys<'_>,
    columns: &mut ScoreColumns,
    budget: Budget,
) -> Result<(), TableErrorKind> {
    if u32::try_from(columns.len()).is_err() {
        return Err(TableErrorKind::TooManyRows);
    }
    // A key that comes up late has a place in every row before.
    budget.check((columns.len() as u64).saturating_mul(keys.fetched as u64 * 4))?;
    let epoch = row.epoch.unwrap_or(1);
    let mut filled = columns.push(&row.id, epoch).metadata_all(row.named_metadata(&keys.found));
    for (name, value) in keys.scores.iter().zip(&mut row.scores) {
        if let Some(value) = value.take() {
            filled = filled.score(name, Score::new(value))?;
        }
    }
    Ok(())
}

/// Rows that are read one by one.
fn long(
    lines: &mut LineReader,
    mut keys: LineKeys<'_>,
    form: RowForm,
    budget: Budget,
) -> Result<Vec<ScoreTable>, TableError> {
    let mut builder = LongParts::new(budget);
    let names_scorers = form == RowForm::ByScorer;
    for_each_row(lines, &mut keys, budget, |row, keys, _| {
        // A null without a scorer means that there is no score, not that the sample is unscored.
        if names_scorers && row.scorer.as_deref().is_none_or(|scorer| scorer.trim().is_empty()) {
            row.scores
                .iter_mut()
                .for_each(|score| *score = score.take().filter(|score| *score != Value::Unscored));
        }
        let split = keys.options.required_column();
        let is_numbered = keys.options.is_numbered;
        let names =
            RowNames { metadata: &keys.found, scores: keys.scores, names_scorers, split, is_numbered };
        builder.push(row, names).map(|()| true)
    })?;
    for (scorer, seen) in keys.scores.iter().zip(&keys.score_seen) {
        if !seen && !names_scorers {
            return Err(no_score_column(&[scorer], keys.found));
        }
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
) -> Result<String, TableError> {
    let [first, second] = names;
    let owned = names.map(str::to_owned);
    let no_metadata = TableOptions { metadata: MetadataKeys::NONE, ..options.clone() };
    let mut keys = LineKeys::new(&owned, &no_metadata, false);
    lines.rewind().map_err(TableErrorKind::Read)?;
    let mut row = TableRow::default();
    while let Some((_, text)) = lines.next()? {
        // An error in a line is reported when the rows are read.
        if read_line(text, &mut row, &mut keys, budget).is_err() || keys.score_seen.first() == Some(&true) {
            return Ok(first.to_owned());
        }
    }
    match keys.score_seen.as_slice() {
        [_, true] => Ok(second.to_owned()),
        _ if keys.found.is_empty() => Err(TableErrorKind::Empty.into()),
        _ => Err(no_score_column(&names, keys.found)),
    }
}

/// Reads the lines from the start, and calls `each` with each row and the number of its bytes, until it returns
/// false.
fn for_each_row<'k>(
    lines: &mut LineReader,
    keys: &mut LineKeys<'k>,
    budget: Budget,
    mut each: impl FnMut(&mut TableRow, &LineKeys<'k>, usize) -> Result<bool, TableErrorKind>,
) -> Result<bool, TableError> {
    lines.rewind().map_err(TableErrorKind::Read)?;
    let mut row = TableRow::default();
    while let Some((line, text)) = lines.next()? {
        let read = read_line(text, &mut row, keys, budget).and_then(|()| each(&mut row, keys, text.len()));
        if !read.map_err(|kind| kind.on_line(line).of_sample(&row.id))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The lines of a file that are not blank, with their numbers.
struct LineReader {
    reader: BufReader<InputBytes>,
    buffer: Vec<u8>,
    number: u64,
    limits: TableLimits,
}

impl LineReader {
    fn new(file: InputBytes, limits: TableLimits) -> Self {
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

    fn next(&mut self) -> Result<Option<(u64, &str)>, TableError> {
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
            Err(_) => Err(TableErrorKind::InvalidUtf8(None).on_line(self.number)),
        }
    }
}

/// A line without its end, and without the mark that may stand at the start of a file.
fn content(line: &[u8], number: u64) -> &[u8] {
    let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    line.trim_ascii()
}

/// Every key met so far.
struct LineKeys<'a> {
    roles: HashMap<String, ColumnRole>,
    /// The keys in order of appearance.
    found: Vec<String>,
    scores: &'a [String],
    score_seen: Vec<bool>,
    options: &'a TableOptions,
    /// How many keys are metadata to fetch.
    fetched: usize,
    /// Whether scorers have their own rows.
    is_long: bool,
    /// Whether a line has the key `scorer`.
    names_scorers: bool,
    /// Whether a line names its log, and the table is to be split by it.
    names_log: bool,
}

impl<'a> LineKeys<'a> {
    fn new(scores: &'a [String], options: &'a TableOptions, is_long: bool) -> Self {
        let score_seen = vec![false; scores.len()];
        let (roles, found) = (HashMap::new(), Vec::new());
        let (fetched, names_scorers, names_log) = (0, false, false);
        LineKeys { roles, found, scores, score_seen, options, fetched, is_long, names_scorers, names_log }
    }

    /// The keys that are metadata, fetched or not.
    fn into_metadata(self) -> Vec<String> {
        let is_metadata = |key: &String| self.roles.get(key).is_some_and(|role| role.is_metadata());
        self.found.into_iter().filter(is_metadata).collect()
    }

    fn role(&mut self, key: &str) -> ColumnRole {
        if let Some(role) = self.roles.get(key) {
            return *role;
        }
        self.names_scorers |= key == SCORER;
        self.names_log |= self.options.split_column() == Some(key);
        let role = ColumnRole::of(key, self.scores, self.is_long, self.options, self.found.len());
        match role {
            ColumnRole::Score(at) => self.score_seen.get_mut(at).into_iter().for_each(|seen| *seen = true),
            ColumnRole::Metadata(_) => self.fetched += 1,
            _ => {}
        }
        if role != ColumnRole::Skipped || self.found.len() < MAX_KEYS {
            self.roles.insert(key.to_owned(), role);
            self.found.push(key.to_owned());
        }
        role
    }
}

/// Reads one line. Keys come in any order, so a row is complete only at its end.
fn read_line(
    text: &str,
    row: &mut TableRow,
    keys: &mut LineKeys<'_>,
    budget: Budget,
) -> Result<(), TableErrorKind> {
    row.clear(keys.scores.len());
    let mut json = Jiter::new(text.as_bytes()).with_allow_inf_nan();
    let invalid = |error: JiterError| TableErrorKind::Json {
        column: text.get(..error.index).unwrap_or(text).chars().count() + 1,
        problem: error.error_type.to_string(),
    };
    let first = json.peek().map_err(invalid)?;
    if first != Peek::Object {
        // An unreadable line is reported as such, whatever it starts with.
        json.next_skip().map_err(invalid)?;
        return Err(TableErrorKind::NotAnObject(json_value::kind(first)));
    }
    let max_columns = keys.options.limits.max_columns;
    // Of what a line may take, lists and maps take many times the bytes that they are written in.
    let mut line =
        Line { row, json, allowance: MemoryAllowance::new(budget.limit()), has_id: false, nested: None };
    let mut role = line.json.known_object().map_err(invalid)?.map(|key| keys.role(key));
    while let Some(known) = role {
        match line.cell(known, keys.scores) {
            Err(_) if line.allowance.is_used_up() => return Err(budget.refusal()),
            Err(CellError::Json(error)) => return Err(invalid(error)),
            Err(CellError::Kind(kind)) => return Err(kind),
            Ok(()) => {}
        }
        if keys.fetched.max(line.row.metadata.len()) > max_columns {
            return Err(TableErrorKind::TooManyColumns { limit: max_columns });
        }
        role = line.json.next_key().map_err(invalid)?.map(|key| keys.role(key));
    }
    line.json.finish().map_err(invalid)?;
    match line.nested {
        Some(nested) => Err(nested),
        None if keys.options.is_numbered => Ok(()),
        None if !line.has_id => Err(TableErrorKind::BadId(MISSING.to_owned())),
        None if line.row.id.is_empty() => Err(TableErrorKind::BadId("empty".to_owned())),
        None => Ok(()),
    }
}

/// A line that is being read into its row.
struct Line<'l, 'j> {
    row: &'l mut TableRow,
    json: Jiter<'j>,
    allowance: MemoryAllowance,
    has_id: bool,
    /// A score that is nested too deep; reported at the end, when the sample is known.
    nested: Option<TableErrorKind>,
}

/// What is wrong with a cell.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum CellError {
    Json(#[from] JiterError),
    Kind(#[from] TableErrorKind),
}

impl Line<'_, '_> {
    fn cell(&mut self, role: ColumnRole, scores: &[String]) -> Result<(), CellError> {
        let twice = |name: &str| Err(TableErrorKind::DuplicateColumn(name.to_owned()).into());
        let (row, json) = (&mut *self.row, &mut self.json);
        let peek = json.peek()?;
        match role {
            ColumnRole::Id if self.has_id => return twice("id"),
            ColumnRole::Id => {
                self.has_id = true;
                match json_value::scalar(json, peek)?.ok_or(peek) {
                    Ok(Scalar::Text(text)) => row.id.push_str(text),
                    Ok(Scalar::Int(int)) => row.id = int.to_string(),
                    other => return Err(TableErrorKind::BadId(describe(other)).into()),
                }
            }
            ColumnRole::Epoch if row.epoch.is_some() => return twice(EPOCH),
            ColumnRole::Epoch => match json_value::scalar(json, peek)?.ok_or(peek) {
                Ok(Scalar::Int(int)) => row.epoch = Some(epoch(&int.to_string())?),
                other => return Err(TableErrorKind::BadEpoch(describe(other)).into()),
            },
            ColumnRole::Score(at) => {
                let name = scores.get(at).map(String::as_str).unwrap_or_default();
                if row.scores.get(at).is_some_and(Option::is_some) {
                    return twice(name);
                }
                let score =
                    json_value::score_within(json, peek, &mut self.allowance)?.unwrap_or_else(|found| {
                        let column = name.to_owned();
                        self.nested.get_or_insert(TableErrorKind::NestedScore { column, found });
                        Value::from(Leaf::Null)
                    });
                row.set_score(at, Some(score));
            }
            ColumnRole::Scorer if row.scorer.is_some() => return twice(SCORER),
            ColumnRole::Scorer => match json_value::scalar(json, peek)?.ok_or(peek) {
                Ok(Scalar::Text(text)) => row.scorer = Some(text.to_owned()),
                Ok(Scalar::Null) => row.scorer = Some(String::new()),
                other => return Err(TableErrorKind::BadScorer(describe(other)).into()),
            },
            ColumnRole::Answer
            | ColumnRole::Explanation
            | ColumnRole::Reason
            | ColumnRole::Error
            | ColumnRole::Log
            | ColumnRole::Task
            | ColumnRole::Model => {
                let text = match json_value::any_within(json, peek, &mut self.allowance)? {
                    Json::Null => None,
                    // An error that is not there, in the words of some writers.
                    Json::Bool(false) if role == ColumnRole::Error => None,
                    Json::String(text) if text.is_empty() && role == ColumnRole::Error => None,
                    Json::String(text) => Some(text),
                    other => Some(other.to_string()),
                };
                row.set_detail(role, text);
            }
            ColumnRole::Metadata(key) => {
                row.metadata.push((key, json_value::any_within(json, peek, &mut self.allowance)?));
            }
            ColumnRole::Skipped | ColumnRole::Unread => json.known_skip(peek)?,
        }
        Ok(())
    }
}

/// A value of the wrong type, for messages.
fn describe(found: Result<Scalar<'_>, Peek>) -> String {
    match found {
        Ok(scalar) => scalar.describe(),
        Err(peek) => json_value::kind(peek).to_owned(),
    }
}
