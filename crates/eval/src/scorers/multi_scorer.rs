//! `multi_scorer`: several scorers, made one by a reducer.

use std::sync::Arc;

use errorbar_core::registry::Param;
use errorbar_core::spec::Arg;
use errorbar_core::{ArgType, Error, Metrics, Reducer, ReducerChoice, Result, Score, Spec};

use super::of_grades;
use crate::{AnyScorer, BoxFuture, Sample, Scorer, ScorerEntry, Target, TaskState, collected_registry};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "multi_scorer",
    doc: "Several scorers, their scores made one by a reducer: multi_scorer([includes(), match()], \"mode\").",
    params: &[Param::required("scorers"), Param::required("reducer")],
    build: |args| {
        let scorers: Vec<AnyScorer> = args.required("scorers")?;
        Ok(MultiScorer { scorers, reducer: Ok(args.required("reducer")?) }.into())
    },
    replaces: false,
};

/// Several scorers made one; made by [`multi_scorer()`].
#[derive(Clone, Debug)]
pub struct MultiScorer {
    scorers: Vec<AnyScorer>,
    /// Or why there is none, which is told when the task is checked.
    reducer: Result<Arc<dyn Reducer>>,
}

/// Several scorers, their scores made one by a reducer, as epochs are.
///
/// ```
/// use errorbar_core::reducers;
/// use errorbar_eval::{AnyScorer, scorers::{includes, matches, multi_scorer}};
/// multi_scorer([AnyScorer::from(includes()), matches().into()], "at_least_1");
/// multi_scorer([includes()], reducers::mode());
/// ```
pub fn multi_scorer(
    scorers: impl IntoIterator<Item = impl Into<AnyScorer>>,
    reducer: impl Into<ReducerChoice>,
) -> MultiScorer {
    let reducer = collected_registry().and_then(|registry| reducer.into().build(&registry));
    MultiScorer { scorers: scorers.into_iter().map(Into::into).collect(), reducer }
}

impl Scorer for MultiScorer {
    fn spec(&self) -> Spec {
        let scorers: Vec<Arg> = self.scorers.iter().map(ArgType::to_arg).collect();
        let reducer = self.reducer.as_ref().map_or_else(|_| String::new(), |reducer| reducer.log_name());
        Spec::new("multi_scorer").kwarg("scorers", scorers).kwarg("reducer", reducer)
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        Box::pin(async move {
            let mut scores = Vec::with_capacity(self.scorers.len());
            for scorer in &self.scorers {
                scores.extend(scorer.score(state, target).await?);
            }
            if scores.is_empty() {
                return Ok(Some(Score::unscored("scoring_failed")));
            }
            self.reducer.as_ref().map_err(Clone::clone)?.reduce(&scores).map(Some)
        })
    }

    fn models(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|scorer| scorer.models()).collect()
    }

    fn roles(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|scorer| scorer.roles()).collect()
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        if self.scorers.is_empty() {
            return Err(Error::custom("multi_scorer has no scorers"));
        }
        self.reducer.as_ref().map_err(Clone::clone)?.check()?;
        self.scorers.iter().try_for_each(|scorer| scorer.check(sample))
    }
}
