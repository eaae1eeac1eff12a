//! The names of the steps of a task, as events have them: the same for every sample.

use std::sync::Arc;

use errorbar_core::chat::{EventKind, ScoreEvent, SpanKind, SpanNumber};
use errorbar_core::{Metadata, Score};

use super::prepare::PreparedTask;
use crate::Generate;
use crate::model::SampleUsage;

/// The names of the steps of a task.
#[derive(Debug)]
pub(super) struct StepNames {
    pub(super) init: Arc<str>,
    pub(super) solvers: Arc<str>,
    pub(super) scorers: Arc<str>,
    /// The solver, unless it is a chain, which names its own.
    solver: Option<Arc<str>>,
    each_scorer: Vec<ScorerStep>,
}

/// A scorer, as events have it.
#[derive(Debug)]
pub(super) struct ScorerStep {
    pub(super) name: Arc<str>,
    args: Arc<Metadata>,
}

impl StepNames {
    pub(super) fn of(prepared: &PreparedTask) -> Self {
        let solver = prepared.solver.spec().name;
        let each_scorer = prepared.scorers.iter().zip(&prepared.plan.scorers).map(|((name, _), plan)| {
            ScorerStep { name: Arc::from(name.as_str()), args: Arc::new(plan.params.clone()) }
        });
        StepNames {
            init: Arc::from(SpanKind::Init.name()),
            solvers: Arc::from(SpanKind::Solvers.name()),
            scorers: Arc::from(SpanKind::Scorers.name()),
            solver: (solver != "chain").then(|| Arc::from(solver)),
            each_scorer: each_scorer.collect(),
        }
    }

    /// Begins the span of all solvers; ending it ends that of the solver.
    pub(super) fn begin_solving(&self, generate: &Generate) -> Option<SpanNumber> {
        let span = generate.begin_span(SpanKind::Solvers, &self.solvers);
        if let Some(solver) = &self.solver {
            generate.begin_span(SpanKind::Solver, solver);
        }
        span
    }

    pub(super) fn scorer(&self, number: usize) -> Option<&ScorerStep> {
        self.each_scorer.get(number)
    }
}

impl ScorerStep {
    pub(super) fn score_event(&self, scorer: &str, score: &Score, used: SampleUsage) -> EventKind {
        EventKind::Score(Box::new(ScoreEvent {
            scorer: scorer.to_owned(),
            args: Arc::clone(&self.args),
            score: score.clone(),
            model_usage: used.by_model,
            role_usage: used.by_role,
        }))
    }
}
