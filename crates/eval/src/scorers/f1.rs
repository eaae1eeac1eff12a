//! `f1`: how many words answer and target share.

use errorbar_core::registry::Param;
use errorbar_core::{Metrics, Result, Score, Spec};

use super::{of_measures, ready};
use crate::text::F1;
use crate::{BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "f1",
    doc: "The harmonic mean of precision and recall over the words of answer and target; the best of several targets.",
    params: &[Param::optional("stop_words", "None")],
    build: |args| {
        let scorer = f1();
        Ok(match args.get::<Vec<String>>("stop_words")? {
            Some(words) => scorer.stop_words(words),
            None => scorer,
        }
        .into())
    },
    replaces: false,
};

/// How many words answer and target share; made by [`f1()`].
#[derive(Clone, Debug)]
pub struct F1Scorer {
    stop_words: Option<Vec<String>>,
    judge: F1,
}

/// The harmonic mean of precision and recall over the words of answer and target.
pub fn f1() -> F1Scorer {
    F1Scorer { stop_words: None, judge: F1::new(&[] as &[&str]) }
}

impl F1Scorer {
    /// Words that do not count.
    #[must_use]
    pub fn stop_words(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let words: Vec<String> = words.into_iter().map(Into::into).collect();
        self.judge = F1::new(&words);
        self.stop_words = Some(words);
        self
    }
}

impl Scorer for F1Scorer {
    fn spec(&self) -> Spec {
        Spec::new("f1").kwarg_some("stop_words", self.stop_words.clone())
    }

    fn metrics(&self) -> Metrics {
        of_measures()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        ready(Ok(self.judge.judge(&state.output.completion, target)))
    }
}
