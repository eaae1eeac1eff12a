//! `system_message`: instructs the model how to behave.

use super::message_template::message_solver;
use crate::{Message, MessageRole, TaskState};

message_solver! {
    /// Adds a system message, after any that the conversation has.
    "system_message", SystemMessage, |state: &mut TaskState, text: String| {
        let behind = state.messages.iter().rposition(|message| message.role == MessageRole::System);
        state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
    }
}
