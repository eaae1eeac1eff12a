#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric(threshold = 0.5)]
fn unknown(scores: &Scores) -> f64 {
    0.0
}

#[reducer(wants = "reduced")]
fn of_metrics_only(scores: &[Score]) -> Result<Score> {
    unreachable!()
}

#[metric(wants = "everything")]
fn wants(scores: &Scores) -> f64 {
    0.0
}

#[metric(role = "mean")]
fn role(scores: &Scores) -> f64 {
    0.0
}

#[metric(keys = "category")]
fn keys(scores: &Scores) -> f64 {
    0.0
}

#[metric(name = "pass rate")]
fn name(scores: &Scores) -> f64 {
    0.0
}

#[metric(name = "None")]
fn literal(scores: &Scores) -> f64 {
    0.0
}

#[metric(name = pass_rate)]
fn unquoted(scores: &Scores) -> f64 {
    0.0
}

#[metric(replaces, replaces)]
fn twice(scores: &Scores) -> f64 {
    0.0
}

#[metric("pass_rate")]
fn positional(scores: &Scores) -> f64 {
    0.0
}

fn main() {}
