//! One line as a row of a block.

use errorbar_core::engine::{ColumnBlock, ValueColumn};
use errorbar_core::{Leaf, Value};
use errorbar_files::json_value::{self, MemoryAllowance, Scalar};
use jiter::{Jiter, JiterError, Peek};
use serde_json::Value as Json;

use super::keys::{LineKeys, invalid_json, object};
use super::paths;
use crate::blocks::text_column;
use crate::error::MISSING;
use crate::layout::{ColumnRole, SCORER};
use crate::limits::Budget;
use crate::{TableErrorKind, TableOptions, cell, excerpt};

/// What lines are parsed by, and what is known of the one at hand.
pub(super) struct LineParser<'a> {
    pub(super) keys: &'a LineKeys,
    pub(super) options: &'a TableOptions,
    pub(super) budget: Budget,
    /// The id of the line's sample, as far as it is known.
    pub(super) id: String,
    /// Whether the line has an epoch.
    pub(super) has_epoch: bool,
    /// Keys that are unknown.
    pub(super) new_keys: Vec<String>,
}

impl LineParser<'_> {
    /// Reads one line. Keys come in any order, so a row is complete only at its end.
    pub(super) fn parse(&mut self, text: &str, block: &mut ColumnBlock) -> Result<(), TableErrorKind> {
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
                line.fetched += usize::from(self.options.metadata.contains(name));
                self.new_keys.push(name.to_owned());
            }
            let parent = paths::is_parent(&self.keys.paths, name).then(|| name.to_owned());
            if let Some(parent) = parent {
                let ends = paths::ends(line.json.clone(), &parent, &self.keys.paths).map_err(invalid)?;
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
            None if !line.has_id => return Err(TableErrorKind::BadId(MISSING.to_owned())),
            None if self.id.is_empty() => return Err(TableErrorKind::BadId("empty".to_owned())),
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
        let twice = |name: &str| Err(TableErrorKind::DuplicateColumn(name.to_owned()).into());
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
                        return Err(TableErrorKind::BadId(found).into());
                    }
                    other => return Err(TableErrorKind::BadId(describe(other)).into()),
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
                    other => return Err(TableErrorKind::BadEpoch(describe(other)).into()),
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
                    let column = name().to_owned();
                    self.nested.get_or_insert(TableErrorKind::NestedScore { column, found });
                }
            }
            ColumnRole::Scorer if block.labels.scorers.len() > row => return twice(SCORER),
            ColumnRole::Scorer => match json_value::scalar(json, peek)?.ok_or(peek) {
                Ok(Scalar::Text(text)) => block.labels.scorers.set_text(row, text),
                Ok(Scalar::Null) => block.labels.scorers.set_text(row, ""),
                other => return Err(TableErrorKind::BadScorer(describe(other)).into()),
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
