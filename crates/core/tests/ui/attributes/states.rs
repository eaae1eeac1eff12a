#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::Scores;
use errorbar_macros::metric;

/// A number is no state.
#[metric(state)]
fn number() -> f64 {
    0.0
}

/// A state is made without scores.
#[metric(state)]
fn of_scores(scores: &Scores) -> f64 {
    0.0
}

fn main() {}
