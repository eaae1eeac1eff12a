//! `self_critique`: lets the model look at its answer again.

use std::borrow::Cow;

use errorbar_core::Result;
use errorbar_macros::solver;

use crate::template::{fill, lookup};
use crate::{Generate, Message, TaskState};

const CRITIQUE: &str =
    "Below are a question and an answer to it. Point out what is wrong, missing or unclear in the \
answer. If there is nothing to improve, say only: The answer stands.

[Question]
{question}

[Answer]
{completion}

[Your review]
";

const COMPLETION: &str =
    "Below are a question, the answer you gave, and a review of that answer. Where the review \
is right, answer again and better. Where nothing needs to change, repeat your answer word for word.

[Question]
{question}

[Your answer]
{completion}

[Review]
{critique}

[Your final answer]
";

/// Lets the model review its answer and answer again; templates have {question}, {completion} and {critique}.
///
/// It needs an answer, so `generate()` comes before it.
#[solver(crate = crate::facade, built_in)]
pub async fn self_critique(
    state: &mut TaskState,
    generate: &Generate,
    /// The template of the prompt for the review.
    critique_template: Option<String>,
    /// The template of the prompt for the second answer.
    completion_template: Option<String>,
) -> Result<()> {
    let filled = |template: &str, state: &TaskState, critique: &str| {
        fill(template, |name| match name {
            "question" => Some(Cow::Owned(state.input_text().to_owned())),
            "completion" => Some(Cow::Owned(state.output.completion.clone())),
            "critique" => Some(Cow::Owned(critique.to_owned())),
            other => lookup(other, [&state.store, &state.metadata]).map(|text| Cow::Owned(text.into_owned())),
        })
    };
    let template = critique_template.as_deref().unwrap_or(CRITIQUE);
    let review = [Message::user(filled(template, state, "")?)];
    let critique = generate.ask(state, &review).await?.completion;
    let template = completion_template.as_deref().unwrap_or(COMPLETION);
    let again = Message::user(filled(template, state, &critique)?);
    state.messages.push(again);
    generate.run(state).await
}
