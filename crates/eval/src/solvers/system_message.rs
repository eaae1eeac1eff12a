//! `system_message`: instructs the model how to behave.

use errorbar_core::Result;
use errorbar_macros::solver;

use crate::template::{fill, lookup};
use crate::{Generate, Message, MessageRole, TaskState};

/// Adds a system message, after any that the conversation has.
#[solver(crate = crate::facade, built_in)]
pub fn system_message(
    state: &mut TaskState,
    _: &Generate,
    /// The message; `{name}` in it is filled in from the sample's metadata or the store.
    template: String,
) -> Result<()> {
    let text = fill(&template, |name| lookup(name, [&state.store, &state.metadata]))?;
    let behind = state.messages.iter().rposition(|message| message.role == MessageRole::System);
    state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
    Ok(())
}
