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
    let mut out = String::new();
    let rest = each_match(arguments, |before, _| {
        out.push_str(before);
        out.push_str(new);
    })?;
    out.push_str(&rest);
    string(out)
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
