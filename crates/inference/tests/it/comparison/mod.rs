//! Comparisons of sides: figures computed by hand, or with numpy and scipy.

mod absent;
mod bad_input;
mod gates;
mod groups;
mod many;
mod paired;
mod resampled;
mod simulation;
mod unpaired;

use errorbar_core::metrics::{accuracy, mean};
use errorbar_core::{Plan, Score, ScoreColumns, metrics};
use errorbar_inference::{ComparedScores, Comparison, ComparisonOptions, ComparisonReport, compare};

/// Zeros and ones of two sides: three wins, one loss.
pub(super) const BASE: [f64; 12] = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
pub(super) const OTHER: [f64; 12] = [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0];

/// Graded scores of two sides.
pub(super) const GRADED: [f64; 25] = [
    0.81, 0.81, 0.52, 0.29, 0.05, 0.38, 0.41, 0.05, 0.05, 1.0, 0.65, 0.23, 0.43, 0.97, 0.9, 0.84, 0.39, 0.49,
    0.68, 0.06, 0.56, 0.27, 0.88, 0.06, 0.68,
];
pub(super) const OTHER_GRADED: [f64; 25] = [
    1.0, 0.56, 0.55, 0.17, 0.1, 0.2, 0.49, 0.12, 0.07, 0.87, 0.65, 0.09, 0.24, 1.0, 0.76, 1.0, 0.61, 0.17,
    0.81, 0.0, 0.65, 0.36, 0.56, 0.09, 0.71,
];
/// The cluster of each of them.
pub(super) const CLUSTERS: [u32; 25] =
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 6];

/// One score for each sample.
pub(super) fn columns(scores: &[f64]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, score) in scores.iter().enumerate() {
        columns.push(format!("q{id}"), 1).score("s", Score::new(*score)).unwrap();
    }
    columns
}

/// The same, clustered.
pub(super) fn clustered(scores: &[f64], clusters: &[u32]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, (score, cluster)) in scores.iter().zip(clusters).enumerate() {
        let row = columns.push(format!("q{id}"), 1).metadata("passage", *cluster);
        row.score("s", Score::new(*score)).unwrap();
    }
    columns
}

pub(super) fn by_mean() -> Plan {
    Plan::new().metrics(metrics![mean()])
}

pub(super) fn by_accuracy() -> Plan {
    Plan::new().metrics(metrics![accuracy()])
}

pub(super) fn side<'a>(name: &'a str, columns: &'a ScoreColumns, plan: &'a Plan) -> ComparedScores<'a> {
    ComparedScores::new(name, columns, plan)
}

/// Two sides under one plan.
pub(super) fn report(
    base: &ScoreColumns,
    other: &ScoreColumns,
    plan: &Plan,
    options: &ComparisonOptions,
) -> ComparisonReport {
    compare(&[side("a", base, plan), side("b", other, plan)], options).unwrap()
}

/// The only comparison of two sides.
pub(super) fn only(base: &ScoreColumns, other: &ScoreColumns, plan: &Plan) -> Comparison {
    let mut report = report(base, other, plan, &ComparisonOptions::default());
    assert_eq!(report.comparisons.len(), 1, "{:?}", report.comparisons);
    report.comparisons.remove(0)
}

#[track_caller]
pub(super) fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found}, expected {expected}");
}

#[track_caller]
pub(super) fn interval(comparison: &Comparison) -> (f64, f64) {
    let interval = comparison.difference.interval.as_ref().unwrap();
    (interval.lower, interval.upper)
}

#[track_caller]
pub(super) fn p_value(comparison: &Comparison) -> f64 {
    comparison.test.as_ref().unwrap().p_value
}
