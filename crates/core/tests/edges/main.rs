//! Edges that the conformance cases do not reach: gaps and order of rows, details of scores, notes, warnings,
//! builders with bad arguments, and which sample an error names.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod blocks;
mod conversions;
mod errors;
mod groups;
mod notes;
mod reducers;
mod rows;
mod support;
