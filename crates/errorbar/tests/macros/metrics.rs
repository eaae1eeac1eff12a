//! `#[metric]`: what it defines, in Rust and by spec.
#![expect(clippy::unwrap_used, reason = "a test's helper may fail as the test may")]

use errorbar::core::{MetadataKeys, MetricRole, Reducers, ScoreSet, Spec, Wants};
use errorbar::prelude::*;

/// Proportion of samples scoring at or
/// above `threshold`. The rest did not pass.
///
/// The manual's example.
#[metric]
pub(crate) fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
    let mut passed = 0;
    for sample in scores {
        if sample.score.as_f64()? >= threshold {
            passed += 1;
        }
    }
    Ok(f64::from(passed) / scores.len().max(1) as f64)
}

/// The extremes, by name.
///
/// # Formula
/// ```text
/// least = min x
///   most = max x
/// ```
///
/// # See also
/// `pass_rate`
#[metric(keys = [])]
pub fn extremes(scores: &Scores<'_>) -> Result<MetricValue> {
    let floats = scores.floats();
    let least = floats.iter().copied().fold(f64::INFINITY, f64::min);
    let most = floats.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Ok(MetricValue::Map(
        [("least", least), ("most", most)].map(|(k, v)| (k.to_owned(), Some(v.into()))).into(),
    ))
}

/// The requested deciles; `None` where there is no score.
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

/// The geometric mean, with an error by the delta method.
#[metric(keys = [], role = "location")]
fn log_mean(scores: &Scores) -> Result<Estimate> {
    let logs: Vec<f64> = scores.floats().into_iter().map(|value| (value + 1.0).ln()).collect();
    let n = logs.len() as f64;
    if logs.len() < 2 {
        return Ok(Estimate::undefined(Undefined::TooFewScores { n: logs.len() as u64 }));
    }
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let value = mean.exp() - 1.0;
    let se = mean.exp() * (variance / n).sqrt();
    Ok(Estimate::new(value)
        .with_stderr(se)
        .with_interval(value - 2.0 * se, value + 2.0 * se, 0.95)
        .with_n(logs.len() as u64))
}

/// The halves, each with an error.
#[metric(keys = [], role = "share")]
fn halves(scores: &Scores) -> IndexMap<String, Estimate> {
    let above = scores.floats().into_iter().filter(|value| *value >= 0.5).count() as f64;
    let share = |count: f64| Estimate::new(count / scores.len() as f64).with_stderr(0.25);
    [("upper".to_owned(), share(above)), ("lower".to_owned(), share(scores.len() as f64 - above))].into()
}

/// A list of estimates.
#[metric(keys = [], role = "spread")]
fn spreads(_scores: &Scores) -> Vec<Option<Estimate>> {
    vec![Some(Estimate::new(1.0)), None, Some(Estimate::new(2.0).with_stderr(0.5))]
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
    let results = plan.evaluate(&columns()).unwrap().results;
    let metrics = &results.scores[0].metrics;
    let names: Vec<&str> = metrics.iter().map(|metric| metric.metric.as_str()).collect();
    assert_eq!(names, ["accuracy", "pass_rate", "pass_rate"]);
    assert_eq!(metrics[1].value.number(), Some(2.0 / 3.0), "0.5 and 1 of 0.5, 1, 0");
    assert_eq!(metrics[2].value.number(), Some(1.0 / 3.0), "only 1");
    assert!(metrics[1].params.is_empty(), "a default is not recorded");
    assert_eq!(metrics[2].params["threshold"], 0.8);
    // A number has no error itself.
    assert_eq!(results.estimate("pass_rate").unwrap().error, Err(Undefined::NotAvailable));
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
    let error = pass_rate().compute(&set.scores()).unwrap_err();
    assert!(error.to_string().starts_with("expected a number"), "{error}");
}

#[test]
fn maps_and_lists() {
    let plan =
        Plan::new().scorer("overlap", metrics![extremes(), shares_above(), shares_above().cuts([0, 1])]);
    let results = plan.evaluate(&columns()).unwrap().results;
    let rows = results.rows();
    let shown: Vec<_> = rows.iter().map(|row| (row.key, row.index, row.estimate.number().unwrap())).collect();
    assert_eq!(shown[..2], [(Some("least"), None, 0.0), (Some("most"), None, 1.0)]);
    assert_eq!(shown[2], (None, Some(1), 1.0 / 3.0), "1 is above 0.5");
    assert_eq!(shown[3], (None, Some(2), 1.0 / 3.0), "1 is above 0.9");
    assert_eq!(shown[4].2, 2.0 / 3.0, "0.5 and 1 are above 0");
    assert_eq!(shown[5].2, 0.0, "nothing is above 1");
    assert_eq!(shown.len(), 6);
}

#[test]
fn estimates_are_taken_as_they_are() {
    let plan = Plan::new().scorer("overlap", metrics![log_mean(), stderr(), halves(), spreads()]);
    let results = plan.evaluate(&columns()).unwrap().results;
    let estimate: errorbar::Estimate = results.estimate("log_mean").unwrap();
    // 0.5, 1 and 0, each plus 1: the cube root of 3, minus 1.
    assert!((estimate.number().unwrap() - (3.0_f64.cbrt() - 1.0)).abs() < 1e-12, "{estimate:?}");
    let error = estimate.error.as_ref().unwrap();
    assert_eq!((error.method.name(), estimate.n), ("custom", 3));
    // The logarithms 0.405465, 0.693147 and 0 have the variance 0.121269: e^0.366204 · √(0.121269/3).
    assert!((error.se - 0.289_97).abs() < 1e-5, "{error:?}");
    let interval = estimate.interval.as_ref().unwrap();
    assert_eq!((interval.level, interval.method.name()), (0.95, "custom"));
    assert!((interval.upper - interval.lower - 4.0 * error.se).abs() < 1e-12);
    let rows = results.rows();
    let shares: Vec<_> = rows.iter().filter(|row| row.role == MetricRole::Share).collect();
    let shown = |row: &&errorbar::core::EstimateRow<'_>| (row.key.unwrap().to_owned(), row.estimate.stderr());
    assert_eq!(
        shares.iter().map(shown).collect::<Vec<_>>(),
        [("upper".to_owned(), Some(0.25)), ("lower".to_owned(), Some(0.25))]
    );
    let spreads: Vec<_> = rows.iter().filter(|row| row.role == MetricRole::Spread).collect();
    assert_eq!(spreads.iter().map(|row| row.index).collect::<Vec<_>>(), [Some(1), Some(3)]);
    // Neither has taken the error of the plain mean.
    assert!(rows.iter().any(|row| row.metric == "stderr"), "{rows:?}");
    assert_eq!(pass_rate().role(), MetricRole::Other);
}

#[test]
fn groups_of_estimates_keep_their_errors() {
    let plan = Plan::new().scorer("overlap", metrics![grouped(log_mean(), "category")]);
    let results = plan.evaluate(&columns()).unwrap().results;
    let rows = results.rows();
    let shown: Vec<_> = rows.iter().map(|row| (row.group, row.estimate.stderr().is_some())).collect();
    assert_eq!(shown, [(Some("physics"), true), (Some("art"), false), (None, true)], "art has one score");
}

#[test]
fn sample_metadata_and_whole_score_are_seen() {
    assert_eq!(compute(&agreeing("physics")).number(), Some(2.0), "q1 and q2; q3 is unscored");
    assert_eq!(compute(&agreeing("art")).number(), Some(0.0), "x4 has another id");
    assert_eq!(compute(&agreeing("physics").answer("blue")).number(), Some(0.0));
    assert_eq!(compute(&agreeing("physics").grader("strict")).number(), Some(1.0), "q2");
}

#[test]
fn metadata_keys_are_those_declared() {
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
    let all = plan.evaluate(&columns).unwrap().results;
    let value = |metric: &str| all.estimate(metric).unwrap().number();
    assert_eq!(value("count_all"), Some(4.0));
    assert_eq!(value("count_samples"), Some(2.0));
    assert_eq!(pass_rate().wants(), Wants::Auto);

    let unreduced = plan.reducers(Reducers::Disabled).evaluate(&columns).map(|all| all.results);
    let is_refusal = |error: &Error| error.to_string().contains("needs one score per sample");
    let refused = match &unreduced {
        Err(error) => is_refusal(error),
        Ok(all) => all.scores.iter().flat_map(|b| &b.failures).any(|f| is_refusal(&f.error)),
    };
    assert!(refused, "count_samples needs a reducer: {unreduced:?}");
    let by_max = Reducers::explicit(vec![std::sync::Arc::new(reducers::max())]);
    let plan = Plan::new().scorer("overlap", metrics![count_samples()]).reducers(by_max);
    assert!(plan.evaluate(&columns).is_ok());
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
    assert_eq!(error.to_string(), "agreeing: argument `category` is missing; it is a string in quotes");
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
    let sections = listing("extremes").sections;
    assert_eq!(sections.formula, "least = min x\n  most = max x");
    assert_eq!(
        (sections.see_also, listing("extremes").doc.as_str()),
        (&["pass_rate"][..], "The extremes, by name.")
    );
    assert!(pass_rate.doc.ends_with("did not pass.\n\nThe manual's example."), "{:?}", pass_rate.doc);
    assert!(!pass_rate.built_in);
    let docs: Vec<&str> = listing("agreeing").params.iter().map(|param| param.doc).collect();
    assert_eq!(docs, ["", "What the answer must be.", ""]);
    assert_eq!(listing("agreeing").signature(), r#"agreeing(category, answer="red", grader=None)"#);
    assert_eq!(
        listing("agreeing").summary(),
        "Counts samples whose id, category, answer and score metadata all agree with what was asked."
    );
    assert_eq!(listing("shares-above").signature(), "shares-above(cuts=[0.5, 0.9])");
}
