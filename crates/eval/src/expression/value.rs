//! Values of expressions: JSON, compared and computed with as Python does, but without its surprises.
//!
//! A comparison of a string with a number is an error: in a CSV file every cell is a string, and `level == 3` would
//! silently keep no record at all.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value as Json};

use super::error::ExpressionErrorKind;
use super::node::{Comparison, Operator};

/// A value that belongs to the record or the expression, or a new one.
pub(super) type Value<'v> = Cow<'v, Json>;

/// Why there is no value, without the place in the expression.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) kind: ExpressionErrorKind,
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn value(problem: impl Into<String>) -> Self {
        Problem { kind: ExpressionErrorKind::Value { problem: problem.into() }, hint: None }
    }

    pub(super) fn missing(what: impl Into<String>) -> Self {
        Problem { kind: ExpressionErrorKind::Missing { what: what.into() }, hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub(super) type Outcome<'v> = Result<Value<'v>, Problem>;

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
pub(super) fn holds(value: &Json, source: &str) -> Result<bool, Problem> {
    const SPELLED: [&str; 8] = ["true", "false", "yes", "no", "0", "1", "0.0", "1.0"];
    match value {
        Json::String(text) if SPELLED.iter().any(|word| text.trim().eq_ignore_ascii_case(word)) => {
            let text = shown(value);
            let problem = format!("{text} is a string, and every string but the empty one counts as true");
            Err(Problem::value(problem).hint(format!("compare it: {source} == {text}")))
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
pub(super) fn float<'v>(number: f64) -> Outcome<'v> {
    let number = Number::from_f64(number).ok_or_else(|| Problem::value(format!("{number} is no number")))?;
    Ok(Cow::Owned(Json::Number(number)))
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
    let group = |value: &Json| match value {
        Json::Null => 0,
        Json::Bool(_) | Json::Number(_) => 1,
        Json::String(_) => 2,
        Json::Array(_) => 3,
        Json::Object(_) => 4,
    };
    group(a) == group(b) || a.is_null() || b.is_null()
}

fn incomparable(a: &Json, b: &Json) -> Problem {
    let problem = format!("{} is {}, and {} is {}", shown(a), kind(a), shown(b), kind(b));
    let hint = match (a, b) {
        (Json::String(_), Json::Number(_)) | (Json::Number(_), Json::String(_)) => {
            "compare strings with strings, as in level == '3', or numbers with numbers: int(level) == 3"
        }
        _ => "compare values of one kind",
    };
    Problem::value(problem).hint(hint)
}

pub(super) fn compare(a: &Json, comparison: Comparison, b: &Json) -> Result<bool, Problem> {
    let ordered = |wanted: fn(Ordering) -> bool| {
        let order = match (a, b) {
            (Json::String(a), Json::String(b)) => Some(a.cmp(b)),
            (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
            },
            _ => None,
        };
        order.map(wanted).ok_or_else(|| incomparable(a, b))
    };
    match comparison {
        Comparison::Equal | Comparison::Unequal if !is_comparable(a, b) => Err(incomparable(a, b)),
        Comparison::Equal => Ok(equal(a, b)),
        Comparison::Unequal => Ok(!equal(a, b)),
        Comparison::Less => ordered(Ordering::is_lt),
        Comparison::AtMost => ordered(Ordering::is_le),
        Comparison::Greater => ordered(Ordering::is_gt),
        Comparison::AtLeast => ordered(Ordering::is_ge),
        Comparison::Is => Ok(a.is_null()),
        Comparison::IsNot => Ok(!a.is_null()),
        Comparison::In => contains(b, a),
        Comparison::NotIn => contains(b, a).map(|contains| !contains),
    }
}

/// Whether a list has the value, a map the key, or a string the string.
fn contains(whole: &Json, part: &Json) -> Result<bool, Problem> {
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
        (whole, part) => Err(Problem::value(format!(
            "`in` looks for {} in {}, but only lists, strings (for strings) and maps (for keys) hold something",
            kind(part),
            kind(whole)
        ))),
    }
}

pub(super) fn compute<'v>(operator: Operator, a: &Json, b: &Json) -> Outcome<'v> {
    match (operator, a, b) {
        (Operator::Add, Json::String(a), Json::String(b)) => Ok(Cow::Owned(Json::String(format!("{a}{b}")))),
        (Operator::Add, Json::Array(a), Json::Array(b)) => {
            Ok(Cow::Owned(Json::Array(a.iter().chain(b).cloned().collect())))
        }
        (operator, a, b) => {
            let Some((x, y)) = as_f64(a).zip(as_f64(b)) else { return Err(no_operand(operator, a, b)) };
            let by_zero = || Problem::value("division by zero");
            if y == 0.0 && !matches!(operator, Operator::Add | Operator::Subtract | Operator::Multiply) {
                return Err(by_zero());
            }
            match as_i64(a).zip(as_i64(b)) {
                Some((a, b)) if operator != Operator::Divide => {
                    let result = match operator {
                        Operator::Add => a.checked_add(b),
                        Operator::Subtract => a.checked_sub(b),
                        Operator::Multiply => a.checked_mul(b),
                        Operator::FloorDivide | Operator::Divide => {
                            let quotient = a.checked_div(b).ok_or_else(by_zero)?;
                            // Towards minus infinity, where Rust goes towards zero.
                            Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
                        }
                        Operator::Remainder => a
                            .checked_rem(b)
                            .map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }),
                    };
                    let result = result.ok_or_else(|| Problem::value("a number too large for 64 bits"))?;
                    Ok(Cow::Owned(result.into()))
                }
                _ => float(match operator {
                    Operator::Add => x + y,
                    Operator::Subtract => x - y,
                    Operator::Multiply => x * y,
                    Operator::Divide => x / y,
                    Operator::FloorDivide => (x / y).floor(),
                    Operator::Remainder => x - y * (x / y).floor(),
                }),
            }
        }
    }
}

fn no_operand(operator: Operator, a: &Json, b: &Json) -> Problem {
    let problem = format!("`{}` of {} and {}", operator.symbol(), kind(a), kind(b));
    let is_text = a.is_string() || b.is_string();
    let problem = Problem::value(format!("there is no {problem}"));
    match operator {
        Operator::Add if is_text => {
            problem.hint("str(x) makes a string of a value, number(x) a number of a string")
        }
        _ if is_text => problem.hint("number(x) makes a number of a string"),
        _ => problem,
    }
}
