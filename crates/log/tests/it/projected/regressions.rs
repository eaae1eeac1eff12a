//! Mistakes that a review found, each once; none may come back.
use crate::projected::recorded::{Results, results};
use errorbar_core::metrics::*;
use errorbar_core::{
    Conversion, Error, LeafMap, Metrics, Plan, Reducer, Reducers, Registry, Score, ScoreColumns, Value,
    Warning, metrics, reducers, value_to_float,
};
use errorbar_test_support::assert_matches;
use serde_json::{Value as Json, json};

fn compute(columns: &ScoreColumns, metrics: Metrics) -> Results {
    results(columns, &Plan::new().metrics(metrics)).unwrap()
}
fn unreduced(columns: &ScoreColumns, metrics: Metrics) -> Results {
    results(columns, &Plan::new().metrics(metrics).reducers(Reducers::Disabled)).unwrap()
}
fn cols(rows: Vec<(String, Value, Json)>) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, value, g) in rows {
        columns.push(id, 1).metadata("g", g).score("s", Score::new(value)).unwrap();
    }
    columns
}

#[test]
fn errored_twice() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).errored().errored();
    assert_eq!(results(&columns, &Plan::new()).unwrap().completed_samples, 0);
}

#[test]
fn negative_zero_in_lists() {
    let mut rows = Vec::new();
    for i in 0..4000 {
        rows.push((format!("x{i}"), 1.into(), json!([0.0, i])));
        rows.push((format!("y{i}"), 0.into(), json!([-0.0, i])));
    }
    let r = compute(&cols(rows), metrics![grouped(mean(), "g").all(All::None)]);
    assert_eq!(r.scores[0].metrics.len(), 8000);
}

#[test]
fn unsigned_cluster_ids() {
    let rows = [(u64::MAX, 1), (u64::MAX - 1, 0), (u64::MAX - 2, 1)];
    let rows =
        rows.iter().enumerate().map(|(i, (g, v))| (i.to_string(), Value::from(*v), json!(g))).collect();
    let r = compute(&cols(rows), metrics![stderr().cluster("g")]);
    assert_eq!(r.scores[0].metrics["stderr"].metadata.as_ref().unwrap()["clusters"], json!(3));
}

#[test]
fn duplicate_scorer_columns() {
    let mut columns = ScoreColumns::new(["s", "s"]);
    columns.push("a", 1).score("s", Score::new(1)).unwrap();
    let r = results(&columns, &Plan::new()).unwrap();
    let names: Vec<_> = r.scores.iter().map(|b| (b.scorer.clone(), b.missing_samples)).collect();
    assert_eq!(names, [("s".to_owned(), 0), ("s1".to_owned(), 1)]);
}

#[test]
fn aggregate_must_not_overwrite_a_group() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("1", 1).metadata("g", "all_a").score("s", Score::new("b")).unwrap();
    columns.push("2", 1).metadata("g", "x").score("s", Score::new("a_b")).unwrap();
    let r = unreduced(&columns, metrics![grouped(frequency(), "g")]);
    let b = &r.scores[0];
    assert!(!b.failures.is_empty(), "all_a_b is {} and was 1.0 for the group", b.metrics["all_a_b"].value);
}

#[test]
fn the_warning_names_the_sample() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("good", 1).score("s", Score::new(Value::map([("k", 1.0)]))).unwrap();
    columns.push("bad", 1).score("s", Score::new(Value::map([("k", "what")]))).unwrap();
    let r = unreduced(&columns, metrics![aggregate("k", mean()).to_float(value_to_float())]);
    assert_matches!(r.warnings[0], Warning::Unconvertible { sample, .. } if sample == "bad");
}

#[test]
fn aggregate_keeps_the_rest_of_the_score() {
    let mut columns = ScoreColumns::new(["s"]);
    let score =
        Score::new(Value::map([("k", 1.0)])).metadata("num_tokens", 10).metadata("sum_log_probs", -10.0);
    columns.push("a", 1).score("s", score).unwrap();
    let r = compute(&columns, metrics![aggregate("k", perplexity_per_token())]);
    assert!(
        (r.scores[0].metrics["aggregate"].value - std::f64::consts::E).abs() < 1e-12,
        "{:?}",
        r.scores[0].metrics
    );
}

#[test]
fn zero_is_zero() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(Value::map([("k", 7)]))).unwrap();
    columns.push("b", 1).score("s", Score::new(Value::map([("x", 7)]))).unwrap();
    let metric = aggregate("k", mean()).to_float(value_to_float().correct(0)).on_missing(OnMissing::Zero);
    let r = unreduced(&columns, metrics![metric]);
    assert_eq!(r.scores[0].metrics["aggregate"].value, 3.5);
}

#[test]
fn alpha_converts_only_what_is_no_number() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, list) in [("a", [1, 2]), ("b", [2, 3]), ("c", [3, 3])] {
        columns.push(id, 1).score("s", Score::new(Value::list(list))).unwrap();
    }
    let plain = krippendorff_alpha().level(Level::Interval);
    let with = krippendorff_alpha().level(Level::Interval).to_float(value_to_float().correct(3));
    let r = unreduced(&columns, metrics![plain, with]);
    let m = &r.scores[0].metrics;
    assert_eq!(m["krippendorff_alpha"].value, m["krippendorff_alpha2"].value);
}

#[test]
fn alpha_has_no_silent_zero() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, list) in [("a", ["C", "what"]), ("b", ["I", "I"])] {
        columns.push(id, 1).score("s", Score::new(Value::list(list))).unwrap();
    }
    let r =
        unreduced(&columns, metrics![krippendorff_alpha().level(Level::Interval).to_float(value_to_float())]);
    assert_eq!(r.warnings.len(), 1);
}

#[test]
fn tiny_ratings_disagree() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, list) in [("a", [1e-200, 2e-200]), ("b", [3e-200, 1e-200])] {
        columns.push(id, 1).score("s", Score::new(Value::list(list))).unwrap();
    }
    let r = unreduced(&columns, metrics![krippendorff_alpha().level(Level::Interval)]);
    assert!(
        r.scores[0].metrics["krippendorff_alpha"].value < 0.9,
        "{}",
        r.scores[0].metrics["krippendorff_alpha"].value
    );
}
#[test]
fn huge_ratings() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, list) in [("a", [1e200, 2e200]), ("b", [3e200, 1e200])] {
        columns.push(id, 1).score("s", Score::new(Value::list(list))).unwrap();
    }
    let r = unreduced(&columns, metrics![krippendorff_alpha().level(Level::Interval)]);
    assert!(
        r.scores[0].metrics["krippendorff_alpha"].value.is_finite(),
        "{}",
        r.scores[0].metrics["krippendorff_alpha"].value
    );
}

#[test]
fn infinite_group() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, lp, g) in [("a", -1e6, "x"), ("b", -1.0, "y")] {
        let score = Score::new(1).metadata("num_tokens", 1).metadata("sum_log_probs", lp);
        columns.push(id, 1).metadata("g", g).score("s", score).unwrap();
    }
    let r = compute(&columns, metrics![grouped(perplexity_per_token(), "g").all(All::Groups)]);
    assert_eq!(r.scores[0].metrics["all"].value, f64::INFINITY);
}

#[test]
fn clustered_extremes() {
    for scale in [1e200, 1e-200] {
        let rows = [(1.0, "a"), (2.0, "a"), (-1.0, "b"), (3.0, "c")];
        let rows2 = rows
            .iter()
            .enumerate()
            .map(|(i, (v, g))| (i.to_string(), Value::from(v * scale), json!(g)))
            .collect();
        let r = compute(&cols(rows2), metrics![stderr().cluster("g"), grouped(mean(), "g").all(All::Groups)]);
        let got = r.scores[0].metrics["stderr"].value / scale;
        assert!((got - 0.7).abs() < 0.7, "{scale}: {got}");
        println!("{scale} {got}");
    }
}
#[test]
fn macro_error_extremes() {
    for scale in [1e200, 1e-200] {
        let rows = [(1.0, "a"), (2.0, "a"), (-1.0, "b"), (3.0, "b")];
        let rows2 = rows
            .iter()
            .enumerate()
            .map(|(i, (v, g))| (i.to_string(), Value::from(v * scale), json!(g)))
            .collect();
        let r = compute(&cols(rows2), metrics![grouped(mean(), "g").all(All::Groups)]);
        let m = r.scores[0].metrics["all"].metadata.clone().unwrap();
        let got = m["stderr"].as_f64().unwrap_or(f64::NAN) / scale;
        assert!((got - 1.03).abs() < 0.01, "{scale}: {got}");
    }
}

#[test]
fn summaries_are_sentences() {
    let registry = Registry::built_in();
    for l in registry.list_reducers().chain(registry.list_metrics()) {
        assert!(!l.summary().ends_with("et al"), "{}", l.summary());
    }
}

#[test]
fn foreign_packages_are_not_built_in() {
    assert!(Registry::built_in().metric(&"acme/accuracy".parse().unwrap()).is_err());
}

#[test]
fn seed_round_trips() {
    let m = bootstrap_stderr().seed(u64::MAX);
    let spec = errorbar_core::ToSpec::spec(&m).to_string();
    // Specs have signed integers: 63 bits of a seed count, and the spec builds the same metric.
    let again = Registry::built_in().metric(&spec.parse().unwrap()).unwrap();
    assert_eq!(again.spec().to_string(), spec);
    assert_eq!(spec, "bootstrap_stderr(seed=9223372036854775807)");
}

#[test]
fn k_of_zero_is_refused() {
    assert!(reducers::pass_at(0).reduce(&[Score::new(1)]).is_err());
}

#[test]
fn aggregate_counts_what_it_skips() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(Value::map([("k", 1)]))).unwrap();
    columns.push("b", 1).score("s", Score::new(Value::map([("x", 7)]))).unwrap();
    let r = unreduced(&columns, metrics![aggregate("k", mean()).on_missing(OnMissing::Skip)]);
    assert!(r.scores[0].metrics["aggregate"].metadata.is_some());
}

#[test]
fn conversion_to_nan_is_not_infinite() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(1)).unwrap();
    let r = unreduced(&columns, metrics![mean().to_float(Conversion::from_fn("f", |_| Some(f64::NAN)))]);
    assert!(r.scores[0].failures.is_empty(), "{:?}", r.scores[0].failures);
    assert_eq!((r.scores[0].unconvertible, r.warnings.len()), (1, 1));
}

#[test]
fn group_errors_name_the_group() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, g, c) in [("1", "x", "a"), ("2", "x", "b"), ("3", "y", "a"), ("4", "y", "a")] {
        columns.push(id, 1).metadata("g", g).metadata("c", c).score("s", Score::new(1)).unwrap();
    }
    let r = compute(&columns, metrics![grouped(ci_wilson().cluster("c"), "g")]);
    assert_matches!(r.scores[0].failures[0].error, Error::InGroup { group, .. } if group == "y");
}

#[test]
fn one_warning_for_one_problem() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new("what")).unwrap();
    let registry = Registry::built_in();
    let list: Vec<_> =
        ["mean", "median", "max"].iter().map(|n| registry.reducer(&n.parse().unwrap()).unwrap()).collect();
    let r = results(&columns, &Plan::new().reducers(Reducers::explicit(list))).unwrap();
    let mut texts: Vec<_> = r.warnings.iter().map(ToString::to_string).collect();
    let n = texts.len();
    texts.dedup();
    assert_eq!(texts.len(), n, "{texts:?}");
}

#[test]
fn headline_of_what_there_is() {
    let mut columns = ScoreColumns::new(["s", "t"]);
    columns.push("a", 1).score("s", Score::new(f64::INFINITY)).unwrap().score("t", Score::new(1)).unwrap();
    let r = compute(&columns, metrics![mean()]);
    assert!(r.headline.is_some());
}

#[test]
fn shapes_of_reduce_name_no_empty_sample() {
    let e: Error = reducers::mean().reduce(&[Score::new(Value::list([1])), Score::new(1)]).unwrap_err();
    assert_eq!(
        e.to_string(),
        "mean: the epochs differ in shape: a list of 1 and 1; give each epoch the same keys or length, or leave it unscored (NaN)"
    );
}

#[test]
fn small_tables() {
    // A thousand keys, each with an object and the same object in another order.
    let mut columns = ScoreColumns::new(["s"]);
    let one: Json = serde_json::from_str("{\"a\":1,\"b\":2}").unwrap();
    let two: Json = serde_json::from_str("{\"b\":2,\"a\":1}").unwrap();
    let keys: Vec<String> = (0..3000).map(|i| format!("k{i}")).collect();
    let mut rows = Vec::new();
    for (i, k) in keys.iter().enumerate() {
        let _ = (i, k);
        let a = json!([one.clone(), i]);
        let b = json!([two.clone(), i]);
        rows.push((k.clone(), a, b));
    }
    columns
        .push("x", 1)
        .metadata_all(rows.iter().map(|(k, a, _)| (k.as_str(), a)))
        .score("s", Score::new(1))
        .unwrap();
    columns
        .push("y", 1)
        .metadata_all(rows.iter().map(|(k, _, b)| (k.as_str(), b)))
        .score("s", Score::new(0))
        .unwrap();
    let set = errorbar_core::ScoreSet::unreduced(&columns, "s").unwrap();
    let mut merged = 0;
    for k in &keys {
        let v = errorbar_core::Metric::compute(&grouped(mean(), k.as_str()).all(All::None), &set.scores())
            .unwrap();
        if let errorbar_core::MetricValue::Map(m) = v {
            merged += usize::from(m.len() == 1)
        }
    }
    assert_eq!(merged, 0);
}

#[test]
fn a_zero_of_one_epoch_has_no_sign() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(-0.0)).unwrap();
    let r = compute(&columns, metrics![mean()]);
    let reduced = r.reductions[0].iter(&columns).next().unwrap().1;
    assert!(reduced.to_f64().is_sign_positive());
}

#[test]
fn groups_may_be_nested_four_levels_deep() {
    let nested = |levels: usize| {
        let spec = (0..levels).fold("accuracy()".to_owned(), |inner, _| format!("grouped({inner}, \"k\")"));
        Registry::built_in().metric(&spec.parse().unwrap())
    };
    nested(4).unwrap();
    assert_matches!(
        nested(5).unwrap_err(),
        Error::Argument { target, argument, .. } if target == "grouped" && argument == "metric"
    );
    // Each level of sixteen would give twice the figures of the one within.
    nested(16).unwrap_err();
}

#[test]
fn random_figures_draw_no_more_than_the_plan_allows() {
    let mut columns = ScoreColumns::new(["s"]);
    for id in 0..100 {
        columns.push(id.to_string(), 1).score("s", Score::new(f64::from(id))).unwrap();
    }
    let metrics = metrics![mean(), bootstrap_stderr().num_samples(600), bootstrap_stderr().num_samples(500)];
    let mut plan = Plan::new().scorer("s", metrics);
    plan.max_draws = Some(100_000);
    let limited = results(&columns, &plan).unwrap();
    let block = &limited.scores[0];
    assert_eq!(block.metrics.keys().collect::<Vec<_>>(), ["mean", "bootstrap_stderr"]);
    assert_matches!(
        &block.failures[0].error,
        Error::TooManyDraws { spec, .. } if spec.name == "bootstrap_stderr"
    );
    plan.max_draws = None;
    assert!(results(&columns, &plan).unwrap().scores[0].failures.is_empty());
}

#[test]
fn metrics_of_one_name_are_numbered_in_order_however_many_there_are() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("1", 1).score("s", Score::new(1)).unwrap();
    let metrics: Metrics = (0..20_000).map(|_| mean()).collect();
    let found = results(&columns, &Plan::new().scorer("s", metrics)).unwrap();
    assert_eq!(found.scores[0].metrics.keys().nth(19_999).unwrap(), "mean20000");
}

#[test]
fn keys_of_a_map_have_a_limit() {
    let map = |keys: usize| (0..keys).map(|key| (format!("k{key}").into(), 1.into())).collect::<LeafMap>();
    for (keys, is_computed) in [(100, true), (10_001, false)] {
        let mut columns = ScoreColumns::new(["s"]);
        columns.push("q1", 1).score("s", Score::new(Value::Map(map(keys)))).unwrap();
        let found = results(&columns, &Plan::new().scorer("s", metrics![{"*": [mean()]}]));
        match found {
            Ok(found) => assert!(is_computed && found.scores.len() >= keys),
            Err(error) => {
                assert!(!is_computed);
                assert_eq!(
                    error.to_string(),
                    "metrics by key of `s`: the score of sample `q1` has 10001 keys, and at most 10000 are computed; \
                     name plain metrics, or metrics for fewer keys"
                );
            }
        }
    }
}
