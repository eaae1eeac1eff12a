//! What goes to a model and what comes back: messages, inputs, targets and outputs; and what happened meanwhile.
//!
//! Plain values. The crate that knows a file format knows how it writes them.

mod message;
mod output;
mod transcript;

pub use message::{Input, Message, MessageRole, MessageSource, Targets};
pub use output::{ModelOutput, OutputChoice, Usage};
pub use transcript::{
    CacheAccess, Event, EventKind, ModelCall, ScoreEvent, SpanKind, SpanNumber, Transcript,
};
