//! Programs that score: long-lived processes that get a JSON object per line on stdin and answer with one per line on
//! stdout.
//!
//! ```text
//!            Pool::score                        ┌ writer ──▶ stdin  ┐
//!  sample ──▶ slot ──▶ a process with room ──▶ ─┤                   process (its own group)
//!         ◀── reply by its number, or why not ─ └ reader ◀── stdout ┘
//! ```
//!
//! Each process has threads of its own for its pipes, so neither side can block the other, and nothing depends on the
//! runtime that samples run on. A process holds as many samples at once as it has slots; time is counted from the moment
//! that it is sent a sample.

mod environment;
mod error;
mod group;
mod pool;
mod process;
mod program;
mod protocol;
mod stderr_tail;
mod unique_keys;

pub(crate) use group::end_all;
pub(super) use pool::{Pool, PoolOptions};
pub(super) use program::Program;
pub(super) use protocol::Question;

#[cfg(all(test, unix))]
mod tests;
