//! The engine: scores in, results out.
#![forbid(unsafe_code)]

pub mod spec;
pub mod stats;
