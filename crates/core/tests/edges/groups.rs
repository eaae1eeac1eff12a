//! Groups, and fields of maps.

use crate::support::*;

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
    // Values of groups read by a conversion have an error of their own, which nobody knows.
    let results =
        reduced(&two_groups(), metrics![by_groups(mean()).value_to_float(value_to_float().correct(2.0))]);
    let all = &block(&results).metrics["all"];
    assert_eq!((all.value, note(all, "stderr")), (2.5, json!(null)), "(1 + 4)/2");
}

#[test]
fn merged_groups_keep_the_macro_error() {
    let metric = grouped(mean(), "g").all(All::Groups);
    let whole = two_groups();
    let set = ScoreSet::unreduced(&whole, "s").unwrap();
    let wanted = metric.compute(&set.scores()).unwrap();
    let mut merged = metric.state().unwrap();
    for part in [[("1", 1, "a"), ("5", 6, "b")].as_slice(), &[("2", 1, "a"), ("3", 4, "a"), ("4", 2, "b")]] {
        let part = columns(part.iter().map(|(id, v, g)| (*id, 1, Some(*v), json!(g))));
        let mut state = metric.state().unwrap();
        state.update(&ScoreSet::unreduced(&part, "s").unwrap().scores()).unwrap();
        merged.merge(state).unwrap();
    }
    assert_eq!(merged.finish().unwrap(), wanted);
    let MetricValue::Map(map) = wanted else { unreachable!("a map") };
    assert!(map["all"].as_ref().unwrap().notes.contains_key("stderr"));
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
fn plans_say_which_metadata_they_need() {
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
    let said = warnings(&results);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_says(&said[0], &["1 value(s)", "\"b\""]);
    // Read by a conversion of its own, it is counted as well.
    let results = unreduced(&columns, metrics![aggregate("k", mean()).to_float(value_to_float())]);
    assert_eq!(warnings(&results).len(), 1);
}
