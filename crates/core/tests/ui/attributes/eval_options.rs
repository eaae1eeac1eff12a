#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[scorer(metrics = [mean()], keys = ["category"])]
async fn of_metric(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

#[solver(metrics = [mean()])]
async fn of_scorer(state: &mut TaskState, generate: &Generate) -> Result<()> {
    Ok(())
}

#[task(replaces)]
fn nothing_to_replace() -> Task {
    Task::new(["?"])
}

#[task(name = "my quiz")]
fn two_words() -> Task {
    Task::new(["?"])
}

fn main() {}
