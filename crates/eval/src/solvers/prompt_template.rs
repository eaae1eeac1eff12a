//! `prompt_template`: rewords the question.

use std::borrow::Cow;

use errorbar_core::registry::Param;
use errorbar_core::{Error, Result, Spec};

use crate::template::{fill, lookup};
use crate::{BoxFuture, Generate, Solver, SolverEntry, TaskState};

pub(super) const ENTRY: SolverEntry = SolverEntry {
    name: "prompt_template",
    doc: "Rewords the question: {prompt} in the template stands for it, other names for metadata or the store.",
    params: &[Param::required("template")],
    build: |args| Ok(prompt_template(args.required::<String>("template")?).into()),
    replaces: false,
};

/// Rewords the question; made by [`prompt_template()`].
#[derive(Clone, Debug)]
pub struct PromptTemplate {
    template: String,
}

/// Rewords the question: `{prompt}` in the template stands for it, any other name in braces for an entry of
/// the sample's metadata or of the store.
pub fn prompt_template(template: impl Into<String>) -> PromptTemplate {
    PromptTemplate { template: template.into() }
}

impl Solver for PromptTemplate {
    fn spec(&self) -> Spec {
        Spec::new("prompt_template").kwarg("template", self.template.as_str())
    }

    fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { reword("prompt_template", &self.template, state) })
    }
}

/// Puts a template around the question.
pub(super) fn reword(solver: &str, template: &str, state: &mut TaskState) -> Result<()> {
    let Some(prompt) = state.user_prompt().map(|message| message.content.clone()) else {
        return Err(Error::custom(format!(
            "{solver}: the conversation has no message of the user to reword; begin it with one (user_message)"
        )));
    };
    let text = fill(template, |name| match name {
        "prompt" => Some(Cow::Borrowed(prompt.as_str())),
        other => lookup(other, [&state.store, &state.metadata]),
    })?;
    if let Some(message) = state.user_prompt() {
        message.content = text;
    }
    Ok(())
}
