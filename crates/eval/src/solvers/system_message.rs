//! `system_message`: instructs the model how to behave.

use super::message_template::message_solver;
use crate::{Message, MessageRole, TaskState};

message_solver! {
    /// Adds a system message, after any that the conversation has.
    ///
    /// # When
    /// Instructions that hold for the whole conversation.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
    /// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["system_message(\"Be brief.\")", "generate"]' 'scorer = "includes"' > sums.toml
    /// $ errorbar eval sums.toml --model 'mock/4' --limit 1 --show --quiet
    /// ```
    ///
    /// # See also
    /// `user_message`, `prompt_template`, `generate`
    "system_message", SystemMessage, |state: &mut TaskState, text: String| {
        let behind = state.messages.iter().rposition(|message| message.role == MessageRole::System);
        state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
    }
}
