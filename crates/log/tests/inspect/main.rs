//! The Inspect projection: results as logs record them, and rows with their errors back from there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod projected;
mod recovered;
mod support;
