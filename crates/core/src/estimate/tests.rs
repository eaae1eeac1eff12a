//! Summaries and estimates, from within: what has no public way in.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

use super::clusters::Clusters;
use super::*;
use crate::error_plan::ErrorPlan;
use crate::random::Random;
use crate::value::LeafKey;
use crate::{Score, ScoreColumns, ScoreSet};

fn summary(plan: &ErrorPlan, rows: &[(&str, f64)]) -> Summary {
    summary_of(Summary::for_plan(plan, true), plan, rows)
}

fn summary_of(mut summary: Summary, plan: &ErrorPlan, rows: &[(&str, f64)]) -> Summary {
    let mut columns = ScoreColumns::new(["s"]);
    let mut epochs = std::collections::HashMap::new();
    for (id, value) in rows {
        let epoch = epochs.entry(*id).and_modify(|epoch| *epoch += 1).or_insert(1);
        columns.push(*id, *epoch).score("s", Score::new(*value)).unwrap();
    }
    let set = ScoreSet::unreduced(&columns, "s").unwrap();
    let values: Vec<f64> = rows.iter().map(|(_, value)| *value).collect();
    summary.update("mean", plan, &set.scores(), &values).unwrap();
    summary
}

#[test]
fn epochs_of_a_sample_are_one_cluster_in_any_order() {
    let plan = ErrorPlan::new();
    let grouped = summary(&plan, &[("a", 1.0), ("a", 0.0), ("b", 1.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]);
    let mixed = summary(&plan, &[("a", 1.0), ("b", 1.0), ("a", 0.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]);
    let estimates = [&grouped, &mixed].map(|s| s.estimate(&plan, ScoreKind::Binary, &Random::default()));
    assert_eq!(estimates[0], estimates[1]);
    // Sample means ½, 1, 0: s = ½, se = ½/√3, df 2.
    let error = estimates[0].error.clone().unwrap();
    assert!((error.se - 0.5 / 3f64.sqrt()).abs() < 1e-15 && (error.df - 2.0).abs() < 1e-12, "{error:?}");
    assert_eq!(error.clusters, [3]);
}

#[test]
fn values_are_dropped_from_fifty_on_whichever_part_had_them() {
    let plan = ErrorPlan::new();
    let part = |from: usize, to: usize| {
        let rows: Vec<(String, f64)> = (from..to).map(|at| (at.to_string(), at as f64 * 1.5)).collect();
        let rows: Vec<(&str, f64)> = rows.iter().map(|(id, value)| (id.as_str(), *value)).collect();
        summary_of(Summary::for_plan(&plan, false), &plan, &rows)
    };
    let bytes = |summary: &Summary| {
        let mut out = Vec::new();
        summary.write(&mut out);
        out
    };
    for cut in [0, 10, 40, 49, 50, 60, 70] {
        let (mut first, second) = (part(0, cut), part(cut, 70));
        let mut other = second.clone();
        first.merge(&second).unwrap();
        other.merge(&part(0, cut)).unwrap();
        assert_eq!(bytes(&first), bytes(&part(0, 70)), "{cut}");
        assert_eq!(bytes(&other), bytes(&first), "{cut}");
        assert!(matches!(&first, Summary::Moments(plain) if plain.values.is_none()));
    }
    assert!(matches!(part(0, 49), Summary::Moments(plain) if plain.values.is_some()));
}

#[test]
fn more_distinct_scores_than_are_kept() {
    let plan: ErrorPlan = r#"{"interval": "bootstrap"}"#.parse().unwrap();
    let values: Vec<f64> = (0..1_000_001).map(f64::from).collect();
    let (all_but_one, last) = values.split_at(1_000_000);
    let of = |values: &[f64]| {
        let mut plain = independent::IndependentScores::new(independent::ValueRetention::UpToLimit);
        plain.update(values);
        Summary::Tally(plain)
    };
    let kept = |summary: &Summary| matches!(summary, Summary::Tally(plain) if plain.values.is_some());
    let (mut most, one) = (of(all_but_one), of(last));
    assert!(kept(&most));
    // One that is there already changes nothing.
    most.merge(&of(&values[..1])).unwrap();
    assert!(kept(&most));
    most.merge(&one).unwrap();
    assert!(!kept(&most) && !kept(&of(&values)));
    let mut out = Vec::new();
    most.write(&mut out);
    assert!(!kept(&Summary::read(&mut out.as_slice()).unwrap()));
    let estimate = most.estimate(&plan, ScoreKind::Unbounded, &Random::default());
    assert_eq!(estimate.interval.unwrap().method, IntervalMethod::T);
    let reason = estimate.notes.reason.unwrap();
    assert!(reason.contains("t in place of bootstrap: more than 1000000 distinct scores"), "{reason}");
}

#[test]
fn a_thousand_skewed_groups_draw_nothing_in_any_order() {
    let plan = ErrorPlan::new();
    let rows: Vec<(String, f64)> = (0..30).map(|at| (at.to_string(), 1.5_f64.powi(at))).collect();
    let rows: Vec<(&str, f64)> = rows.iter().map(|(id, value)| (id.as_str(), *value)).collect();
    let group = summary_of(Summary::for_plan(&plan, false), &plan, &rows);
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
    let rows: Vec<(String, f64)> = (0..8).map(|at| (at.to_string(), f64::from(u8::from(at < 3)))).collect();
    let rows: Vec<(&str, f64)> = rows.iter().map(|(id, value)| (id.as_str(), *value)).collect();
    let scores = summary_of(Summary::for_plan(&plan, false), &plan, &rows);
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
    // Codes 0 and 999,999 of a million: as with the codes 0 and 1.
    let add = |codes: &[u32], distinct: usize| {
        let mut clusters = Clusters::default();
        let id = |code: usize, _: usize| Ok(LeafKey::Int(i64::from(code > 0)));
        clusters.add(codes, distinct, &[1.0, 0.5, 1e-30, 4.0], &id).unwrap();
        let mut out = Vec::new();
        clusters.write(&mut out);
        out
    };
    assert_eq!(add(&[0, 999_999, 0, 999_999], 1_000_000), add(&[0, 1, 0, 1], 2));
}
