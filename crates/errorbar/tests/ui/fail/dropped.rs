#![deny(unused_must_use)]
use errorbar::prelude::*;

#[metric]
fn pass_rate(_scores: &Scores, #[default(0.5)] threshold: f64) -> f64 {
    threshold
}

fn main() {
    pass_rate();
    pass_rate().threshold(0.8);
}
