//! Group for group.

use errorbar_core::metrics::{All, accuracy, grouped, mean};
use errorbar_core::{Error, ErrorPlan, Plan, Registry, Score, ScoreColumns, metrics};
use errorbar_inference::{ComparisonOptions, Correction, TestMethod, compare};

use super::{BASE, GRADED, OTHER, OTHER_GRADED, by_accuracy, close, columns, report, side};

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
    assert!(matches!(found, Err(errorbar_inference::Error::Core(Error::MissingKey { .. }))), "{found:?}");
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
    // Fixed groups: √(SE₁² + SE₂²)/2.
    let se = |at: usize| rows[at].difference.stderr().unwrap();
    close(se(2), se(0).hypot(se(1)) / 2.0);
    let error = rows[2].difference.error.as_ref().unwrap();
    let (v0, v1) = (se(0).powi(2), se(1).powi(2));
    close(error.df, (v0 + v1).powi(2) / (v0 * v0 / 4.0 + v1 * v1 / 6.0));
    assert_eq!(rows[2].test.as_ref().unwrap().method, TestMethod::T);
    close(rows[2].base_estimate.number().unwrap(), (0.6 + 5.0 / 7.0) / 2.0);
}

/// With other weights the mean over groups is resampled.
#[test]
fn weighted_groups() {
    let (base, other) = (by_category(&BASE), by_category(&OTHER));
    let spec = r#"grouped(accuracy(), "category", all="groups", weights={"law": 3, "art": 1})"#;
    let metric = Registry::built_in().metric(&spec.parse().unwrap()).unwrap();
    let plan = Plan::new().metrics(metrics![metric]);
    let rows = report(&base, &other, &plan, &ComparisonOptions::default()).comparisons;
    assert_eq!(
        (rows.len(), rows[2].group_key.as_deref(), rows[2].group.as_deref()),
        (3, Some("category"), None)
    );
    close(rows[2].difference.number().unwrap(), 0.75 * 0.2 + 0.25 / 7.0);
    assert_eq!(rows[2].test.as_ref().unwrap().method, TestMethod::Bootstrap);
}

/// Passages that have samples of both groups: the groups are not independent.
#[test]
fn clusters_that_span_groups() {
    let columns = |scores: &[f64]| {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, score) in scores.iter().enumerate() {
            let category = if id % 2 == 0 { "law" } else { "art" };
            let row = columns
                .push(format!("q{id}"), 1)
                .metadata("category", category)
                .metadata("passage", id / 2 % 6);
            row.score("s", Score::new(*score)).unwrap();
        }
        columns
    };
    let plan = Plan::new().metrics(metrics![grouped(mean(), "category").all(All::Groups), mean()]);
    let plan = plan.errors(ErrorPlan::new().cluster("passage"));
    let (base, other) = (columns(&GRADED[..24]), columns(&OTHER_GRADED[..24]));
    let rows = report(&base, &other, &plan, &ComparisonOptions::default()).comparisons;
    let over_groups = rows.iter().find(|one| one.group_key.is_some() && one.group.is_none()).unwrap();
    let of_all = rows.iter().find(|one| one.group_key.is_none()).unwrap();
    assert!(over_groups.difference.notes.clusters_span_groups);
    // Groups and clusters have equal sizes: the two means are one, and so are their errors.
    close(over_groups.difference.number().unwrap(), of_all.difference.number().unwrap());
    close(over_groups.difference.stderr().unwrap(), of_all.difference.stderr().unwrap());
}

/// The mean over groups of two sides that are not paired: √(Σ of the variances of all means)/2. It was left out.
#[test]
fn unpaired_means_over_groups() {
    let mut options = ComparisonOptions::default();
    options.unpaired = true;
    let plan = Plan::new().metrics(metrics![grouped(mean(), "category").all(All::Groups)]);
    let (base, other) = (by_category(&GRADED), by_category(&OTHER_GRADED));
    let rows = report(&base, &other, &plan, &options).comparisons;
    let key = Some("category");
    let groups: Vec<_> =
        rows.iter().map(|one| (one.group_key.as_deref(), one.group.as_deref(), one.n)).collect();
    assert_eq!(groups, [(key, Some("law"), 10), (key, Some("art"), 40), (key, None, 50)]);
    let value = |at: usize| rows[at].difference.number().unwrap();
    close(value(2), (value(0) + value(1)) / 2.0);
    let se = |at: usize| rows[at].difference.stderr().unwrap();
    close(se(2), se(0).hypot(se(1)) / 2.0);
    assert!(rows[2].difference.interval.is_ok() && rows[2].variance_removed.is_err());
    assert_eq!(rows[2].test.as_ref().unwrap().method, TestMethod::Welch);
    // All samples beside the groups, or nothing, as the metric has it.
    let of_all = |metrics| report(&base, &other, &Plan::new().metrics(metrics), &options).comparisons;
    let rows = of_all(metrics![grouped(mean(), "category")]);
    assert_eq!(
        rows.iter().map(|one| one.group.as_deref()).collect::<Vec<_>>(),
        [None, Some("law"), Some("art")]
    );
    let rows = of_all(metrics![grouped(mean(), "category").all(All::None)]);
    assert_eq!(rows.iter().map(|one| one.group.as_deref()).collect::<Vec<_>>(), [Some("law"), Some("art")]);
}
