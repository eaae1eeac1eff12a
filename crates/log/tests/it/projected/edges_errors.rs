//! Which sample an error names; builders with arguments that specs refuse; the registry.

use crate::projected::edges_support::*;

#[test]
fn errors_name_the_sample_that_is_to_blame() {
    let key = columns([("ok", 1, Some(1), json!("x")), ("lacks", 1, Some(0), Json::Null)]);
    assert_matches!(
        failure(&reduced(&key, metrics![grouped(mean(), "g")])),
        Error::MissingKey { key, sample, .. } if key == "g" && sample == "lacks"
    );
    let id = columns([("ok", 1, Some(1), json!("x")), ("list", 1, Some(0), json!([1, 2]))]);
    assert_matches!(
        failure(&reduced(&id, metrics![stderr().cluster("g")])),
        Error::ClusterId { key, sample, found, .. } if key == "g" && sample == "list" && found == "[1, 2]"
    );
    let long = columns([("ok", 1, Some(1), json!("x")), ("long", 1, Some(0), json!(["y".repeat(5000)]))]);
    assert!(failure(&reduced(&long, metrics![stderr().cluster("g")])).to_string().len() < 300);
    let two = simple([("ok", 1), ("two", 2)]);
    assert_matches!(
        failure(&reduced(&two, metrics![ci_wilson()])),
        Error::Undefined { problem, .. } if problem.starts_with("the score of sample \"two\" is 2, outside [0, 1]")
    );
    let taken = columns([("ok", 1, Some(1), json!("x")), ("named", 1, Some(0), json!("all"))]);
    assert_matches!(
        failure(&reduced(&taken, metrics![grouped(mean(), "g")])),
        Error::SharedGroupName(text) if text.contains("(of sample \"named\") gets the name \"all\"")
    );
    let shape = scored([("ok", Score::new(Value::map([("k", 1)]))), ("flat", Score::new(1))]);
    let is_shape =
        |error: &Error, of: &str| error.to_string().contains(&format!("the score of sample {of:?} is"));
    assert!(is_shape(&failure(&unreduced(&shape, metrics![aggregate("k", mean())])), "flat"));
    let nested = scored([("ok", Score::new(1)), ("deep", Score::new(Value::list([1])))]);
    assert!(is_shape(&failure(&unreduced(&nested, metrics![frequency()])), "deep"));
    let ratings =
        scored([("ok", Score::new(Value::list([1, 2]))), ("text", Score::new(Value::list(["a", "b"])))]);
    let alpha = || metrics![krippendorff_alpha().level(Level::Ordinal)];
    assert!(is_shape(&failure(&unreduced(&ratings, alpha())), "text"));
    let infinite = scored([
        ("ok", Score::new(Value::list([1.0, 2.0]))),
        ("inf", Score::new(Value::list([1.0, f64::INFINITY]))),
    ]);
    assert_matches!(
        failure(&unreduced(&infinite, alpha())),
        Error::Undefined { problem, .. } if problem.starts_with("the score of sample \"inf\" is infinite")
    );
    let fields = |id: &'static str, tokens: Json| {
        (id, Score::new(1).metadata("num_tokens", tokens).metadata("sum_log_probs", -1.0))
    };
    let half = scored([fields("ok", json!(1)), fields("half", json!(1.5))]);
    let problem = |columns: &ScoreColumns, metrics: Metrics| match failure(&unreduced(columns, metrics)) {
        Error::Undefined { problem, .. } => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        problem(&half, metrics![perplexity_per_token()]),
        "sample \"half\": num_tokens is 1.5, which is not an integer"
    );
    let text = scored([fields("ok", json!(1)), fields("text", json!("many"))]);
    assert_eq!(
        problem(&text, metrics![perplexity_per_seq()]),
        "sample \"text\": the score's metadata key `num_tokens` is \"many\", not a number"
    );
}

#[test]
fn errors_of_the_whole_name_the_sample_that_is_to_blame() {
    let error = |columns: &ScoreColumns, reducers: Reducers, metrics: Metrics| {
        results(columns, &Plan::new().metrics(metrics).reducers(reducers)).unwrap_err()
    };
    let mean_by_key = || by_key([("a*", vec![Arc::new(mean()) as Arc<dyn Metric>])]);
    let map = |key: &'static str| Score::new(Value::map([(key, 1)]));
    let flat = scored([("ok", map("a")), ("flat", Score::new(1))]);
    assert_matches!(
        error(&flat, Reducers::Disabled, mean_by_key()),
        Error::Undefined { problem, .. } if problem.starts_with("the score of sample \"flat\" is")
    );
    let lacking = scored([("ok", map("a")), ("lacks", map("b"))]);
    assert_matches!(
        error(&lacking, Reducers::Disabled, mean_by_key()),
        Error::Custom(text) if text.contains("\"lacks\" by `s` has no key \"a\", which the pattern \"a*\" matched")
    );
    let custom = reducer_fn("picky", |scores: &[Score]| {
        if scores[0].as_i64()? == 0 { Err(errorbar_core::Error::custom("no")) } else { Ok(scores[0].clone()) }
    });
    let explicit = |reducer: Arc<dyn Reducer>| Reducers::explicit(vec![reducer]);
    let zero = simple([("ok", 1), ("zero", 0)]);
    assert_eq!(
        error(&zero, explicit(Arc::new(custom)), metrics![mean()]).to_string(),
        "picky: sample \"zero\": no"
    );
    let shapes =
        all_scored([("ok", 1, Value::list([1])), ("bad", 1, Value::list([1])), ("bad", 2, 1.into())]);
    let differ = |error: Error| error.to_string().contains("the epochs of sample \"bad\" differ in shape");
    assert!(differ(error(&shapes, Reducers::Implicit, metrics![mean()])));
    let extra =
        all_scored([("bad", 1, Value::map([("a", 1)])), ("bad", 2, Value::map([("a", 1), ("b", 1)]))]);
    assert!(differ(error(&extra, Reducers::Implicit, mean_by_key())));
    let fewer =
        all_scored([("bad", 1, Value::map([("a", 1), ("b", 1)])), ("bad", 2, Value::map([("a", 1)]))]);
    assert!(differ(error(&fewer, Reducers::Implicit, mean_by_key())));
    let lists = all_scored([("ok", 1, 1.into()), ("bad", 1, Value::list([1]))]);
    assert_matches!(
        error(&lists, explicit(Arc::new(reducers::collect())), metrics![mean()]),
        Error::Undefined { metric, problem } if metric == "collect" && problem.starts_with("the score of sample \"bad\" is")
    );
}

#[test]
fn builders_are_checked_when_they_are_used() {
    let columns = simple([("a", 1), ("b", 0)]);
    let refused = |metric: Arc<dyn Metric>, argument: &str| {
        let results = reduced(&columns, Metrics::List(vec![MetricItem::Metric(metric)]));
        assert_matches!(failure(&results), Error::Argument { argument: name, .. } if name == argument);
    };
    refused(Arc::new(ci().level(1.5)), "level");
    refused(Arc::new(ci().level(f64::NAN).method(IntervalMethod::Bootstrap)), "level");
    refused(Arc::new(ci_wilson().level(0.0)), "level");
    refused(Arc::new(ci().method(IntervalMethod::Bootstrap).num_samples(0)), "num_samples");
    refused(Arc::new(bootstrap_stderr().num_samples(0)), "num_samples");
    let too_many = Registry::built_in().metric(&"bootstrap_stderr(num_samples=100000001)".parse().unwrap());
    assert_matches!(too_many.unwrap_err(), Error::Argument { argument, .. } if argument == "num_samples");
}

#[test]
fn reducers_are_not_replaced_by_accident() {
    let mut registry = Registry::built_in();
    let own = || Arc::new(reducer_fn("mean", |scores: &[Score]| Ok(scores[0].clone())));
    assert!(registry.add_reducer_object(own(), "Another.").is_err());
    for no_k in ["mean_2", "collect_2"] {
        assert_matches!(
            registry.reducer(&no_k.parse().unwrap()).unwrap_err(),
            Error::UnknownName { kind: "reducer", name, .. } if name == no_k
        );
    }
    assert_matches!(
        registry.metric(&"acme/acuracy".parse().unwrap()).unwrap_err(),
        Error::UnknownName { name, nearest: Some(nearest), .. } if name == "acme/acuracy" && nearest == "accuracy"
    );
    let own = registry.list_metrics().filter(|listing| !listing.built_in).count();
    assert_eq!(own, 0);
    let listing = registry.list_metrics().find(|listing| listing.name == "mean").unwrap();
    assert_eq!(listing.summary(), "Mean of the scores.");
}

#[test]
fn what_is_wrong_inside_an_argument_is_reported_as_it_is() {
    assert_matches!(
        Registry::built_in().metric(&"grouped(acuracy(), 'g')".parse().unwrap()).unwrap_err(),
        Error::UnknownName { kind: "metric", name, .. } if name == "acuracy"
    );
    let null = Registry::built_in().metric(&"stderr(cluster=None, to_float=null)".parse().unwrap()).unwrap();
    assert_eq!(null.spec().to_string(), "stderr");
    let categories = "frequency([1, 0.5, true, 'x'], normalize=false)".parse().unwrap();
    let spec = Registry::built_in().metric(&categories).unwrap().spec().to_string();
    assert_eq!(spec, r#"frequency(categories=["1", "0.5", "True", "x"], normalize=false)"#);
}

#[test]
fn no_metadata_at_all_is_reported() {
    let columns = scored([("a", Score::new(1))]);
    let missing = |columns: &ScoreColumns| match failure(&reduced(columns, metrics![grouped(mean(), "g")])) {
        Error::MissingKey { known, .. } => known,
        other => panic!("{other:?}"),
    };
    assert!(missing(&columns).is_empty());
    let mut other = ScoreColumns::new(["s"]);
    other.push("a", 1).metadata("topic", "x").score("s", Score::new(1)).unwrap();
    assert_eq!(missing(&other), ["topic"]);
}

#[test]
fn maps_and_lists_of_custom_metrics_drop_what_is_missing() {
    let map = IndexMap::from([("a".to_owned(), Some(1.0)), ("b".to_owned(), None)]);
    let metric = metric_fn("m", move |_: &Scores<'_>| Ok(map.clone()));
    let list = metric_fn("l", |_: &Scores<'_>| Ok(MetricValue::List(vec![None, Some(Estimate::new(2.0))])));
    let results = reduced(&simple([("a", 1)]), metrics![metric, list, built_one("mean")]);
    let keys: Vec<&str> = block(&results).metrics.keys().map(String::as_str).collect();
    assert_eq!(keys, ["a", "l-2", "mean"]);
}
