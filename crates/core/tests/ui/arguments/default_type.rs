#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
fn text(scores: &Scores, #[default("half")] threshold: f64) -> f64 {
    threshold
}

#[metric]
fn integer(scores: &Scores, #[default(1)] threshold: f64) -> f64 {
    threshold
}

#[metric]
fn items(scores: &Scores, #[default([1, 2])] cuts: Vec<f64>) -> f64 {
    cuts.len() as f64
}

#[metric]
fn sees_the_scores(scores: &Scores, #[default(scores.len())] k: usize) -> f64 {
    k as f64
}

fn main() {}
