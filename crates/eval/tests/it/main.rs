//! The tests of the public API of `errorbar-eval`, in one binary: each one more is linked by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

use std::future::Future;

use errorbar_eval::Error;

mod calls;
mod calls_shared;
#[cfg(unix)]
mod command_scorer;
mod conformance;
mod dataset_files;
mod dataset_hub;
mod datasets;
mod early_stopping;
mod events;
mod graders;
mod limits;
mod lost_log;
mod models;
mod names;
mod options;
mod prompts;
mod rescore;
mod resume;
mod run;
mod scorers;
mod seen_by_graders;
mod solvers;
mod task_file_errors;
mod task_file_mutations;
mod task_files;
mod task_fit;
mod task_sets;
mod tls;

/// Runs a future on a clock that stands still while there is something to do, and otherwise jumps to the next timer:
/// waits take no time, and what is under way at once does not depend on the machine.
fn block_on_paused<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

/// How a task differs from the log that it cannot resume.
#[track_caller]
fn change(error: Error) -> String {
    match error {
        Error::ChangedTask { change, .. } => change,
        other => panic!("{other}"),
    }
}

/// The parts of a task that differ from the log that it cannot resume.
#[track_caller]
fn changed_parts(error: Error) -> Vec<String> {
    let change = change(error);
    let (_, parts) = change.split_once(" has changed since: its ").expect(&change);
    parts.split("; its ").map(|part| part.strip_suffix(" differ").unwrap_or(part).to_owned()).collect()
}

/// The sample that was another question when the log was written.
#[track_caller]
fn changed_question(error: Error) -> String {
    let change = change(error);
    let question = change.strip_suffix("\" was another question when the log was written");
    question.and_then(|question| question.strip_prefix("sample \"")).expect(&change).to_owned()
}
