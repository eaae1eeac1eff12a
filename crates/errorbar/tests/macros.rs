//! `#[metric]`: what it defines, in Rust and by spec.
#![expect(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]

use errorbar::prelude::*;

/// Proportion of samples scoring at or
/// above `threshold`. The rest did not pass.
///
/// The manual's example.
#[metric]
fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
    let mut passed = 0;
    for sample in scores {
        if sample.score.as_f64()? >= threshold {
            passed += 1;
        }
    }
    Ok(f64::from(passed) / scores.len().max(1) as f64)
}

/// The extremes, by name.
#[metric(keys = [])]
pub fn extremes(scores: &Scores<'_>) -> Result<MetricValue> {
    let floats = scores.floats();
    let least = floats.iter().copied().fold(f64::INFINITY, f64::min);
    let most = floats.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Ok(MetricValue::Map(
        [("least", least), ("most", most)].map(|(k, v)| (k.to_owned(), Some(v.into()))).into(),
    ))
}

/// Deciles that someone asked for; `None` where there is no score.
#[metric(name = "shares-above")]
fn shares_above(scores: &Scores, #[default([0.5, 0.9])] cuts: Vec<f64>) -> Vec<Option<f64>> {
    let floats = scores.floats();
    let share = |cut: &f64| floats.iter().filter(|f| *f > cut).count() as f64 / floats.len() as f64;
    cuts.iter().map(|cut| (!floats.is_empty()).then(|| share(cut))).collect()
}

/// Counts samples whose id, category, answer and score
/// metadata all agree with what was asked.
#[metric(keys = ["category"])]
fn agreeing(
    scores: &Scores,
    category: String,
    /// What the answer must be.
    #[default("red")]
    answer: String,
    #[default(None)] grader: Option<String>,
) -> usize {
    let agrees = |sample: &SampleScore| {
        sample.sample_id.starts_with('q')
            && sample.sample_metadata.get("category").and_then(|c| c.as_str()) == Some(&category)
            && sample.score.answer.as_ref() == Some(&answer)
            && grader.as_ref().is_none_or(|grader| {
                let metadata = sample.score.metadata.as_ref();
                metadata.and_then(|m| m.get("grader")).and_then(|g| g.as_str()) == Some(grader)
            })
    };
    scores.into_iter().filter(agrees).count()
}

/// How many scores it sees.
#[metric(wants = "unreduced")]
fn count_all(scores: &Scores) -> i64 {
    scores.len() as i64
}

/// How many scores it sees, of one per sample.
#[metric(wants = "reduced")]
fn count_samples(scores: &Scores) -> usize {
    scores.len()
}

/// Four samples, of which the third has no score.
fn columns() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["overlap"]);
    let rows = [
        ("q1", "physics", Some(0.5)),
        ("q2", "physics", Some(1.0)),
        ("q3", "physics", None),
        ("x4", "art", Some(0.0)),
    ];
    for (id, category, value) in rows {
        let score = value.map_or_else(|| Score::unscored("refusal"), Score::new);
        let score = score.answer("red").metadata("grader", if id == "q2" { "strict" } else { "mild" });
        columns.push(id, 1).metadata("category", category).score("overlap", score).unwrap();
    }
    columns
}

fn compute(metric: &dyn Metric) -> MetricValue {
    metric.compute(&ScoreSet::unreduced(&columns(), "overlap").unwrap().scores()).unwrap()
}

fn by_spec(spec: &str) -> Result<std::sync::Arc<dyn Metric>> {
    Registry::collected()?.metric(&spec.parse::<Spec>()?)
}

#[test]
fn the_manuals_example() {
    let plan = Plan::new().scorer("overlap", metrics![accuracy(), pass_rate(), pass_rate().threshold(0.8)]);
    let metrics = &results(&columns(), &plan).unwrap().scores[0].metrics;
    let keys: Vec<&str> = metrics.keys().map(String::as_str).collect();
    assert_eq!(keys, ["accuracy", "pass_rate", "pass_rate2"]);
    assert_eq!(metrics["pass_rate"].value, 2.0 / 3.0, "0.5 and 1 of 0.5, 1, 0");
    assert_eq!(metrics["pass_rate2"].value, 1.0 / 3.0, "only 1");
    assert!(metrics["pass_rate"].params.is_empty(), "a default is not recorded");
    assert_eq!(metrics["pass_rate2"].params["threshold"], 0.8);
}

#[test]
fn the_body_is_callable_with_its_own_types() {
    let columns = columns();
    let set = ScoreSet::unreduced(&columns, "overlap").unwrap();
    let rate: f64 = PassRate::body(&set.scores(), 1.0).unwrap();
    assert_eq!(rate, 1.0 / 3.0);
    let shares: Vec<Option<f64>> = SharesAbove::body(&set.scores(), vec![0.0]);
    assert_eq!(shares, [Some(2.0 / 3.0)]);
}

#[test]
fn an_error_of_the_body_is_an_error_of_the_metric() {
    let mut graded = ScoreColumns::new(["overlap"]);
    graded.push("q1", 1).score("overlap", Score::new("C")).unwrap();
    let set = ScoreSet::unreduced(&graded, "overlap").unwrap();
    assert!(matches!(pass_rate().compute(&set.scores()), Err(Error::Accessor { .. })));
}

#[test]
fn maps_and_lists() {
    let plan =
        Plan::new().scorer("overlap", metrics![extremes(), shares_above(), shares_above().cuts([0, 1])]);
    let metrics = &results(&columns(), &plan).unwrap().scores[0].metrics;
    let shown: Vec<(&str, f64)> = metrics.iter().map(|(key, entry)| (key.as_str(), entry.value)).collect();
    assert_eq!(shown[..2], [("least", 0.0), ("most", 1.0)]);
    assert_eq!(shown[2].1, 1.0 / 3.0, "1 is above 0.5");
    assert_eq!(shown[3].1, 1.0 / 3.0, "1 is above 0.9");
    assert_eq!(shown[4].1, 2.0 / 3.0, "0.5 and 1 are above 0");
    assert_eq!(shown[5].1, 0.0, "nothing is above 1");
    assert_eq!(shown.len(), 6);
}

#[test]
fn sample_metadata_and_whole_score_are_seen() {
    assert_eq!(compute(&agreeing("physics")).number(), Some(2.0), "q1 and q2; q3 is unscored");
    assert_eq!(compute(&agreeing("art")).number(), Some(0.0), "x4 has another id");
    assert_eq!(compute(&agreeing("physics").answer("blue")).number(), Some(0.0));
    assert_eq!(compute(&agreeing("physics").grader("strict")).number(), Some(1.0), "q2");
}

#[test]
fn metadata_keys_are_those_said() {
    assert_eq!(agreeing("physics").metadata_keys(), MetadataKeys::one("category"));
    assert_eq!(extremes().metadata_keys(), MetadataKeys::NONE);
    assert_eq!(pass_rate().metadata_keys(), MetadataKeys::All);
}

#[test]
fn wanted_scores_are_given() {
    let mut columns = ScoreColumns::new(["overlap"]);
    for (id, epoch) in [("q1", 1), ("q2", 1), ("q1", 2), ("q2", 2)] {
        columns.push(id, epoch).score("overlap", Score::new(1.0)).unwrap();
    }
    let plan = Plan::new().scorer("overlap", metrics![count_all(), count_samples(), pass_rate()]);
    let all = results(&columns, &plan).unwrap();
    let value = |key: &str| all.scores.iter().find_map(|block| block.metrics.get(key)).map(|e| e.value);
    assert_eq!(value("count_all"), Some(4.0));
    assert_eq!(value("count_samples"), Some(2.0));
    assert_eq!(pass_rate().wants(), Wants::Auto);

    let unreduced = results(&columns, &plan.reducers(Reducers::Disabled));
    let refused = match &unreduced {
        Err(error) => matches!(error, Error::NeedsReduction { .. }),
        Ok(all) => all
            .scores
            .iter()
            .flat_map(|b| &b.failures)
            .any(|f| matches!(f.error, Error::NeedsReduction { .. })),
    };
    assert!(refused, "count_samples needs a reducer: {unreduced:?}");
    let by_max = Reducers::explicit(vec![std::sync::Arc::new(reducers::max())]);
    assert!(
        results(&columns, &Plan::new().scorer("overlap", metrics![count_samples()]).reducers(by_max)).is_ok()
    );
}

#[test]
fn specs_pass_arguments_by_place_and_by_name() {
    for spec in ["pass_rate(0.8)", "pass_rate(threshold=0.8)"] {
        let metric = by_spec(spec).unwrap();
        assert_eq!(metric.spec().to_string(), "pass_rate(threshold=0.8)");
        assert_eq!(compute(metric.as_ref()).number(), Some(1.0 / 3.0));
    }
    assert_eq!(by_spec("pass_rate").unwrap().spec().to_string(), "pass_rate");
    assert_eq!(by_spec("pass_rate(1)").unwrap().params()["threshold"], 1.0, "1 is a number too");
    let metric = by_spec("agreeing('physics', grader='strict')").unwrap();
    assert_eq!(compute(metric.as_ref()).number(), Some(1.0));
    assert_eq!(metric.spec().to_string(), r#"agreeing(category="physics", grader="strict")"#);
    assert_eq!(metric.spec(), agreeing("physics").grader("strict").spec());
    assert_eq!(by_spec("agreeing('art', grader=None)").unwrap().spec(), agreeing("art").spec());
    assert!(by_spec("shares-above([0.1])").is_ok(), "by the name of the attribute");
    assert!(by_spec("shares_above").is_err(), "not by that of the function");
}

#[test]
fn wrong_arguments_are_refused_with_a_way_out() {
    let error = by_spec("pass_rate(treshold=0.8)").unwrap_err();
    assert_eq!(error.to_string(), "pass_rate has no argument 'treshold' (it takes threshold)");
    let Error::Spec(error) = error else { panic!("{error:?}") };
    assert_eq!(error.hint(), Some("did you mean 'threshold'?"));
    let error = by_spec("pass_rate('high')").unwrap_err();
    assert_eq!(error.to_string(), r#"pass_rate: argument `threshold` must be a number, found "high""#);
    let error = by_spec("agreeing").unwrap_err();
    assert_eq!(error.to_string(), "agreeing: argument `category` is missing; it is a text in quotes");
    let error = by_spec("pass_rat").unwrap_err();
    assert_eq!(error.to_string(), "unknown metric `pass_rat`; did you mean `pass_rate`?");
}

#[test]
fn listings_show_arguments_defaults_and_a_sentence() {
    let registry = Registry::collected().unwrap();
    let listing = |name: &str| registry.list_metrics().find(|l| l.name == name).unwrap().clone();
    let pass_rate = listing("pass_rate");
    assert_eq!(pass_rate.signature(), "pass_rate(threshold=0.5)");
    assert_eq!(
        pass_rate.summary(),
        "Proportion of samples scoring at or above `threshold`. The rest did not pass."
    );
    assert!(pass_rate.doc.ends_with("did not pass.\n\nThe manual's example."), "{:?}", pass_rate.doc);
    assert!(!pass_rate.built_in);
    assert_eq!(listing("agreeing").signature(), r#"agreeing(category, answer="red", grader=None)"#);
    assert_eq!(
        listing("agreeing").summary(),
        "Counts samples whose id, category, answer and score metadata all agree with what was asked."
    );
    assert_eq!(listing("shares-above").signature(), "shares-above(cuts=[0.5, 0.9])");
}
