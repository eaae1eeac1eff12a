//! "Custom Metrics" and "Custom Reducers": the manual's own `mean`, as a metric and as a reducer.
//!
//! The manual registers both under the name `mean`, which is taken: a newcomer declares that it replaces. A name means
//! one thing in a whole program, so these two have a program of their own.

use errorbar::prelude::*;
use errorbar_manual::{SYSTEM_MESSAGE, read_gpqa_dataset, recorded};

/// Compute mean of all scores.
#[metric(replaces)]
fn mean(scores: &Scores) -> Result<f64> {
    let floats = scores.into_iter().map(|sample| sample.score.as_f64()).collect::<Result<Vec<f64>>>()?;
    Ok(floats.iter().sum::<f64>() / floats.len() as f64)
}

/// Compute a mean value of all scores.
#[reducer(name = "mean", replaces)]
fn mean_score(scores: &[Score]) -> Score {
    let values: Vec<f64> = scores.iter().map(Score::to_f64).collect();
    Score::new(values.iter().sum::<f64>() / values.len() as f64)
}

/// Five epochs, reduced and summarised by the program's own `mean`.
#[task]
fn gpqa() -> Task {
    Task::new(read_gpqa_dataset("gpqa_main.csv"))
        .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
        .scorer(choice())
        .metrics(metrics![mean()])
        .epochs(Epochs::new(5, "mean"))
        .model(recorded("outputs.jsonl"))
}

fn main() -> std::process::ExitCode {
    errorbar::main()
}
