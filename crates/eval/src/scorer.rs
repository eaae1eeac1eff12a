//! What a scorer is: it judges the answer to one sample.

use std::fmt;
use std::sync::Arc;

use errorbar_core::registry::Entry;
use errorbar_core::{Metrics, Result, Score, ToSpec};

use crate::shared_object::shared_object;
use crate::{BoxFuture, NamedSample, ScorerNeeds, SolverEffects, Target, TaskState};

/// Judges the answer to one sample.
///
/// Write one with `#[scorer(metrics = […])]`, or implement this.
pub trait Scorer: ToSpec + fmt::Debug + Send + Sync {
    /// The metrics that are computed over its scores, unless the task has its own.
    fn metrics(&self) -> Metrics;

    /// Judges an answer; nothing means that the sample has no score by this scorer.
    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>>;

    /// The lowest and the highest score that it can give, as numbers. Where they are known, a run can be stopped early by
    /// the mean of its scores.
    fn range(&self) -> Option<(f64, f64)> {
        None
    }

    /// Whether it compares the option that was picked among the choices of a sample with the right one: then guessing has
    /// a known score.
    fn picks_option(&self) -> bool {
        false
    }

    /// The models that it calls by name, to be opened before anything runs.
    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    /// The roles whose models it calls, if there are any.
    fn roles(&self) -> Vec<String> {
        Vec::new()
    }

    /// What it is known to need of the solver, so that a task without it is refused before anything runs.
    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds::unknown()
    }

    /// A digest of what decides its scores beside its arguments, such as the script that it runs: a log records it, and
    /// a run is not resumed with another.
    fn digest(&self) -> Option<String> {
        None
    }

    /// The programs that it runs, as commands: named before a run that a log describes is resumed.
    fn programs(&self) -> Vec<String> {
        Vec::new()
    }

    /// What may be a mistake in its arguments, to be reported before a run.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Refuses a dataset in which it could find no answer right, before anything runs.
    fn check_dataset(&self, _samples: &[NamedSample]) -> Result<()> {
        Ok(())
    }

    /// Refuses a sample that it could not judge, before anything runs.
    fn check(&self, _sample: &crate::Sample) -> Result<()> {
        Ok(())
    }

    /// Refuses a conversation that it could not judge, before anything is paid for: what a model is asked about it would
    /// not be all of it.
    fn check_answer(&self, _state: &TaskState) -> Result<()> {
        Ok(())
    }

    /// The same as [`check`](Scorer::check) behind a solver of which this is known: one of which nothing is may add what the sample lacks.
    fn check_behind(&self, sample: &crate::Sample, _solver: &SolverEffects) -> Result<()> {
        self.check(sample)
    }
}

/// Any scorer, shared.
#[derive(Clone)]
pub struct AnyScorer(Arc<dyn Scorer>);

/// An entry that builds a scorer.
pub type ScorerEntry = Entry<AnyScorer>;

shared_object!(AnyScorer, Scorer, "scorer", "a scorer such as includes()");

/// What a `#[scorer]` may return: a score, or perhaps one.
#[diagnostic::on_unimplemented(
    message = "a scorer cannot return `{Self}`",
    label = "no score",
    note = "a scorer returns `Score` or `Option<Score>`, as it is or in a `Result`"
)]
pub trait IntoScore {
    /// The score, if there is one.
    fn into_score(self) -> Option<Score>;
}

impl IntoScore for Score {
    fn into_score(self) -> Option<Score> {
        Some(self)
    }
}

impl IntoScore for Option<Score> {
    fn into_score(self) -> Option<Score> {
        self
    }
}
