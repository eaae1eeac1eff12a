//! Groups, and fields of maps.

use crate::projected::edges_support::*;

fn two_groups() -> ScoreColumns {
    let rows = [("1", 1, "a"), ("2", 1, "a"), ("3", 4, "a"), ("4", 2, "b"), ("5", 6, "b")];
    columns(rows.map(|(id, value, g)| (id, 1, Some(value), json!(g))))
}

#[test]
fn the_macro_error_is_that_of_the_converted_scores() {
    // Read as "is it 4 or 6?": {0, 0, 1} and {0, 1}, errors 1/3 and 1/2.
    let big = Conversion::from_fn("big", |v| Some(f64::from(v.as_f64().ok()? > 3.0)));
    let by_groups = |metric| grouped(metric, "g").all(All::Groups);
    let results = reduced(&two_groups(), metrics![by_groups(mean().to_float(big))]);
    let error = note(&block(&results).metrics["all"], "stderr").as_f64().unwrap();
    assert!((error - (1.0f64 / 9.0 + 0.25).sqrt() / 2.0).abs() < 1e-15, "{error}");
    // Values of groups read by a conversion have their own error, which is unknown.
    let results =
        reduced(&two_groups(), metrics![by_groups(mean()).value_to_float(value_to_float().correct(2.0))]);
    let all = &block(&results).metrics["all"];
    assert_eq!((all.value, note(all, "stderr")), (2.5, json!(null)), "(1 + 4)/2");
}

#[test]
fn groups_too_small_for_the_metric_are_counted() {
    let rows = [("1", 1, "a"), ("2", 3, "a"), ("3", 4, "b")];
    let columns = columns(rows.map(|(id, value, g)| (id, 1, Some(value), json!(g))));
    let results = reduced(&columns, metrics![grouped(stderr(), "g").all(All::Groups)]);
    let all = &block(&results).metrics["all"];
    assert_eq!((all.value, note(all, "undefined_groups")), (0.5, json!(1)), "(1 + 0)/2");
}

#[test]
fn lists_of_groups_are_numbered_from_one() {
    let ends = || {
        metric_fn("ends", |scores: &Scores<'_>| {
            let floats = scores.floats();
            Ok(vec![floats.first().copied(), None, floats.last().copied()])
        })
    };
    let results = reduced(
        &two_groups(),
        metrics![grouped(ends(), "g").all(All::Groups), grouped(ends(), "g").all_label("w")],
    );
    let figures: Vec<(&str, f64)> =
        block(&results).metrics.iter().map(|(key, entry)| (key.as_str(), entry.value)).collect();
    let groups = [("a_1", 1.0), ("a_3", 4.0), ("b_1", 2.0), ("b_3", 6.0), ("all_1", 1.5)];
    assert_eq!(figures[..5], groups);
    assert!(
        figures.contains(&("all_3", 5.0))
            && figures.contains(&("w_1", 1.0))
            && figures.contains(&("w_3", 6.0))
    );
}

#[test]
fn inner_metrics_record_their_seed_beside_their_arguments() {
    let inner = || bootstrap_stderr().num_samples(5).seed(3);
    let fields =
        scored([("a", Score::new(Value::map([("k", 1)]))), ("b", Score::new(Value::map([("k", 0)])))]);
    let of_group = reduced(&two_groups(), metrics![grouped(inner(), "g")]);
    let of_field = unreduced(&fields, metrics![aggregate("k", inner())]);
    let recorded = [
        block(&of_group).metrics["a"].params["metric"].clone(),
        block(&of_field).metrics["aggregate"].params["agg"].clone(),
    ];
    for inner in recorded {
        assert_eq!(
            inner,
            json!({"type": "metric", "name": "bootstrap_stderr", "params": {"num_samples": 5}, "seed": 3})
        );
    }
    // The same through the pointer that a registry hands out.
    let shared: Arc<dyn Metric> = Arc::new(inner());
    let results = reduced(&two_groups(), metrics![Arc::clone(&shared)]);
    assert_eq!(block(&results).metrics["bootstrap_stderr"].params.get("seed"), None);
    let frequency: Arc<dyn Metric> = Arc::new(frequency());
    assert_eq!(reduced(&two_groups(), metrics![frequency]).scores[0].scored_samples, 5);
}

#[test]
fn plans_list_the_metadata_they_need() {
    let keys = |metrics: Metrics| Plan::new().metrics(metrics).metadata_keys();
    assert_eq!(keys(metrics![mean(), frequency()]), MetadataKeys::NONE);
    assert_eq!(keys(metrics![stderr().cluster("c"), ci().cluster("c")]), MetadataKeys::one("c"));
    assert_eq!(keys(metrics![ci().cluster("c")]), MetadataKeys::one("c"));
    assert_eq!(keys(metrics![ci_wilson().cluster("c")]), MetadataKeys::one("c"));
    let two = MetadataKeys::Only(vec!["g".to_owned(), "c".to_owned()]);
    assert_eq!(keys(metrics![grouped(stderr().cluster("c"), "g")]), two);
    assert_eq!(keys(metrics![aggregate("k", stderr().cluster("c"))]), MetadataKeys::one("c"));
    let custom = || metric_fn("custom", |scores: &Scores<'_>| Ok(scores.len()));
    assert_eq!(keys(metrics![mean(), custom()]), MetadataKeys::All);
    assert_eq!(keys(metrics![custom(), mean()]), MetadataKeys::All);
    assert!(two.contains("c") && !two.contains("d") && MetadataKeys::All.contains("d"));
    // A task's metrics take the place of the scorers' own.
    let plan = Plan::new().scorer("s", metrics![stderr().cluster("own")]).metrics(metrics![mean()]);
    assert_eq!(plan.metadata_keys(), MetadataKeys::NONE);
}

#[test]
fn fields_know_their_sample_and_their_group() {
    let map = |value: Leaf| Score::new(Value::map([("k", value)]));
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("u", 1).metadata("g", "none").score("s", Score::unscored("refusal")).unwrap();
    columns.push("n", 1).metadata("g", "none").score("s", map(Leaf::Unscored)).unwrap();
    for (id, value, g) in [("a", Leaf::Int(1), "x"), ("b", "what".into(), "y"), ("c", Leaf::Int(3), "y")] {
        columns.push(id, 1).metadata("g", g).score("s", map(value)).unwrap();
    }
    let results = unreduced(&columns, metrics![aggregate("k", grouped(mean(), "g"))]);
    let groups: Vec<(&str, f64)> =
        block(&results).metrics.iter().map(|(key, entry)| (key.as_str(), entry.value)).collect();
    assert_eq!(groups, [("x", 1.0), ("y", 1.5), ("all", 4.0 / 3.0)]);
    let (count, sample) = unconvertible(&results);
    assert_eq!((count, sample.as_str()), (1, "b"));
    // Read by its own conversion, it is counted as well.
    let results = unreduced(&columns, metrics![aggregate("k", mean()).to_float(value_to_float())]);
    assert_eq!(unconvertible(&results).0, 1);
}

/// Two groups of three clusters each; `c` names the cluster.
fn clustered() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for at in 0..24_usize {
        let row = columns.push(format!("q{at}"), 1);
        let row = row.metadata("g", ["a", "b"][at % 2]).metadata("h", at / 12).metadata("c", at % 6);
        row.score("s", Score::new(i64::from(at % 5 < 3))).unwrap();
    }
    columns
}

/// The figures of a metric over all scores, or over those of one group.
fn figures(columns: &ScoreColumns, metric: &str, group: Option<&str>) -> Vec<(String, f64)> {
    let mut part = ScoreColumns::new(["s"]);
    let (metric_that_sees, seen) = spy();
    reduced(columns, metrics![metric_that_sees]);
    for row in seen.lock().unwrap().iter() {
        if group.is_some_and(|group| row.sample_metadata["g"] != group) {
            continue;
        }
        let mut to = part.push(row.sample_id.clone(), 1);
        for (key, value) in &row.sample_metadata {
            to = to.metadata(key, value.clone());
        }
        to.score("s", row.score.clone()).unwrap();
    }
    let results = reduced(&part, built(metric));
    assert!(block(&results).failures.is_empty(), "{metric}: {:?}", block(&results).failures);
    block(&results).metrics.values().map(|entry| (entry.name.clone(), entry.value)).collect()
}

#[test]
fn clustered_metrics_are_grouped_with_each_aggregate() {
    let columns = clustered();
    for metric in [
        "stderr(cluster='c')",
        "ci(cluster='c')",
        "ci(cluster='c', method='bootstrap', num_samples=20)",
        "ci_wilson(cluster='c')",
        "ci_wilson",
    ] {
        // A single figure has the name of the group alone, several have theirs behind it.
        let named = |group: &str, figures: Vec<(String, f64)>| -> Vec<(String, f64)> {
            let single = figures.len() == 1;
            let name = |name: String| if single { group.to_owned() } else { format!("{group}_{name}") };
            figures.into_iter().map(|(key, value)| (name(key), value)).collect()
        };
        let groups: Vec<(String, f64)> =
            ["a", "b"].iter().flat_map(|g| named(g, figures(&columns, metric, Some(g)))).collect();
        let over_samples = named("all", figures(&columns, metric, None));
        let (a, b) = groups.split_at(groups.len() / 2);
        let mean =
            |(a, b): (&(String, f64), &(String, f64))| (a.0.replacen('a', "all", 1), (a.1 + b.1) / 2.0);
        let over_groups: Vec<(String, f64)> = a.iter().zip(b).map(mean).collect();
        for (all, aggregate) in [("'samples'", over_samples), ("'groups'", over_groups), ("false", vec![])] {
            let spec = format!("grouped({metric}, 'g', all={all})");
            let found = figures(&columns, &spec, None);
            let wanted: Vec<(String, f64)> = groups.iter().cloned().chain(aggregate).collect();
            assert_eq!(found.len(), wanted.len(), "{spec}: {found:?}");
            for ((name, value), (wanted_name, wanted)) in found.iter().zip(&wanted) {
                assert_eq!(name, wanted_name, "{spec}");
                assert!((value - wanted).abs() < 1e-15, "{spec}: {name} {value} {wanted}");
            }
        }
    }
}

#[test]
fn clustered_metrics_are_grouped_within_groups() {
    let columns = clustered();
    for inner in ["'samples'", "'groups'", "false"] {
        for outer in ["'samples'", "'groups'", "false"] {
            for metric in ["ci_wilson(cluster='c')", "stderr(cluster='c')", "ci(cluster='c')"] {
                let spec = format!("grouped(grouped({metric}, 'g', all={inner}), 'h', all={outer})");
                let found = figures(&columns, &spec, None);
                let per_group = if metric.starts_with("stderr") { 1 } else { 2 };
                let count = |all: &str| if all == "false" { 2 } else { 3 };
                assert_eq!(found.len(), per_group * count(inner) * count(outer), "{spec}: {found:?}");
                assert!(found.iter().all(|(_, value)| value.is_finite()), "{spec}: {found:?}");
            }
        }
    }
}

#[test]
fn a_clustered_metric_over_a_field_that_no_score_has_is_undefined() {
    let fields =
        scored([("a", Score::new(Value::map([("k", 1)]))), ("b", Score::new(Value::map([("k", 0)])))]);
    for metric in ["ci_wilson(cluster='c')", "stderr(cluster='c')", "ci(cluster='c')"] {
        let results = reduced(&fields, built(&format!("aggregate('other', {metric}, on_missing='skip')")));
        assert!(block(&results).failures.is_empty(), "{:?}", block(&results).failures);
        let entry = &block(&results).metrics["aggregate"];
        assert!(entry.value.is_nan());
        assert_eq!(entry.undefined_reason(), Some("n = 0"));
    }
}
