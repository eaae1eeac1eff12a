//! Whether the completion matches a target as text or as a number, at its begin, its end, anywhere, or as a
//! whole.

use std::borrow::Cow;

use errorbar_core::{Result, Score};
use fancy_regex::Captures;

use super::number::five_digits;
use super::number::{numbers, parse_without_spaces, target_number, unmark};
use super::python_regex::{PythonRegex, SearchBudget};
use super::words::fold_if;
use super::words::{trim, trim_punctuation};
use super::{grade, not_found, scored};

/// Where in the completion the target must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Location {
    /// At the begin.
    Begin,
    /// At the end.
    #[default]
    End,
    /// Anywhere.
    Any,
    /// The completion is the target.
    Exact,
}

/// Right when the completion matches any target. Blanks and punctuation around either are no difference.
#[derive(Debug, Clone, Copy)]
pub struct Match {
    /// Where the target must stand.
    pub location: Location,
    /// Compare without regard to case.
    pub ignore_case: bool,
    /// Compare targets that are numbers by value, to five significant digits.
    pub numeric: bool,
}

impl Match {
    /// Judges one completion. The answer is the number found when numbers are compared, else the completion
    /// without the blanks around it; there is none when there is no target. Where no target matches, it is
    /// the last one's.
    pub fn judge(&self, completion: &str, targets: &[impl AsRef<str>]) -> Score {
        let trimmed = trim(completion);
        let folded = fold_if(self.ignore_case, trimmed);
        let mut answer = None;
        for target in targets {
            let (found, right) = self.compare(trimmed, &folded, target.as_ref());
            if right {
                return scored(completion, grade(true), Some(found.into_owned()));
            }
            answer = Some(found);
        }
        scored(completion, grade(false), answer.map(Cow::into_owned))
    }

    fn compare<'a>(&self, trimmed: &'a str, folded: &str, target: &str) -> (Cow<'a, str>, bool) {
        if self.numeric
            && let Some(number) = target_number(target)
        {
            return self.compare_number(trimmed, folded, &five_digits(number));
        }
        // The target as it stands, or without its markers: "1,000 dogs" is matched by itself and by "1000 dogs".
        let is_plain = || self.numeric && self.same_text(folded, &unmark(target));
        (Cow::Borrowed(trimmed), self.same_text(folded, target) || is_plain())
    }

    fn same_text(&self, folded: &str, target: &str) -> bool {
        let target = fold_if(self.ignore_case, target);
        let target = trim_punctuation(&target);
        let text = trim_punctuation(folded);
        match self.location {
            Location::Begin => text.starts_with(target),
            Location::End => text.ends_with(target),
            Location::Any => text.contains(target),
            Location::Exact => text == target,
        }
    }

    /// Numbers are the same when they are written alike with five digits.
    fn compare_number<'a>(&self, trimmed: &'a str, folded: &str, target: &str) -> (Cow<'a, str>, bool) {
        let same = |number: f64| same_number(&five_digits(number), target);
        let one = |number: Option<f64>| {
            let found = number.map(five_digits).unwrap_or_default();
            let right = same_number(&found, target);
            (Cow::Owned(found), right)
        };
        match self.location {
            Location::Begin => one(numbers(trimmed).next()),
            Location::End => one(numbers(trimmed).next_back()),
            Location::Any => match numbers(trimmed).any(same) {
                true => (Cow::Owned(target.to_owned()), true),
                false => (Cow::Borrowed(trimmed), false),
            },
            Location::Exact => {
                let plain = unmark(folded);
                match parse_without_spaces(&plain) {
                    Some(number) => one(Some(number)),
                    None => (Cow::Owned(plain.into_owned()), false),
                }
            }
        }
    }
}

/// Minus zero is zero.
fn same_number(a: &str, b: &str) -> bool {
    a == b || matches!((a, b), ("0", "-0") | ("-0", "0"))
}

/// Right when any target occurs anywhere in the completion. The answer is the text that was searched, so in lower case
/// when case is ignored; there is none when there is no target.
pub fn judge_includes(completion: &str, targets: &[impl AsRef<str>], ignore_case: bool) -> Score {
    if targets.is_empty() {
        return scored(completion, grade(false), None);
    }
    let searched = fold_if(ignore_case, completion);
    let is_found = targets.iter().any(|target| searched.contains(&*fold_if(ignore_case, target.as_ref())));
    scored(completion, grade(is_found), Some(searched.into_owned()))
}

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
    pub fn new(pattern: &str, ignore_case: bool, match_all: bool) -> Result<Self> {
        Ok(Pattern { regex: PythonRegex::new(pattern, ignore_case)?, ignore_case, match_all })
    }

    /// Judges one completion. The answer is the group that was compared, with `match_all` the targets joined;
    /// there is none where none of several groups matched.
    ///
    /// # Errors
    /// An expression that tries too many ways to match, or takes too long.
    pub fn judge(&self, completion: &str, targets: &[impl AsRef<str>]) -> Result<Score> {
        self.judge_within(completion, targets, &SearchBudget::default())
    }

    /// Whether a completion is judged in a time that grows with its length, and no faster.
    pub(crate) fn is_linear(&self, completion: &str) -> bool {
        self.regex.is_linear(completion)
    }

    /// Whether one of these targets can be what the expression finds, as far as one can tell without an answer. Of an
    /// expression with groups anything can, and of one that looks at what stands around it.
    pub(crate) fn can_find_any<'t>(&self, targets: impl Iterator<Item = &'t str>) -> bool {
        if self.regex.groups() > 0 {
            return true;
        }
        let Some(whole) = self.regex.of_whole_text(self.ignore_case) else { return true };
        let budget = SearchBudget::default();
        let mut targets = targets.peekable();
        // What case is beyond ASCII, expressions and comparisons may see differently.
        let can_be = |target: &str| !target.is_ascii() || !matches!(whole.search(target, &budget), Ok(None));
        targets.peek().is_none() || targets.any(can_be)
    }

    /// The same within a budget.
    pub(crate) fn judge_within(
        &self,
        completion: &str,
        targets: &[impl AsRef<str>],
        budget: &SearchBudget,
    ) -> Result<Score> {
        let Some(found) = self.regex.search(completion, budget)? else {
            return Ok(not_found(completion));
        };
        let is_target = |group: &str| is_target(group, targets, self.ignore_case);
        let mut groups = groups(&found).peekable();
        let answer: Option<String> = if self.match_all {
            // The targets, if every group that took part is one of them.
            let are_targets = groups.peek().is_some() && groups.all(is_target);
            are_targets.then(|| targets.iter().map(AsRef::as_ref).collect())
        } else if found.len() <= 2 {
            // A sole group, whether it is a target or not.
            groups.next().map(str::to_owned)
        } else {
            groups.find(|group| is_target(group)).map(str::to_owned)
        };
        // An empty answer never counts.
        let is_right = |answer: &str| !answer.is_empty() && (self.match_all || is_target(answer));
        let value = grade(answer.as_deref().is_some_and(is_right));
        Ok(scored(completion, value, answer))
    }
}

/// The groups that took part in a match; the match itself if the expression has none.
pub(crate) fn groups<'a>(found: &Captures<'a, str>) -> impl Iterator<Item = &'a str> {
    let from = usize::from(found.len() > 1);
    found.iter().skip(from).flatten().map(|group| group.as_str())
}

/// Whether a group is a target.
pub(crate) fn is_target(group: &str, targets: &[impl AsRef<str>], ignore_case: bool) -> bool {
    targets.iter().any(|target| same(group, target.as_ref(), ignore_case))
}

/// Equal, or equal in lower case. Lower case is less than case folding: "ß" is not "ss" here.
fn same(a: &str, b: &str, ignore_case: bool) -> bool {
    a == b || ignore_case && a.to_lowercase() == b.to_lowercase()
}

#[cfg(test)]
mod pattern_tests {
    use super::*;

    #[test]
    fn runaway_expressions_are_an_error() {
        let pattern = Pattern::new(r"^(a|a)+\1\1c", true, false).unwrap();
        let error = pattern.judge(&format!("{}b", "a".repeat(40)), &["a"]).unwrap_err();
        let message = r#"the pattern "^(a|a)+\\1\\1c" tried too many ways to match an output of 41 bytes; "#;
        assert!(error.to_string().starts_with(message), "{error}");
    }

    #[test]
    fn without_groups_a_target_must_be_all_that_is_found() {
        let can = |pattern: &str, targets: &[&str]| {
            Pattern::new(pattern, true, false).unwrap().can_find_any(targets.iter().copied())
        };
        for (pattern, targets) in [
            ("[A-D]", &["A"][..]),
            ("[a-d]", &["x", "B"]),
            (r"^\d+$", &["42"]),
            (r"(?m)^\d+$", &["42"]),
            (r"ANSWER: (\w)", &["A"]),
            (r"(?<=ANSWER: )\w+", &["A"]),
            (r"ANSWER:\s*\w(?=\.)", &["A"]),
            (r"(?x) \d + # digits", &["A"]),
            (r"\b-\d", &["-1"]),
            ("a|ab", &["ab"]),
            ("ANSWER: ä", &["ä"]),
            ("ANSWER", &[]),
        ] {
            assert!(can(pattern, targets), "{pattern}");
        }
        for (pattern, targets) in [
            (r"ANSWER: \w", &["A", "B"][..]),
            (r"(?i)answer:\s*(?:\d+)", &["42"]),
            (r"\d", &["42"]),
            (r"^The answer is .*", &["yes", "no"]),
        ] {
            assert!(!can(pattern, targets), "{pattern}");
        }
    }

    #[test]
    fn unreadable_expressions_are_refused() {
        for pattern in ["(", "[", "*a", r"\q", "(?P<1>a)", "a{2,1}", r"\"] {
            assert!(
                matches!(Pattern::new(pattern, true, false), Err(errorbar_core::Error::Custom(_))),
                "{pattern}"
            );
        }
    }
}
