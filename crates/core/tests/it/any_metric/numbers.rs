//! Quantiles, totals, ratios and conditions.

use errorbar_core::metrics::{
    accuracy, bootstrap, count, filtered, geometric_mean, grouped, max, mean, median, min,
    perplexity_per_seq, perplexity_per_token, quantile, stderr, sum, weighted_mean,
};
use errorbar_core::{
    ClusterVariance, Error, ErrorMethod, ErrorPlan, IntervalMethod, Metadata, Metric, MetricValue, Registry,
    Score, ScoreColumns, Undefined, Value, metrics,
};
use errorbar_test_support::assert_matches;
use proptest::prelude::*;
use serde_json::json;

use super::{close, computed, estimate, evaluated, plan, scores, table};

const VALUES: [f64; 8] = [1.0, 0.0, 0.5, 1.0, 0.25, 1.0, 0.0, 0.75];
const WEIGHTS: [f64; 8] = [1.0, 2.0, 3.0, 1.0, 2.0, 1.0, 4.0, 2.0];

fn weighted(values: &[f64], weights: &[f64]) -> ScoreColumns {
    let row = |(at, (value, weight)): (usize, (&f64, &f64))| {
        let metadata = vec![("w", json!(weight)), ("c", (at / 2).to_string().into())];
        (format!("q{at}"), 1, Value::from(*value), metadata)
    };
    table(values.iter().zip(weights).enumerate().map(row).collect())
}

#[test]
fn a_median_lies_between_order_statistics() {
    let values: Vec<f64> = (1..=20).map(f64::from).collect();
    let found = estimate(&scores(&values), &median(), ErrorPlan::new());
    let interval = found.interval.unwrap();
    assert_eq!((found.value, interval.lower, interval.upper), (Ok(10.5), 6.0, 15.0));
    assert_eq!(interval.method, IntervalMethod::OrderStatistics);
    assert_eq!(found.error.unwrap().method, ErrorMethod::Bootstrap);
    assert_eq!(found.draws, None);
    let few = estimate(&scores(&values[..5]), &median(), ErrorPlan::new());
    assert_eq!(few.interval, Err(Undefined::Other("n = 5 reaches 93.75 %".to_owned())));
    assert!(few.error.is_ok());
    let one = estimate(&scores(&[3.0]), &median(), ErrorPlan::new());
    assert_eq!((one.value, one.error), (Ok(3.0), Err(Undefined::TooFewScores { n: 1 })));
    let equal = estimate(&scores(&[3.0; 20]), &median(), ErrorPlan::new());
    assert_eq!((equal.error.unwrap().degenerate, equal.interval), (true, Err(Undefined::NoSpread { n: 20 })));
}

#[test]
fn a_quantile_of_clusters_is_resampled() {
    let values: Vec<f64> = (0..40).map(|at| f64::from(at * 7 % 40)).collect();
    let columns = scores(&values);
    let found = estimate(&columns, &quantile(0.75), plan(r#"{"cluster": "c"}"#));
    assert_eq!(found.number(), Some(29.25));
    assert_eq!(found.error.as_ref().unwrap().clusters, [20]);
    assert_eq!(found.draws.unwrap().count, 10_000);
    // The quantile of a resample is that of a bootstrap of the same metric.
    let wrapped = estimate(&columns, &bootstrap(quantile(0.75)), plan(r#"{"cluster": "c"}"#));
    assert_eq!((found.error, found.interval), (wrapped.error, wrapped.interval));
    for (spec, text) in [("quantile(0)", "min()"), ("quantile(1)", "max()"), ("quantile(90)", "0.9")] {
        let error = Registry::built_in().metric(&spec.parse().unwrap()).unwrap_err();
        assert_matches!(error, Error::Argument { problem, .. } if problem.contains(text));
    }
}

#[test]
fn totals_have_no_error_and_say_why() {
    let columns = scores(&VALUES);
    let all: [(&dyn Metric, f64); 4] = [(&count(), 8.0), (&sum(), 4.5), (&min(), 0.0), (&max(), 1.0)];
    for (metric, value) in all {
        let found = estimate(&columns, metric, ErrorPlan::new());
        assert_eq!((found.number(), found.n), (Some(value), 8));
        assert_matches!(
            (&found.error, &found.interval),
            (Err(Undefined::Other(_)), Err(Undefined::Other(_)))
        );
    }
    let empty = scores(&[]);
    assert_eq!(estimate(&empty, &sum(), ErrorPlan::new()).value, Err(Undefined::NoScores));
    assert_eq!(estimate(&empty, &count(), ErrorPlan::new()).value, Ok(0.0));
    let infinite = scores(&[1.0, f64::INFINITY]);
    assert_matches!(
        computed(&infinite, &max(), ErrorPlan::new()),
        Err(Error::Undefined { problem, .. }) if problem.starts_with("the score of sample \"q001\" is infinite")
    );
}

/// From numpy: average, and the linearised error √(n/(n−1)·Σw²(x−R)²)/Σw; CR2 with Σw of clusters in place of sizes.
#[test]
fn a_weighted_mean_and_its_linearised_error() {
    let columns = weighted(&VALUES, &WEIGHTS);
    let found = estimate(&columns, &weighted_mean("w"), ErrorPlan::new());
    assert_eq!(found.number(), Some(0.40625));
    let error = found.error.unwrap();
    close(error.se, 0.14952025215191228, 1e-12);
    assert_eq!((error.method, error.df), (ErrorMethod::Delta, 7.0));
    let clustered = estimate(&columns, &weighted_mean("w"), plan(r#"{"cluster": "c"}"#));
    close(clustered.stderr().unwrap(), 0.10045469542700994, 1e-12);
    assert_eq!(clustered.error.as_ref().unwrap().method, ErrorMethod::Cluster(ClusterVariance::Cr2));
    let cr1 = estimate(&columns, &weighted_mean("w"), plan(r#"{"cluster": "c", "method": "CR1"}"#));
    close(cr1.stderr().unwrap(), 0.09605457365368744, 1e-12);
    // Resampling the same units comes to nearly the same.
    let resampled = estimate(&columns, &weighted_mean("w"), plan(r#"{"interval": "bootstrap"}"#));
    close(resampled.stderr().unwrap(), 0.14952 * (7.0_f64 / 8.0).sqrt(), 0.1);
}

#[test]
fn equal_weights_are_the_mean() {
    let columns = weighted(&VALUES, &[2.5; 8]);
    for errors in
        ["{}", r#"{"cluster": "c"}"#, r#"{"cluster": "c", "method": "CR3"}"#, r#"{"method": "jackknife"}"#]
    {
        let (a, b) = (
            estimate(&columns, &weighted_mean("w"), plan(errors)),
            estimate(&columns, &mean(), plan(errors)),
        );
        close(a.number().unwrap(), b.number().unwrap(), 1e-15);
        let (e, f) = (a.error.unwrap(), b.error.unwrap());
        close(e.se, f.se, 1e-12);
        close(e.df, f.df, 1e-12);
        assert_eq!((e.method, e.clusters), (f.method, f.clusters), "{errors}");
        let (i, j) = (a.interval.unwrap(), b.interval.unwrap());
        close(i.lower, j.lower, 1e-9);
        close(i.upper, j.upper, 1e-9);
        assert_eq!(i.method, j.method, "{errors}");
    }
    let equal = estimate(&weighted(&[0.3; 8], &WEIGHTS), &weighted_mean("w"), ErrorPlan::new());
    assert_eq!((equal.number(), equal.error.unwrap().degenerate), (Some(0.3), true));
}

#[test]
fn weights_that_are_none() {
    for bad in [json!(-1), json!("heavy"), json!(null)] {
        let rows = vec![
            ("q0".to_owned(), 1, 1.0.into(), vec![("w", json!(1))]),
            ("q1".to_owned(), 1, 0.0.into(), vec![("w", bad)]),
        ];
        let error = computed(&table(rows), &weighted_mean("w"), ErrorPlan::new()).unwrap_err();
        assert_matches!(&error, Error::Undefined { problem, .. } if problem.contains("\"q1\""));
    }
    let missing = computed(&scores(&VALUES), &weighted_mean("w"), ErrorPlan::new());
    assert_matches!(missing, Err(Error::MissingKey { key, .. }) if key == "w");
    let zero = estimate(&weighted(&VALUES, &[0.0; 8]), &weighted_mean("w"), ErrorPlan::new());
    assert_eq!(zero.value, Err(Undefined::Other("all weights are 0".to_owned())));
    // A sample of weight 0 does not count, nor does it as a score.
    let some = estimate(&weighted(&[1.0, 0.0, 9.0], &[1.0, 1.0, 0.0]), &weighted_mean("w"), ErrorPlan::new());
    assert_eq!((some.number(), some.n), (Some(0.5), 2));
}

#[test]
fn weights_whose_sum_overflows_have_no_mean() {
    for values in [[1.0, 0.0, 1.0], [1.0; 3]] {
        let columns = weighted(&values, &[1e308, 1e308, 1e-300]);
        let found = estimate(&columns, &weighted_mean("w"), ErrorPlan::new());
        assert_eq!(found.value, Err(Undefined::Overflow));
    }
}

/// Squares of large scores overflow; the error does not.
#[test]
fn the_error_of_a_median_has_the_scale_of_the_scores() {
    let values = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0];
    let of = |scale: f64| {
        estimate(&scores(&values.map(|value| value * scale)), &median(), ErrorPlan::new()).stderr().unwrap()
    };
    for scale in [1e160, 1e-200] {
        close(of(scale), of(1.0) * scale, 1e-12);
    }
}

/// From scipy: gmean, the delta method, and exp of the t interval of logarithms (scipy's t quantile is right to 1e-9).
#[test]
fn a_geometric_mean() {
    let columns = scores(&[1.0, 2.0, 4.0, 8.0, 3.0, 5.0, 7.0, 9.0]);
    let found = estimate(&columns, &geometric_mean(), ErrorPlan::new());
    close(found.number().unwrap(), 3.9600573257324636, 1e-14);
    close(found.stderr().unwrap(), 1.056415872125923, 1e-12);
    let interval = found.interval.unwrap();
    close(interval.lower, 2.1073955266023843, 1e-9);
    close(interval.upper, 7.44143841302088, 1e-9);
    let zero = estimate(&scores(&[1.0, 0.0]), &geometric_mean(), ErrorPlan::new());
    assert_matches!(zero.value, Err(Undefined::Other(reason)) if reason.contains("\"q001\""));
}

fn surprises(rows: &[(f64, f64)]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, (log_probs, tokens)) in rows.iter().enumerate() {
        let metadata: Metadata =
            [("sum_log_probs".to_owned(), json!(log_probs)), ("num_tokens".to_owned(), json!(tokens))]
                .into_iter()
                .collect();
        let mut score = Score::new(1.0);
        score.metadata = Some(metadata);
        columns.push(format!("q{at}"), 1).score("s", score).unwrap();
    }
    columns
}

#[test]
fn perplexities_have_errors_by_the_delta_method() {
    // −log p / tokens: 1, 2, 3.
    let columns = surprises(&[(-4.0, 4.0), (-4.0, 2.0), (-6.0, 2.0)]);
    let per_seq = estimate(&columns, &perplexity_per_seq(), ErrorPlan::new());
    close(per_seq.number().unwrap(), 2.0_f64.exp(), 1e-15);
    close(per_seq.stderr().unwrap(), 2.0_f64.exp() / 3.0_f64.sqrt(), 1e-12);
    let per_token = estimate(&columns, &perplexity_per_token(), ErrorPlan::new());
    // R = 14/8; D = 4 − 7, 4 − 3.5, 6 − 3.5; √(15.5·3/2)/8.
    close(per_token.number().unwrap(), 1.75_f64.exp(), 1e-15);
    close(per_token.stderr().unwrap(), 1.75_f64.exp() * (15.5_f64 * 1.5).sqrt() / 8.0, 1e-12);
    assert!(per_token.interval.unwrap().lower > 1.0 || per_token.n == 3);
}

#[test]
fn where_is_one_group_of_grouped() {
    let rows = (0..12).map(|at| {
        let metadata = vec![("g", ["a", "b"][at % 2].into()), ("level", json!(at / 4))];
        (format!("q{at}"), 1, f64::from(at as u32 % 3 % 2).into(), metadata)
    });
    let columns = table(rows.collect());
    let all = evaluated(&columns, metrics![grouped(accuracy(), "g")], ErrorPlan::new());
    let only = evaluated(
        &columns,
        metrics![filtered(accuracy(), "g=a"), filtered(stderr(), "g == 'a'")],
        ErrorPlan::new(),
    );
    let (all, only) = (all.rows(), only.rows());
    let of_a = all.iter().find(|row| row.group == Some("a")).unwrap();
    assert_eq!(only.len(), 1);
    assert_eq!((only[0].estimate.number(), only[0].estimate.n), (of_a.estimate.number(), of_a.estimate.n));
    assert_eq!(
        (only[0].metric, only[0].group_key, only[0].group, only[0].label),
        ("accuracy", Some("g"), Some("a"), Some("g=a"))
    );
    assert!(only[0].error_metric.is_some());
    for (condition, n) in [("g!=a", 6), ("level>0", 8), ("level<=0", 4)] {
        let MetricValue::Groups(groups) =
            computed(&columns, &filtered(count(), condition), ErrorPlan::new()).unwrap()
        else {
            panic!("groups")
        };
        assert_eq!(groups.groups[0].value.number(), Some(f64::from(n)), "{condition}");
        assert_eq!(groups.groups[0].label, condition);
    }
    let both = computed(&columns, &filtered(count(), ["g=a", "level>0"]), ErrorPlan::new()).unwrap();
    assert_eq!(both.get("g=a, level>0").and_then(|estimate| estimate.number()), Some(4.0));
    let none = computed(&columns, &filtered(mean(), "g=z"), ErrorPlan::new()).unwrap();
    assert_eq!(none.get("g=z").unwrap().value, Err(Undefined::Other("no sample meets g=z".to_owned())));
    assert_matches!(
        computed(&columns, &filtered(mean(), "h=z"), ErrorPlan::new()),
        Err(Error::MissingKey { key, .. }) if key == "h"
    );
    for spec in ["where(mean(), 'g')", "where(mean(), [])", "where(mean(), 'g<b')", "where(mean(), 3)"] {
        let error = Registry::built_in().metric(&spec.parse().unwrap()).unwrap_err();
        assert_matches!(error, Error::Argument { argument, .. } if argument == "condition");
    }
}

fn of_any_order() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(count()),
        Box::new(sum()),
        Box::new(min()),
        Box::new(max()),
        Box::new(geometric_mean()),
        Box::new(weighted_mean("w")),
        Box::new(filtered(weighted_mean("w"), "c!=1")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_scores_changes_nothing(
        rows in prop::collection::vec((0.01..9.0_f64, 0..4_u8), 1..40),
        errors in prop::sample::select(vec!["{}", r#"{"cluster": "c"}"#, r#"{"interval": "bootstrap", "draws": 200}"#]),
    ) {
        let columns = |order: &mut dyn Iterator<Item = usize>| {
            let mut columns = ScoreColumns::new(["s"]);
            for at in order {
                let (value, weight) = rows[at];
                let row = columns.push(format!("q{at}"), 1).metadata("w", weight).metadata("c", (at % 5).to_string());
                row.score("s", Score::new(value)).unwrap();
            }
            columns
        };
        let (forwards, backwards) = (columns(&mut (0..rows.len())), columns(&mut (0..rows.len()).rev()));
        for metric in of_any_order() {
            let of = |columns| computed(columns, metric.as_ref(), plan(errors)).unwrap();
            prop_assert_eq!(of(&forwards), of(&backwards), "{:?}", metric);
        }
    }
}
