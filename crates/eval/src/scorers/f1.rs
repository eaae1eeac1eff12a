//! `f1`: how many words answer and target share.

use std::sync::OnceLock;

use errorbar_core::metrics::{mean, stderr};
use errorbar_core::{Metrics, Params, Result, Score, metrics};

use super::ready;
use crate::text::F1;
use crate::{BoxFuture, Scorer, ScorerNeeds, Target, TaskState};

/// The harmonic mean of precision and recall over the words of answer and target; the best of several targets.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "f1")]
pub struct F1Scorer {
    /// Words that do not count.
    stop_words: Option<Vec<String>>,
    #[param(skip)]
    judge: OnceLock<F1>,
}

impl Scorer for F1Scorer {
    fn metrics(&self) -> Metrics {
        metrics![mean(), stderr()]
    }

    fn range(&self) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let judge = self.judge.get_or_init(|| F1::new(self.stop_words.as_deref().unwrap_or_default()));
        ready(Ok(judge.judge(&state.output.completion, target)))
    }

    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds::output()
    }
}
