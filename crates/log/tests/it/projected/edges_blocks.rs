//! Blocks, their counts, the headline.

use errorbar_log::inspect::ResultsJson;

use crate::projected::edges_support::*;

#[test]
fn blocks_by_key_count_everything_that_is_absent() {
    let map = |value: Leaf| Score::new(Value::map([("k", value)]));
    let mut columns = scored([
        ("a", map(Leaf::Int(1))),
        ("b", map(Leaf::Int(0))),
        ("n", map(Leaf::Unscored)),
        ("u", Score::unscored("refusal")),
    ]);
    columns.push("m", 1).errored();
    let map = by_key([("k", vec![Arc::new(mean()) as Arc<dyn Metric>])]);
    for results in [unreduced(&columns, map.clone()), reduced(&columns, map)] {
        let block = block(&results);
        assert_eq!((block.scored_samples, block.unscored_samples, block.missing_samples), (2, 2, 1));
        assert_eq!(note(&block.metrics["mean"], "absent"), json!(3));
        assert_eq!(note(&block.metrics["mean"], "best"), json!(0.8), "(1 + 3)/5");
    }
}

#[test]
fn a_metric_is_applied_once_per_key_and_distinguished_by_package() {
    let columns = scored([("a", Score::new(Value::map([("k", 1)])))]);
    let constant = |name: &'static str, value: f64| -> Arc<dyn Metric> {
        Arc::new(metric_fn(name, move |_: &Scores<'_>| Ok(value)))
    };
    let twice = by_key([
        ("k", vec![constant("same", 1.0)]),
        ("*", vec![constant("same", 2.0), constant("new", 3.0)]),
    ]);
    let results = unreduced(&columns, twice);
    let figures: Vec<(&str, f64)> =
        block(&results).metrics.iter().map(|(key, entry)| (key.as_str(), entry.value)).collect();
    assert_eq!(figures, [("same", 1.0), ("new", 3.0)]);
    let packages = by_key([("k", vec![constant("acme/same", 1.0), constant("same", 2.0)])]);
    let results = unreduced(&columns, packages);
    let keys: Vec<&str> = block(&results).metrics.keys().map(String::as_str).collect();
    assert_eq!(keys, ["acme/same", "same"]);
    let again = by_key([("k", vec![constant("acme/same", 1.0)]), ("*", vec![constant("acme/same", 2.0)])]);
    assert_eq!(block(&unreduced(&columns, again)).metrics["acme/same"].value, 1.0);
}

#[test]
fn scorers_keep_their_arguments() {
    let mut plan = Plan::new().scorer("s", metrics![mean()]);
    plan.scorers[0].params.insert("model".to_owned(), json!("judge"));
    let results = results(&simple([("a", 1)]), &plan).unwrap();
    assert_eq!(block(&results).params["model"], json!("judge"));
}

#[test]
fn scorers_that_are_not_planned_have_their_own_metrics() {
    let mut columns = ScoreColumns::new(["planned", "f1", "perplexity", "other"]);
    let mut row = columns.push("a", 1);
    for scorer in ["planned", "f1", "perplexity", "other"] {
        row = row.score(scorer, Score::new(1)).unwrap();
    }
    let mut plan = Plan::new().scorer("planned", metrics![mean()]);
    let perplexity = metrics![perplexity_per_token(), perplexity_per_seq()];
    let defaults = [("f1", metrics![mean(), stderr()]), ("perplexity", perplexity)];
    plan.default_metrics = defaults.map(|(name, metrics)| (name.to_owned(), metrics)).into();
    let results = results(&columns, &plan).unwrap();
    let metrics: Vec<(&str, Vec<&str>)> = results
        .scores
        .iter()
        .map(|block| (block.scorer.as_str(), block.metrics.keys().map(String::as_str).collect()))
        .collect();
    let wanted = [
        ("planned", vec!["mean"]),
        ("f1", vec!["mean", "stderr"]),
        ("perplexity", vec!["perplexity_per_token", "perplexity_per_seq"]),
        ("other", vec!["accuracy", "stderr"]),
    ];
    assert_eq!(metrics, wanted);
}

#[test]
fn a_headline_must_fit_in_every_respect() {
    let map = |v: i64| Score::new(Value::map([("a", v), ("b", v)]));
    let mut columns = ScoreColumns::new(["s", "t"]);
    columns.push("q", 1).score("s", map(1)).unwrap().score("t", map(0)).unwrap();
    let list: Vec<Arc<dyn Reducer>> = vec![Arc::new(reducers::mean()), Arc::new(reducers::max())];
    let mut plan = Plan::new()
        .metrics(by_key([("*", vec![Arc::new(mean()) as Arc<dyn Metric>, Arc::new(stderr())])]))
        .reducers(Reducers::explicit(list));
    let text = |t: &str| Some(t.to_owned());
    plan.headline = Some(HeadlineRequest {
        scorer: text("t"),
        score: text("b"),
        metric: text("stderr"),
        reducer: text("max"),
    });
    let headline = results(&columns, &plan).unwrap().headline.unwrap();
    let found = [&headline.scorer, &headline.score, &headline.metric, headline.reducer.as_ref().unwrap()];
    assert_eq!(found, ["t", "b", "stderr", "max"]);
    plan.headline = Some(HeadlineRequest { metric: text("nope"), ..HeadlineRequest::default() });
    let results = results(&columns, &plan).unwrap();
    assert_eq!(results.headline.as_ref().unwrap().metric, "mean");
    assert_matches!(results.warnings[0], Warning::NoHeadline { wanted } if wanted == "metric \"nope\"");
}

#[test]
fn failures_are_part_of_the_json() {
    let plan = Plan::new().metrics(metrics![mean()]);
    let results = plan.evaluate(&simple([("a", f64::INFINITY)])).unwrap().results;
    let json = serde_json::to_value(ResultsJson::new(&results)).unwrap();
    let failure = &json["scores"][0]["failures"][0];
    assert_eq!(failure["metric"], json!("mean"));
    assert_eq!(failure["error"], json!(results.scores[0].failures[0].error.to_string()));
}
