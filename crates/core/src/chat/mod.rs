//! What goes to a model and what comes back: messages, inputs, targets and outputs.
//!
//! Plain values. How a file writes them is the business of whoever knows the file.

mod message;
mod output;

pub use message::{Input, Message, MessageRole, MessageSource, Targets};
pub use output::{ModelOutput, OutputChoice, Usage};
