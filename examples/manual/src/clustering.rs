//! "Clustered Stderr": questions of one category may stand or fall together.

use errorbar::prelude::*;
use errorbar_manual::{SYSTEM_MESSAGE, read_gpqa_dataset, recorded};

/// Accuracy, and its standard error with samples clustered by category.
#[task]
fn gpqa_clustered() -> Task {
    Task::new(read_gpqa_dataset("gpqa_main.csv"))
        .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
        .scorer(choice())
        .metrics(metrics![accuracy(), stderr().cluster("category")])
        .model(recorded("outputs.jsonl"))
}
