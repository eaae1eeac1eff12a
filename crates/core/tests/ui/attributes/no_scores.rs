#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
fn none() -> f64 {
    0.0
}

#[metric]
fn other(threshold: f64) -> f64 {
    threshold
}

#[reducer]
fn of_metric(scores: &Scores) -> Result<Score> {
    unreachable!()
}

#[metric]
fn of_reducer(scores: &[Score]) -> f64 {
    0.0
}

#[metric]
fn mutable(scores: &mut Scores) -> f64 {
    0.0
}

#[metric]
fn defaulted(#[default(1)] scores: &Scores) -> f64 {
    0.0
}

fn main() {}
