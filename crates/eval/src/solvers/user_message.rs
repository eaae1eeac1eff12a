//! `user_message`: says something more to the model.

use errorbar_core::registry::Param;
use errorbar_core::{Result, Spec};

use crate::template::{fill, lookup};
use crate::{BoxFuture, Generate, Message, Solver, SolverEntry, TaskState};

pub(super) const ENTRY: SolverEntry = SolverEntry {
    name: "user_message",
    doc: "Adds a message of the user at the end of the conversation.",
    params: &[Param::required("template")],
    build: |args| Ok(user_message(args.required::<String>("template")?).into()),
    replaces: false,
};

/// Adds a message of the user; made by [`user_message()`].
#[derive(Clone, Debug)]
pub struct UserMessage {
    template: String,
}

/// Adds a message of the user at the end of the conversation.
///
/// `{name}` in the text is filled in from the sample's metadata or the store.
pub fn user_message(template: impl Into<String>) -> UserMessage {
    UserMessage { template: template.into() }
}

impl Solver for UserMessage {
    fn spec(&self) -> Spec {
        Spec::new("user_message").kwarg("template", self.template.as_str())
    }

    fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let text = fill(&self.template, |name| lookup(name, [&state.store, &state.metadata]))?;
            state.messages.push(Message::user(text));
            Ok(())
        })
    }
}
