//! "Reducing Epochs": several scores of a sample become one.

use errorbar::prelude::*;
use errorbar_manual::{SYSTEM_MESSAGE, read_gpqa_dataset, recorded};

fn gpqa() -> Task {
    Task::new(read_gpqa_dataset("gpqa_main.csv"))
        .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
        .scorer(choice())
        .model(recorded("outputs.jsonl"))
}

/// Five epochs, reduced by the mean, the default.
#[task]
fn gpqa_epochs() -> Task {
    gpqa().epochs(5)
}

/// Five epochs, of which the most common score counts.
#[task]
fn gpqa_mode() -> Task {
    gpqa().epochs(Epochs::new(5, "mode"))
}

/// Five epochs, of which at least two, or all, must be correct.
#[task]
fn gpqa_at_least() -> Task {
    gpqa().epochs(Epochs::new(5, ["at_least_2", "at_least_5"]))
}

/// Every built-in reducer that the manual lists.
#[task]
fn gpqa_reducers() -> Task {
    gpqa().epochs(Epochs::new(5, ["mean", "median", "mode", "max", "pass_at_2", "pass_k_2", "at_least_2"]))
}
