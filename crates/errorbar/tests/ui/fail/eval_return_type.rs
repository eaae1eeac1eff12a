#![allow(unused)]
use errorbar::prelude::*;

#[scorer(metrics = [mean()])]
async fn number(state: &TaskState, target: &Target) -> Result<f64> {
    Ok(1.0)
}

#[scorer(metrics = [mean()])]
fn plain_number(state: &TaskState, target: &Target) -> f64 {
    1.0
}

#[solver]
async fn returns_state(state: &mut TaskState, generate: &Generate) -> Result<String> {
    Ok(String::new())
}

#[task]
fn dataset() -> Result<Dataset> {
    Ok(Dataset::new(["?"]))
}

fn main() {}
