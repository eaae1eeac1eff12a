//! Logs changed at random, thousands of times: whatever a log has become, everything that can be done with it ends in
//! an answer or in an error that names the file, and no changed log passes for the one that it was.
//!
//! The same every time. A failure tells the base, the number of the change and what was changed;
//! `ERRORBAR_MUTATIONS=100000` does that many of each kind in place of some thousands.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bases;
mod inside;
mod json;
mod known;
mod random;
mod raw;
mod rounds;
mod seeds;
#[path = "../eval/support.rs"]
#[allow(dead_code, reason = "the tests of logs use the rest")]
mod support;
#[path = "../eval/zips.rs"]
#[allow(dead_code, reason = "the tests of logs use the rest")]
mod zips;

// What the fuzzer does with an input (see `fuzz/README.md`), done here without one.
#[path = "../../../../fuzz/src/log.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod log;
#[path = "../../../../fuzz/src/spec.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod spec;
#[path = "../../../../fuzz/src/table.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod table;
