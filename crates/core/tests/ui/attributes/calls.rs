#![allow(unused)]
extern crate errorbar_core as errorbar;
use errorbar_core::metrics::*;
use errorbar_core::*;
use errorbar_macros::*;

/// One argument must be passed, one may be.
#[metric]
pub fn pass_rate(scores: &Scores, category: String, #[default(0.5)] threshold: f64) -> Result<f64> {
    let _ = (scores, category);
    Ok(threshold)
}

fn main() {
    pass_rate();
    let _ = pass_rate("physics").category("art");
}
