//! The value of an expression for one record.

use std::borrow::Cow;

use errorbar_core::python_text::json_text;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;

use super::error::{ExpressionError, ExpressionErrorKind};
use super::functions::Arguments;
use super::names::find_function;
use super::node::{Call, Comprehension, Node, NodeKind};
use super::value::{Outcome, Problem, Value, as_i64, compare, compute, holds, is_true, kind};
use crate::Record;
use crate::dataset::limits::json_bytes;

/// What an expression may make of one record, in bytes of values that it makes on the way; a step counts as one.
const LARGEST: u64 = 64 << 20;

pub(super) struct Evaluation<'v> {
    text: &'v str,
    record: &'v Record,
    variables: Vec<Value<'v>>,
    /// Bytes of the values that were made so far.
    made: u64,
}

type Evaluated<'v> = Result<Value<'v>, ExpressionError>;

impl<'v> Evaluation<'v> {
    pub(super) fn new(text: &'v str, record: &'v Record) -> Self {
        Evaluation { text, record, variables: Vec::new(), made: 0 }
    }

    pub(super) fn value(&mut self, node: &'v Node) -> Evaluated<'v> {
        let value = match &node.kind {
            NodeKind::Constant(value) => Cow::Borrowed(value),
            NodeKind::Column(name) => {
                let missing = || at(node, Problem::missing(format!("field `{name}` in this record")));
                self.record.get(name).map(Cow::Borrowed).ok_or_else(missing)?
            }
            NodeKind::Variable(number) => {
                self.variables.get(*number).cloned().unwrap_or(Cow::Owned(Json::Null))
            }
            NodeKind::Member(of, name) => {
                let whole = self.value(of)?;
                self.member(of, whole, name).map_err(|problem| at(node, problem))?
            }
            NodeKind::Item(of, index) => {
                let whole = self.value(of)?;
                let index = self.value(index)?;
                self.item(of, whole, &index).map_err(|problem| at(node, problem))?
            }
            NodeKind::Slice(of, first, last) => {
                let whole = self.value(of)?;
                let first = first.as_ref().map(|first| self.value(first)).transpose()?;
                let last = last.as_ref().map(|last| self.value(last)).transpose()?;
                slice(&whole, first.as_deref(), last.as_deref()).map_err(|problem| at(node, problem))?
            }
            NodeKind::List(items) => {
                let items: Result<Vec<Json>, _> =
                    items.iter().map(|item| self.value(item).map(Cow::into_owned)).collect();
                Cow::Owned(Json::Array(items?))
            }
            NodeKind::Comprehension(comprehension) => self.comprehension(comprehension)?,
            NodeKind::Not(value) => Cow::Owned(Json::Bool(!self.condition(value)?)),
            NodeKind::Negative(value) => {
                let value = self.value(value)?;
                let zero = Json::from(0);
                compute(super::node::Operator::Subtract, &zero, &value)
                    .map_err(|problem| at(node, problem))?
            }
            NodeKind::And(a, b) => {
                let value = self.value(a)?;
                if self.holds(a, &value)? { self.value(b)? } else { value }
            }
            NodeKind::Or(a, b) => {
                let value = self.value(a)?;
                if is_true(&value) { value } else { self.value(b)? }
            }
            NodeKind::If(condition, value, other) => {
                let holds = self.condition(condition)?;
                self.value(if holds { value } else { other })?
            }
            NodeKind::Compare(first, others) => {
                let mut left = self.value(first)?;
                let mut holds = true;
                for (comparison, right) in others {
                    let right = self.value(right)?;
                    holds = compare(&left, *comparison, &right).map_err(|problem| at(node, problem))?;
                    if !holds {
                        break;
                    }
                    left = right;
                }
                Cow::Owned(Json::Bool(holds))
            }
            NodeKind::Arithmetic(operator, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                compute(*operator, &a, &b).map_err(|problem| at(node, problem))?
            }
            NodeKind::Call(call) => self.call(node, call)?,
            NodeKind::Default(value, other) => match self.value(value) {
                Ok(value) if !value.is_null() => value,
                Err(error) if !error.is_missing() => return Err(error),
                Ok(_) | Err(_) => self.value(other)?,
            },
            NodeKind::Text(parts) => self.template(parts)?,
        };
        self.made(node, &value)?;
        Ok(value)
    }

    /// Counts a value that was made, and refuses what is too much.
    fn made(&mut self, node: &Node, value: &Value<'v>) -> Result<(), ExpressionError> {
        self.made += match value {
            Cow::Borrowed(_) => 1,
            Cow::Owned(value) => size_of::<Json>() as u64 + json_bytes(value),
        };
        match self.made > LARGEST {
            true => Err(ExpressionError::new(ExpressionErrorKind::TooLarge, node.span.clone())),
            false => Ok(()),
        }
    }

    /// Whether a condition holds.
    fn condition(&mut self, node: &'v Node) -> Result<bool, ExpressionError> {
        let value = self.value(node)?;
        self.holds(node, &value)
    }

    fn holds(&self, node: &Node, value: &Json) -> Result<bool, ExpressionError> {
        holds(value, self.source(node)).map_err(|problem| at(node, problem))
    }

    /// What stands for a part of the expression in messages.
    fn source(&self, node: &Node) -> &'v str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    fn member(&self, of: &Node, whole: Value<'v>, name: &str) -> Outcome<'v> {
        match part(whole, |whole| whole.as_object()?.get(name)) {
            Ok(part) => Ok(part),
            Err(whole) => Err(self.no_key(of, &whole, name)),
        }
    }

    fn item(&self, of: &Node, whole: Value<'v>, index: &Json) -> Outcome<'v> {
        let source = self.source(of);
        match &*whole {
            Json::Object(_) => {
                let found = part(whole, |whole| {
                    let entries = whole.as_object()?;
                    match index {
                        Json::String(key) => entries.get(key),
                        // As keys of JSON and TOML write it, or as Python does: `true`, `True`.
                        other => entries.get(&other.to_string()).or_else(|| entries.get(&json_text(other))),
                    }
                });
                found.map_err(|whole| self.no_key(of, &whole, &json_text(index)))
            }
            Json::Array(_) | Json::String(_) => {
                let wrong = || {
                    let problem = format!("an item of `{source}` has a number, found {}", kind(index));
                    Problem::value(problem).hint("items are counted from 0: x[0]")
                };
                let number = index.as_i64().ok_or_else(wrong)?;
                let length = length(&whole);
                let place = place(number, length).filter(|place| *place < length);
                let found = place.and_then(|place| match &whole {
                    Cow::Borrowed(Json::Array(items)) => items.get(place).map(Cow::Borrowed),
                    Cow::Owned(Json::Array(items)) => items.get(place).cloned().map(Cow::Owned),
                    value => {
                        let character = value.as_str()?.chars().nth(place)?;
                        Some(Cow::Owned(Json::String(character.to_string())))
                    }
                });
                found.ok_or_else(|| {
                    let what = if whole.is_array() { "item" } else { "character" };
                    Problem::missing(format!("{what} {number} in `{source}`, which has {length}"))
                })
            }
            other => Err(self.no_key(of, other, &json_text(index))),
        }
    }

    fn no_key(&self, of: &Node, whole: &Json, key: &str) -> Problem {
        const SHOWN: usize = 12;
        let source = self.source(of);
        match whole {
            Json::Object(entries) => {
                let near = nearest(key, entries.keys().map(String::as_str));
                let keys: Vec<&str> = entries.keys().take(SHOWN).map(String::as_str).collect();
                let more = if entries.len() > SHOWN { ", …" } else { "" };
                Problem::missing(format!("key `{key}` in `{source}`")).hint(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}{more}", keys.join(", ")),
                })
            }
            Json::Null => Problem::missing(format!("`{key}` in `{source}`, which is None")),
            other if find_function(key).is_some() => {
                let problem = format!("`{source}` is {}, which has no key `{key}`", kind(other));
                Problem::value(problem)
                    .hint(format!("functions are called with parentheses: {source}.{key}()"))
            }
            Json::String(_) => {
                let hint = format!("literal({source}) reads lists and maps that are written as text");
                Problem::value(format!("`{source}` is a string, which has no key `{key}`")).hint(hint)
            }
            Json::Array(_) => {
                let hint =
                    format!("an item of it is {source}[0]; all of them are [x.{key} for x in {source}]");
                Problem::value(format!("`{source}` is a list, which has no key `{key}`")).hint(hint)
            }
            other => Problem::value(format!("`{source}` is {}, which has no key `{key}`", kind(other))),
        }
    }

    fn comprehension(&mut self, comprehension: &'v Comprehension) -> Evaluated<'v> {
        let Comprehension { item, first, count, list, condition } = comprehension;
        let list_value = self.value(list)?;
        let items: Vec<Value<'v>> = match list_value {
            Cow::Borrowed(Json::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
            Cow::Owned(Json::Array(items)) => items.into_iter().map(Cow::Owned).collect(),
            other => {
                let problem = format!("`{}` is {}, not a list", self.source(list), kind(&other));
                return Err(at(list, Problem::value(problem)));
            }
        };
        let mut made = Vec::new();
        for value in items {
            // Numbers of variables are counted from the outermost comprehension.
            self.variables.truncate(*first);
            self.variables.resize(*first, Cow::Owned(Json::Null));
            if *count == 1 {
                self.variables.push(value);
            } else {
                let parts = value.as_array().filter(|parts| parts.len() == *count).ok_or_else(|| {
                    let found = value.as_array().map_or_else(
                        || kind(&value).to_owned(),
                        |parts| format!("a list of {}", parts.len()),
                    );
                    at(list, Problem::value(format!("its items should be lists of {count}, found {found}")))
                })?;
                self.variables.extend(parts.iter().cloned().map(Cow::Owned));
            }
            let is_kept = match condition {
                // `[x for x in list if x]` leaves out what is empty.
                Some(Node { kind: NodeKind::Variable(number), .. }) if *count == 1 && number == first => {
                    self.variables.last().is_some_and(|value| is_true(value))
                }
                Some(condition) => self.condition(condition)?,
                None => true,
            };
            if is_kept {
                made.push(self.value(item)?.into_owned());
            }
        }
        self.variables.truncate(*first);
        Ok(Cow::Owned(Json::Array(made)))
    }

    fn call(&mut self, node: &'v Node, call: &'v Call) -> Evaluated<'v> {
        let value = |argument: &'v Option<Node>| argument.as_ref().map(|node| self.value(node)).transpose();
        let values: Result<Vec<Option<Value<'v>>>, _> = call.arguments.iter().map(value).collect();
        let arguments =
            Arguments { function: call.function, values: values?, pattern: call.pattern.as_ref() };
        (call.function.call)(&arguments).map_err(|problem| at(node, problem))
    }

    fn template(&mut self, parts: &'v [Node]) -> Evaluated<'v> {
        let mut text = String::new();
        for part in parts {
            let value = self.value(part)?;
            match &*value {
                Json::String(part) => text.push_str(part),
                Json::Null => {
                    let source = self.source(part);
                    let hint = format!("default({source}, '') gives another value in place of None");
                    return Err(at(part, Problem::value(format!("`{source}` is None")).hint(hint)));
                }
                other => text.push_str(&json_text(other)),
            }
        }
        // Samples are held for the whole run, and are many.
        text.shrink_to_fit();
        Ok(Cow::Owned(Json::String(text)))
    }
}

fn at(node: &Node, problem: Problem) -> ExpressionError {
    ExpressionError::new(problem.kind, node.span.clone()).with_hint(problem.hint)
}

/// A part of a value; all of it, if there is no such part.
fn part<'v>(whole: Value<'v>, find: impl Fn(&Json) -> Option<&Json>) -> Result<Value<'v>, Value<'v>> {
    match whole {
        Cow::Borrowed(whole) => find(whole).map(Cow::Borrowed).ok_or(Cow::Borrowed(whole)),
        Cow::Owned(whole) => match find(&whole).cloned() {
            Some(part) => Ok(Cow::Owned(part)),
            None => Err(Cow::Owned(whole)),
        },
    }
}

/// The number of characters or items.
pub(super) fn length(value: &Json) -> usize {
    match value {
        Json::String(text) => text.chars().count(),
        Json::Array(items) => items.len(),
        Json::Object(entries) => entries.len(),
        _ => 0,
    }
}

/// A place that is counted from the end if it is negative; none if it is before the start.
fn place(number: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    usize::try_from(if number < 0 { number.checked_add(length)? } else { number }).ok()
}

fn slice<'v>(whole: &Json, first: Option<&Json>, last: Option<&Json>) -> Outcome<'v> {
    let length = length(whole);
    let bound = |value: Option<&Json>, open: usize| match value {
        None | Some(Json::Null) => Ok(open),
        Some(value) => {
            let number = as_i64(value).ok_or_else(|| {
                Problem::value(format!("a part starts and ends at numbers, found {}", kind(value)))
            })?;
            Ok(place(number, length).unwrap_or(0).min(length))
        }
    };
    let (first, last) = (bound(first, 0)?, bound(last, length)?);
    let count = last.saturating_sub(first);
    match whole {
        Json::String(text) => Ok(Cow::Owned(Json::String(text.chars().skip(first).take(count).collect()))),
        Json::Array(items) => {
            Ok(Cow::Owned(Json::Array(items.iter().skip(first).take(count).cloned().collect())))
        }
        other => Err(Problem::value(format!("parts are taken of strings and lists, found {}", kind(other)))),
    }
}
