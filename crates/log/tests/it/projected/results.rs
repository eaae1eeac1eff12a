//! Results beyond the reference: notes, counts, warnings, failures that stand alone, and the messages of errors.

use crate::projected::recorded::{Entry, Results, results};
use errorbar_core::metrics::{All, accuracy, bootstrap_stderr, ci, ci_wilson, grouped, mean, stderr};
use errorbar_core::{
    Epochs, Error, Metrics, Plan, Reducers, Registry, Score, ScoreColumns, Value, Warning, metrics, reducers,
};
use errorbar_log::inspect::ResultsJson;
use errorbar_test_support::assert_matches;
use serde_json::json;

/// Columns of one scorer `s` with a metadata key `g`.
fn columns<V: Into<Value>>(
    rows: impl IntoIterator<Item = (&'static str, u32, V, &'static str)>,
) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, epoch, value, group) in rows {
        columns.push(id, epoch).metadata("g", group).score("s", Score::new(value)).unwrap();
    }
    columns
}

fn compute(columns: &ScoreColumns, metrics: Metrics) -> Results {
    results(columns, &Plan::new().metrics(metrics)).unwrap()
}

fn built(spec: &str) -> Result<Metrics, Error> {
    Registry::built_in().metrics(&spec.parse()?)
}

/// The failure of the only metric.
fn failure(columns: &ScoreColumns, metrics: &str) -> Error {
    let results = compute(columns, built(metrics).unwrap());
    let block = &results.scores[0];
    assert!(block.metrics.is_empty(), "{:?}", block.metrics);
    block.failures[0].error.clone()
}

fn missing_key(metric: &str, key: &str, sample: &str, known: &[&str]) -> Error {
    let known = known.iter().map(|key| (*key).to_owned()).collect();
    Error::MissingKey { metric: metric.to_owned(), key: key.to_owned(), sample: sample.to_owned(), known }
}

fn note(entry: &Entry, key: &str) -> serde_json::Value {
    entry.metadata.as_ref().and_then(|m| m.get(key)).cloned().unwrap_or_default()
}

#[test]
fn unknown_is_noted_and_keeps_the_number_of_the_reference() {
    let one = columns([("q1", 1, "C", "a")]);
    let results = compute(
        &one,
        metrics![accuracy(), stderr(), stderr().cluster("g"), bootstrap_stderr(), ci(), ci_wilson()],
    );
    let metrics = &results.scores[0].metrics;
    assert_eq!(metrics["accuracy"].undefined_reason(), None);
    for (key, reason) in
        [("stderr", "n < 2"), ("stderr2", "clusters < 2"), ("bootstrap_stderr", "n < 2"), ("lower", "n < 2")]
    {
        assert_eq!(metrics[key].undefined_reason(), Some(reason), "{key}");
    }
    assert_eq!(metrics["stderr"].value, 0.0);
    assert_eq!((metrics["lower"].value, metrics["upper"].value), (1.0, 1.0));
    assert_eq!(metrics["lower2"].undefined_reason(), None, "Wilson is defined at n = 1");
}

#[test]
fn clusters_and_degrees_of_freedom_are_noted() {
    let rows = [("1", 1, 1, "a"), ("2", 1, 0, "a"), ("3", 1, 1, "b"), ("4", 1, 0, "c")];
    let results = compute(
        &columns(rows),
        metrics![stderr().cluster("g"), ci(), ci().cluster("g"), ci_wilson().cluster("g")],
    );
    let metrics = &results.scores[0].metrics;
    assert_eq!(note(&metrics["stderr"], "clusters"), json!(3));
    assert_eq!(note(&metrics["lower"], "df"), json!(3));
    assert_eq!(note(&metrics["lower2"], "df"), json!(2));
    assert_eq!(note(&metrics["lower3"], "clusters"), json!(3));
}

#[test]
fn absent_samples_are_counted_and_bounded() {
    let mut columns = columns([("1", 1, "C", "a"), ("2", 1, "I", "a"), ("3", 1, "C", "a")]);
    columns.push("4", 1).metadata("g", "a").score("s", Score::unscored("refusal")).unwrap();
    columns.push("5", 1).metadata("g", "a").errored();
    let results = compute(&columns, metrics![accuracy(), grouped(accuracy(), "g")]);
    assert_eq!((results.total_samples, results.completed_samples), (5, 4));
    let block = &results.scores[0];
    assert_eq!((block.scored_samples, block.unscored_samples, block.missing_samples), (3, 1, 1));
    assert_eq!((block.errored_samples, block.epochs), (1, 1));
    // Two of three right; with two more wrong it is 2/5, with two more right 4/5.
    let accuracy = &block.metrics["accuracy"];
    assert_eq!(accuracy.value, 2.0 / 3.0);
    assert_eq!((note(accuracy, "worst"), note(accuracy, "best")), (json!(0.4), json!(0.8)));
    assert_eq!(note(&block.metrics["a"], "worst"), json!(0.4), "both are of the group");
}

#[test]
fn scores_that_are_no_proportions_have_no_bounds() {
    let mut columns = columns([("1", 1, 5.0, "a"), ("2", 1, 0.5, "a")]);
    columns.push("3", 1).metadata("g", "a");
    let results = compute(&columns, metrics![mean()]);
    assert_eq!(results.scores[0].missing_samples, 1);
    assert_eq!(note(&results.scores[0].metrics["mean"], "worst"), json!(null));
}

#[test]
fn the_macro_average_has_an_error_of_its_own() {
    // Groups {1, 1, 4} and {2, 6}: errors 1 and 2, so √(1 + 4)/2 = 1.118; the mean of the errors, 1.5, is wrong.
    let rows = [("1", 1, 1, "a"), ("2", 1, 1, "a"), ("3", 1, 4, "a"), ("4", 1, 2, "b"), ("5", 1, 6, "b")];
    let results = compute(&columns(rows), metrics![grouped(mean(), "g").all(All::Groups)]);
    let all = &results.scores[0].metrics["all"];
    assert_eq!(all.value, 3.0);
    let error = note(all, "stderr").as_f64().unwrap();
    assert!((error - 1.118033988749895).abs() < 1e-15, "{error}");
    let lone = columns([("1", 1, 1, "a"), ("2", 1, 1, "a"), ("3", 1, 4, "b")]);
    let results = compute(&lone, metrics![grouped(mean(), "g").all(All::Groups)]);
    assert_eq!(note(&results.scores[0].metrics["all"], "stderr"), json!(null), "a group of one has no error");
}

#[test]
fn a_metric_that_fails_fails_alone() {
    let infinite = columns([("fine", 1, 1.0, "a"), ("broken", 1, f64::INFINITY, "b")]);
    let results = compute(&infinite, built("[mean, stderr, frequency, grouped(mean(), 'g')]").unwrap());
    let reduced = &results.scores[0];
    let failed: Vec<&str> = reduced.failures.iter().map(|f| f.metric.as_str()).collect();
    assert_eq!(failed, ["mean", "stderr", "grouped"]);
    assert_matches!(
        reduced.failures[0].error,
        Error::Undefined { metric, problem } if metric == "mean" && problem.starts_with("the score of sample \"broken\" is infinite")
    );
    assert_eq!(results.scores[1].metrics["inf"].value, 0.5, "frequency counts what it finds");
}

#[test]
fn values_without_a_meaning_are_counted() {
    let rows = [("1", 1, "C", "a"), ("2", 1, "perhaps", "a"), ("3", 1, "maybe", "a")];
    let results = compute(&columns(rows), metrics![accuracy()]);
    assert_eq!(results.warnings.len(), 1);
    assert_matches!(
        results.warnings[0],
        Warning::Unconvertible { scorer, count: 2, sample, example, reducer: Some(_), .. }
            if scorer == "s" && sample == "2" && example == "the string \"perhaps\""
    );
    assert_eq!(results.scores[0].metrics["accuracy"].value, 1.0 / 3.0);
    let unreduced = results_of(
        &columns(rows),
        &Plan::new().metrics(metrics![accuracy(), stderr()]).reducers(Reducers::Disabled),
    );
    assert_eq!(unreduced.warnings.len(), 1, "two metrics share one conversion and one warning");
}

fn results_of(columns: &ScoreColumns, plan: &Plan) -> Results {
    results(columns, plan).unwrap()
}

#[test]
fn warnings_name_what_can_be_done_where_the_values_are_read() {
    let grades = columns([("1", 1, "right", "a"), ("2", 1, "wrong", "a")]);
    let spec = "mean(to_float=value_to_float(correct='right', incorrect='wrong'))";
    let by_mean = compute(&grades, built(spec).unwrap());
    // The implied mean reads the grades first; the conversion of the metric comes too late.
    assert_matches!(by_mean.warnings[0], Warning::Unconvertible { reducer: Some(reducer), .. } if reducer == "mean");
    assert_eq!(by_mean.scores[0].unconvertible, 2);
    let plan = Plan::new().metrics(built(spec).unwrap()).reducers(Reducers::Disabled);
    let unreduced = results_of(&grades, &plan);
    assert_eq!(unreduced.scores[0].metrics["mean"].value, 0.5);
    assert!(unreduced.warnings.is_empty() && unreduced.scores[0].unconvertible == 0);
    let maps = columns([("1", 1, Value::list([1, 2]), "a")]);
    let plan = Plan::new().metrics(metrics![mean()]).reducers(Reducers::Disabled);
    assert_matches!(
        results_of(&maps, &plan).warnings[0],
        Warning::Unconvertible { example, .. } if example == "a list of 2"
    );
}

#[test]
fn keys_without_metrics_are_reported() {
    let late =
        columns([("1", 1, Value::map([("a", 1)]), "x"), ("2", 1, Value::map([("a", 0), ("late", 1)]), "x")]);
    let results = compute(&late, built("{'*': [mean()], 'zz': [mean()]}").unwrap());
    assert_eq!(results.scores.len(), 1);
    assert_eq!(results.warnings.len(), 2, "{:?}", results.warnings);
    assert_matches!(
        results.warnings[0],
        Warning::LateKey { scorer, key, sample } if scorer == "s" && key == "late" && sample == "2"
    );
    assert_matches!(results.warnings[1], Warning::NoMatch { pattern, keys, .. } if pattern == "zz" && keys[0] == "a");
    let null = columns([("1", 1, Value::map([("b", None::<i64>)]), "x")]);
    let plan = Plan::new().metrics(built("{'b': [mean()]}").unwrap()).reducers(Reducers::Disabled);
    assert_matches!(
        results_of(&null, &plan).warnings[0],
        Warning::Unconvertible { key: Some(key), example, .. } if key == "b" && example == "null"
    );
}

#[test]
fn epochs_without_a_score_are_counted_apart_from_samples() {
    let mut columns = columns([("1", 1, "C", "a"), ("1", 2, "I", "a"), ("2", 1, "C", "b")]);
    columns.push("2", 2).metadata("g", "b").score("s", Score::unscored("refusal")).unwrap();
    columns.push("1", 3).metadata("g", "a");
    let results = compute(&columns, metrics![accuracy(), grouped(accuracy(), "g")]);
    let block = &results.scores[0];
    assert_eq!((block.scored_samples, block.unscored_samples, block.missing_samples), (2, 0, 0));
    assert_eq!(
        (block.epochs, block.unscored_epochs, block.missing_epochs, block.unreduced),
        (3, 1, 1, false)
    );
    assert_eq!((note(&block.metrics["a"], "n"), note(&block.metrics["b"], "n")), (json!(1), json!(1)));
    let plan = Plan::new().metrics(metrics![grouped(accuracy(), "g")]).reducers(Reducers::Disabled);
    let unreduced = results_of(&columns, &plan);
    assert!(unreduced.scores[0].unreduced);
    assert_eq!(note(&unreduced.scores[0].metrics["a"], "n"), json!(2));
}

#[test]
fn a_metric_that_panics_fails_alone() {
    let reckless = errorbar_core::metric_fn("reckless", |scores: &errorbar_core::Scores<'_>| {
        Ok(scores.floats()[usize::MAX])
    });
    let one = columns([("1", 1, "C", "a")]);
    let results = compute(&one, metrics![accuracy(), reckless, mean()]);
    let block = &results.scores[0];
    assert_eq!(block.metrics.keys().collect::<Vec<_>>(), ["accuracy", "mean"]);
    assert_matches!(
        block.failures[0].error,
        Error::Undefined { metric, problem } if metric == "reckless" && problem.starts_with("the metric panicked")
    );
}

#[test]
fn reducers_with_arguments_are_recorded_with_them() {
    let one = columns([("1", 1, "yes", "a")]);
    let reducer =
        Registry::built_in().reducer(&"max(value_to_float=value_to_float(correct='yes'))".parse().unwrap());
    let plan = Plan::new().metrics(metrics![mean()]).reducers(Reducers::explicit(vec![reducer.unwrap()]));
    let results = results_of(&one, &plan);
    let name = results.scores[0].reducer.as_deref();
    assert_eq!(name, Some(r#"max(value_to_float=value_to_float(correct="yes"))"#));
}

#[test]
fn reducers_are_checked_against_the_epochs_of_a_run() {
    let registry = Registry::built_in();
    let error = |epochs: Epochs| epochs.reducers(&registry).unwrap_err();
    assert_matches!(
        error(Epochs::new(2, ["mean", "pass_at_3"])),
        Error::TooFewEpochs { reducer, k: 3, epochs: 2 } if reducer == "pass_at_3"
    );
    assert_matches!(
        error(Epochs::new(2, reducers::at_least(4))),
        Error::TooFewEpochs { reducer, k: 4, .. } if reducer == "at_least_4"
    );
    for (spec, problem) in [
        ("at_least_0", "must be 1 or more: it counts epochs"),
        ("at_least", "is missing; it is an integer, 1 or more"),
    ] {
        assert_matches!(
            error(Epochs::new(2, spec)),
            Error::Argument { target, argument, problem: found }
                if target == "at_least" && argument == "k" && found == problem
        );
    }
    assert_matches!(
        error(Epochs::new(2, "atleast_2")),
        Error::UnknownName { kind: "reducer", name, .. } if name == "atleast_2"
    );
    // On re-scoring the same reducer gives unscored, or 0.
    let once = columns([("q", 1, 1, "a")]);
    let plan = Plan::new().metrics(metrics![mean()]).reducers(Reducers::explicit(vec![
        registry.reducer(&"pass_at_3".parse().unwrap()).unwrap(),
        registry.reducer(&"at_least_3".parse().unwrap()).unwrap(),
    ]));
    let results = results(&once, &plan).unwrap();
    assert_eq!((results.scores[0].scored_samples, results.scores[0].unscored_samples), (0, 1));
    assert_eq!(results.scores[1].metrics["mean"].value, 0.0);
}

#[test]
fn arguments_are_checked_when_a_metric_is_built() {
    for (spec, target, argument) in [
        ("ci(level=1.5)", "ci", "level"),
        ("ci(level=0)", "ci", "level"),
        ("ci_wilson(level='high')", "ci_wilson", "level"),
        ("ci(method='magic')", "ci", "method"),
        ("grouped(accuracy())", "grouped", "group_key"),
        ("grouped(accuracy(), 'g', all='everything')", "grouped", "all"),
        ("grouped(accuracy(), 'g', name_template='{nope}')", "grouped", "name_template"),
        ("grouped('accuracy', 'g')", "grouped", "metric"),
        ("bootstrap_stderr(num_samples=0)", "bootstrap_stderr", "num_samples"),
        ("mean(to_float=3)", "mean", "to_float"),
    ] {
        assert_matches!(
            built(spec).unwrap_err(),
            Error::Argument { target: of, argument: name, .. } if of == target && name == argument
        );
    }
    for (spec, kind, name, nearest) in [
        ("acuracy", "metric", "acuracy", "accuracy"),
        ("mean(to_float=value_to_flaot())", "conversion", "value_to_flaot", "value_to_float"),
    ] {
        let expected = Error::UnknownName { kind, name: name.to_owned(), nearest: Some(nearest.to_owned()) };
        assert_eq!(built(spec).unwrap_err(), expected);
    }
    assert_matches!(built("stderr(clster='g')").unwrap_err(), Error::Spec(_));
    // The words, once for each kind.
    for (spec, message) in [
        (
            "ci(level=1.5)",
            "ci: argument `level` must lie between 0 and 1 (both excluded), found 1.5; for 95 % write level=0.95",
        ),
        ("ci_wilson(level='high')", "ci_wilson: argument `level` must be a number, found \"high\""),
        ("acuracy", "unknown metric `acuracy`; did you mean `accuracy`?"),
    ] {
        assert_eq!(built(spec).unwrap_err().to_string(), message);
    }
}

#[test]
fn failures_name_the_sample_the_key_and_the_way_out() {
    let rows = [("q1", 1, "C", "all"), ("q2", 1, "I", "x")];
    let plain = columns(rows);
    for (metrics, metric) in
        [("grouped(accuracy(), 'topic')", "grouped"), ("stderr(cluster='topic')", "stderr")]
    {
        assert_eq!(failure(&plain, metrics), missing_key(metric, "topic", "q1", &["g"]));
    }
    assert_eq!(failure(&plain, "ci_wilson(cluster='h')"), missing_key("ci_wilson", "h", "q1", &["g"]));
    assert_matches!(
        failure(&plain, "grouped(accuracy(), 'g')"),
        Error::SharedGroupName(text) if text.contains("the group \"all\" (of sample \"q1\") gets the name \"all\"")
    );
    assert_matches!(
        failure(&plain, "grouped(accuracy(), 'g', name_template='same')"),
        Error::SharedGroupName(text)
            if text.contains("\"all\" and \"x\" (of sample \"q2\") both get the name \"same\"")
    );
    assert_matches!(
        failure(&columns([("q1", 1, 2, "a")]), "ci_wilson"),
        Error::Undefined { problem, .. } if problem.starts_with("the score of sample \"q1\" is 2, outside [0, 1]")
    );
    let one_cluster = columns([("q1", 1, 1, "a"), ("q2", 1, 0, "a")]);
    assert_matches!(
        failure(&one_cluster, "ci_wilson(cluster='g')"),
        Error::Undefined { problem, .. } if problem.starts_with("1 cluster(s) in metadata key `g`")
    );
    let mut no_id = ScoreColumns::new(["s"]);
    no_id.push("q1", 1).metadata("g", json!(null)).score("s", Score::new(1)).unwrap();
    assert_matches!(
        failure(&no_id, "stderr(cluster='g')"),
        Error::ClusterId { key, sample, found, .. } if key == "g" && sample == "q1" && found == "null"
    );
}

#[test]
fn scores_that_do_not_fit_the_plan_are_an_error_of_the_whole() {
    let error = |columns: &ScoreColumns, metrics: &str| {
        results(columns, &Plan::new().metrics(built(metrics).unwrap())).unwrap_err()
    };
    let scalar = columns([("q1", 1, "C", "a")]);
    assert_matches!(
        error(&scalar, "{'*': [mean()]}"),
        Error::Undefined { metric, problem } if metric == "metrics by key of `s`" && problem.starts_with("the score of sample \"q1\" is")
    );
    let keys = columns([("q1", 1, Value::map([("a", 1)]), "x"), ("q1", 2, Value::map([("b", 1)]), "x")]);
    let differ =
        |error: &Error| error.to_string().starts_with("mean: the epochs of sample \"q1\" differ in shape");
    assert!(differ(&error(&keys, "{'*': [mean()]}")));
    let lengths = columns([("q1", 1, Value::list([1, 2]), "x"), ("q1", 2, Value::list([1]), "x")]);
    assert!(differ(&error(&lengths, "mean")));
    let lacking = columns([("q1", 1, Value::map([("a", 1)]), "x"), ("q2", 1, Value::map([("b", 1)]), "x")]);
    assert_matches!(
        error(&lacking, "{'a': [mean()]}"),
        Error::Custom(text) if text.contains("\"q2\" by `s` has no key \"a\", which the pattern \"a\" matched")
    );
    let twice = columns([("q1", 1, 1, "x"), ("q1", 1, 0, "x")]);
    assert_eq!(error(&twice, "mean"), Error::DuplicateEpoch { sample: "q1".to_owned(), epoch: 1 });
}

#[test]
fn json_is_strict_and_has_the_documented_fields() {
    let empty = ScoreColumns::new(["s"]);
    let results = Plan::new().metrics(metrics![accuracy()]).evaluate(&empty).unwrap().results;
    let json = serde_json::to_value(ResultsJson::new(&results)).unwrap();
    let block = &json["scores"][0];
    assert_eq!(block["metrics"]["accuracy"]["value"], json!(null));
    assert_eq!(block["metrics"]["accuracy"]["metadata"], json!({"undefined": "n = 0"}));
    assert_eq!(block["reducer"], json!(null));
    assert_eq!(block["metrics"]["accuracy"]["group"], json!(null));
    for field in ["name", "scorer", "scored_samples", "unscored_samples", "params", "metrics"] {
        assert!(block.get(field).is_some(), "{field}");
    }
    for field in ["total_samples", "completed_samples", "scores"] {
        assert!(json.get(field).is_some(), "{field}");
    }
}

#[test]
fn a_key_that_tells_samples_apart_is_no_group() {
    let mut columns = ScoreColumns::new(["s"]);
    for n in 0..=100_000 {
        columns.push(n.to_string(), 1).metadata("g", n).score("s", Score::new(1)).unwrap();
    }
    let wanted = "grouped: `g` has more than 100000 different values, and each would be a group; group by a key that \
                  has fewer";
    // One metric with a state, and one without.
    for metric in ["grouped(mean(), 'g')", "grouped(krippendorff_alpha(), 'g')"] {
        assert_eq!(failure(&columns, metric).to_string(), wanted);
    }
}
