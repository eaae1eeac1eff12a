//! The solvers that errorbar brings, one a file, and their list.

mod message_template;

errorbar_core::registry::entry_modules! {
    /// Every built-in solver, in the order in which lists show them.
    [crate::SolverEntry]
    generate::GenerateSolver,
    system_message::SystemMessage,
    user_message::UserMessage,
    assistant_message::AssistantMessage,
    prompt_template::PromptTemplate,
    chain_of_thought::ChainOfThought,
    multiple_choice::MultipleChoice,
    self_critique::SelfCritique,
}
