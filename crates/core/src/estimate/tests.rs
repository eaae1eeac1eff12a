//! Summaries and estimates, from within: what has no public way in.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

use super::*;
use crate::columns::Numbers;
use crate::random::Random;
use crate::{Score, ScoreColumns, ScoreSet};

fn summary(plan: &ErrorPlan, rows: &[(&str, f64)]) -> Summary {
    let mut columns = ScoreColumns::new(["s"]);
    let mut epochs = std::collections::HashMap::new();
    for (id, value) in rows {
        let epoch = epochs.entry(*id).and_modify(|epoch| *epoch += 1).or_insert(1);
        columns.push(*id, *epoch).score("s", Score::new(*value)).unwrap();
    }
    let set = ScoreSet::unreduced(&columns, "s").unwrap();
    let mut summary = Summary::for_plan(plan, true);
    let values: Vec<f64> = rows.iter().map(|(_, value)| *value).collect();
    summary.update("mean", plan, &set.scores(), Numbers::Floats(&values)).unwrap();
    summary
}

#[test]
fn epochs_of_a_sample_are_one_cluster_in_any_order() {
    let plan = ErrorPlan::new();
    let grouped = summary(&plan, &[("a", 1.0), ("a", 0.0), ("b", 1.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]);
    let mixed = summary(&plan, &[("a", 1.0), ("b", 1.0), ("a", 0.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]);
    let estimates = [&grouped, &mixed].map(|s| s.estimate(&plan, Kind::Binary, &Random::default()));
    assert_eq!(estimates[0], estimates[1]);
    // Sample means ½, 1, 0: s = ½, se = ½/√3, df 2.
    let error = estimates[0].error.clone().unwrap();
    assert!((error.se - 0.5 / 3f64.sqrt()).abs() < 1e-15 && (error.df - 2.0).abs() < 1e-12, "{error:?}");
    assert_eq!(error.clusters, [3]);
}
