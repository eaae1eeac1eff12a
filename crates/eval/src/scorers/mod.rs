//! The scorers that errorbar brings, and their list.
//!
//! What they make of a text is in [`text`](crate::text), without async and state; here they get their names, their
//! arguments and their metrics.

mod command;
mod comparisons;
mod external;
mod model_graded;
mod multi_scorer;
mod precomputed;

use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::registry::Entry;
use errorbar_core::{Metrics, Result, Score, metrics};
use serde_json::Value as Json;

use crate::{BoxFuture, ScorerEntry};

pub use command::*;
pub use comparisons::*;
pub(crate) use external::end_all;
pub use model_graded::*;
pub use multi_scorer::*;
pub use precomputed::*;

/// Every built-in scorer, in the order in which lists show them.
pub(crate) const ENTRIES: &[ScorerEntry] = &[
    Entry::of::<MatchScorer>(),
    Entry::of::<IncludesScorer>(),
    Entry::of::<PatternScorer>(),
    Entry::of::<AnswerScorer>(),
    Entry::of::<ChoiceScorer>(),
    Entry::of::<ExactScorer>(),
    Entry::of::<F1Scorer>(),
    Entry::of::<ModelGradedQa>(),
    Entry::of::<ModelGradedFact>(),
    Entry::of::<ModelGradedScore>(),
    Entry::of::<CommandScorer>(),
    Entry::of::<MultiScorer>(),
    Entry::of::<Precomputed>(),
];

/// The metrics of scorers that grade.
fn of_grades() -> Metrics {
    metrics![accuracy(), stderr()]
}

/// What is written beside a score, as text: nothing for null.
fn detail(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A score that needs no waiting.
fn ready<'a>(score: Result<impl Into<Score>>) -> BoxFuture<'a, Result<Option<Score>>> {
    Box::pin(std::future::ready(score.map(|score| Some(score.into()))))
}
