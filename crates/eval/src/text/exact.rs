//! Whether the completion is a target, apart from case, punctuation, articles and the way numbers are
//! written.

use std::borrow::Cow;

use super::casefold::casefold;
use super::words::normal_parts;
use super::{Judgement, Mark};

/// Right when the completion and any target have the same words. The answer is the completion.
pub fn judge_exact<'a>(completion: &'a str, targets: &[impl AsRef<str>]) -> Judgement<'a> {
    let words = words(completion);
    // Nothing is left of a text of articles and punctuation, and nothing is no answer.
    let right = !words.is_empty() && targets.iter().any(|target| self::words(target.as_ref()) == words);
    Judgement::new(completion, Mark::of(right), Some(Cow::Borrowed(completion))).unexplained()
}

fn words(text: &str) -> String {
    normal_parts(&casefold(text)).collect::<Vec<_>>().join(" ")
}
