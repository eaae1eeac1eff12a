//! The tests of the public API of `errorbar-log`, in one binary: each one more is linked by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod conformance;
mod eval;
mod inspect;
mod mutations;
mod projected;
