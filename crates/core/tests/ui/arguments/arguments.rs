#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
fn pattern(scores: &Scores, (low, high): (f64, f64)) -> f64 {
    0.0
}

#[metric]
fn reserved(scores: &Scores, body: f64) -> f64 {
    0.0
}

#[metric]
fn twice(all: &Scores, scores: f64) -> f64 {
    0.0
}

#[metric]
fn borrowed(scores: &Scores, key: &str) -> f64 {
    0.0
}

#[metric]
fn order(scores: &Scores, #[default(1)] k: u64, n: u64) -> f64 {
    0.0
}

#[metric]
fn conditional(scores: &Scores, #[cfg(test)] k: u64) -> f64 {
    0.0
}

#[metric]
fn literal(scores: &Scores, null: bool) -> f64 {
    0.0
}

fn main() {}
