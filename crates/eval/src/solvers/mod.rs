//! The solvers that errorbar brings, and their list.

mod generate;
mod messages;

use errorbar_core::registry::Entry;

use crate::SolverEntry;

pub use generate::*;
pub use messages::*;

/// Every built-in solver, in the order in which lists show them.
pub(crate) const ENTRIES: &[SolverEntry] = &[
    Entry::of::<GenerateSolver>(),
    Entry::of::<SystemMessage>(),
    Entry::of::<UserMessage>(),
    Entry::of::<AssistantMessage>(),
    Entry::of::<PromptTemplate>(),
    Entry::of::<ChainOfThought>(),
    Entry::of::<MultipleChoice>(),
    Entry::of::<SelfCritique>(),
];
