//! Functions of lists and maps.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::Value as Json;

use super::numbers::order;
use super::{Arguments, boolean, integer, list_of};
use crate::expression::evaluate::length;
use crate::expression::value::{Outcome, Problem, equal, is_true, shown};

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
    let numbered = (start..).zip(arguments.list(0)?);
    list_of(numbered.map(|(number, item)| Json::Array(vec![number.into(), item.clone()])))
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

/// Without items that were there before.
pub(super) fn unique<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut seen = HashSet::new();
    list_of(arguments.list(0)?.iter().filter(|item| seen.insert(item.to_string())).cloned())
}

pub(super) fn sorted<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut items = arguments.list(0)?.clone();
    let mut problem = None;
    items.sort_by(|a, b| {
        order(a, b).unwrap_or_else(|found| {
            problem.get_or_insert(found);
            Ordering::Equal
        })
    });
    match problem {
        Some(problem) => Err(problem),
        None => list_of(items),
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
    boolean(arguments.list(0)?.iter().any(is_true))
}

pub(super) fn all<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    boolean(arguments.list(0)?.iter().all(is_true))
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
