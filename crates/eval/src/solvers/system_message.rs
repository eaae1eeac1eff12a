//! `system_message`: tells the model how to behave.

use errorbar_core::registry::Param;
use errorbar_core::{Result, Spec};

use crate::template::{fill, lookup};
use crate::{BoxFuture, Generate, Message, MessageRole, Solver, SolverEntry, TaskState};

pub(super) const ENTRY: SolverEntry = SolverEntry {
    name: "system_message",
    doc: "Adds a system message, behind those that are there.",
    params: &[Param::required("template")],
    build: |args| Ok(system_message(args.required::<String>("template")?).into()),
    replaces: false,
};

/// Adds a system message; made by [`system_message()`].
#[derive(Clone, Debug)]
pub struct SystemMessage {
    template: String,
}

/// Adds a system message, behind those that are there.
///
/// `{name}` in the text is filled in from the sample's metadata or the store.
pub fn system_message(template: impl Into<String>) -> SystemMessage {
    SystemMessage { template: template.into() }
}

impl Solver for SystemMessage {
    fn spec(&self) -> Spec {
        Spec::new("system_message").kwarg("template", self.template.as_str())
    }

    fn solve<'a>(&'a self, state: &'a mut TaskState, _: &'a Generate) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let text = fill(&self.template, |name| lookup(name, [&state.store, &state.metadata]))?;
            let behind = state.messages.iter().rposition(|message| message.role == MessageRole::System);
            state.messages.insert(behind.map_or(0, |at| at + 1), Message::system(text));
            Ok(())
        })
    }
}
