//! Summaries and the estimates that come of them: figures, choices of `auto`, laws.

#![allow(clippy::excessive_precision, reason = "figures stand as they were computed")]

mod clusters;
mod figures;
mod intervals;
mod laws;
mod methods;

use errorbar_core::{
    Conversion, ErrorPlan, Estimate, Random, Result, Score, ScoreColumns, ScoreKind, ScoreSet, Summary,
};
pub(crate) use errorbar_test_support::published::binary;
use serde_json::Value as Json;

/// A score, its sample, and its cluster ids under the keys `a` and `b`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    sample: String,
    value: f64,
    a: Json,
    b: Json,
}

/// Rows of different samples with these cluster ids.
pub(crate) fn rows<A: Clone + Into<Json>, B: Clone + Into<Json>>(
    values: &[f64],
    a: &[A],
    b: &[B],
) -> Vec<Row> {
    let id = |at: usize, value: Option<Json>| value.unwrap_or_else(|| at.into());
    let row = |(at, value): (usize, &f64)| Row {
        sample: at.to_string(),
        value: *value,
        a: id(at, a.get(at).cloned().map(Into::into)),
        b: id(at, b.get(at).cloned().map(Into::into)),
    };
    values.iter().enumerate().map(row).collect()
}

pub(crate) fn try_summary(plan: &ErrorPlan, rows: &[Row]) -> Result<Summary> {
    let mut columns = ScoreColumns::new(["s"]);
    for (epoch, row) in rows.iter().enumerate() {
        let push = columns.push(row.sample.clone(), epoch as u32 + 1);
        let push = push.metadata("a", row.a.clone()).metadata("b", row.b.clone());
        push.score("s", Score::new(row.value)).unwrap();
    }
    let set = ScoreSet::unreduced(&columns, "s").unwrap();
    let (scores, conversion) = (set.scores(), Conversion::default());
    scores.finite("mean", &conversion, |numbers| Summary::of("mean", plan, false, &scores, numbers))?
}

pub(crate) fn summary(plan: &ErrorPlan, rows: &[Row]) -> Summary {
    try_summary(plan, rows).unwrap()
}

/// The estimate of scores that are all there are.
pub(crate) fn estimate(plan: &ErrorPlan, rows: &[Row]) -> Estimate {
    let summary = summary(plan, rows);
    summary.estimate(plan, summary.kind(), &Random::new(7, None))
}

/// The estimate of independent scores.
pub(crate) fn of(plan: &ErrorPlan, values: &[f64]) -> Estimate {
    estimate(plan, &rows(values, &[] as &[i64], &[] as &[i64]))
}

/// The estimate of scores clustered by `a`, with the settings of a plan in JSON.
pub(crate) fn clustered(plan: &str, values: &[f64], clusters: &[i64]) -> Estimate {
    let plan: ErrorPlan = plan.parse().unwrap();
    estimate(&plan.cluster("a"), &rows(values, clusters, &[] as &[i64]))
}

pub(crate) fn plan(json: &str) -> ErrorPlan {
    json.parse().unwrap()
}

#[track_caller]
pub(crate) fn assert_close(got: f64, want: f64, relative: f64) {
    assert!((got - want).abs() <= relative * want.abs(), "{got} is not {want}");
}

#[track_caller]
pub(crate) fn assert_interval(estimate: &Estimate, lower: f64, upper: f64, relative: f64) {
    let interval = estimate.interval.as_ref().unwrap();
    assert_close(interval.lower, lower, relative);
    assert_close(interval.upper, upper, relative);
}

#[test]
fn kinds_weaken_each_other() {
    let kinds = [ScoreKind::Binary, ScoreKind::Unit, ScoreKind::Unbounded];
    for (a, first) in kinds.into_iter().enumerate() {
        for (b, second) in kinds.into_iter().enumerate() {
            assert_eq!(first.and(second), kinds[a.max(b)]);
        }
    }
    let kind =
        |values: &[f64]| summary(&ErrorPlan::new(), &rows(values, &[] as &[i64], &[] as &[i64])).kind();
    assert_eq!(kind(&[]), ScoreKind::Binary);
    assert_eq!(kind(&[1.0, 0.0, -0.0]), ScoreKind::Binary);
    assert_eq!(kind(&[1.0, 0.25]), ScoreKind::Unit);
    assert_eq!(kind(&[1.0, 0.25, 1.0 + f64::EPSILON]), ScoreKind::Unbounded);
    assert_eq!(kind(&[0.5, -f64::MIN_POSITIVE]), ScoreKind::Unbounded);
}
