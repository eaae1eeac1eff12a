#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
async fn waits(scores: &Scores<'_>) -> f64 {
    0.0
}

#[metric]
fn generic<T: Into<f64>>(scores: &Scores, threshold: T) -> f64 {
    0.0
}

#[metric]
fn lifetime<'a>(scores: &'a Scores<'a>) -> f64 {
    0.0
}

#[reducer]
unsafe fn careless(scores: &[Score]) -> Score {
    unreachable!()
}

#[reducer]
struct NoFunction;

#[metric]
fn nothing(scores: &Scores) {}

struct Type;
impl Type {
    #[metric]
    fn method(&self, scores: &Scores) -> f64 {
        0.0
    }
}

#[metric]
fn self_(scores: &Scores) -> f64 {
    0.0
}

fn main() {}
