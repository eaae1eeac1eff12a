//! What the fuzz targets do with an input, and what must hold then: see `README.md`.
//!
//! The files of this crate are also modules of ordinary tests (`crates/core/tests/it/partial`, `crates/log/tests/it/mutations`,
//! `crates/table/tests/it/seeds.rs`, `crates/errorbar/tests/cli/fuzz_seeds.rs`), which run the seeds without a fuzzer.

pub mod folder;
pub mod log;
pub mod partial;
pub mod spec;
pub mod table;
pub mod task;

#[path = "../../crates/test-support/src/zip.rs"]
#[allow(dead_code, reason = "the tests of logs use the rest")]
mod zip;
