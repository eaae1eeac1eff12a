#![deny(unused_must_use)]
extern crate errorbar_core as errorbar;
use errorbar_core::*;
use errorbar_macros::*;

#[metric]
fn pass_rate(_scores: &Scores, #[default(0.5)] threshold: f64) -> f64 {
    threshold
}

fn main() {
    pass_rate();
    pass_rate().threshold(0.8);
}
