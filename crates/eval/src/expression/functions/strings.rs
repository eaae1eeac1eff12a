//! Functions of strings, as Python's methods do it.

use errorbar_core::python_text::json_text;
use serde_json::Value as Json;

use super::{Arguments, boolean, list_of, string};
use crate::expression::value::{Outcome, Problem};
use crate::text::is_space;

pub(super) fn str<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    match arguments.value(0) {
        Json::String(_) => Ok(arguments.owned(0)),
        other => string(json_text(other)),
    }
}

pub(super) fn lower<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    string(arguments.text(0)?.to_lowercase())
}

pub(super) fn upper<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    string(arguments.text(0)?.to_uppercase())
}

pub(super) fn capitalize<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut rest = arguments.text(0)?.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    string(first + &rest.as_str().to_lowercase())
}

/// Whether a character is to be taken off: one of those that are given, or a blank.
fn is_outside(arguments: &Arguments<'_, '_>) -> Result<impl Fn(char) -> bool, Problem> {
    let given = match arguments.optional(1) {
        None => None,
        Some(_) => Some(arguments.text(1)?.to_owned()),
    };
    Ok(move |c: char| match &given {
        Some(given) => given.contains(c),
        None => is_space(c),
    })
}

pub(super) fn strip<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    string(arguments.text(0)?.trim_matches(is_outside(arguments)?))
}

pub(super) fn lstrip<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    string(arguments.text(0)?.trim_start_matches(is_outside(arguments)?))
}

pub(super) fn rstrip<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    string(arguments.text(0)?.trim_end_matches(is_outside(arguments)?))
}

pub(super) fn removeprefix<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let (text, prefix) = (arguments.text(0)?, arguments.text(1)?);
    string(text.strip_prefix(prefix).unwrap_or(text))
}

pub(super) fn removesuffix<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let (text, suffix) = (arguments.text(0)?, arguments.text(1)?);
    string(text.strip_suffix(suffix).unwrap_or(text))
}

pub(super) fn replace<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let (text, old, new) = (arguments.text(0)?, arguments.text(1)?, arguments.text(2)?);
    check_growth(text.len(), old.len(), new.len())?;
    string(text.replace(old, new))
}

/// Refuses a replacement that makes a small string a huge one, before it does.
pub(super) fn check_growth(text: usize, old: usize, new: usize) -> Result<(), Problem> {
    const LARGEST: usize = 32 << 20;
    let most = (text / old.max(1) + 1).saturating_mul(new).saturating_add(text);
    match most > LARGEST && new > old {
        true => Err(Problem { kind: crate::expression::ExpressionErrorKind::TooLarge, hint: None }),
        false => Ok(()),
    }
}

pub(super) fn startswith<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    boolean(arguments.text(0)?.starts_with(arguments.text(1)?))
}

pub(super) fn endswith<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    boolean(arguments.text(0)?.ends_with(arguments.text(1)?))
}

/// At a separator, or at blanks; at most `limit` times.
pub(super) fn split<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let text = arguments.text(0)?;
    let limit = usize::try_from(arguments.integer(2, -1)?).unwrap_or(usize::MAX);
    let item = |part: &str| Json::String(part.to_owned());
    if arguments.optional(1).is_some() {
        let separator = arguments.text(1)?;
        if separator.is_empty() {
            return Err(Problem::value("the separator of `split` is empty"));
        }
        return list_of(text.splitn(limit.saturating_add(1), separator).map(item));
    }
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = if parts.len() < limit { rest.find(is_space) } else { None };
        let (part, tail) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(item(part));
        rest = tail.trim_start_matches(is_space);
    }
    list_of(parts)
}

pub(super) fn lines<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    list_of(arguments.text(0)?.lines().map(|line| Json::String(line.to_owned())))
}

/// `join(list, separator)`, or, as Python has it, `separator.join(list)`.
pub(super) fn join<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let is_python = arguments.value(0).is_string() && arguments.value(1).is_array();
    let (list, separator) = if is_python { (1, 0) } else { (0, 1) };
    let items = arguments.list(list)?;
    let separator = if arguments.optional(separator).is_some() { arguments.text(separator)? } else { "" };
    let text = |item: &Json| match item {
        Json::String(text) => Ok(text.clone()),
        Json::Null => Err(arguments.unsuitable("strings", item)),
        other => Ok(json_text(other)),
    };
    let texts: Result<Vec<String>, Problem> = items.iter().map(text).collect();
    check_growth(items.len(), 1, separator.len())?;
    string(texts?.join(separator))
}
