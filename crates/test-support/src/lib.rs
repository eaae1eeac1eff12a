//! What the tests of several crates share: folders with files, programs run in a clean environment, conformance cases,
//! published figures, seeds of the fuzzer, zip files with any content.
//!
//! Only ever a dev-dependency. It depends on no other crate of the workspace, so that all of them can use it and no test
//! binary waits for more than it needs. Everything panics where it fails: a test ends there.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

pub mod conformance;
mod files;
mod program;
pub mod published;
mod seeds;
mod wait;
pub mod zip;

pub use files::{TestFolder, file_names, workspace};
pub use program::{ProgramOutput, command};
pub use seeds::run_seeds;
pub use wait::wait_until;

/// Panics unless a value has a shape: `assert_matches!(error, Error::MissingKey { key, .. } if key == "topic")`.
///
/// For errors: their kind and what they name, not their words.
#[macro_export]
macro_rules! assert_matches {
    ($value:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        match &$value {
            $pattern $(if $guard)? => {}
            other => panic!("{other:?} is no {}", stringify!($pattern $(if $guard)?)),
        }
    };
}
