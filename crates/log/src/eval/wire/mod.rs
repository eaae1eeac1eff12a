//! The JSON of a log: how its values are written and read.
//!
//! Domain types know nothing of it. [`Wire`] gives them their shapes, [`writer`] writes records, [`decode`] and
//! [`header`] read them.

mod attachments;
mod calls;
mod chat;
pub(super) mod decode;
mod events;
mod header;
mod time;
mod writer;

pub(super) use attachments::murmur3;
pub(super) use calls::{CallWriter, InputForm};
pub(super) use chat::as_wire;
pub use chat::{Shape, Wire};
pub(super) use events::{EventWriter, InitialSample};
pub use time::timestamp;
pub(super) use writer::JsonWriter;
