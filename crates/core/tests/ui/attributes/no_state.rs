#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[solver]
async fn none() -> Result<()> {
    Ok(())
}

#[solver]
async fn only_state(state: &mut TaskState) -> Result<()> {
    Ok(())
}

#[solver]
async fn cannot_change(state: &TaskState, generate: &Generate) -> Result<()> {
    Ok(())
}

#[solver]
async fn by_value(state: TaskState, generate: &Generate) -> Result<()> {
    Ok(())
}

#[scorer(metrics = [mean()])]
async fn no_target(state: &TaskState) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(metrics = [mean()])]
async fn of_solver(state: &mut TaskState, generate: &Generate) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(metrics = [mean()])]
async fn of_reducer(scores: &[Score], target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(metrics = [mean()])]
async fn taken(answer: &TaskState, right: &Target, target: String) -> Result<Score> {
    Ok(Score::new(1))
}

fn main() {}
