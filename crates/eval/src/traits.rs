//! What a solver is: a step from a question to an answer.

use std::fmt;
use std::sync::Arc;

use errorbar_core::chat::SpanKind;
use errorbar_core::registry::Entry;
use errorbar_core::{ArgType, Metrics, Result, Score, Spec, ToSpec};

use crate::macros::shared_object;
use crate::{BoxFuture, Generate, GenerateConfig, NamedSample, Target, TaskState};

/// A step from a question to an answer: rewords the prompt, calls the model, or both.
///
/// Write one with `#[solver]`, or implement this.
pub trait Solver: ToSpec + fmt::Debug + Send + Sync {
    /// Takes the step. `generate` calls the model.
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>>;

    /// The steps that it is made of, for the record: itself, unless it is a chain.
    fn steps(&self) -> Vec<Spec> {
        vec![self.spec()]
    }

    /// What it is known to do, so that a task whose parts do not fit together is refused before anything runs.
    fn effects(&self) -> SolverEffects {
        SolverEffects::unknown()
    }

    /// The models that it calls by name, to be opened before anything runs.
    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    /// How it lets the evaluated model generate where that differs from the run, to be checked before anything runs.
    fn configs(&self) -> Vec<GenerateConfig> {
        Vec::new()
    }

    /// Refuses a sample that it could not solve, before anything runs.
    fn check(&self, _sample: &crate::Sample) -> Result<()> {
        Ok(())
    }
}

/// Any solver, shared.
#[derive(Clone)]
pub struct AnySolver(Arc<dyn Solver>);

/// An entry that builds a solver.
pub type SolverEntry = Entry<AnySolver>;

shared_object!(AnySolver, Solver, "solver", "a solver such as generate()");

/// Solvers one after the other; made by [`chain!`](crate::chain).
#[derive(Clone, Debug)]
pub struct Chain {
    solvers: Vec<AnySolver>,
    /// Their names, for the record.
    names: Vec<Arc<str>>,
}

impl Chain {
    /// These solvers, in this order.
    pub fn new(solvers: impl IntoIterator<Item = impl Into<AnySolver>>) -> Self {
        let solvers: Vec<AnySolver> = solvers.into_iter().map(Into::into).collect();
        let names = solvers.iter().map(|solver| Arc::from(solver.spec().name)).collect();
        Chain { solvers, names }
    }
}

impl ToSpec for Chain {
    fn spec(&self) -> Spec {
        Spec::new("chain").arg(self.solvers.to_arg())
    }
}

impl Solver for Chain {
    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for (solver, name) in self.solvers.iter().zip(&self.names) {
                if state.completed {
                    break;
                }
                let span = generate.begin_span(SpanKind::Solver, Arc::clone(name));
                let solved = solver.solve(state, generate).await;
                generate.end_span(span);
                solved?;
            }
            Ok(())
        })
    }

    fn steps(&self) -> Vec<Spec> {
        self.solvers.iter().flat_map(|solver| solver.steps()).collect()
    }

    fn effects(&self) -> SolverEffects {
        let effects = self.solvers.iter().map(|solver| solver.effects());
        effects.fold(SolverEffects::default(), SolverEffects::then)
    }

    fn models(&self) -> Vec<String> {
        self.solvers.iter().flat_map(|solver| solver.models()).collect()
    }

    fn configs(&self) -> Vec<GenerateConfig> {
        self.solvers.iter().flat_map(|solver| solver.configs()).collect()
    }

    fn check(&self, sample: &crate::Sample) -> Result<()> {
        self.solvers.iter().try_for_each(|solver| solver.check(sample))
    }
}

/// Solvers one after the other: `chain![system_message("Be brief."), generate()]`.
#[macro_export]
macro_rules! chain {
    ($($solver:expr),* $(,)?) => {
        $crate::Chain::new([$($crate::AnySolver::from($solver)),*])
    };
}

// What a scorer is: it judges the answer to one sample.

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
        ScorerNeeds::default()
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

/// What a solver is known to do before it runs, so that parts that do not fit together are found then. Of a custom solver
/// nothing is known, unless it says so; the default is to change messages, and nothing else.
///
/// ```
/// use errorbar_eval::{Solver, SolverEffects, chain, solvers::{chain_of_thought, generate}};
/// assert!(!chain_of_thought().effects().generates);
/// assert!(chain![chain_of_thought(), generate()].effects().generates);
/// assert!(SolverEffects::unknown().unknown);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SolverEffects {
    /// It may do anything: call the model, mark choices, add metadata.
    pub unknown: bool,
    /// It calls the model, whose answer becomes the output.
    pub generates: bool,
    /// It marks the choices that the model has named.
    pub marks_choices: bool,
    /// The templates that it fills in.
    pub templates: Vec<Template>,
}

impl SolverEffects {
    /// It may do anything.
    pub fn unknown() -> Self {
        SolverEffects { unknown: true, ..SolverEffects::default() }
    }

    /// What this solver and then another one do. What an unknown one has added may be in the templates behind it.
    #[must_use]
    pub(crate) fn then(mut self, mut next: SolverEffects) -> Self {
        next.templates.iter_mut().for_each(|template| template.is_open |= self.unknown);
        self.templates.append(&mut next.templates);
        self.unknown |= next.unknown;
        self.generates |= next.generates;
        self.marks_choices |= next.marks_choices;
        self
    }
}

/// A template of a solver: a text with `{names}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// The solver.
    pub solver: &'static str,
    /// The text.
    pub text: String,
    /// The names that the solver itself fills in, beside those of metadata.
    pub names: &'static [&'static str],
    /// The names that its arguments fill in.
    pub params: Vec<String>,
    /// Whether the reference fails for an unknown name; otherwise it leaves it as it is.
    pub is_strict: bool,
    /// Whether a solver before it may have added names.
    pub is_open: bool,
}

/// What a scorer needs of the solver and the samples. Of a custom scorer nothing is known, unless it says so.
///
/// ```
/// use errorbar_eval::{Scorer, ScorerNeeds, scorers::includes};
/// assert_eq!(includes().needs(), ScorerNeeds { output: true, target: true, marked_choices: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScorerNeeds {
    /// The answer of the model.
    pub output: bool,
    /// Choices that the solver has marked.
    pub marked_choices: bool,
    /// Targets of samples: without any, every answer would be right, or none.
    pub target: bool,
}

/// The needs of scorers that compare the answer with the target, whatever their arguments.
pub(crate) fn of_comparison<S>(_: &S) -> ScorerNeeds {
    ScorerNeeds { output: true, target: true, ..ScorerNeeds::default() }
}
