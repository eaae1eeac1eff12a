//! What a solver is: a step from a question to an answer.

use std::fmt;
use std::sync::Arc;

use errorbar_core::chat::SpanKind;
use errorbar_core::registry::Entry;
use errorbar_core::{ArgType, Result, Spec, ToSpec};

use crate::shared_object::shared_object;
use crate::{BoxFuture, Generate, GenerateConfig, SolverEffects, TaskState};

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
                let span = generate.begin_span(SpanKind::Solver, name);
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
        effects.fold(SolverEffects::messages(), SolverEffects::then)
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
