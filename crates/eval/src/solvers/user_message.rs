//! `user_message`: adds a message to the conversation.

use super::message_template::message_solver;
use crate::{Message, TaskState};

message_solver! {
    /// Adds a user message at the end of the conversation.
    "user_message", UserMessage, |state: &mut TaskState, text: String| {
        state.messages.push(Message::user(text));
    }
}
