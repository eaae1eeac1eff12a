//! The keys of the lines, and what each of them is.
//!
//! A line has any keys in any order, so what a table is made of is known for certain only at its end. The first lines
//! decide, as a header would; a key that comes later is added, and if it changes what the others are, all keys of the
//! file are listed first and the rows read again.

use std::collections::HashMap;

use errorbar_files::json_value;
use foldhash::fast::RandomState;

use super::{ends, invalid_json, is_parent, object};
use crate::error::MISSING;
use crate::layout::{ColumnRole, DEFAULT_SCORES, SCORER, TableLayout};
use crate::pieces::{Piece, PieceReader};
use crate::{TableError, TableErrorKind, TableLocation, TableOptions, WantedColumn};

/// How many keys that are not needed are remembered for messages. A table has a few; hostile ones must not
/// fill the memory.
const MAX_KEYS: usize = 10_000;

/// Every key met so far.
#[derive(Debug)]
pub(super) struct LineKeys {
    /// In order of appearance.
    names: Vec<String>,
    roles: Vec<ColumnRole>,
    places: HashMap<String, usize, RandomState>,
    pub(super) layout: TableLayout,
    /// The names of columns that may be paths into objects.
    pub(super) paths: Vec<String>,
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
    pub(super) fn first(lines: &mut PieceReader, options: &TableOptions) -> Result<Self, TableError> {
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
    pub(super) fn all(lines: &mut PieceReader, options: &TableOptions) -> Result<Self, TableError> {
        let mut names = KeyNames::default();
        let mut piece = Piece::default();
        lines.rewind()?;
        // What is wrong with a line is reported when the rows are read.
        while lines.next(&mut piece).unwrap_or(false) && names.add(&piece, options).is_none() {}
        LineKeys::new(names.names, options)
    }

    /// What a key is, and where it is looked for first: behind the one before it. `None` if it is unknown.
    #[inline]
    pub(super) fn role(&self, key: &str, place: &mut usize) -> Option<ColumnRole> {
        if self.names.get(*place).is_none_or(|name| name != key) {
            *place = *self.places.get(key)?;
        }
        *place += 1;
        self.roles.get(*place - 1).copied()
    }

    /// Whether a key that is unknown is of interest.
    pub(super) fn takes(&self, key: &str, options: &TableOptions) -> bool {
        self.names.len() < MAX_KEYS || is_needed(key, options)
    }

    /// The keys with those that a piece has beside them.
    pub(super) fn with(
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
pub(super) enum LateKeys {
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
        || options.metadata.contains(key)
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
