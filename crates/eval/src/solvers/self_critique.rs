//! `self_critique`: lets the model look at its answer again.

use std::borrow::Cow;

use errorbar_core::registry::Param;
use errorbar_core::{Result, Spec};

use crate::template::{fill, lookup};
use crate::{BoxFuture, Generate, Message, Solver, SolverEntry, TaskState};

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

pub(super) const ENTRY: SolverEntry = SolverEntry {
    name: "self_critique",
    doc: "Lets the model review its answer and answer again; templates know {question}, {completion} and {critique}.",
    params: &[Param::optional("critique_template", "None"), Param::optional("completion_template", "None")],
    build: |args| {
        let mut solver = self_critique();
        solver.critique_template = args.get("critique_template")?;
        solver.completion_template = args.get("completion_template")?;
        Ok(solver.into())
    },
    replaces: false,
};

/// Lets the model look at its answer again; made by [`self_critique()`].
#[derive(Clone, Debug)]
pub struct SelfCritique {
    critique_template: Option<String>,
    completion_template: Option<String>,
}

/// Lets the model review its answer and answer again. It needs an answer, so `generate()` comes before it.
pub fn self_critique() -> SelfCritique {
    SelfCritique { critique_template: None, completion_template: None }
}

impl SelfCritique {
    /// Asks for the review in other words; `{question}` and `{completion}` are filled in.
    #[must_use]
    pub fn critique_template(mut self, template: impl Into<String>) -> Self {
        self.critique_template = Some(template.into());
        self
    }

    /// Asks for the second answer in other words; `{question}`, `{completion}` and `{critique}` are filled in.
    #[must_use]
    pub fn completion_template(mut self, template: impl Into<String>) -> Self {
        self.completion_template = Some(template.into());
        self
    }
}

impl Solver for SelfCritique {
    fn spec(&self) -> Spec {
        let templates = [
            ("critique_template", &self.critique_template),
            ("completion_template", &self.completion_template),
        ];
        templates.into_iter().fold(Spec::new("self_critique"), |spec, (name, template)| match template {
            Some(template) => spec.kwarg(name, template.as_str()),
            None => spec,
        })
    }

    fn solve<'a>(&'a self, state: &'a mut TaskState, generate: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let filled = |template: &str, state: &TaskState, critique: &str| {
                fill(template, |name| match name {
                    "question" => Some(Cow::Owned(state.input_text().to_owned())),
                    "completion" => Some(Cow::Owned(state.output.completion.clone())),
                    "critique" => Some(Cow::Owned(critique.to_owned())),
                    other => lookup(other, [&state.store, &state.metadata])
                        .map(|text| Cow::Owned(text.into_owned())),
                })
            };
            let template = self.critique_template.as_deref().unwrap_or(CRITIQUE);
            let review = [Message::user(filled(template, state, "")?)];
            let critique = generate.ask(state, &review).await?.completion;
            let template = self.completion_template.as_deref().unwrap_or(COMPLETION);
            let again = Message::user(filled(template, state, &critique)?);
            state.messages.push(again);
            generate.run(state).await
        })
    }
}
