//! What goes to a model and what comes back: messages, inputs, targets and outputs.
//!
//! Plain values. The crate that knows a file format knows how it writes them.

mod message;
mod output;

pub use message::{Input, Message, MessageRole, MessageSource, Targets};
pub use output::{ModelOutput, OutputChoice, Usage};
