//! Group for group.

use errorbar_core::metrics::{All, accuracy, grouped};
use errorbar_core::{ComparisonOptions, Correction, Error, Plan, Score, ScoreColumns, compare, metrics};

use super::{BASE, OTHER, by_accuracy, close, columns, report, side};

fn by_category(scores: &[f64]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, score) in scores.iter().enumerate() {
        let category = if id < 5 { "law" } else { "art" };
        columns
            .push(format!("q{id}"), 1)
            .metadata("category", category)
            .score("s", Score::new(*score))
            .unwrap();
    }
    columns
}

#[test]
fn all_and_each_group() {
    let mut options = ComparisonOptions::default();
    options.by = Some("category".to_owned());
    options.correction = Some(Correction::Holm);
    let (base, other) = (by_category(&BASE), by_category(&OTHER));
    let report = report(&base, &other, &by_accuracy(), &options);
    let groups: Vec<_> =
        report.comparisons.iter().map(|one| (one.group_key.as_deref(), one.group.as_deref())).collect();
    assert_eq!(groups, [(None, None), (Some("category"), Some("law")), (Some("category"), Some("art"))]);
    let counts: Vec<_> = report.comparisons.iter().map(|one| (one.n, one.wins, one.losses)).collect();
    assert_eq!(counts, [(12, Some(3), Some(1)), (5, Some(1), Some(0)), (7, Some(2), Some(1))]);
    close(report.comparisons[1].difference.number().unwrap(), 0.2);
    close(report.comparisons[2].other_estimate.number().unwrap(), 6.0 / 7.0);
    // Three p-values: .375, .5 (one win), .5 + … (2 and 1: 2·(1+3)/8 − 3/8 = .625); Holm: 3·.375, then capped at 1.
    let p: Vec<_> = report.comparisons.iter().map(|one| one.test.as_ref().unwrap().p_value).collect();
    for (found, expected) in p.into_iter().zip([0.375, 0.5, 0.625]) {
        close(found, expected);
    }
    let adjusted: Vec<_> = report.comparisons.iter().map(|one| one.p_adjusted.unwrap()).collect();
    assert_eq!(adjusted, [1.0, 1.0, 1.0]);
}

#[test]
fn a_key_that_samples_lack() {
    let mut options = ComparisonOptions::default();
    options.by = Some("category".to_owned());
    let (base, other, plan) = (columns(&BASE), columns(&OTHER), by_accuracy());
    let found = compare(&[side("a", &base, &plan), side("b", &other, &plan)], &options);
    assert!(matches!(found, Err(Error::MissingKey { .. })), "{found:?}");
    // One side is enough.
    let other = by_category(&OTHER);
    let found = compare(&[side("a", &base, &plan), side("b", &other, &plan)], &options).unwrap();
    assert_eq!(found.comparisons.len(), 3);
}

/// A metric by groups of its own.
#[test]
fn grouped_metrics() {
    let (base, other) = (by_category(&BASE), by_category(&OTHER));
    let plan = Plan::new().metrics(metrics![accuracy(), grouped(accuracy(), "category")]);
    let rows = report(&base, &other, &plan, &ComparisonOptions::default()).comparisons;
    let groups: Vec<_> = rows.iter().map(|one| (one.metric.as_str(), one.group.as_deref(), one.n)).collect();
    assert_eq!(groups, [("accuracy", None, 12), ("accuracy", Some("law"), 5), ("accuracy", Some("art"), 7)]);
    let plan = Plan::new().metrics(metrics![grouped(accuracy(), "category").all(All::Groups)]);
    let rows = report(&base, &other, &plan, &ComparisonOptions::default()).comparisons;
    let groups: Vec<_> =
        rows.iter().map(|one| (one.group_key.as_deref(), one.group.as_deref(), one.n)).collect();
    let key = Some("category");
    assert_eq!(groups, [(key, Some("law"), 5), (key, Some("art"), 7), (key, None, 12)]);
    close(rows[2].difference.number().unwrap(), (0.2 + 1.0 / 7.0) / 2.0);
    assert!(rows[2].difference.error.is_ok());
}
