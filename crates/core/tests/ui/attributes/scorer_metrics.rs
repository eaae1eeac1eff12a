#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[scorer]
async fn forgotten(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(name = "named")]
async fn only_a_name(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(metrics = mean())]
async fn no_list(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

#[scorer(metrics)]
async fn nothing(state: &TaskState, target: &Target) -> Result<Score> {
    Ok(Score::new(1))
}

fn main() {}
