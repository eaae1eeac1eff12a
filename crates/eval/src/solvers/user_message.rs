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
    /// ── 1 · 4 messages ──────────────────────────────────────────────────────────────────────────────────
    /// user          2 + 2?
    /// assistant     3
    /// user          Sure?
    /// assistant     4
    /// target        4
    /// includes      C (correct)
    ///
    /// logs/….eval
    ///       sums · mock/["3", "4"] · 1 sample
    ///
    /// includes · 1 scored
    ///                                0                                       1
    ///   accuracy  1.00 [0.21, 1.00]          ├───────────────────────────────●  only 1 score
    ///
    /// [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `assistant_message`, `system_message`, `self_critique`
    ///
    /// # Source
    /// As inspect_ai defines it.
    "user_message", UserMessage, |state: &mut TaskState, text: String| {
        state.messages.push(Message::user(text));
    }
}
