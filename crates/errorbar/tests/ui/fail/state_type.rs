#![allow(unused)]
use errorbar::prelude::*;

#[scorer(metrics = [mean()])]
async fn swapped(target: &Target, state: &TaskState) -> Result<Score> {
    Ok(Score::new(1))
}

#[solver]
async fn of_scorer(state: &mut TaskState, target: &Target) -> Result<()> {
    Ok(())
}

fn main() {}
