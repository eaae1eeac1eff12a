//! The tests of the public API of `errorbar-core`, in one binary: each one more is linked by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod any_metric;
mod estimates;
mod groups;
mod judges;
mod partial;
mod ratings;
mod registry;
mod rows;
