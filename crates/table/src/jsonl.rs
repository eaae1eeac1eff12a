//! Tables as JSON lines: one object a row, read in pieces on all threads: once for the keys, which decide what each of them
//! is, and once for the rows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use errorbar_core::engine::{ColumnBlock, ValueColumn};
use errorbar_core::{IndexMap, Leaf, Value};
use errorbar_files::json_value::{self, MemoryAllowance, Scalar};
use jiter::{Jiter, JiterError, Peek};
use rayon::prelude::*;
use serde_json::Value as Json;

use super::blocks::{RowSource, lock, read_blocks, text_column};
use super::builder::TableBuilder;
use super::error::{MISSING, TableError};
use super::input::InputBytes;
use super::layout::{ColumnRole, DEFAULT_SCORES, SCORER, TableLayout};
use super::limits::Budget;
use super::pieces::{LONG_PIECE, Piece, PieceReader};
use super::{ScoreTable, TableErrorKind, TableLocation, TableOptions, cell, excerpt};

pub(super) fn read(file: InputBytes, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let mut lines = PieceReader::new(file, None, options.limits);
    let budget = options.limits.budget(lines.file(), 0);
    let names = KeyNames::list(&mut lines, options);
    let keys = LineKeys::new(&names, options).map_err(|error| names.problem.unwrap_or(error))?;
    lines.rewind()?;
    let source = LineSource {
        keys: &keys,
        lines: Mutex::new(lines),
        options,
        budget,
        used: Mutex::new(vec![false; keys.layout.metadata.len()]),
        without_epoch: AtomicU64::new(u64::MAX),
    };
    let read = read_blocks(&source, budget);
    let limit = options.limits.max_columns;
    let one_too_many = keys.layout.metadata.get(limit).and_then(|key| names.lines.get(key));
    let too_many = one_too_many.map(|line| TableErrorKind::TooManyColumns { limit }.on_line(*line));
    let tables = match (read, too_many) {
        (Ok(builder), None) => builder.finish(&keys.layout)?,
        (read, too_many) => {
            let errors = read.err().into_iter().chain(too_many);
            return Err(errors.min_by_key(TableError::number).unwrap_or(TableErrorKind::empty().into()));
        }
    };
    // Where epochs are counted from 0, a line that has none is of no certain epoch.
    match source.without_epoch.load(Ordering::Relaxed) {
        line if line < u64::MAX && tables.iter().any(|table| table.epochs_from_zero) => {
            Err(TableErrorKind::bad_epoch(MISSING).on_line(line))
        }
        _ => Ok(tables),
    }
}

/// What rows are read by.
struct LineSource<'a> {
    keys: &'a LineKeys,
    lines: Mutex<PieceReader>,
    options: &'a TableOptions,
    budget: Budget,
    /// Which keys of metadata a row had so far.
    used: Mutex<Vec<bool>>,
    /// The first line that has no epoch.
    without_epoch: AtomicU64,
}

impl RowSource for LineSource<'_> {
    type Piece = Piece;

    fn estimate(&self) -> usize {
        lock(&self.lines).estimate()
    }

    fn next(&self, piece: &mut Piece) -> Option<(usize, Result<(), TableError>)> {
        lock(&self.lines).next_numbered(piece)
    }

    fn is_large(&self, piece: &Piece) -> bool {
        piece.bytes.len() >= LONG_PIECE
    }

    fn parse(&self, piece: &mut Piece, block: &mut ColumnBlock) -> Result<(), TableError> {
        block.widen(self.keys.layout.scores.len(), self.keys.layout.metadata.len());
        let mut rows = std::mem::take(&mut piece.lines);
        rows.restart();
        let mut parser = LineParser::new(self, block);
        let parsed = piece.lines().try_for_each(|(number, line)| {
            let text = str::from_utf8(line).map_err(|_| TableErrorKind::not_utf8(None).on_line(number))?;
            rows.push(parser.block.len() as u32, TableLocation::Line(number));
            let parsed = parser.line(text).and_then(|()| match self.is_large(piece) {
                true => self.budget.check(parser.block.heap_bytes() as u64),
                false => Ok(()),
            });
            parsed.map_err(|kind| kind.on_line(number).of_sample(&parser.id))?;
            if !parser.has_epoch && self.without_epoch.load(Ordering::Relaxed) > number {
                self.without_epoch.fetch_min(number, Ordering::Relaxed);
            }
            Ok(())
        });
        piece.lines = rows;
        parsed
    }

    fn append(
        &self,
        piece: &mut Piece,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        let used = &mut *lock(&self.used);
        let mut is_new = false;
        for (used, _) in used.iter_mut().zip(&block.metadata).filter(|(_, column)| !column.is_empty()) {
            is_new |= !std::mem::replace(used, true);
        }
        if is_new {
            // A key that comes up late has a place in every row before.
            let keys = used.iter().filter(|used| **used).count() as u64;
            self.budget.check(builder.rows().saturating_mul(keys * 4))?;
        }
        builder.append(&self.keys.layout, block, &piece.lines)
    }
}

/// What lines are parsed by, where their cells go, and what is known of the one at hand.
struct LineParser<'a> {
    keys: &'a LineKeys,
    options: &'a TableOptions,
    budget: Budget,
    block: &'a mut ColumnBlock,
    /// What the line may take: lists and maps take many times the bytes that they are written in.
    allowance: MemoryAllowance,
    /// The id of the line's sample, as far as it is known.
    id: String,
    has_id: bool,
    has_epoch: bool,
    /// How many cells are metadata.
    fetched: usize,
    /// A score that is nested too deep; reported at the end, when the sample is known.
    nested: Option<TableErrorKind>,
}

impl<'a> LineParser<'a> {
    fn new(source: &LineSource<'a>, block: &'a mut ColumnBlock) -> Self {
        LineParser {
            keys: source.keys,
            options: source.options,
            budget: source.budget,
            block,
            allowance: MemoryAllowance::new(0),
            id: String::new(),
            has_id: false,
            has_epoch: false,
            fetched: 0,
            nested: None,
        }
    }

    /// Reads one line. Keys come in any order, so a row is complete only at its end.
    fn line(&mut self, text: &str) -> Result<(), TableErrorKind> {
        self.id.clear();
        (self.has_id, self.has_epoch, self.fetched, self.nested) = (false, false, 0, None);
        self.allowance = MemoryAllowance::new(self.budget.limit());
        let mut json = object(text)?;
        self.cells(&mut json).map_err(|error| match error {
            _ if self.allowance.is_used_up() => self.budget.refusal(),
            CellError::Json(error) => invalid_json(text, &error),
            CellError::Kind(kind) => kind,
        })?;
        match self.nested.take() {
            Some(nested) => return Err(nested),
            None if self.options.is_numbered => {}
            None if !self.has_id => return Err(TableErrorKind::bad_id(MISSING)),
            None if self.id.is_empty() => return Err(TableErrorKind::bad_id("empty")),
            None => {}
        }
        if !self.has_epoch && !self.block.epochs.is_empty() {
            self.block.epochs.push(1);
        }
        self.block.ids.push(&self.id);
        Ok(())
    }

    /// Reads the cells of an object.
    fn cells(&mut self, json: &mut Jiter<'_>) -> Result<(), CellError> {
        let keys = self.keys;
        let mut place = 0;
        let mut key = json.known_object()?;
        while let Some(name) = key {
            let role = keys.role(name, &mut place);
            if is_parent(&keys.paths, name) {
                let parent = name.to_owned();
                for (path, mut value) in ends(json.clone(), &parent, &keys.paths)? {
                    if let Some(role) = keys.role(&path, &mut 0) {
                        self.cell(role, &mut value)?;
                    }
                }
            }
            match role {
                Some(role) => self.cell(role, json)?,
                None => json.next_skip()?,
            }
            key = json.next_key()?;
        }
        Ok(json.finish()?)
    }

    #[inline]
    fn cell(&mut self, role: ColumnRole, json: &mut Jiter<'_>) -> Result<(), CellError> {
        let twice = |name: &str| Err(TableErrorKind::duplicate_column(name).into());
        let (row, block) = (self.block.len(), &mut *self.block);
        let peek = json.peek()?;
        match role {
            ColumnRole::Id if self.has_id => return twice(&self.options.id_column),
            ColumnRole::Id => {
                self.has_id = true;
                let start = json.current_index();
                match json_value::scalar(json, peek)?.ok_or(peek) {
                    Ok(Scalar::Text(text) | Scalar::Digits(text)) => self.id.push_str(text),
                    Ok(Scalar::Int(int)) => self.id = int.to_string(),
                    Ok(Scalar::Big(int)) => self.id = int.to_string(),
                    Ok(Scalar::Float(float)) if cell::whole_number(float).is_some() => {
                        self.id = cell::whole_number(float).unwrap_or_default().to_string();
                    }
                    // The number may have digits that a float does not have, so it is shown as it is written.
                    Ok(Scalar::Float(float)) if float.fract() == 0.0 => {
                        let number = String::from_utf8_lossy(json.slice_to_current(start)).into_owned();
                        let found = format!("the number {}, a float, which may be rounded", number.trim());
                        return Err(TableErrorKind::bad_id(&found).into());
                    }
                    other => return Err(TableErrorKind::bad_id(&describe(other)).into()),
                }
            }
            ColumnRole::Epoch if self.has_epoch => return twice(&self.options.epoch_column),
            ColumnRole::Epoch => {
                self.has_epoch = true;
                let epoch = match json_value::scalar(json, peek)?.ok_or(peek) {
                    Ok(Scalar::Int(int)) => match u32::try_from(int) {
                        Ok(epoch) => epoch,
                        Err(_) => cell::epoch(&int.to_string())?,
                    },
                    Ok(Scalar::Text(text)) if !text.is_empty() => cell::epoch(text)?,
                    Ok(Scalar::Float(float)) if cell::whole_number(float).is_some() => {
                        cell::epoch(&cell::whole_number(float).unwrap_or_default().to_string())?
                    }
                    other => return Err(TableErrorKind::bad_epoch(&describe(other)).into()),
                };
                // Rows before it that have none are of the first epoch.
                while block.epochs.len() < row {
                    block.epochs.push(1);
                }
                block.epochs.push(epoch);
            }
            ColumnRole::Score(at) => {
                let Some(values) = block.scores.get_mut(at) else { return Ok(json.known_skip(peek)?) };
                let name = || self.keys.layout.scores.get(at).map(String::as_str).unwrap_or_default();
                if values.len() > row {
                    return twice(name());
                }
                values.pad(row);
                if let Some(found) = push_score(values, json, peek, &mut self.allowance)? {
                    self.nested.get_or_insert(TableErrorKind::nested_score(name(), found));
                }
            }
            ColumnRole::Scorer if block.labels.scorers.len() > row => return twice(SCORER),
            ColumnRole::Scorer => match json_value::scalar(json, peek)?.ok_or(peek) {
                Ok(Scalar::Text(text)) => block.labels.scorers.set_text(row, text),
                Ok(Scalar::Null) => block.labels.scorers.set_text(row, ""),
                other => {
                    let problem = format!("the scorer is {}", describe(other));
                    return Err(TableErrorKind::invalid(problem, "name the scorer with a string").into());
                }
            },
            ColumnRole::Error => {
                let is_error = match json_value::any_within(json, peek, &mut self.allowance)? {
                    // An error that is not there, in the words of some writers.
                    Json::Null | Json::Bool(false) => false,
                    Json::String(text) => !text.is_empty(),
                    _ => true,
                };
                if is_error && block.errored.last() != Some(&(row as u32)) {
                    block.errored.push(row as u32);
                }
            }
            ColumnRole::Metadata(key) => {
                self.fetched += 1;
                let limit = self.options.limits.max_columns;
                if self.fetched > limit {
                    return Err(TableErrorKind::TooManyColumns { limit }.into());
                }
                let Some(values) = block.metadata.get_mut(key) else { return Ok(json.known_skip(peek)?) };
                match peek {
                    Peek::String => values.set_text(row, json.known_str()?),
                    peek => values.set(row, &json_value::any_within(json, peek, &mut self.allowance)?),
                }
            }
            ColumnRole::Skipped | ColumnRole::Unread => json.known_skip(peek)?,
            role => {
                let text = match json_value::any_within(json, peek, &mut self.allowance)? {
                    Json::Null => return Ok(()),
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                if let Some(texts) = text_column(block, role) {
                    texts.set_text(row, &text);
                }
            }
        }
        Ok(())
    }
}

/// What is wrong with a cell.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum CellError {
    Json(#[from] JiterError),
    Kind(#[from] TableErrorKind),
}

/// Appends a score; what is nested deeper than scalars in a list or map is skipped and named.
fn push_score(
    values: &mut ValueColumn,
    json: &mut Jiter<'_>,
    peek: Peek,
    allowance: &mut MemoryAllowance,
) -> Result<Option<&'static str>, JiterError> {
    match json_value::scalar(json, peek)? {
        Some(Scalar::Text(text)) => values.push_text(text),
        Some(Scalar::Int(int)) => values.push_int(int),
        Some(Scalar::Float(float)) => values.push_float(float),
        Some(scalar) => values.push(Some(Value::from(Leaf::from(scalar)))),
        None => match json_value::score_within(json, peek, allowance)? {
            Ok(value) => values.push(Some(value)),
            Err(found) => {
                values.push(None);
                return Ok(Some(found));
            }
        },
    }
    Ok(None)
}

/// A value of the wrong type, for messages.
fn describe(found: Result<Scalar<'_>, Peek>) -> String {
    match found {
        Ok(Scalar::Null) => "null".to_owned(),
        Ok(Scalar::Bool(b)) => b.to_string(),
        Ok(Scalar::Int(i)) => i.to_string(),
        Ok(Scalar::Big(i)) => i.to_string(),
        Ok(Scalar::Float(f)) => format!("the number {f}"),
        Ok(Scalar::Text(text) | Scalar::Digits(text)) => excerpt(text),
        Err(peek) => json_value::kind(peek).to_owned(),
    }
}

/// A parser of a line, if it is an object.
fn object(text: &str) -> Result<Jiter<'_>, TableErrorKind> {
    let invalid = |error| invalid_json(text, &error);
    let mut json = Jiter::new(text.as_bytes()).with_allow_inf_nan();
    let first = json.peek().map_err(invalid)?;
    if first != Peek::Object {
        // An unreadable line is reported as such, whatever it starts with.
        json.next_skip().map_err(invalid)?;
        return Err(TableErrorKind::not_an_object(json_value::kind(first)));
    }
    Ok(json)
}

fn invalid_json(text: &str, error: &JiterError) -> TableErrorKind {
    TableErrorKind::json(text.get(..error.index).unwrap_or(text).chars().count() + 1, &error.error_type)
}

/// Whether one of these paths leads through the object that this one leads to.
fn is_parent(paths: &[String], path: &str) -> bool {
    paths.iter().any(|wanted| wanted.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The ends of those of these paths that lead through the value at hand, which is at `path` itself; each with a parser that
/// is at its value.
fn ends<'j>(
    mut json: Jiter<'j>,
    path: &str,
    paths: &[String],
) -> Result<Vec<(String, Jiter<'j>)>, JiterError> {
    let mut found = Vec::new();
    if json.peek()? != Peek::Object {
        return Ok(found);
    }
    let mut key = json.known_object()?.map(str::to_owned);
    while let Some(name) = key {
        let path = format!("{path}.{name}");
        if paths.contains(&path) {
            found.push((path.clone(), json.clone()));
        }
        if is_parent(paths, &path) {
            found.extend(ends(json.clone(), &path, paths)?);
        }
        json.next_skip()?;
        key = json.next_key()?.map(str::to_owned);
    }
    Ok(found)
}

/// How many keys that are not needed are remembered for messages. A table has a few; hostile ones must not
/// fill the memory.
const MAX_KEYS: usize = 10_000;
/// How many keys may be needed that are not metadata.
const MORE_KEYS: usize = 100;

/// What the keys of lines are.
#[derive(Debug)]
struct LineKeys {
    /// In order of appearance.
    roles: IndexMap<String, ColumnRole>,
    layout: TableLayout,
    /// The names of columns that may be paths into objects.
    paths: Vec<String>,
}

impl LineKeys {
    fn new(names: &KeyNames, options: &TableOptions) -> Result<Self, TableError> {
        let Some(first_line) = names.first_line else { return Err(TableErrorKind::empty().into()) };
        // Rows are numbered because lines have no id; some have one.
        if options.is_numbered && names.lines.contains_key(&options.id_column) {
            return Err(TableErrorKind::bad_id(MISSING).on_line(first_line));
        }
        let layout = TableLayout::new(&names.lines.keys().map(String::as_str).collect::<Vec<_>>(), options)?;
        let mut roles: IndexMap<_, _> =
            names.lines.keys().map(|name| (name.clone(), ColumnRole::Skipped)).collect();
        roles.extend(layout.columns.iter().map(|column| (column.name.clone(), column.role)));
        Ok(LineKeys { roles, layout, paths: options.paths() })
    }

    /// What a key is, and where it is looked for first: behind the one before it. `None` if it is unknown.
    #[inline]
    fn role(&self, key: &str, place: &mut usize) -> Option<ColumnRole> {
        if self.roles.get_index(*place).is_none_or(|(name, _)| name != key) {
            *place = self.roles.get_index_of(key)?;
        }
        *place += 1;
        self.roles.get_index(*place - 1).map(|(_, role)| *role)
    }
}

/// Keys that are listed without a look at their values.
#[derive(Default)]
struct KeyNames {
    /// The line of each that has it first.
    lines: IndexMap<String, u64>,
    first_line: Option<u64>,
    /// What is wrong with the line behind those that were looked at. It is reported when rows are read, if they are.
    problem: Option<TableError>,
}

impl KeyNames {
    /// The keys of all lines, up to the first in which something is wrong; of several pieces at a time.
    fn list(lines: &mut PieceReader, options: &TableOptions) -> Self {
        let mut names = KeyNames::default();
        let mut pieces: Vec<Piece> = Vec::new();
        pieces.resize_with(rayon::current_num_threads(), Piece::default);
        loop {
            let (mut read, mut problem) = (0, None);
            for piece in &mut pieces {
                match lines.next(piece) {
                    Ok(true) => read += 1,
                    Ok(false) => break,
                    Err(error) => {
                        problem = Some(error);
                        break;
                    }
                }
            }
            let found: Vec<KeyNames> =
                pieces.par_iter().take(read).map(|piece| KeyNames::of(piece, options)).collect();
            for KeyNames { lines, first_line, problem } in found {
                names.first_line = names.first_line.or(first_line);
                lines.iter().for_each(|(name, line)| names.add(name, *line, options));
                names.problem = problem;
                if names.problem.is_some() {
                    return names;
                }
            }
            if read < pieces.len() {
                names.problem = problem;
                return names;
            }
        }
    }

    fn of(piece: &Piece, options: &TableOptions) -> Self {
        let (mut names, paths) = (KeyNames::default(), options.paths());
        for (number, line) in piece.lines() {
            let mut id = String::new();
            if let Err(kind) = names.add_line((number, line), options, &paths, &mut id) {
                names.problem = Some(kind.on_line(number).of_sample(&id));
                break;
            }
            names.first_line.get_or_insert(number);
        }
        names
    }

    fn add(&mut self, name: &str, line: u64, options: &TableOptions) {
        let count = self.lines.len();
        let is_wanted = count < MAX_KEYS
            || count < MAX_KEYS + MORE_KEYS + options.limits.max_columns && is_needed(name, options);
        if is_wanted && !self.lines.contains_key(name) {
            self.lines.insert(name.to_owned(), line);
        }
    }

    fn add_line(
        &mut self,
        (number, line): (u64, &[u8]),
        options: &TableOptions,
        paths: &[String],
        id: &mut String,
    ) -> Result<(), TableErrorKind> {
        let text = str::from_utf8(line).map_err(|_| TableErrorKind::not_utf8(None))?;
        let invalid = |error| invalid_json(text, &error);
        let mut json = object(text)?;
        let mut place = 0;
        let mut key = json.known_object().map_err(invalid)?;
        while let Some(name) = key {
            if self.lines.get_index(place).is_none_or(|(known, _)| known != name) {
                self.add(name, number, options);
                place = self.lines.get_index_of(name).unwrap_or(place);
            }
            place += 1;
            let is_id = name == options.id_column;
            if is_parent(paths, name) {
                let parent = name.to_owned();
                for (path, _) in ends(json.clone(), &parent, paths).map_err(invalid)? {
                    self.add(&path, number, options);
                }
            }
            let peek = json.peek().map_err(invalid)?;
            match is_id.then(|| json_value::scalar(&mut json, peek)).transpose().map_err(invalid)?.flatten() {
                Some(scalar) => *id = scalar.id().map(|id| id.to_string()).unwrap_or_default(),
                None => json.known_skip(peek).map_err(invalid)?,
            }
            key = json.next_key().map_err(invalid)?;
        }
        json.finish().map_err(invalid)
    }
}

/// Whether a key is read, or decides what others are.
fn is_needed(key: &str, options: &TableOptions) -> bool {
    key == SCORER
        || key == options.id_column
        || key == options.epoch_column
        || options.split_column() == Some(key)
        || DEFAULT_SCORES.contains(&key)
        || options.score_columns.iter().any(|score| score == key)
        || options.fetches(key)
}
