//! Whether the completion matches a target as text or as a number, at its begin, its end, anywhere, or as a
//! whole.

use std::borrow::Cow;

use super::casefold::fold_if;
use super::float::five_digits;
use super::number::{numbers, parse_without_spaces, target_number, unmark};
use super::space::{trim, trim_punctuation};
use super::{Judgement, Mark};

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

impl Default for Match {
    fn default() -> Self {
        Match { location: Location::End, ignore_case: true, numeric: false }
    }
}

impl Match {
    /// Judges one completion. The answer is the number found when numbers are compared, else the completion
    /// without the blanks around it; there is none when there is no target. Where no target matches, it is
    /// the last one's.
    pub fn judge<'a>(&self, completion: &'a str, targets: &[impl AsRef<str>]) -> Judgement<'a> {
        let text = CompletionText::new(completion, self.ignore_case);
        let mut answer = None;
        for target in targets {
            let (found, right) = self.compare(&text, target.as_ref());
            if right {
                return Judgement::new(completion, Mark::Correct, Some(found));
            }
            answer = Some(found);
        }
        Judgement::new(completion, Mark::Incorrect, answer)
    }

    fn compare<'a>(&self, text: &CompletionText<'a>, target: &str) -> (Cow<'a, str>, bool) {
        if !self.numeric {
            return (Cow::Borrowed(text.trimmed), self.same_text(text, target));
        }
        match target_number(target) {
            Some(number) => self.compare_number(text, &five_digits(number)),
            // The target as it stands, or without its markers: "1,000 dogs" is matched by itself and by "1000
            // dogs".
            None => {
                let right = self.same_text(text, target) || self.same_text(text, &unmark(target));
                (Cow::Borrowed(text.trimmed), right)
            }
        }
    }

    fn same_text(&self, text: &CompletionText<'_>, target: &str) -> bool {
        let target = fold_if(self.ignore_case, target);
        let target = trim_punctuation(&target);
        let text = trim_punctuation(&text.folded);
        match self.location {
            Location::Begin => text.starts_with(target),
            Location::End => text.ends_with(target),
            Location::Any => text.contains(target),
            Location::Exact => text == target,
        }
    }

    /// Numbers are the same when they are written alike with five digits.
    fn compare_number<'a>(&self, text: &CompletionText<'a>, target: &str) -> (Cow<'a, str>, bool) {
        let same = |number: f64| same_number(&five_digits(number), target);
        let one = |number: Option<f64>| {
            let found = number.map(five_digits).unwrap_or_default();
            let right = same_number(&found, target);
            (Cow::Owned(found), right)
        };
        match self.location {
            Location::Begin => one(numbers(text.trimmed).next()),
            Location::End => one(numbers(text.trimmed).next_back()),
            Location::Any => match numbers(text.trimmed).any(same) {
                true => (Cow::Owned(target.to_owned()), true),
                false => (Cow::Borrowed(text.trimmed), false),
            },
            Location::Exact => {
                let plain = unmark(&text.folded);
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

/// A completion in the forms that the comparisons with each target share.
struct CompletionText<'a> {
    trimmed: &'a str,
    folded: Cow<'a, str>,
}

impl<'a> CompletionText<'a> {
    fn new(completion: &'a str, ignore_case: bool) -> Self {
        let trimmed = trim(completion);
        CompletionText { trimmed, folded: fold_if(ignore_case, trimmed) }
    }
}
