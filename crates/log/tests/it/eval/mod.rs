//! Eval logs: written, torn, damaged, resumed and read again.

mod bounds;
mod chunked;
mod compare;
mod convert;
mod damage;
mod edits;
mod events;
mod foreign;
mod hostile;
mod large;
mod locks;
mod old_logs;
mod own_package;
mod plan;
mod reduced;
mod regressions;
mod rescored;
mod resume;
mod revision;
mod round_trip;
mod salvage;
pub(crate) mod support;
mod transcripts;
mod truncation;
