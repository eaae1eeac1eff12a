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
    /// ── 1 · 3 messages ──────────────────────────────────────────────────────────────────────────────────
    /// system        Be brief.
    /// user          2 + 2?
    /// assistant     4
    /// target        4
    /// includes      C (correct)
    ///
    /// logs/….eval · sums · mock/4 · 1 sample
    ///
    /// includes · 1 scored
    ///                                0                                       1
    ///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
    ///
    /// [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `user_message`, `prompt_template`, `generate`
    ///
    /// # Source
    /// As inspect_ai defines it.
    "system_message", SystemMessage, |state: &mut TaskState, text: String| {
        let behind = state.messages.iter().rposition(|message| message.role == MessageRole::System);
        state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
    }
}
