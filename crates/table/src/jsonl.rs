//! Tables as JSON lines: one object a row, read in pieces on all threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use errorbar_core::engine::{ColumnBlock, ValueColumn};
use errorbar_core::{Leaf, Value};
use errorbar_files::json_value::{self, MemoryAllowance, Scalar};
use foldhash::fast::RandomState;
use jiter::{Jiter, JiterError, Peek};
use serde_json::Value as Json;

use super::blocks::{RowSource, lock, read_blocks, text_column};
use super::builder::TableBuilder;
use super::error::{MISSING, TableError};
use super::input::InputBytes;
use super::layout::{ColumnRole, DEFAULT_SCORES, SCORER, TableLayout};
use super::limits::Budget;
use super::pieces::{LONG_PIECE, Piece, PieceReader};
use super::{ScoreTable, TableErrorKind, TableLocation, TableOptions, WantedColumn, cell, excerpt};

pub(super) fn read(file: InputBytes, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let mut lines = PieceReader::new(file, None, options.limits);
    let budget = options.limits.budget(lines.file());
    let keys = LineKeys::first(&mut lines, options)?;
    let mut source = LineSource::new(keys, &mut lines, options, budget)?;
    let mut read = read_blocks(&source, budget);
    if source.has_other_keys.load(Ordering::Relaxed) {
        let keys = LineKeys::all(&mut lines, options)?;
        source = LineSource::new(keys, &mut lines, options, budget)?;
        read = read_blocks(&source, budget);
    }
    let tables = read?.finish(&source.keys().layout)?;
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
    /// More as lines have them.
    keys: RwLock<Arc<LineKeys>>,
    lines: Mutex<&'a mut PieceReader>,
    options: &'a TableOptions,
    budget: Budget,
    /// Whether a key came up that makes others something else.
    has_other_keys: AtomicBool,
    /// The first line that has no epoch.
    without_epoch: AtomicU64,
}

impl<'a> LineSource<'a> {
    fn new(
        keys: LineKeys,
        lines: &'a mut PieceReader,
        options: &'a TableOptions,
        budget: Budget,
    ) -> Result<Self, TableErrorKind> {
        lines.rewind()?;
        Ok(LineSource {
            keys: RwLock::new(Arc::new(keys)),
            lines: Mutex::new(lines),
            options,
            budget,
            has_other_keys: AtomicBool::new(false),
            without_epoch: AtomicU64::new(u64::MAX),
        })
    }

    fn keys(&self) -> Arc<LineKeys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }
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
        let keys = self.keys();
        block.widen(keys.layout.scores.len(), keys.layout.metadata.len());
        let (options, budget) = (self.options, self.budget);
        let (id, has_epoch, new_keys) = (String::new(), false, Vec::new());
        let mut parser = LineParser { keys: &keys, options, budget, id, has_epoch, new_keys };
        let (mut new_keys, mut lines) =
            (std::mem::take(&mut piece.new_keys), std::mem::take(&mut piece.lines));
        lines.restart();
        let parsed = piece.lines().try_for_each(|(number, line)| {
            let text = str::from_utf8(line).map_err(|_| TableErrorKind::not_utf8(None).on_line(number))?;
            lines.push(block.len() as u32, TableLocation::Line(number));
            let parsed = parser.parse(text, block).and_then(|()| match self.is_large(piece) {
                true => budget.check(block.heap_bytes() as u64),
                false => Ok(()),
            });
            parsed.map_err(|kind| kind.on_line(number).of_sample(&parser.id))?;
            new_keys.extend(parser.new_keys.drain(..).map(|key| (key, number)));
            if !parser.has_epoch && self.without_epoch.load(Ordering::Relaxed) > number {
                self.without_epoch.fetch_min(number, Ordering::Relaxed);
            }
            Ok(())
        });
        (piece.new_keys, piece.lines) = (new_keys, lines);
        parsed
    }

    fn append(
        &self,
        piece: &mut Piece,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        if !piece.new_keys.is_empty() {
            let (keys, is_read) = match self.keys().with(piece, self.options, builder.first_row())? {
                LateKeys::Skipped(keys) => (keys, false),
                LateKeys::Read(keys) => (keys, true),
                LateKeys::Others => {
                    self.has_other_keys.store(true, Ordering::Relaxed);
                    return Err(TableErrorKind::empty().into());
                }
            };
            // A key that comes up late has a place in every row before.
            self.budget.check(builder.rows().saturating_mul(keys.layout.metadata.len() as u64 * 4))?;
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
            if is_read {
                piece.new_keys.clear();
                block.clear();
                self.parse(piece, block)?;
            }
        }
        builder.append(&self.keys().layout, block, &piece.lines)
    }
}

/// What lines are parsed by, and what is known of the one at hand.
struct LineParser<'a> {
    keys: &'a LineKeys,
    options: &'a TableOptions,
    budget: Budget,
    /// The id of the line's sample, as far as it is known.
    id: String,
    /// Whether the line has an epoch.
    has_epoch: bool,
    /// Keys that are unknown.
    new_keys: Vec<String>,
}

impl LineParser<'_> {
    /// Reads one line. Keys come in any order, so a row is complete only at its end.
    fn parse(&mut self, text: &str, block: &mut ColumnBlock) -> Result<(), TableErrorKind> {
        self.id.clear();
        self.has_epoch = false;
        self.new_keys.clear();
        let invalid = |error| invalid_json(text, &error);
        let json = object(text)?;
        let row = block.len();
        // Of what a line may take, lists and maps take many times the bytes that they are written in.
        let allowance = MemoryAllowance::new(self.budget.limit());
        let (has_id, fetched, nested) = (false, 0, None);
        let mut line = Line { row, json, allowance, block, has_id, fetched, nested };
        let mut place = 0;
        let mut key = line.json.known_object().map_err(invalid)?;
        while let Some(name) = key {
            let role = self.keys.role(name, &mut place);
            if role.is_none() && self.keys.takes(name, self.options) {
                line.fetched += usize::from(self.options.fetches(name));
                self.new_keys.push(name.to_owned());
            }
            let parent = is_parent(&self.keys.paths, name).then(|| name.to_owned());
            if let Some(parent) = parent {
                let ends = ends(line.json.clone(), &parent, &self.keys.paths).map_err(invalid)?;
                for (path, value) in ends {
                    let rest = std::mem::replace(&mut line.json, value);
                    match self.keys.role(&path, &mut 0) {
                        Some(role) => self.cell(role, &mut line, text)?,
                        None => self.new_keys.push(path),
                    }
                    line.json = rest;
                }
            }
            match role {
                Some(role) => self.cell(role, &mut line, text)?,
                None => line.json.next_skip().map_err(invalid)?,
            }
            let limit = self.options.limits.max_columns;
            if line.fetched > limit {
                return Err(TableErrorKind::TooManyColumns { limit });
            }
            key = line.json.next_key().map_err(invalid)?;
        }
        line.json.finish().map_err(invalid)?;
        match line.nested {
            Some(nested) => return Err(nested),
            None if self.options.is_numbered => {}
            None if !line.has_id => return Err(TableErrorKind::bad_id(MISSING)),
            None if self.id.is_empty() => return Err(TableErrorKind::bad_id("empty")),
            None => {}
        }
        if !self.has_epoch && !block.epochs.is_empty() {
            block.epochs.push(1);
        }
        block.ids.push(&self.id);
        Ok(())
    }

    #[inline]
    fn cell(&mut self, role: ColumnRole, line: &mut Line<'_, '_>, text: &str) -> Result<(), TableErrorKind> {
        line.cell(role, self).map_err(|error| match error {
            _ if line.allowance.is_used_up() => self.budget.refusal(),
            CellError::Json(error) => invalid_json(text, &error),
            CellError::Kind(kind) => kind,
        })
    }
}

/// A line that is being read into its row.
struct Line<'l, 'j> {
    row: usize,
    json: Jiter<'j>,
    allowance: MemoryAllowance,
    block: &'l mut ColumnBlock,
    has_id: bool,
    /// How many cells are metadata.
    fetched: usize,
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
    fn cell(&mut self, role: ColumnRole, parser: &mut LineParser<'_>) -> Result<(), CellError> {
        let twice = |name: &str| Err(TableErrorKind::duplicate_column(name).into());
        let (row, json, block) = (self.row, &mut self.json, &mut *self.block);
        let peek = json.peek()?;
        match role {
            ColumnRole::Id if self.has_id => return twice(&parser.options.id_column),
            ColumnRole::Id => {
                self.has_id = true;
                let start = json.current_index();
                match json_value::scalar(json, peek)?.ok_or(peek) {
                    Ok(Scalar::Text(text)) => parser.id.push_str(text),
                    Ok(Scalar::Int(int)) => parser.id = int.to_string(),
                    Ok(Scalar::Big(int)) => parser.id = int.to_string(),
                    Ok(Scalar::Digits(digits)) => parser.id.push_str(digits),
                    Ok(Scalar::Float(float)) if cell::whole_number(float).is_some() => {
                        parser.id = cell::whole_number(float).unwrap_or_default().to_string();
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
            ColumnRole::Epoch if parser.has_epoch => return twice(&parser.options.epoch_column),
            ColumnRole::Epoch => {
                parser.has_epoch = true;
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
                let name = || parser.keys.layout.scores.get(at).map(String::as_str).unwrap_or_default();
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

/// Every key met so far.
#[derive(Debug)]
struct LineKeys {
    /// In order of appearance.
    names: Vec<String>,
    roles: Vec<ColumnRole>,
    places: HashMap<String, usize, RandomState>,
    layout: TableLayout,
    /// The names of columns that may be paths into objects.
    paths: Vec<String>,
}

impl LineKeys {
    fn new(names: Vec<String>, options: &TableOptions) -> Result<Self, TableError> {
        let layout = TableLayout::new(&names.iter().map(String::as_str).collect::<Vec<_>>(), options)?;
        let places: HashMap<_, _, _> = names.iter().cloned().zip(0..).collect();
        let mut roles = vec![ColumnRole::Skipped; names.len()];
        for column in &layout.columns {
            if let Some(role) = places.get(&column.name).and_then(|at: &usize| roles.get_mut(*at)) {
                *role = column.role;
            }
        }
        Ok(LineKeys { names, roles, places, layout, paths: options.paths() })
    }

    /// The keys of the first lines that have all that a table needs.
    fn first(lines: &mut PieceReader, options: &TableOptions) -> Result<Self, TableError> {
        let mut names = KeyNames::default();
        let mut piece = Piece::default();
        lines.rewind()?;
        loop {
            let read = lines.next(&mut piece);
            let is_end = !matches!(read, Ok(true));
            let problem = read.map_or_else(Some, |_| names.add(&piece, options));
            let keys = LineKeys::new(names.names.clone(), options);
            match (keys, problem, names.has_lines) {
                (Err(_), Some(problem), _) => return Err(problem),
                (Ok(keys), ..) => return Ok(keys),
                (_, None, false) if is_end => return Err(TableErrorKind::empty().into()),
                // The first lines decide, as a header would: one that lacks the id is an error anyway.
                (Err(error), None, true)
                    if is_end
                        || matches!(
                            error.kind(),
                            TableErrorKind::NoColumn { role: WantedColumn::Id, .. }
                        ) =>
                {
                    return Err(error);
                }
                _ => {}
            }
        }
    }

    /// The keys of all lines.
    fn all(lines: &mut PieceReader, options: &TableOptions) -> Result<Self, TableError> {
        let mut names = KeyNames::default();
        let mut piece = Piece::default();
        lines.rewind()?;
        // What is wrong with a line is reported when the rows are read.
        while lines.next(&mut piece).unwrap_or(false) && names.add(&piece, options).is_none() {}
        LineKeys::new(names.names, options)
    }

    /// What a key is, and where it is looked for first: behind the one before it. `None` if it is unknown.
    #[inline]
    fn role(&self, key: &str, place: &mut usize) -> Option<ColumnRole> {
        if self.names.get(*place).is_none_or(|name| name != key) {
            *place = *self.places.get(key)?;
        }
        *place += 1;
        self.roles.get(*place - 1).copied()
    }

    /// Whether a key that is unknown is of interest.
    fn takes(&self, key: &str, options: &TableOptions) -> bool {
        self.names.len() < MAX_KEYS || is_needed(key, options)
    }

    /// The keys with those that a piece has beside them.
    fn with(
        &self,
        piece: &Piece,
        options: &TableOptions,
        first_row: Option<TableLocation>,
    ) -> Result<LateKeys, TableError> {
        let mut names = self.names.clone();
        let mut more: HashMap<&str, u64> = HashMap::new();
        for (key, line) in &piece.new_keys {
            // Rows are numbered because lines have no id; some have one.
            if options.is_numbered && *key == options.id_column {
                let first = first_row.or_else(|| piece.lines.get(0)).unwrap_or(TableLocation::Row(1));
                return Err(TableErrorKind::bad_id(MISSING).at(first));
            }
            if !self.places.contains_key(key) && !more.contains_key(key.as_str()) {
                more.insert(key, *line);
                names.push(key.clone());
            }
        }
        let keys = LineKeys::new(names, options)?;
        let limit = options.limits.max_columns;
        if keys.layout.metadata.len() > limit {
            let key = keys.layout.metadata.get(limit).and_then(|key| more.get(key.as_str()));
            return Err(TableErrorKind::TooManyColumns { limit }.on_line(key.copied().unwrap_or(piece.line)));
        }
        let is_same = keys.roles.starts_with(&self.roles)
            && keys.layout.scores == self.layout.scores
            && keys.layout.names_scorers == self.layout.names_scorers
            && keys.layout.is_long == self.layout.is_long;
        let is_read = keys.roles.iter().skip(self.roles.len()).any(|role| *role != ColumnRole::Skipped);
        Ok(match (is_same, is_read) {
            (false, _) => LateKeys::Others,
            (true, true) => LateKeys::Read(keys),
            (true, false) => LateKeys::Skipped(keys),
        })
    }
}

/// What keys that come late are.
enum LateKeys {
    /// Not needed.
    Skipped(LineKeys),
    /// To be read.
    Read(LineKeys),
    /// Such that other keys are something else now.
    Others,
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

/// Keys that are listed without a look at their values.
#[derive(Default)]
struct KeyNames {
    names: Vec<String>,
    known: HashMap<String, (), RandomState>,
    has_lines: bool,
}

impl KeyNames {
    /// Adds the keys of some lines, up to the first in which something is wrong.
    fn add(&mut self, piece: &Piece, options: &TableOptions) -> Option<TableError> {
        for (number, line) in piece.lines() {
            let mut id = String::new();
            if let Err(kind) = self.add_line(line, options, &mut id) {
                return Some(kind.on_line(number).of_sample(&id));
            }
            self.has_lines = true;
        }
        None
    }

    fn add_line(
        &mut self,
        line: &[u8],
        options: &TableOptions,
        id: &mut String,
    ) -> Result<(), TableErrorKind> {
        let text = str::from_utf8(line).map_err(|_| TableErrorKind::not_utf8(None))?;
        let invalid = |error| invalid_json(text, &error);
        let wanted = options.paths();
        let mut json = object(text)?;
        let mut key = json.known_object().map_err(invalid)?;
        while let Some(name) = key {
            let is_wanted =
                self.names.len() < MAX_KEYS || (self.names.len() == MAX_KEYS && is_needed(name, options));
            if is_wanted && !self.known.contains_key(name) {
                self.known.insert(name.to_owned(), ());
                self.names.push(name.to_owned());
            }
            let is_id = name == options.id_column;
            let parent = is_parent(&wanted, name).then(|| name.to_owned());
            if let Some(parent) = parent {
                for (path, _) in ends(json.clone(), &parent, &wanted).map_err(invalid)? {
                    if !self.known.contains_key(&path) {
                        self.known.insert(path.clone(), ());
                        self.names.push(path);
                    }
                }
            }
            let peek = json.peek().map_err(invalid)?;
            match json_value::scalar(&mut json, peek).map_err(invalid)? {
                Some(scalar) if is_id => *id = scalar.id().map(|id| id.to_string()).unwrap_or_default(),
                Some(_) => {}
                None => json.known_skip(peek).map_err(invalid)?,
            }
            key = json.next_key().map_err(invalid)?;
        }
        json.finish().map_err(invalid)
    }
}
