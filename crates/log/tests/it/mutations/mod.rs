//! Logs changed at random, thousands of times: whatever a log has become, everything that can be done with it ends in
//! an answer or in an error that names the file, and no changed log passes for the one that it was.
//!
//! The same every time. A failure names the base, the number of the change and what was changed;
//! `ERRORBAR_MUTATIONS=100000` does that many of each kind in place of some thousands.

mod bases;
mod inside;
mod json;
mod known;
mod random;
mod raw;
mod rounds;
mod seeds;

// What the fuzzer does with an input (see `fuzz/README.md`), done here without one.
#[path = "../../../../../fuzz/src/folder.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod folder;
#[path = "../../../../../fuzz/src/log.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod log;
#[path = "../../../../../fuzz/src/spec.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod spec;

// `log.rs` of the fuzzer looks for it here.
use errorbar_test_support::zip;
