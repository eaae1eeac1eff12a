//! `multi_scorer`: several scorers, made one by a reducer.

use std::sync::Arc;

use errorbar_core::spec::Arg;
use errorbar_core::{
    ArgProblem, ArgType, Error, Metrics, Params, Reducer, ReducerChoice, Registry, Result, Score,
};

use super::of_grades;
use crate::{
    AnyScorer, BoxFuture, NamedSample, Sample, Scorer, ScorerNeeds, SolverEffects, Target, TaskState,
};

/// Several scorers, their scores made one by a reducer: multi_scorer([includes(), match()], "mode").
///
/// ```
/// use errorbar_core::reducers;
/// use errorbar_eval::{AnyScorer, scorers::{includes, matches, multi_scorer}};
/// let _ = multi_scorer([AnyScorer::from(includes()), matches().into()], "at_least_1");
/// let _ = multi_scorer([includes()], reducers::mode());
/// ```
///
/// # When
/// Several ways to be right: one of them, or most of them, suffices.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "multi_scorer([exact(), includes()], \"max\")"' > sums.toml
/// $ errorbar eval sums.toml --model 'mock/It is 4.' --quiet
/// logs/….eval
///       sums · mock/It is 4. · 2 samples
///
/// multi_scorer · 2 scored
///                                       0                                       1
///   accuracy  0.50 ± 0.50 [0.09, 0.91]      ├───────────────●───────────────┤      only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `mode`, `at_least`, `model_graded_qa`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "multi_scorer")]
pub struct MultiScorer {
    /// The scorers.
    scorers: Vec<AnyScorer>,
    /// The reducer of their scores, as for epochs.
    #[param(from = ReducerChoice, map = PanelReducer::choose)]
    reducer: PanelReducer,
}

impl Scorer for MultiScorer {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    /// That of all its scorers; a reducer such as `at_least` gives 0 or 1.
    fn range(&self) -> Option<(f64, f64)> {
        let mut ranges = self.scorers.iter().map(|scorer| scorer.range());
        ranges.try_fold((0.0_f64, 1.0_f64), |(low, high), range| {
            let (least, greatest) = range?;
            Some((low.min(least), high.max(greatest)))
        })
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
            self.reducer.get()?.reduce(&scores).map(Some)
        })
    }

    fn models(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|scorer| scorer.models()).collect()
    }

    fn roles(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|scorer| scorer.roles()).collect()
    }

    fn needs(&self) -> ScorerNeeds {
        let needs: Vec<ScorerNeeds> = self.scorers.iter().map(|scorer| scorer.needs()).collect();
        ScorerNeeds {
            output: needs.iter().any(|needs| needs.output),
            marked_choices: needs.iter().any(|needs| needs.marked_choices),
            target: needs.iter().any(|needs| needs.target),
        }
    }

    fn digest(&self) -> Option<String> {
        let digests: Vec<String> = self.scorers.iter().filter_map(|scorer| scorer.digest()).collect();
        (!digests.is_empty()).then(|| digests.join(" "))
    }

    fn programs(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|scorer| scorer.programs()).collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.scorers.iter().flat_map(|scorer| scorer.warnings()).collect()
    }

    fn check_dataset(&self, samples: &[NamedSample]) -> Result<()> {
        self.scorers.iter().try_for_each(|scorer| scorer.check_dataset(samples))
    }

    fn check(&self, sample: &Sample) -> Result<()> {
        if self.scorers.is_empty() {
            return Err(Error::custom("multi_scorer has no scorers"));
        }
        self.reducer.get()?.check()?;
        self.scorers.iter().try_for_each(|scorer| scorer.check(sample))
    }

    fn check_answer(&self, state: &TaskState) -> Result<()> {
        self.scorers.iter().try_for_each(|scorer| scorer.check_answer(state))
    }

    fn check_behind(&self, sample: &Sample, solver: &SolverEffects) -> Result<()> {
        match solver.unknown {
            true => self.scorers.iter().try_for_each(|scorer| scorer.check_behind(sample, solver)),
            false => Scorer::check(self, sample),
        }
    }
}

// The reducer that makes one score of those of several scorers or graders.

/// A reducer, or why there is none, which is reported when the task is checked.
#[derive(Clone, Debug)]
pub(super) struct PanelReducer(Result<Arc<dyn Reducer>>);

impl PanelReducer {
    pub(super) fn choose(choice: ReducerChoice) -> Self {
        PanelReducer(Registry::collected().and_then(|registry| choice.build(&registry)))
    }

    pub(super) fn get(&self) -> Result<&dyn Reducer> {
        self.0.as_deref().map_err(Clone::clone)
    }
}

impl<R: Reducer + 'static> From<R> for PanelReducer {
    fn from(reducer: R) -> Self {
        PanelReducer(Ok(Arc::new(reducer)))
    }
}

impl ArgType for PanelReducer {
    const EXPECTED: &'static str = <Arc<dyn Reducer>>::EXPECTED;

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        ArgType::from_arg(arg, registry).map(|reducer| PanelReducer(Ok(reducer)))
    }

    fn to_arg(&self) -> Arg {
        self.0.as_ref().map_or(Arg::Null, ArgType::to_arg)
    }
}
