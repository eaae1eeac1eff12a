#![allow(unused)]
use errorbar::prelude::*;

#[scorer(metrics = [mean(), reducers::mode()])]
async fn reducer_for_metric(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(metrics = [maen()])]
async fn unknown(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

fn main() {}
