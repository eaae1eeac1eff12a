//! What the text scorers compute: pure functions from a completion and its targets to a
//! [`Judgement`]. No state, no async, no clock, so every rule is checked against the reference's answers
//! under `conformance/cases/text` by calling it.
//!
//! What depends on arguments only is prepared once (a [`Pattern`] compiles its regular expression, an [`F1`]
//! normalises its stop words); what is judged per sample borrows from the completion where it can.

mod choice;
mod matches;
mod number;
mod python_regex;
mod words;

use std::borrow::Cow;

use errorbar_core::{Score, Value};

pub use choice::{Answer, choice_label, choice_places, judge_choices, marked_choices};
pub use matches::{Includes, Location, Match, Pattern};
pub(crate) use number::parse_decimal;
pub(crate) use python_regex::{PythonRegex, SearchBudget};
pub use words::{F1, is_blank, judge_exact};
pub(crate) use words::{is_space, is_word, trim};

/// The answer is empty or blank.
pub const NO_RESPONSE: &str = "no_response";
/// The completion has no answer in the expected format.
pub const INVALID_RESPONSE_FORMAT: &str = "invalid_response_format";

/// The value of a judgement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    /// Right: "C".
    Correct,
    /// Wrong: "I".
    Incorrect,
    /// Nothing to judge: "N".
    NoAnswer,
    /// A share between 0 and 1.
    Share(f64),
}

impl Mark {
    fn of(right: bool) -> Self {
        if right { Mark::Correct } else { Mark::Incorrect }
    }
}

impl From<Mark> for Value {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Correct => Value::from("C"),
            Mark::Incorrect => Value::from("I"),
            Mark::NoAnswer => Value::from("N"),
            Mark::Share(share) => Value::from(share),
        }
    }
}

/// The judgement of a scorer on one completion.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Judgement<'a> {
    /// Right, wrong, or a share.
    pub mark: Mark,
    /// What was taken for the model's answer.
    pub answer: Option<Cow<'a, str>>,
    /// Why; most often the whole completion.
    pub explanation: Option<Cow<'a, str>>,
    /// Why the scorer found no answer: [`NO_RESPONSE`] or [`INVALID_RESPONSE_FORMAT`].
    pub reason: Option<&'static str>,
}

impl<'a> Judgement<'a> {
    /// A judgement of `completion`, explained by the completion itself.
    fn new(completion: &'a str, mark: Mark, answer: Option<Cow<'a, str>>) -> Self {
        let reason = is_blank(completion).then_some(NO_RESPONSE);
        Judgement { mark, answer, explanation: Some(Cow::Borrowed(completion)), reason }
    }

    /// The same without an explanation: the answer is the completion and needs none.
    fn unexplained(mut self) -> Self {
        self.explanation = None;
        self
    }

    /// No answer was found in `completion`.
    fn not_found(completion: &'a str) -> Self {
        let mut judgement = Judgement::new(completion, Mark::Incorrect, None);
        judgement.explanation = Some(Cow::Owned(format!("no answer found in the output: {completion}")));
        judgement.reason.get_or_insert(INVALID_RESPONSE_FORMAT);
        judgement
    }
}

impl From<Judgement<'_>> for Score {
    fn from(judgement: Judgement<'_>) -> Self {
        let mut score = Score::new(judgement.mark);
        score.answer = judgement.answer.map(Cow::into_owned);
        score.explanation = judgement.explanation.map(Cow::into_owned);
        score.reason = judgement.reason.map(str::to_owned);
        score
    }
}

/// Why a pattern, a search or a target is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TextError(String);
