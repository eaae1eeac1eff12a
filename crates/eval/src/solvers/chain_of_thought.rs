//! `chain_of_thought`: asks for the reasoning before the answer.

use errorbar_core::registry::Param;
use errorbar_core::{Result, Spec};

use super::prompt_template::reword;
use crate::{BoxFuture, Generate, Solver, SolverEntry, TaskState};

const TEMPLATE: &str = "{prompt}

Work this out one step at a time and write the steps down before you commit to a result. The very last line of your \
reply must have the form \"ANSWER: $ANSWER\", without the quotes, where $ANSWER is your result and nothing else.";

pub(super) const ENTRY: SolverEntry = SolverEntry {
    name: "chain_of_thought",
    doc: "Asks for the reasoning first and the answer in a last line `ANSWER: …`; {prompt} in a template of one's own stands for the question.",
    params: &[Param::optional("template", "None")],
    build: |args| {
        let solver = chain_of_thought();
        Ok(match args.get::<String>("template")? {
            Some(template) => solver.template(template),
            None => solver,
        }
        .into())
    },
    replaces: false,
};

/// Asks for the reasoning first; made by [`chain_of_thought()`].
#[derive(Clone, Debug)]
pub struct ChainOfThought {
    template: Option<String>,
}

/// Asks for the reasoning first and the answer in a last line `ANSWER: …`.
pub fn chain_of_thought() -> ChainOfThought {
    ChainOfThought { template: None }
}

impl ChainOfThought {
    /// Asks in other words; `{prompt}` stands for the question.
    #[must_use]
    pub fn template(mut self, template: impl Into<String>) -> Self {
        self.template = Some(template.into());
        self
    }
}

impl Solver for ChainOfThought {
    fn spec(&self) -> Spec {
        let spec = Spec::new("chain_of_thought");
        match &self.template {
            Some(template) => spec.kwarg("template", template.as_str()),
            None => spec,
        }
    }

    fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        let template = self.template.as_deref().unwrap_or(TEMPLATE);
        Box::pin(async move { reword("chain_of_thought", template, state) })
    }
}
