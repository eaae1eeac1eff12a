//! The solvers that errorbar brings, one a file, and their list.

mod chain_of_thought;
mod generate;
mod multiple_choice;
mod prompt_template;
mod self_critique;
mod system_message;
mod user_message;

pub use chain_of_thought::{ChainOfThought, chain_of_thought};
pub use generate::{GenerateSolver, generate};
pub use multiple_choice::{MultipleChoice, multiple_choice};
pub use prompt_template::{PromptTemplate, prompt_template};
pub use self_critique::{SelfCritique, self_critique};
pub use system_message::{SystemMessage, system_message};
pub use user_message::{UserMessage, user_message};

use crate::SolverEntry;

/// Every built-in solver, in the order in which lists show them.
pub(crate) const ENTRIES: &[SolverEntry] = &[
    generate::ENTRY,
    system_message::ENTRY,
    user_message::ENTRY,
    prompt_template::ENTRY,
    chain_of_thought::ENTRY,
    multiple_choice::ENTRY,
    self_critique::ENTRY,
];
