//! `generate`: calls the model.

use errorbar_core::Result;
use errorbar_macros::solver;

use crate::{Generate, SolverEffects, TaskState};

/// Calls the model for the next message of the conversation.
#[solver(crate = crate::facade, built_in, type = GenerateSolver, known = effects)]
pub async fn generate(state: &mut TaskState, generate: &Generate) -> Result<()> {
    generate.run(state).await
}

fn effects(_: &GenerateSolver) -> SolverEffects {
    SolverEffects::messages().generates()
}
