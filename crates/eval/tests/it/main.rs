//! The tests of the public API of `errorbar-eval`, in one binary: each one more is linked by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

use std::future::Future;

mod calls;
mod calls_shared;
mod conformance;
mod datasets;
mod graders;
mod limits;
mod lost_log;
mod models;
mod options;
mod rescore;
mod resume;
mod run;
mod scorers;
mod solvers;
mod task_file_mutations;
mod task_files;

/// Runs a future on a clock that stands still while there is something to do, and otherwise jumps to the next timer:
/// waits take no time, and what is under way at once does not depend on the machine.
fn block_on_paused<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(future)
}
