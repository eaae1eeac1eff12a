//! A crate with every lint on that generated code could stumble over.
#![deny(
    missing_docs, missing_debug_implementations, rust_2018_idioms, unreachable_pub, unused, unused_qualifications,
    elided_lifetimes_in_paths, single_use_lifetimes, non_snake_case
)]
#![forbid(unsafe_code)]

use errorbar::{Result, Score, Scores, metric, reducer};

/// Never called from Rust: specs may.
#[metric]
fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
    Ok(scores.floats().iter().filter(|score| **score >= threshold).count() as f64)
}

/// Never called from Rust either.
#[reducer]
fn best(scores: &[Score], #[default(2)] k: usize) -> Result<Score> {
    scores.get(k).cloned().ok_or_else(|| errorbar::Error::custom("too few epochs"))
}

/// Public things have their documentation.
pub mod inner {
    /// A metric for others.
    #[errorbar::metric]
    pub fn of_others(_: &errorbar::Scores, least: f64, is_strict: Option<bool>) -> f64 {
        if is_strict == Some(true) { least } else { 0.0 }
    }
}

fn main() {
    let metric = inner::of_others(1).is_strict(true);
    assert_eq!(errorbar::Metric::spec(&metric).to_string(), "of_others(least=1.0, is_strict=true)");
}
