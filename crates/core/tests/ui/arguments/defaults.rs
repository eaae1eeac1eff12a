#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
fn bare(scores: &Scores, #[default] threshold: f64) -> f64 {
    0.0
}

#[metric]
fn equals(scores: &Scores, #[default = 0.5] threshold: f64) -> f64 {
    0.0
}

#[metric]
fn empty(scores: &Scores, #[default()] threshold: f64) -> f64 {
    0.0
}

#[metric]
fn two(scores: &Scores, #[default(1)] #[default(2)] k: u64) -> f64 {
    0.0
}

#[metric]
fn list(scores: &Scores, #[default(1, 2)] k: Vec<u64>) -> f64 {
    0.0
}

#[metric]
fn some(scores: &Scores, #[default(Some(0.5))] level: Option<f64>) -> f64 {
    0.0
}

fn main() {}
