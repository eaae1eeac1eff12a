#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[derive(Clone, Debug)]
struct Range(f64, f64);

#[metric]
fn of_own_type(scores: &Scores, range: Range) -> f64 {
    range.0 - range.1
}

#[metric]
fn optional(scores: &Scores, #[default(0.5)] threshold: f32) -> f64 {
    threshold.into()
}

fn main() {}
