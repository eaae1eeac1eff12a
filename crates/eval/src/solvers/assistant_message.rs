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
    /// ```
    ///
    /// # See also
    /// `user_message`, `generate`
    "assistant_message", AssistantMessage, |state: &mut TaskState, text: String| {
        let model = state.model.split_once('/').map_or(state.model.as_str(), |(_, name)| name);
        let mut message = Message::assistant(text);
        message.model = Some(model.to_owned());
        state.messages.push(message);
    }
}
