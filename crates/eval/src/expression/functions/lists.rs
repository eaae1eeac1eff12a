//! Functions of lists and maps.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Number, Value as Json};

use super::numbers::order;
use super::{Arguments, boolean, integer, list_of};
use crate::expression::evaluate::length;
use crate::expression::value::{Outcome, Problem, as_i64, equal, holds, shown};

pub(super) fn len<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    match arguments.value(0) {
        value @ (Json::String(_) | Json::Array(_) | Json::Object(_)) => integer(length(value) as i64),
        other => Err(arguments.unsuitable("a string, a list or a map", other)),
    }
}

/// The value of a key or the item of a number, or another one.
pub(super) fn get<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let key = arguments.value(1);
    let found = match (arguments.value(0), key) {
        (Json::Object(map), Json::String(key)) => map.get(key),
        (Json::Object(map), key) => {
            map.get(&key.to_string()).or_else(|| map.get(&errorbar_core::python_text::json_text(key)))
        }
        (Json::Array(items), key) => key.as_u64().and_then(|at| items.get(usize::try_from(at).ok()?)),
        (Json::Null, _) => None,
        (other, _) => return Err(arguments.unsuitable("a map or a list", other)),
    };
    Ok(found.map_or_else(|| arguments.owned(2), |found| Cow::Owned(found.clone())))
}

/// The place of a value in a list, from 0.
pub(super) fn index<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let (items, value) = (arguments.list(0)?, arguments.value(1));
    match items.iter().position(|item| equal(item, value)) {
        Some(place) => integer(place as i64),
        None => Err(Problem::missing(format!("{} in {}", shown(value), shown(arguments.value(0))))),
    }
}

pub(super) fn count<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    if let (Json::String(text), Json::String(part)) = (arguments.value(0), arguments.value(1)) {
        return integer(text.matches(part.as_str()).count() as i64);
    }
    let value = arguments.value(1);
    integer(arguments.list(0)?.iter().filter(|item| equal(item, value)).count() as i64)
}

/// A map of lists as a list of maps: `{"a": [1, 2], "b": [3, 4]}` is `[{"a": 1, "b": 3}, {"a": 2, "b": 4}]`.
pub(super) fn rows<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let map = arguments.map(0)?;
    let mut lists = Vec::new();
    for (key, value) in map {
        let list = value.as_array().ok_or_else(|| arguments.unsuitable("a map of lists", value))?;
        lists.push((key, list));
    }
    let count = lists.first().map_or(0, |(_, list)| list.len());
    if let Some((key, list)) = lists.iter().find(|(_, list)| list.len() != count) {
        return Err(unequal(arguments, &format!("the first has {count} items, `{key}` {}", list.len())));
    }
    let row = |at: usize| {
        let entry = |(key, list): &(&String, &Vec<Json>)| Some(((*key).clone(), list.get(at)?.clone()));
        Json::Object(lists.iter().filter_map(entry).collect())
    };
    list_of((0..count).map(row))
}

fn unequal(arguments: &Arguments<'_, '_>, found: &str) -> Problem {
    Problem::value(format!("`{}` needs lists of one length: {found}", arguments.function.name))
}

pub(super) fn zip<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let lists: Result<Vec<&Vec<Json>>, Problem> =
        (0..arguments.values.len()).map(|at| arguments.list(at)).collect();
    let lists = lists?;
    let count = lists.first().map_or(0, |list| list.len());
    if let Some(other) = lists.iter().find(|list| list.len() != count) {
        return Err(unequal(arguments, &format!("found {count} and {} items", other.len())));
    }
    let row = |at: usize| Json::Array(lists.iter().filter_map(|list| list.get(at).cloned()).collect());
    list_of((0..count).map(row))
}

pub(super) fn enumerate<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let start = arguments.integer(1, 0)?;
    let items = arguments.list(0)?;
    let end = i64::try_from(items.len()).ok().and_then(|count| start.checked_add(count));
    let end = end.ok_or_else(|| Problem::value("a number too large for 64 bits"))?;
    list_of((start..end).zip(items).map(|(number, item)| Json::Array(vec![number.into(), item.clone()])))
}

pub(super) fn range<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    const LONGEST: u64 = 100_000;
    let first = arguments.integer(0, 0)?;
    let (start, end) = match arguments.optional(1) {
        None => (0, first),
        Some(_) => (first, arguments.integer(1, 0)?),
    };
    if end > start && end.abs_diff(start) > LONGEST {
        return Err(Problem::value(format!("a range has at most {LONGEST} numbers")));
    }
    list_of((start..end).map(Json::from))
}

/// Without items that are equal to one before them.
pub(super) fn unique<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut seen = HashSet::new();
    list_of(arguments.list(0)?.iter().filter(|item| seen.insert(in_one_form(item).to_string())).cloned())
}

/// A value in the form that all values equal to it have: 1 of 1.0 and of true, and maps in the order of their keys.
fn in_one_form(value: &Json) -> Json {
    match value {
        Json::Bool(_) | Json::Number(_) => {
            let whole = || value.as_f64().filter(|number| number.trunc() == *number && number.abs() < 9e18);
            as_i64(value).or_else(|| Some(whole()? as i64)).map_or_else(|| value.clone(), Json::from)
        }
        Json::Array(items) => items.iter().map(in_one_form).collect(),
        Json::Object(entries) => {
            let mut entries: Vec<(&String, Json)> =
                entries.iter().map(|(key, value)| (key, in_one_form(value))).collect();
            entries.sort_by_key(|(key, _)| *key);
            Json::Object(entries.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        other => other.clone(),
    }
}

pub(super) fn sorted<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut items = arguments.list(0)?.clone();
    // A list of several kinds has no order, and without one a sort may panic.
    if let Some((first, rest)) = items.split_first() {
        for item in rest {
            order(first, item)?;
        }
    }
    items.sort_by(total_order);
    list_of(items)
}

/// The order of two values of one kind, also of integers that floats cannot tell apart.
fn total_order(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => {
            let float = |number: &Number| number.as_f64().unwrap_or(0.0);
            float(a).total_cmp(&float(b)).then_with(|| a.as_i64().cmp(&b.as_i64()))
        }
        _ => Ordering::Equal,
    }
}

pub(super) fn reversed<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    list_of(arguments.list(0)?.iter().rev().cloned())
}

/// One list of lists' items; what is no list is an item itself.
pub(super) fn flatten<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let items = arguments.list(0)?.iter().flat_map(|item| match item {
        Json::Array(items) => items.clone(),
        other => vec![other.clone()],
    });
    list_of(items)
}

pub(super) fn any<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    for item in arguments.list(0)? {
        if holds(item, "x")? {
            return boolean(true);
        }
    }
    boolean(false)
}

pub(super) fn all<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    for item in arguments.list(0)? {
        if !holds(item, "x")? {
            return boolean(false);
        }
    }
    boolean(true)
}

pub(super) fn keys<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    list_of(arguments.map(0)?.keys().cloned().map(Json::String))
}

pub(super) fn values<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    list_of(arguments.map(0)?.values().cloned())
}

pub(super) fn items<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let pair = |(key, value): (&String, &Json)| Json::Array(vec![Json::String(key.clone()), value.clone()]);
    list_of(arguments.map(0)?.iter().map(pair))
}
