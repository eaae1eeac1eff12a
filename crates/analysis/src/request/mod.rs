//! What can be asked for: plain values, which the command line, Python and Rust build.
//!
//! An option is one field. Its doc comment is its help everywhere, its name in serde is its name in Python, and with the
//! feature `clap` it is an option of the command line; [`Opt`](crate::Opt) has its spelling on each of them.

pub(crate) mod errors;
pub(crate) mod gates;
pub(crate) mod limits;
pub(crate) mod specs;
pub(crate) mod tables;
mod values;

pub use errors::ErrorRequest;
pub use gates::GateRequest;
pub use limits::{LimitRequest, ReadRequest};
pub use specs::{PlanChanges, Specs};
pub use tables::{TableRequest, UnconvertiblePolicy};
#[cfg(feature = "clap")]
pub use values::one_of;
pub use values::{ByteSize, OneOrMany, request_from_json};
pub(crate) use values::{as_text, as_text_order, one_or_many, optional_list};
