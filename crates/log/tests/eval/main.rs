//! Eval logs: written, torn, damaged, resumed and read again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bounds;
mod compare;
mod convert;
mod damage;
mod foreign;
mod hostile;
mod large;
mod locks;
mod own_package;
mod plan;
mod regressions;
mod resume;
mod revision;
mod round_trip;
mod support;
mod truncation;
mod zips;
