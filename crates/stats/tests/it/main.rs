//! Everything against tables of exact figures, and against itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod accuracy;
mod bootstrap;
mod exact;
mod quantiles;
mod special;
