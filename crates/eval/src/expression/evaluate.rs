//! The value of an expression for one record.

use std::borrow::Cow;
use std::cmp::Ordering;

use errorbar_core::python_text::json_text;
use errorbar_core::spec::nearest;
use serde_json::{Map, Number, Value as Json};

use super::ExpressionError;
use super::functions::Arguments;
use super::names::find_function;
use super::parser::{Call, Comprehension, Node, NodeKind};

/// What an expression may make of one record, in bytes of values that it makes on the way; a step counts as one.
const LARGEST: u64 = 64 << 20;

pub(super) struct Evaluation<'v, F> {
    text: &'v str,
    /// The value of a field of the record, if it has it.
    field: F,
    variables: Vec<Value<'v>>,
    /// Bytes of the values that were made so far.
    made: u64,
}

type Evaluated<'v> = Result<Value<'v>, ExpressionError>;

impl<'v, F: Fn(&str) -> Option<&'v Json>> Evaluation<'v, F> {
    pub(super) fn new(text: &'v str, field: F) -> Self {
        Evaluation { text, field, variables: Vec::new(), made: 0 }
    }

    pub(super) fn value(&mut self, node: &'v Node) -> Evaluated<'v> {
        // What is wrong with a part has its place already.
        let located = |error: ExpressionError| match error.span.is_empty() {
            true => error.at(node.span.clone()),
            false => error,
        };
        let value = self.value_of(node).map_err(located)?;
        self.made += match &value {
            Cow::Borrowed(_) => 1,
            Cow::Owned(value) => size_of::<Json>() as u64 + json_bytes(value),
        };
        match self.made > LARGEST {
            true => Err(located(ExpressionError::too_large())),
            false => Ok(value),
        }
    }

    fn value_of(&mut self, node: &'v Node) -> Evaluated<'v> {
        Ok(match &node.kind {
            NodeKind::Constant(value) => Cow::Borrowed(value),
            NodeKind::Column(name) => {
                let missing = || ExpressionError::missing(format!("field `{name}` in this record"));
                (self.field)(name).map(Cow::Borrowed).ok_or_else(missing)?
            }
            NodeKind::Variable(number) => {
                self.variables.get(*number).cloned().unwrap_or(Cow::Owned(Json::Null))
            }
            NodeKind::Member(of, name) => {
                let whole = self.value(of)?;
                self.member(of, whole, name)?
            }
            NodeKind::Item(of, index) => {
                let whole = self.value(of)?;
                let index = self.value(index)?;
                self.item(of, whole, &index)?
            }
            NodeKind::Slice(of, first, last) => {
                let whole = self.value(of)?;
                let first = first.as_ref().map(|first| self.value(first)).transpose()?;
                let last = last.as_ref().map(|last| self.value(last)).transpose()?;
                slice(&whole, first.as_deref(), last.as_deref())?
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
                Cow::Owned(compute("-", &Json::from(0), &value)?)
            }
            NodeKind::Binary("and", a, b) => {
                let value = self.value(a)?;
                if self.holds(a, &value)? { self.value(b)? } else { value }
            }
            NodeKind::Binary("or", a, b) => {
                let value = self.value(a)?;
                if is_true(&value) { value } else { self.value(b)? }
            }
            NodeKind::Binary(operator, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                Cow::Owned(compute(operator, &a, &b)?)
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
                    holds = compare(&left, comparison, &right)?;
                    if !holds {
                        break;
                    }
                    left = right;
                }
                Cow::Owned(Json::Bool(holds))
            }
            NodeKind::Call(call) => self.call(call)?,
            NodeKind::Text(parts) => self.template(parts)?,
        })
    }

    /// Whether a condition holds.
    fn condition(&mut self, node: &'v Node) -> Result<bool, ExpressionError> {
        let value = self.value(node)?;
        self.holds(node, &value)
    }

    fn holds(&self, node: &Node, value: &Json) -> Result<bool, ExpressionError> {
        holds(value, self.source(node)).map_err(|problem| problem.at(node.span.clone()))
    }

    /// What stands for a part of the expression in messages.
    fn source(&self, node: &Node) -> &'v str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    fn member(&self, of: &Node, whole: Value<'v>, name: &str) -> Evaluated<'v> {
        match part(whole, |whole| whole.as_object()?.get(name)) {
            Ok(part) => Ok(part),
            Err(whole) => Err(self.no_key(of, &whole, name)),
        }
    }

    fn item(&self, of: &Node, whole: Value<'v>, index: &Json) -> Evaluated<'v> {
        let source = self.source(of);
        match &*whole {
            Json::Object(_) => {
                let found = part(whole, |whole| item_of_map(whole.as_object()?, index));
                found.map_err(|whole| self.no_key(of, &whole, &json_text(index)))
            }
            Json::Array(_) | Json::String(_) => {
                let wrong = || {
                    let problem = format!("an item of `{source}` has a number, found {}", kind(index));
                    ExpressionError::new(problem).hint("items are counted from 0: x[0]")
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
                    ExpressionError::missing(format!("{what} {number} in `{source}`, which has {length}"))
                })
            }
            other => Err(self.no_key(of, other, &json_text(index))),
        }
    }

    fn no_key(&self, of: &Node, whole: &Json, key: &str) -> ExpressionError {
        const SHOWN: usize = 12;
        let source = self.source(of);
        match whole {
            Json::Object(entries) => {
                let near = nearest(key, entries.keys().map(String::as_str));
                let keys: Vec<&str> = entries.keys().take(SHOWN).map(String::as_str).collect();
                let more = if entries.len() > SHOWN { ", …" } else { "" };
                let all = || format!("there are: {}{more}", keys.join(", "));
                let hint = near.map_or_else(all, |near| format!("did you mean `{near}`?"));
                ExpressionError::missing(format!("key `{key}` in `{source}`")).hint(hint)
            }
            Json::Null => ExpressionError::missing(format!("`{key}` in `{source}`, which is None")),
            other if find_function(key).is_some() => {
                let problem = format!("`{source}` is {}, which has no key `{key}`", kind(other));
                ExpressionError::new(problem)
                    .hint(format!("functions are called with parentheses: {source}.{key}()"))
            }
            Json::String(_) => {
                let hint = format!("literal({source}) reads lists and maps that are written as text");
                ExpressionError::new(format!("`{source}` is a string, which has no key `{key}`")).hint(hint)
            }
            Json::Array(_) => {
                let hint =
                    format!("an item of it is {source}[0]; all of them are [x.{key} for x in {source}]");
                ExpressionError::new(format!("`{source}` is a list, which has no key `{key}`")).hint(hint)
            }
            other => ExpressionError::new(format!("`{source}` is {}, which has no key `{key}`", kind(other))),
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
                return Err(ExpressionError::new(problem).at(list.span.clone()));
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
                    ExpressionError::new(format!("its items should be lists of {count}, found {found}"))
                        .at(list.span.clone())
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

    fn call(&mut self, call: &'v Call) -> Evaluated<'v> {
        if let ("default", [value, other]) = (call.function.name, call.arguments.as_slice()) {
            return match self.value(value) {
                Ok(value) if !value.is_null() => Ok(value),
                Err(error) if !error.is_missing() => Err(error),
                Ok(_) | Err(_) => self.value(other),
            };
        }
        let values: Result<Vec<Value<'v>>, _> = call.arguments.iter().map(|node| self.value(node)).collect();
        let arguments =
            Arguments { function: call.function, values: values?, pattern: call.pattern.as_ref() };
        (call.function.call)(&arguments).map(Cow::Owned)
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
                    return Err(ExpressionError::new(format!("`{source}` is None"))
                        .hint(hint)
                        .at(part.span.clone()));
                }
                other => text.push_str(&json_text(other)),
            }
        }
        // Samples are held for the whole run, and are many.
        text.shrink_to_fit();
        Ok(Cow::Owned(Json::String(text)))
    }
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

fn slice<'v>(whole: &Json, first: Option<&Json>, last: Option<&Json>) -> Evaluated<'v> {
    let length = length(whole);
    let bound = |value: Option<&Json>, open: usize| match value {
        None | Some(Json::Null) => Ok(open),
        Some(value) => {
            let number = as_i64(value).ok_or_else(|| {
                ExpressionError::new(format!("a part starts and ends at numbers, found {}", kind(value)))
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
        other => {
            Err(ExpressionError::new(format!("parts are taken of strings and lists, found {}", kind(other))))
        }
    }
}

/// A value that belongs to the record or the expression, or a new one.
pub(super) type Value<'v> = Cow<'v, Json>;

/// The bytes of memory that a value takes beside itself.
pub(crate) fn json_bytes(value: &Json) -> u64 {
    match value {
        Json::String(text) => text.len() as u64,
        Json::Array(items) => items.iter().map(|item| size_of::<Json>() as u64 + json_bytes(item)).sum(),
        Json::Object(map) => map.iter().map(|(key, value)| entry_bytes(key) + json_bytes(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

/// The bytes of memory that an entry of a map takes beside its value's own.
pub(crate) fn entry_bytes(key: &str) -> u64 {
    (size_of::<Json>() + size_of::<String>() + 16 + key.len()) as u64
}

/// The value of a key, as JSON and TOML write it, or as Python does: `true`, `True`.
pub(super) fn item_of_map<'m>(map: &'m Map<String, Json>, key: &Json) -> Option<&'m Json> {
    match key {
        Json::String(key) => map.get(key),
        key => map.get(&key.to_string()).or_else(|| map.get(&json_text(key))),
    }
}

/// What kind of value it is, in words.
pub(super) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "None",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}

/// A value in a message, not longer than needed to recognise it.
pub(crate) fn shown(value: &Json) -> String {
    const SHOWN: usize = 40;
    let text = match value {
        Json::String(text) => errorbar_core::python_text::str_repr(text),
        other => errorbar_core::python_text::json_text(other),
    };
    let mut short: String = text.chars().take(SHOWN).collect();
    short.extend(text.chars().nth(SHOWN).map(|_| '…'));
    short
}

/// Whether a value counts as true: not if it is None, false, zero or empty.
pub(super) fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(truth) => *truth,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
    }
}

/// Whether a condition holds. A string that spells a boolean is refused: `'False'` of a CSV file would be true.
pub(super) fn holds(value: &Json, source: &str) -> Result<bool, ExpressionError> {
    const SPELLED: [&str; 8] = ["true", "false", "yes", "no", "0", "1", "0.0", "1.0"];
    match value {
        Json::String(text) if SPELLED.iter().any(|word| text.trim().eq_ignore_ascii_case(word)) => {
            let text = shown(value);
            let problem = format!("{text} is a string, and every string but the empty one counts as true");
            Err(ExpressionError::new(problem).hint(format!("compare it: {source} == {text}")))
        }
        value => Ok(is_true(value)),
    }
}

/// A number or a boolean as a float.
pub(super) fn as_f64(value: &Json) -> Option<f64> {
    match value {
        Json::Bool(truth) => Some(f64::from(u8::from(*truth))),
        value => value.as_f64(),
    }
}

/// A number or a boolean as an integer, if it is one.
pub(super) fn as_i64(value: &Json) -> Option<i64> {
    match value {
        Json::Bool(truth) => Some(i64::from(*truth)),
        value => value.as_i64(),
    }
}

/// A float as a value; there is no infinity and no NaN.
pub(super) fn float(number: f64) -> Result<Json, ExpressionError> {
    Number::from_f64(number)
        .map(Json::Number)
        .ok_or_else(|| ExpressionError::new(format!("{number} is no number")))
}

pub(super) fn too_large() -> ExpressionError {
    ExpressionError::new("a number too large for 64 bits")
}

/// Whether two values are equal; values of different kinds are not.
pub(super) fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (Json::Bool(_) | Json::Number(_), Json::Bool(_) | Json::Number(_)) => match (as_i64(a), as_i64(b)) {
            (Some(a), Some(b)) => a == b,
            _ => as_f64(a) == as_f64(b),
        },
        (a, b) => a == b,
    }
}

/// Whether two values can be compared at all: both of a kind, or one of them None.
fn is_comparable(a: &Json, b: &Json) -> bool {
    let is_number = |value: &Json| matches!(value, Json::Bool(_) | Json::Number(_));
    kind(a) == kind(b) || is_number(a) && is_number(b) || a.is_null() || b.is_null()
}

fn incomparable(a: &Json, b: &Json) -> ExpressionError {
    let problem = format!("{} is {}, and {} is {}", shown(a), kind(a), shown(b), kind(b));
    let hint = match (a, b) {
        (Json::String(_), Json::Number(_)) | (Json::Number(_), Json::String(_)) => {
            "compare strings with strings, as in level == '3', or numbers with numbers: int(level) == 3"
        }
        _ => "compare values of one kind",
    };
    ExpressionError::new(problem).hint(hint)
}

pub(super) fn compare(a: &Json, comparison: &str, b: &Json) -> Result<bool, ExpressionError> {
    let order = || {
        let order = match (a, b) {
            (Json::String(a), Json::String(b)) => Some(a.cmp(b)),
            (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
            },
            _ => None,
        };
        order.ok_or_else(|| incomparable(a, b))
    };
    match comparison {
        "==" | "!=" if !is_comparable(a, b) => Err(incomparable(a, b)),
        "==" => Ok(equal(a, b)),
        "!=" => Ok(!equal(a, b)),
        "<" => order().map(Ordering::is_lt),
        "<=" => order().map(Ordering::is_le),
        ">" => order().map(Ordering::is_gt),
        ">=" => order().map(Ordering::is_ge),
        "is" => Ok(a.is_null()),
        "is not" => Ok(!a.is_null()),
        "in" => contains(b, a),
        _ => contains(b, a).map(|contains| !contains),
    }
}

/// Whether a list has the value, a map the key, or a string the string.
fn contains(whole: &Json, part: &Json) -> Result<bool, ExpressionError> {
    match (whole, part) {
        (Json::Array(items), part) => {
            // Of another kind than all items, it could never be among them.
            if let Some(item) = items.first()
                && !items.iter().any(|item| is_comparable(item, part))
            {
                return Err(incomparable(part, item));
            }
            Ok(items.iter().any(|item| equal(item, part)))
        }
        (Json::String(text), Json::String(part)) => Ok(text.contains(part.as_str())),
        (Json::Object(entries), Json::String(key)) => Ok(entries.contains_key(key)),
        (whole, part) => Err(ExpressionError::new(format!(
            "`in` looks for {} in {}, but only lists, strings (for strings) and maps (for keys) hold something",
            kind(part),
            kind(whole)
        ))),
    }
}

pub(super) fn compute(operator: &str, a: &Json, b: &Json) -> Result<Json, ExpressionError> {
    match (operator, a, b) {
        ("+", Json::String(a), Json::String(b)) => return Ok(format!("{a}{b}").into()),
        ("+", Json::Array(a), Json::Array(b)) => return Ok(a.iter().chain(b).cloned().collect()),
        _ => {}
    }
    let (x, y) = as_f64(a).zip(as_f64(b)).ok_or_else(|| no_operand(operator, a, b))?;
    let by_zero = || ExpressionError::new("division by zero");
    if y == 0.0 && !matches!(operator, "+" | "-" | "*") {
        return Err(by_zero());
    }
    if let (Some(a), Some(b), true) = (as_i64(a), as_i64(b), operator != "/") {
        let result = match operator {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            // Towards minus infinity, where Rust goes towards zero.
            "//" => {
                let quotient = a.checked_div(b).ok_or_else(by_zero)?;
                Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
            }
            _ => {
                a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
        };
        return result.map(Json::from).ok_or_else(too_large);
    }
    float(match operator {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        "//" => (x / y).floor(),
        _ => x - y * (x / y).floor(),
    })
}

fn no_operand(operator: &str, a: &Json, b: &Json) -> ExpressionError {
    let problem = ExpressionError::new(format!("there is no `{operator}` of {} and {}", kind(a), kind(b)));
    match a.is_string() || b.is_string() {
        true if operator == "+" => {
            problem.hint("str(x) makes a string of a value, number(x) a number of a string")
        }
        true => problem.hint("number(x) makes a number of a string"),
        false => problem,
    }
}
