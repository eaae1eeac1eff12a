//! "Overview": a task's metrics take the place of those that its scorer brings.

use errorbar::prelude::*;
use errorbar_manual::{SYSTEM_MESSAGE, read_gpqa_dataset, recorded};

/// Accuracy less what guessing among the choices would give: 0 for a guesser, 1 for all correct.
#[metric(keys = [])]
fn custom_metric(scores: &Scores, #[default(4.0)] choices: f64) -> Result<f64> {
    let mut correct = 0.0;
    for sample in scores {
        correct += sample.score.as_f64()?;
    }
    let guessed = 1.0 / choices;
    Ok((correct / scores.len() as f64 - guessed) / (1.0 - guessed))
}

fn gpqa() -> Task {
    Task::new(read_gpqa_dataset("gpqa_main.csv"))
        .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
        .scorer(choice())
        .model(recorded("outputs.jsonl"))
}

/// The default: the metrics that `choice()` brings.
#[task]
fn overview() -> Task {
    gpqa()
}

/// A custom metric in place of what `choice()` brings.
#[task]
fn overview_custom() -> Task {
    gpqa().metrics(metrics![custom_metric()])
}

/// The built-in metrics of `choice()`, named again, and a custom one.
#[task]
fn overview_both() -> Task {
    gpqa().metrics(metrics![accuracy(), stderr(), custom_metric()])
}
