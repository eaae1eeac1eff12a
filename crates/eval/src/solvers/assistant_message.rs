//! `assistant_message`: adds an answer that the model did not give.

use super::message_template::message_solver;
use crate::{Message, TaskState};

message_solver! {
    /// Adds an assistant message at the end of the conversation: a few-shot answer, or the beginning of one.
    ///
    /// The model has not given it, so it is no output: scorers do not judge it.
    ///
    /// # When
    /// An answer put into the model's mouth, to continue from.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
    /// $ printf '%s\n' 'dataset = "sums.csv"' 'solver = ["assistant_message(\"Let me count.\")", "generate"]' 'scorer = "includes"' > sums.toml
    /// $ errorbar eval sums.toml --model 'mock/4' --limit 1 --show --quiet
    /// ── 1 · 3 messages ──────────────────────────────────────────────────────────────────────────────────
    /// user          2 + 2?
    /// assistant     Let me count.
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
    /// `user_message`, `generate`
    ///
    /// # Source
    /// As inspect_ai defines it.
    "assistant_message", AssistantMessage, |state: &mut TaskState, text: String| {
        let model = state.model.split_once('/').map_or(state.model.as_str(), |(_, name)| name);
        let mut message = Message::assistant(text);
        message.model = Some(model.to_owned());
        state.messages.push(message);
    }
}
