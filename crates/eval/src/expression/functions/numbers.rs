//! Functions of numbers.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::{Arguments, integer};
use crate::expression::node::{Comparison, Operator};
use crate::expression::value::{
    Outcome, Problem, as_f64, as_i64, compare, compute, float as float_value, shown,
};
use crate::text::{parse_decimal, trim};

/// A whole number of a string, or the whole part of a number.
pub(super) fn int<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let value = arguments.value(0);
    let number = match value {
        Json::String(text) => trim(text).replace('_', "").parse().ok(),
        value => as_i64(value)
            .or_else(|| as_f64(value).map(f64::trunc).filter(|n| n.abs() < 9e18).map(|n| n as i64)),
    };
    number.map_or_else(|| Err(no_number(arguments, "an integer")), integer)
}

pub(super) fn float<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let value = arguments.value(0);
    let number = match value {
        Json::String(text) => parse_decimal(trim(text)),
        value => as_f64(value),
    };
    number.map_or_else(|| Err(no_number(arguments, "a number")), float_value)
}

/// A number as people write it: with commas between thousands, perhaps with a currency before it.
pub(super) fn number<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let Json::String(text) = arguments.value(0) else {
        return match arguments.value(0) {
            Json::Number(_) => Ok(arguments.owned(0)),
            _ => Err(no_number(arguments, "a number")),
        };
    };
    let plain: String = trim(text).trim_start_matches(['$', '€', '£']).replace(',', "");
    let plain = trim(&plain);
    if let Ok(whole) = plain.parse::<i64>() {
        return integer(whole);
    }
    parse_decimal(plain).map_or_else(|| Err(no_number(arguments, "a number")), float_value)
}

fn no_number(arguments: &Arguments<'_, '_>, wanted: &str) -> Problem {
    match arguments.value(0) {
        value @ Json::String(_) => Problem::value(format!(
            "{} is no {}",
            shown(value),
            wanted.trim_start_matches("an ").trim_start_matches("a ")
        )),
        other => arguments.unsuitable(wanted, other),
    }
}

/// Half to even, as Python does.
pub(super) fn round<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let value = arguments.value(0);
    let number = value.as_f64().ok_or_else(|| arguments.unsuitable("a number", value))?;
    if arguments.optional(1).is_none() {
        return match value.as_i64() {
            Some(whole) => integer(whole),
            None if number.abs() < 9e18 => integer(number.round_ties_even() as i64),
            None => Err(Problem::value("a number too large for 64 bits")),
        };
    }
    let digits = usize::try_from(arguments.integer(1, 0)?).ok().filter(|digits| *digits <= 30);
    let digits = digits.ok_or_else(|| arguments.unsuitable("0 to 30 digits", arguments.value(1)))?;
    if value.is_i64() || value.is_u64() {
        return Ok(arguments.owned(0));
    }
    // Printing rounds the exact value of the float, which multiplying by a power of ten would not.
    float_value(format!("{number:.digits$}").parse().unwrap_or(number))
}

pub(super) fn abs<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let value = arguments.value(0);
    match value.as_i64().and_then(i64::checked_abs) {
        Some(whole) => integer(whole),
        None => float_value(value.as_f64().ok_or_else(|| arguments.unsuitable("a number", value))?.abs()),
    }
}

pub(super) fn sum<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut total = std::borrow::Cow::Owned(Json::from(0));
    for item in arguments.list(0)? {
        total = compute(Operator::Add, &total, item)?;
    }
    Ok(total)
}

pub(super) fn min<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    extreme(arguments, Comparison::Less)
}

pub(super) fn max<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    extreme(arguments, Comparison::Greater)
}

fn extreme<'v>(arguments: &Arguments<'_, 'v>, comparison: Comparison) -> Outcome<'v> {
    let mut items = arguments.list(0)?.iter();
    let mut best = items.next().ok_or_else(|| Problem::missing("item in an empty list"))?;
    for item in items {
        if compare(item, comparison, best)? {
            best = item;
        }
    }
    Ok(std::borrow::Cow::Owned(best.clone()))
}

/// The order of two numbers or two strings.
pub(super) fn order(a: &Json, b: &Json) -> Result<Ordering, Problem> {
    if compare(a, Comparison::Less, b)? {
        return Ok(Ordering::Less);
    }
    Ok(if compare(b, Comparison::Less, a)? { Ordering::Greater } else { Ordering::Equal })
}
