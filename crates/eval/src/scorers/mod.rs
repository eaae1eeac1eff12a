//! The scorers that errorbar brings, one a file, and their list.
//!
//! What they make of a text is in [`text`](crate::text), without async and state; here they get their names, their
//! arguments and their metrics.

mod background;
mod external;
mod panel_reducer;

errorbar_core::registry::entry_modules! {
    /// Every built-in scorer, in the order in which lists show them.
    [crate::ScorerEntry]
    matches::MatchScorer,
    includes::IncludesScorer,
    pattern::PatternScorer,
    answer::AnswerScorer,
    choice::ChoiceScorer,
    exact::ExactScorer,
    f1::F1Scorer,
    model_graded_qa::ModelGradedQa,
    model_graded_fact::ModelGradedFact,
    model_graded_score::ModelGradedScore,
    command::CommandScorer,
    multi_scorer::MultiScorer,
    precomputed::Precomputed,
}

mod model_graded;
pub(crate) use external::end_all;
pub use model_graded::ModelGraded;

use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::{Metrics, Result, Score, metrics};

use crate::BoxFuture;

/// The metrics of scorers that grade.
fn of_grades() -> Metrics {
    metrics![accuracy(), stderr()]
}

/// A score that needs no waiting.
fn ready<'a>(score: Result<impl Into<Score>>) -> BoxFuture<'a, Result<Option<Score>>> {
    Box::pin(std::future::ready(score.map(|score| Some(score.into()))))
}
