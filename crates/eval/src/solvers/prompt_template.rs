//! `prompt_template`: rewords the question.

use std::borrow::Cow;

use errorbar_core::{Error, Result};
use errorbar_macros::solver;

use crate::template::{fill, lookup};
use crate::{Generate, TaskState};

/// Rewrites the user prompt: {prompt} in the template stands for it, other names for metadata or the store.
#[solver(crate = crate::facade, built_in)]
pub fn prompt_template(
    state: &mut TaskState,
    _: &Generate,
    /// The template of the new prompt.
    template: String,
) -> Result<()> {
    reword("prompt_template", &template, state)
}

/// Puts a template around the question.
pub(super) fn reword(solver: &str, template: &str, state: &mut TaskState) -> Result<()> {
    let Some(prompt) = state.user_prompt().map(|message| message.content.clone()) else {
        return Err(Error::custom(format!(
            "{solver}: the conversation has no message of the user to reword; begin it with one (user_message)"
        )));
    };
    let text = fill(template, |name| match name {
        "prompt" => Some(Cow::Borrowed(prompt.as_str())),
        other => lookup(other, [&state.store, &state.metadata]),
    })?;
    if let Some(message) = state.user_prompt() {
        message.content = text;
    }
    Ok(())
}
