//! Functions with regular expressions, which have the syntax of Python's `re`.

use std::borrow::Cow;

use fancy_regex::Captures;
use serde_json::Value as Json;

use super::strings::check_growth;
use super::{Arguments, boolean, list_of, string};
use crate::expression::value::{Outcome, Problem, shown};
use crate::text::SearchBudget;

impl Arguments<'_, '_> {
    /// The first match in a text.
    fn search<'t>(&self, text: &'t str, budget: &SearchBudget) -> Result<Option<Captures<'t, str>>, Problem> {
        let Some(pattern) = self.pattern else { return Ok(None) };
        pattern.search(text, budget).map_err(|error| Problem::value(error.to_string()))
    }
}

/// The first group that took part in the match; the match itself if the expression has no group.
fn taken<'t>(found: &Captures<'t, str>) -> &'t str {
    let first = usize::from(found.len() > 1);
    found.iter().skip(first).flatten().next().map_or("", |group| group.as_str())
}

pub(super) fn extract<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let text = arguments.text(0)?;
    match arguments.search(text, &SearchBudget::default())? {
        Some(found) => string(taken(&found)),
        None => {
            let what = format!("match of {} in {}", shown(arguments.value(1)), shown(arguments.value(0)));
            Err(Problem::missing(what).hint("default(extract(…), '') gives another value"))
        }
    }
}

pub(super) fn matches<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    boolean(arguments.search(arguments.text(0)?, &SearchBudget::default())?.is_some())
}

pub(super) fn extract_all<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let mut all = Vec::new();
    each_match(arguments, |_, found| all.push(Json::String(taken(found).to_owned())))?;
    list_of(all)
}

pub(super) fn sub<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let (text, new) = (arguments.text(0)?, arguments.text(2)?);
    check_growth(text.len(), 1, new.len())?;
    let pieces = replacement(new, arguments)?;
    let mut out = String::new();
    let rest = each_match(arguments, |before, found| {
        out.push_str(before);
        for piece in &pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                // Python has the empty string for a group that took no part in the match.
                Piece::Group(number) => out.push_str(found.get(*number).map_or("", |group| group.as_str())),
                Piece::Named(name) => out.push_str(found.name(name).map_or("", |group| group.as_str())),
            }
        }
    })?;
    out.push_str(&rest);
    string(out)
}

/// A part of what matches are replaced by.
#[derive(Debug, PartialEq)]
enum Piece<'t> {
    Text(&'t str),
    Group(usize),
    Named(&'t str),
}

/// Reads the replacement of `sub` as Python does: `\1` and `\g<1>` are groups, `\g<name>` a named one, `\\` is a backslash.
fn replacement<'t>(text: &'t str, arguments: &Arguments<'_, '_>) -> Result<Vec<Piece<'t>>, Problem> {
    let wrong = |problem: &str| {
        let hint = "groups are written \\1, \\g<1> or \\g<name>, and a backslash \\\\, in a raw string r'…'";
        Problem::value(format!("{} in {}", problem, shown(arguments.value(2)))).hint(hint)
    };
    let pattern = arguments.pattern;
    let group = |number: &str| {
        let known = |number: &usize| pattern.is_none_or(|pattern| *number <= pattern.groups());
        let number: Option<usize> = number.parse().ok().filter(known);
        number.map(Piece::Group).ok_or_else(|| wrong("there is no such group of the pattern"))
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        pieces.push(Piece::Text(before));
        let digits = escaped.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (piece, length) = match escaped.chars().next() {
            Some('\\') => (Piece::Text("\\"), 1),
            Some('n') => (Piece::Text("\n"), 1),
            Some('t') => (Piece::Text("\t"), 1),
            Some('r') => (Piece::Text("\r"), 1),
            Some('1'..='9') => (group(escaped.get(..digits).unwrap_or_default())?, digits),
            Some('g') => {
                let name = escaped.strip_prefix("g<").and_then(|rest| rest.split_once('>'));
                let (name, _) = name.ok_or_else(|| wrong("a group without its name"))?;
                let piece = match name.starts_with(|c: char| c.is_ascii_digit()) {
                    true => group(name)?,
                    false if pattern.is_none_or(|pattern| pattern.has_group(name)) => Piece::Named(name),
                    false => return Err(wrong("there is no such group of the pattern")),
                };
                (piece, name.len() + 3)
            }
            Some(c) if c.is_ascii_alphanumeric() => return Err(wrong("an invalid escape sequence")),
            None => return Err(wrong("a backslash at the end")),
            // Not an escape sequence: Python leaves the backslash where it is.
            Some(_) => (Piece::Text("\\"), 0),
        };
        pieces.push(piece);
        rest = escaped.get(length..).unwrap_or_default();
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// Calls a function with each match and the text between it and the one before; gives the text behind the last.
///
/// A search starts at a place of the whole text, so that what stands before it (`^`, `\b`, look-behind) counts.
fn each_match<'a>(
    arguments: &'a Arguments<'_, '_>,
    mut take: impl FnMut(&str, &Captures<'a, str>),
) -> Result<Cow<'a, str>, Problem> {
    let text = arguments.text(0)?;
    let budget = SearchBudget::default();
    let (mut from, mut kept) = (0, 0);
    while let Some(pattern) = arguments.pattern
        && from <= text.len()
    {
        let found =
            pattern.search_from(text, from, &budget).map_err(|error| Problem::value(error.to_string()))?;
        let Some(found) = found else { break };
        let Some(whole) = found.get(0) else { break };
        take(text.get(kept..whole.start()).unwrap_or_default(), &found);
        kept = whole.end();
        // An empty match is not found twice.
        let step = text.get(whole.end()..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        from = if whole.end() > whole.start() { whole.end() } else { whole.end() + step };
    }
    Ok(Cow::Borrowed(text.get(kept..).unwrap_or_default()))
}
