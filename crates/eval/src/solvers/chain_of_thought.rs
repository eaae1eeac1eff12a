//! `chain_of_thought`: requests the reasoning before the answer.

use errorbar_core::Result;
use errorbar_macros::solver;

use super::prompt_template::reword;
use crate::{Generate, TaskState};

const TEMPLATE: &str = "{prompt}

Work this out one step at a time and write the steps down before you commit to a result. The very last line of your \
reply must have the form \"ANSWER: $ANSWER\", without the quotes, where $ANSWER is your result and nothing else.";

/// Prompts for the reasoning first and the answer in a last line `ANSWER: …`; {prompt} in a custom template stands for the question.
#[solver(crate = crate::facade, built_in)]
pub fn chain_of_thought(
    state: &mut TaskState,
    _: &Generate,
    /// The template of the prompt; `{prompt}` stands for the question.
    template: Option<String>,
) -> Result<()> {
    reword("chain_of_thought", template.as_deref().unwrap_or(TEMPLATE), state)
}
