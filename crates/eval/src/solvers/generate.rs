//! `generate`: asks the model.

use errorbar_core::{Result, Spec};

use crate::{BoxFuture, Generate, Solver, SolverEntry, TaskState};

pub(super) const ENTRY: SolverEntry = SolverEntry {
    name: "generate",
    doc: "Asks the model for the next message of the conversation.",
    params: &[],
    build: |_| Ok(generate().into()),
    replaces: false,
};

/// Asks the model; made by [`generate()`].
#[derive(Clone, Debug)]
pub struct GenerateSolver;

/// Asks the model for the next message of the conversation.
pub fn generate() -> GenerateSolver {
    GenerateSolver
}

impl Solver for GenerateSolver {
    fn spec(&self) -> Spec {
        Spec::new("generate")
    }

    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(generate.run(state))
    }
}
