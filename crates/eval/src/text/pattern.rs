//! The answer that a regular expression takes from the completion.

use std::borrow::Cow;

use fancy_regex::Captures;

use super::python_regex::{PythonRegex, SearchBudget};
use super::{Judgement, Mark, TextError};

/// Right when what the groups of a regular expression capture is a target. An expression without groups is
/// one group.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: PythonRegex,
    ignore_case: bool,
    match_all: bool,
}

impl Pattern {
    /// Reads an expression in the syntax of Python's `re`. With `ignore_case` neither its letters nor targets
    /// have case; with `match_all` every group must be a target, not only one of them.
    ///
    /// # Errors
    /// An expression that cannot be read.
    pub fn new(pattern: &str, ignore_case: bool, match_all: bool) -> Result<Self, TextError> {
        Ok(Pattern { regex: PythonRegex::new(pattern, ignore_case)?, ignore_case, match_all })
    }

    /// Judges one completion. The answer is the group that was compared, with `match_all` the targets joined;
    /// there is none where none of several groups matched.
    ///
    /// # Errors
    /// An expression that tries too many ways to match, or takes too long.
    pub fn judge<'a>(
        &self,
        completion: &'a str,
        targets: &[impl AsRef<str>],
    ) -> Result<Judgement<'a>, TextError> {
        self.judge_within(completion, targets, &SearchBudget::default())
    }

    /// Whether a completion is judged in a time that grows with its length, and no faster.
    pub(crate) fn is_linear(&self, completion: &str) -> bool {
        self.regex.is_linear(completion)
    }

    /// The same within a budget.
    pub(crate) fn judge_within<'a>(
        &self,
        completion: &'a str,
        targets: &[impl AsRef<str>],
        budget: &SearchBudget,
    ) -> Result<Judgement<'a>, TextError> {
        let Some(found) = self.regex.search(completion, budget)? else {
            return Ok(Judgement::not_found(completion));
        };
        let answer = match self.match_all {
            true => self.all_groups(&found, targets).map(Cow::Owned),
            false => self.any_group(&found, targets).map(Cow::Borrowed),
        };
        // An empty answer never counts.
        let right = answer
            .as_deref()
            .is_some_and(|answer| !answer.is_empty() && (self.match_all || self.is_target(answer, targets)));
        Ok(Judgement::new(completion, Mark::of(right), answer))
    }

    fn is_target(&self, group: &str, targets: &[impl AsRef<str>]) -> bool {
        is_target(group, targets, self.ignore_case)
    }

    /// The first group that is a target; a sole group whether it is or not.
    fn any_group<'a>(&self, found: &Captures<'a, str>, targets: &[impl AsRef<str>]) -> Option<&'a str> {
        match found.len() {
            1 => found.get(0).map(|whole| whole.as_str()),
            2 => found.get(1).map(|group| group.as_str()),
            _ => groups(found).find(|group| self.is_target(group, targets)),
        }
    }

    /// The targets, if every group that took part is one of them.
    fn all_groups(&self, found: &Captures<'_, str>, targets: &[impl AsRef<str>]) -> Option<String> {
        let mut groups = groups(found).peekable();
        groups.peek()?;
        groups
            .all(|group| self.is_target(group, targets))
            .then(|| targets.iter().map(AsRef::as_ref).collect())
    }
}

/// The groups that took part in a match; the match itself if the expression has none.
fn groups<'a>(found: &Captures<'a, str>) -> impl Iterator<Item = &'a str> {
    let from = usize::from(found.len() > 1);
    found.iter().skip(from).flatten().map(|group| group.as_str())
}

/// Whether a group is a target.
pub(crate) fn is_target(group: &str, targets: &[impl AsRef<str>], ignore_case: bool) -> bool {
    targets.iter().any(|target| same(group, target.as_ref(), ignore_case))
}

/// Equal, or equal in lower case. Lower case is less than case folding: "ß" is not "ss" here.
fn same(a: &str, b: &str, ignore_case: bool) -> bool {
    if !ignore_case {
        return a == b;
    }
    if a.is_ascii() && b.is_ascii() {
        a.eq_ignore_ascii_case(b)
    } else {
        a.to_lowercase() == b.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runaway_expressions_are_an_error() {
        let pattern = Pattern::new(r"^(a|a)+\1\1c", true, false).unwrap();
        let error = pattern.judge(&format!("{}b", "a".repeat(40)), &["a"]).unwrap_err();
        let pattern = r"^(a|a)+\1\1c".to_owned();
        assert_eq!(error, TextError::TooManySteps { pattern, bytes: 41 });
    }

    #[test]
    fn unreadable_expressions_are_refused() {
        for pattern in ["(", "[", "*a", r"\q", "(?P<1>a)", "a{2,1}", r"\"] {
            assert!(
                matches!(Pattern::new(pattern, true, false), Err(TextError::Pattern { .. })),
                "{pattern}"
            );
        }
    }
}
