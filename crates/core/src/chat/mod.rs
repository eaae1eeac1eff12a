//! What goes to a model and what comes back: messages, inputs, targets and outputs; and what happened meanwhile.
//!
//! Plain values. The crate that knows a file format knows how it writes them.

mod events;
mod message;
mod output;

pub use events::{CacheAccess, Event, EventKind, ModelCall, SampleEvents, ScoreEvent, SpanKind, SpanNumber};
pub use message::{Input, Message, MessageRole, MessageSource, Targets};
pub use output::{ModelOutput, OutputChoice, Usage};
