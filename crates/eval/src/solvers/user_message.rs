//! `user_message`: adds a message to the conversation.

use super::message_template::message_solver;
use crate::{Message, TaskState};

message_solver! {
    /// Adds a user message at the end of the conversation.
    ///
    /// # When
    /// A second question after the first answer.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
    /// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["generate", "user_message(\"Sure?\")", "generate"]' 'scorer = "includes"' > sums.toml
    /// $ errorbar eval sums.toml --model 'mock/["3", "4"]' --limit 1 --show --quiet
    /// ```
    ///
    /// # See also
    /// `assistant_message`, `system_message`, `self_critique`
    "user_message", UserMessage, |state: &mut TaskState, text: String| {
        state.messages.push(Message::user(text));
    }
}
