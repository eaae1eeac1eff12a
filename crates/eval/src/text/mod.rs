//! What the text scorers compute: pure functions from a completion and its targets to a
//! [`Score`]. No state, no async, no clock, so every rule is checked against the reference's answers
//! under `conformance/cases/text` by calling it.
//!
//! What depends on arguments only is prepared once (a [`Pattern`] compiles its regular expression, an [`F1`]
//! normalises its stop words); what is judged per sample borrows from the completion where it can.

mod choice;
mod matches;
mod number;
mod python_regex;
mod words;

use errorbar_core::{Score, Value};

pub use choice::{Answer, choice_label, choice_places, judge_choices, marked_choices};
pub(crate) use choice::{Marker, markers};
pub(crate) use matches::groups;
pub use matches::{Location, Match, Pattern, judge_includes};
pub(crate) use number::parse_decimal;
pub(crate) use python_regex::{PythonRegex, SearchBudget};
pub use words::{F1, is_blank, judge_exact};
pub(crate) use words::{is_space, is_word, trim};

/// The answer is empty or blank.
pub const NO_RESPONSE: &str = "no_response";
/// The completion has no answer in the expected format.
pub const INVALID_RESPONSE_FORMAT: &str = "invalid_response_format";

/// Right or wrong, as scores have it.
fn grade(is_right: bool) -> &'static str {
    if is_right { "C" } else { "I" }
}

/// The score of a completion, explained by the completion itself.
fn scored(completion: &str, value: impl Into<Value>, answer: Option<String>) -> Score {
    let mut score = Score::new(value).explanation(completion);
    score.answer = answer;
    score.reason = is_blank(completion).then(|| NO_RESPONSE.to_owned());
    score
}

/// The score of a completion in which no answer was found.
fn not_found(completion: &str) -> Score {
    let explanation = format!("no answer found in the output: {completion}");
    let mut score = scored(completion, grade(false), None).explanation(explanation);
    score.reason.get_or_insert_with(|| INVALID_RESPONSE_FORMAT.to_owned());
    score
}
