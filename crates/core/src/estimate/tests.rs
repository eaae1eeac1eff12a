//! Summaries and estimates, from within: what has no public way in.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

use super::*;
use crate::error_plan::ErrorPlan;
use crate::random::Random;
use crate::{Score, ScoreColumns, ScoreSet};

fn summary(plan: &ErrorPlan, by_sample: bool, rows: &[(&str, f64)]) -> Summary {
    let mut columns = ScoreColumns::new(["s"]);
    let mut epochs = std::collections::HashMap::new();
    for (id, value) in rows {
        let epoch = epochs.entry(*id).and_modify(|epoch| *epoch += 1).or_insert(1);
        columns.push(*id, *epoch).score("s", Score::new(*value)).unwrap();
    }
    let set = ScoreSet::unreduced(&columns, "s").unwrap();
    let values: Vec<f64> = rows.iter().map(|(_, value)| *value).collect();
    Summary::of("mean", plan, by_sample, &set.scores(), &values).unwrap()
}

fn of_values(plan: &ErrorPlan, values: impl Iterator<Item = f64>) -> Summary {
    let rows: Vec<(String, f64)> = values.enumerate().map(|(at, value)| (at.to_string(), value)).collect();
    summary(plan, false, &rows.iter().map(|(id, value)| (id.as_str(), *value)).collect::<Vec<_>>())
}

fn keeps_values(summary: &Summary) -> bool {
    matches!(summary, Summary::Independent(plain) if plain.values.is_some())
}

#[test]
fn epochs_of_a_sample_are_one_cluster_in_any_order() {
    let plan = ErrorPlan::new();
    let grouped =
        summary(&plan, true, &[("a", 1.0), ("a", 0.0), ("b", 1.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]);
    let mixed =
        summary(&plan, true, &[("a", 1.0), ("b", 1.0), ("a", 0.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]);
    let estimates = [&grouped, &mixed].map(|s| s.estimate(&plan, ScoreKind::Binary, &Random::default()));
    assert_eq!(estimates[0], estimates[1]);
    // Sample means ½, 1, 0: s = ½, se = ½/√3, df 2.
    let error = estimates[0].error.clone().unwrap();
    assert!((error.se - 0.5 / 3f64.sqrt()).abs() < 1e-15 && (error.df - 2.0).abs() < 1e-12, "{error:?}");
    assert_eq!(error.clusters, [3]);
}

#[test]
fn values_are_kept_below_fifty_scores() {
    let of = |n: u32| of_values(&ErrorPlan::new(), (0..n).map(|at| f64::from(at) * 1.5));
    assert!(keeps_values(&of(49)) && !keeps_values(&of(50)));
}

#[test]
fn more_distinct_scores_than_are_kept() {
    let plan: ErrorPlan = r#"{"interval": "bootstrap"}"#.parse().unwrap();
    let values: Vec<(f64, u64)> = (0..1_000_001).map(|at| (f64::from(at), 1)).collect();
    let most = Summary::of_sorted(&plan, values.clone()).unwrap();
    assert!(!keeps_values(&most));
    // One that is there already changes nothing.
    let mut kept = values[..1_000_000].to_vec();
    kept[0].1 += 1;
    assert!(keeps_values(&Summary::of_sorted(&plan, kept).unwrap()));
    let estimate = most.estimate(&plan, ScoreKind::Unbounded, &Random::default());
    assert_eq!(estimate.interval.unwrap().method, IntervalMethod::T);
    let reason = estimate.notes.reason.unwrap();
    assert!(reason.contains("t in place of bootstrap: more than 1000000 distinct scores"), "{reason}");
}

#[test]
fn a_thousand_skewed_groups_draw_nothing_in_any_order() {
    let plan = ErrorPlan::new();
    let group = of_values(&plan, (0..30).map(|at| 1.5_f64.powi(at)));
    let random = Random::default();
    // 30 scores in 10,000 resamples are 300,000 values: of 100 million, 333 groups can have them.
    let method = |groups: usize| {
        let random = random.among(groups);
        let estimates = [(); 3].map(|()| group.estimate(&plan, ScoreKind::Unbounded, &random));
        assert!(estimates.iter().all(|estimate| *estimate == estimates[0]), "no counter");
        estimates[0].clone()
    };
    assert_eq!(method(333).interval.unwrap().method, IntervalMethod::BootstrapT);
    let one_of_many = method(334);
    assert_eq!(one_of_many.interval.unwrap().method, IntervalMethod::T);
    let reason = one_of_many.notes.reason.unwrap();
    assert!(reason.contains("skewed, but too many draws for bootstrap_t"), "{reason}");
    assert_eq!(random.among(0).among(1).seed, random.seed);
}

#[test]
fn estimates_from_a_variance() {
    let plan = ErrorPlan::new();
    let error = |se: f64, df: f64| StdError {
        se,
        method: ErrorMethod::Macro,
        df,
        clusters: Vec::new(),
        degenerate: se == 0.0,
    };
    // n* = ¼/0.01 = 25, and at most the 20 that there are for zeros and ones.
    let graded = estimate_from(0.5, Ok(error(0.1, 12.5)), 20, &plan, ScoreKind::Unit);
    assert!((graded.notes.effective_n.unwrap() - 25.0).abs() < 1e-12);
    let interval = graded.interval.unwrap();
    assert_eq!((interval.method, interval.df), (IntervalMethod::Wilson, Some(12.5)));
    let binary = estimate_from(0.5, Ok(error(0.1, 12.5)), 20, &plan, ScoreKind::Binary);
    assert_eq!(binary.notes.effective_n, Some(20.0));
    assert_eq!(
        binary.interval.unwrap().df,
        Some(12.5),
        "not plain: the error is not that of independent scores"
    );
    // Independent zeros and ones: as the scores themselves would give it.
    let scores = of_values(&plan, (0..8).map(|at| f64::from(u8::from(at < 3))));
    let scores = scores.estimate(&plan, ScoreKind::Binary, &Random::default());
    assert_eq!(estimate_from(0.375, scores.error.clone(), 8, &plan, ScoreKind::Binary), scores);
    let one = estimate_from(1.0, Err(Undefined::TooFewScores { n: 1 }), 1, &plan, ScoreKind::Binary);
    assert!((one.interval.unwrap().lower - 0.2065493143772374).abs() < 1e-15);
    // Without a range by t; without degrees of freedom by the normal quantile.
    let t =
        estimate_from(5.0, Ok(error(1.0, f64::INFINITY)), 20, &plan, ScoreKind::Unbounded).interval.unwrap();
    assert!(t.method == IntervalMethod::T && (t.upper - 6.959963984540054).abs() < 1e-14);
    let range: ErrorPlan = r#"{"range": [0, 4]}"#.parse().unwrap();
    let outside = estimate_from(5.0, Ok(error(1.0, 9.0)), 20, &range, ScoreKind::Unbounded);
    assert_eq!(outside.interval.unwrap().method, IntervalMethod::T);
    // What is undefined stays so.
    let few = Undefined::TooFewScores { n: 1 };
    let macro_mean = estimate_from(0.5, Err(few.clone()), 7, &plan, ScoreKind::Binary);
    assert_eq!((macro_mean.error, macro_mean.interval), (Err(few.clone()), Err(few)));
    let infinite = estimate_from(0.5, Ok(error(f64::INFINITY, 3.0)), 7, &plan, ScoreKind::Unit);
    assert_eq!((infinite.error, infinite.interval), (Err(Undefined::Overflow), Err(Undefined::Overflow)));
    assert_eq!(
        estimate_from(0.5, Ok(error(0.1, 3.0)), 0, &plan, ScoreKind::Unit).value,
        Err(Undefined::NoScores)
    );
    assert_eq!(
        estimate_from(f64::NAN, Ok(error(0.1, 3.0)), 2, &plan, ScoreKind::Unit).value,
        Err(Undefined::Overflow)
    );
    let drawn: ErrorPlan = r#"{"interval": "bootstrap"}"#.parse().unwrap();
    let drawn = estimate_from(0.5, Ok(error(0.1, 3.0)), 9, &drawn, ScoreKind::Unit);
    assert_eq!(drawn.interval.unwrap().method, IntervalMethod::Wilson);
    let reason = drawn.notes.reason.unwrap();
    assert!(reason.starts_with("nothing to resample; auto: wilson"), "{reason}");
}

#[test]
fn a_small_group_of_many_clusters_needs_no_large_table() {
    // Four scores of two of forty clusters, by themselves and among the others.
    let plan = ErrorPlan::new().cluster("c");
    let estimate = |others: i64| {
        let mut columns = ScoreColumns::new(["s"]);
        for (at, cluster) in [0, 39, 0, 39].into_iter().chain(0..others).enumerate() {
            columns.push(at.to_string(), 1).metadata("c", cluster).score("s", Score::new(1.0)).unwrap();
        }
        let set = ScoreSet::unreduced(&columns, "s").unwrap();
        let group = set.scores().subset(vec![0, 1, 2, 3], Vec::new());
        let summary = Summary::of("mean", &plan, false, &group, &[1.0, 0.5, 1e-30, 4.0]).unwrap();
        summary.estimate(&plan, ScoreKind::Unbounded, &Random::default())
    };
    assert_eq!(estimate(0), estimate(40));
    assert_eq!(estimate(0).error.unwrap().clusters, [2]);
}
