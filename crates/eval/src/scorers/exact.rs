//! `exact`: the answer is a target, words compared.

use errorbar_core::{Metrics, Result, Score, Spec};

use super::{of_measures, ready};
use crate::text::judge_exact;
use crate::{BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "exact",
    doc: "1 if the answer is a target, case, punctuation and articles aside, else 0.",
    params: &[],
    build: |_| Ok(exact().into()),
    replaces: false,
};

/// Whether the answer is a target; made by [`exact()`].
#[derive(Clone, Debug)]
pub struct ExactScorer;

/// 1 if the answer is a target, case, punctuation and articles aside, else 0.
pub fn exact() -> ExactScorer {
    ExactScorer
}

impl Scorer for ExactScorer {
    fn spec(&self) -> Spec {
        Spec::new("exact")
    }

    fn metrics(&self) -> Metrics {
        of_measures()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        ready(Ok(judge_exact(&state.output.completion, target)))
    }
}
