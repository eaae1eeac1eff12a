//! "Metric Grouping": accuracy for each category, and over all of them.

use errorbar::prelude::*;
use errorbar_manual::{SYSTEM_MESSAGE, read_gpqa_dataset, recorded};

fn gpqa() -> Task {
    Task::new(read_gpqa_dataset("gpqa_main.csv"))
        .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
        .scorer(choice())
        .model(recorded("outputs.jsonl"))
}

/// Accuracy by category; `all` is that of all samples.
#[task]
fn gpqa_grouped() -> Task {
    gpqa().metrics(metrics![grouped(accuracy(), "category"), stderr()])
}

/// Accuracy by category; `all` is the mean of the categories.
#[task]
fn gpqa_grouped_all() -> Task {
    gpqa().metrics(metrics![grouped(accuracy(), "category").all(All::Groups), stderr()])
}

/// Accuracy by category, under names such as `category_physics`.
#[task]
fn gpqa_grouped_named() -> Task {
    gpqa().metrics(metrics![grouped(accuracy(), "category").name_template("category_{group_name}"), stderr()])
}
