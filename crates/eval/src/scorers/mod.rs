//! The scorers that errorbar brings, one a file, and their list.
//!
//! What they make of a text is in [`text`](crate::text), without async and state; here they get their names, their
//! arguments and their metrics.

mod answer;
mod background;
mod choice;
mod exact;
mod f1;
mod includes;
mod matches;
mod model_graded;
mod multi_scorer;
mod pattern;
mod precomputed;

pub use answer::{AnswerScorer, answer};
pub use choice::{ChoiceScorer, choice};
pub use exact::{ExactScorer, exact};
pub use f1::{F1Scorer, f1};
pub use includes::{IncludesScorer, includes};
pub use matches::{MatchScorer, matches};
pub use model_graded::{ModelGraded, model_graded_fact, model_graded_qa, self_graded};
pub use multi_scorer::{MultiScorer, multi_scorer};
pub use pattern::{PatternScorer, pattern};
pub use precomputed::{Precomputed, precomputed};

use errorbar_core::metrics::{accuracy, mean, stderr};
use errorbar_core::{Metrics, Result, Score, metrics};

use crate::{BoxFuture, ScorerEntry};

/// Every built-in scorer, in the order in which lists show them.
pub(crate) const ENTRIES: &[ScorerEntry] = &[
    matches::ENTRY,
    includes::ENTRY,
    pattern::ENTRY,
    answer::ENTRY,
    choice::ENTRY,
    exact::ENTRY,
    f1::ENTRY,
    model_graded::QA,
    model_graded::FACT,
    multi_scorer::ENTRY,
    precomputed::ENTRY,
];

/// The metrics of scorers that grade.
fn of_grades() -> Metrics {
    metrics![accuracy(), stderr()]
}

/// The metrics of scorers that measure.
fn of_measures() -> Metrics {
    metrics![mean(), stderr()]
}

/// A score that needs no waiting.
fn ready<'a>(score: Result<impl Into<Score>>) -> BoxFuture<'a, Result<Option<Score>>> {
    Box::pin(std::future::ready(score.map(|score| Some(score.into()))))
}
