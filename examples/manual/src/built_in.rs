//! "Built-In Metrics": all of them at once.

use errorbar::metrics::var;
use errorbar::prelude::*;
use errorbar_manual::{SYSTEM_MESSAGE, read_gpqa_dataset, recorded};

/// Every built-in metric that the manual lists.
#[task]
fn gpqa_built_in() -> Task {
    Task::new(read_gpqa_dataset("gpqa_main.csv"))
        .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
        .scorer(choice())
        .metrics(metrics![
            accuracy(),
            mean(),
            var(),
            std(),
            stderr(),
            bootstrap_stderr(),
            bootstrap_stderr().num_samples(200),
        ])
        .model(recorded("outputs.jsonl"))
}
