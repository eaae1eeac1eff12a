//! `user_message`: adds a message to the conversation.

use errorbar_core::Result;
use errorbar_macros::solver;

use crate::template::{fill, lookup};
use crate::{Generate, Message, TaskState};

/// Adds a user message at the end of the conversation.
#[solver(crate = crate::facade, built_in)]
pub fn user_message(
    state: &mut TaskState,
    _: &Generate,
    /// The message; `{name}` in it is filled in from the sample's metadata or the store.
    template: String,
) -> Result<()> {
    let text = fill(&template, |name| lookup(name, [&state.store, &state.metadata]))?;
    state.messages.push(Message::user(text));
    Ok(())
}
