//! `generate`: calls the model.

use errorbar_core::Result;
use errorbar_macros::solver;

use crate::{Generate, TaskState};

/// Calls the model for the next message of the conversation.
#[solver(crate = crate::facade, built_in, type = GenerateSolver)]
pub async fn generate(state: &mut TaskState, generate: &Generate) -> Result<()> {
    generate.run(state).await
}
