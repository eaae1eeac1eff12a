//! The tests of the public API of `errorbar-eval`, in one binary: each one more is linked by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod calls;
mod calls_shared;
mod conformance;
mod datasets;
mod graders;
mod limits;
mod lost_log;
mod models;
mod options;
mod resume;
mod run;
mod scorers;
mod solvers;
mod task_file_mutations;
mod task_files;
