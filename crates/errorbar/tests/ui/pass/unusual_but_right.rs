//! Forms that are allowed: conditions, attributes, patterns with `mut`, recursion by the body.
use errorbar::prelude::*;

#[metric]
#[cfg(any())]
fn left_out(scores: &Missing) -> Missing {}

/// Attributes stay on the body.
#[metric]
#[inline]
#[allow(unused_mut)]
fn countdown(scores: &Scores, #[default(3)] mut from: u64, #[allow(unused_variables)] unused: Option<f64>) -> f64 {
    if from == 0 { scores.len() as f64 } else { Self::body(scores, from - 1, None) }
}

#[metric]
fn with_notes(_scores: &Scores) -> Figure {
    Figure::new(1.0).note("seed", 7)
}

#[metric]
fn anything(_scores: &Scores) -> impl Into<MetricValue> + use<> {
    vec![1.0, 2.0]
}

#[metric]
fn other_errors(_scores: &Scores) -> std::result::Result<f64, errorbar::spec::SpecError> {
    "pass_rate(".parse::<errorbar::Spec>().map(|_| 1.0)
}

fn main() {
    let columns = errorbar::ScoreColumns::new(["a"]);
    let set = errorbar::ScoreSet::unreduced(&columns, "a").unwrap();
    assert_eq!(countdown().from(2).compute(&set.scores()).unwrap().number(), Some(0.0));
    assert!(matches!(other_errors().compute(&set.scores()), Err(Error::Spec(_))));
    assert!(anything().compute(&set.scores()).is_ok() && with_notes().compute(&set.scores()).is_ok());
}
