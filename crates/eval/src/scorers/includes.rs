//! `includes`: the target occurs in the answer.

use errorbar_core::registry::Param;
use errorbar_core::{Metrics, Result, Score, Spec};

use super::{of_grades, ready};
use crate::text::Includes;
use crate::{BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "includes",
    doc: "Whether the target occurs anywhere in the answer.",
    params: &[Param::optional("ignore_case", "true")],
    build: |args| Ok(IncludesScorer { ignore_case: args.get("ignore_case")? }.into()),
    replaces: false,
};

/// Whether the target occurs in the answer; made by [`includes()`].
#[derive(Clone, Debug)]
pub struct IncludesScorer {
    ignore_case: Option<bool>,
}

/// Whether the target occurs anywhere in the answer.
pub fn includes() -> IncludesScorer {
    IncludesScorer { ignore_case: None }
}

impl IncludesScorer {
    /// Whether capital and small letters are the same; they are, if nothing is said.
    #[must_use]
    pub fn ignore_case(mut self, ignore: bool) -> Self {
        self.ignore_case = Some(ignore);
        self
    }
}

impl Scorer for IncludesScorer {
    fn spec(&self) -> Spec {
        Spec::new("includes").kwarg_some("ignore_case", self.ignore_case)
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let includes = Includes { ignore_case: self.ignore_case.unwrap_or(true) };
        ready(Ok(includes.judge(&state.output.completion, target)))
    }
}
