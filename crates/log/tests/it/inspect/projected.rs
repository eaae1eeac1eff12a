//! From estimates to records.

use errorbar_core::{
    AggregateBasis, Bounds, Estimate, Group, Groups, HeadlineRequest, IndexMap, MetricResult, MetricValue,
    Plan, Results, Role, ScoreResult, Spec, Undefined, Warning,
};
use errorbar_log::eval::RecordedMetric;
use errorbar_log::inspect::{Projection, ResultsJson, project};
use serde_json::{Value as Json, json};

use crate::inspect::support::{METRICS, columns, many_scores, plan, results};

/// Results of metrics made by hand.
fn made(metrics: Vec<(&str, Role, MetricValue)>, field: Option<&str>, scored: usize) -> Results {
    let metric = |(spec, role, value): (&str, Role, MetricValue)| {
        let spec: Spec = spec.parse().unwrap();
        MetricResult::new(spec, role, value)
    };
    let mut score = ScoreResult::default();
    score.scorer = "match".to_owned();
    score.field = field.map(str::to_owned);
    score.counts.scored = scored;
    score.metrics = metrics.into_iter().map(metric).collect();
    let mut results = Results::default();
    results.scores.push(score);
    results
}

fn entries(results: &Results) -> IndexMap<String, RecordedMetric> {
    project(results).scores.remove(0).metrics
}

fn keys(results: &Results) -> Vec<String> {
    entries(results).keys().cloned().collect()
}

fn values(results: &Results) -> Vec<String> {
    entries(results).values().map(|metric| metric.value.to_string()).collect()
}

fn undefined(reason: Undefined) -> MetricValue {
    Estimate::undefined(reason).into()
}

/// A list of three, one of them missing; a map; groups, one of them without a score.
fn shapes() -> Vec<(&'static str, Role, MetricValue)> {
    let list = MetricValue::from(vec![Some(1.0), None, Some(3.0)]);
    let map =
        MetricValue::from(IndexMap::from([("stderr".to_owned(), Some(0.5)), ("gone".to_owned(), None)]));
    let group = |name: &str, n: u64| {
        let value = Estimate::new(0.5).with_interval(0.25, 0.75, 0.9).with_n(n);
        let mut group = Group::new(name, n, value);
        group.label.push('!');
        group
    };
    let groups = Groups::new("topic", vec![group("a", 3), group("b", 0)]);
    let groups = groups.with_all("all", AggregateBasis::Samples, Estimate::new(0.5));
    vec![
        ("stderr", Role::Other, Estimate::new(1.0).into()),
        ("own/listed", Role::Other, list),
        ("mapped", Role::Other, map),
        ("grouped", Role::Location, groups.clone().into()),
        ("grouped", Role::IntervalOf, groups.into()),
    ]
}

#[test]
fn keys_of_a_plain_list_are_names_numbered_where_taken() {
    let results = made(shapes(), None, 3);
    let plain = ["stderr", "listed-1", "listed-3", "stderr2", "a!", "all", "a!_lower", "a!_upper", "all2"];
    assert_eq!(keys(&results), plain);
    let entries = entries(&results);
    let names = |key: &str| (entries[key].name.as_str(), entries[key].group.as_deref());
    assert_eq!(names("stderr"), ("stderr", None));
    assert_eq!(names("listed-3"), ("3", Some("listed")));
    assert_eq!(names("stderr2"), ("stderr", Some("mapped")));
    assert_eq!(names("a!_upper"), ("a!_upper", Some("grouped")));
    assert_eq!((entries["a!_lower"].value, entries["a!_upper"].value), (0.25, 0.75));
}

#[test]
fn keys_of_a_field_are_log_names() {
    let keys = keys(&made(shapes(), Some("beta"), 3));
    let last = ["grouped_a!", "grouped_all", "grouped_a!_lower", "grouped_a!_upper"];
    assert_eq!(keys[..4], ["stderr", "own/listed_0", "own/listed_2", "mapped_stderr"]);
    assert_eq!(keys[4..], last);
}

#[test]
fn what_is_undefined_has_the_numbers_of_the_reference() {
    let few = || Undefined::TooFewScores { n: 1 };
    let clusters = || Undefined::TooFewClusters { clusters: 1 };
    let mut point = Estimate::new(0.5);
    point.interval = Err(few());
    let mut one_cluster = Estimate::new(0.5);
    one_cluster.interval = Err(clusters());
    let results = made(
        vec![
            ("stderr", Role::ErrorOf, undefined(few())),
            ("stderr", Role::ErrorOf, undefined(clusters())),
            ("std", Role::Spread, undefined(few())),
            ("var", Role::Spread, undefined(Undefined::Overflow)),
            ("ci", Role::IntervalOf, point.into()),
            ("ci", Role::IntervalOf, one_cluster.into()),
            ("mean", Role::Location, undefined(Undefined::NoScores)),
            ("aggregate", Role::ErrorOf, undefined(Undefined::NoField)),
            ("aggregate", Role::IntervalOf, undefined(Undefined::NoField)),
            ("own", Role::Other, undefined(Undefined::Other("no tokens".to_owned()))),
            ("own", Role::Other, MetricValue::from(f64::NAN)),
        ],
        None,
        1,
    );
    let wanted = ["0", "0", "0", "inf", "0.5", "0.5", "0.5", "0.5", "NaN", "NaN", "NaN", "NaN", "NaN"];
    assert_eq!(values(&results), wanted);
    let reasons: Vec<Json> = entries(&results)
        .values()
        .map(|metric| metric.metadata.as_ref().unwrap()["undefined"].clone())
        .collect();
    let wanted =
        ["n < 2", "clusters < 2", "n < 2", "overflow", "n < 2", "n < 2", "clusters < 2", "clusters < 2"];
    assert_eq!(reasons[..8], wanted);
    assert_eq!(reasons[8..], ["n = 0", "n = 0", "n = 0", "no tokens", "not a number"]);
}

#[test]
fn without_a_score_only_named_figures_keep_their_names() {
    let mut nothing = shapes();
    nothing.push(("ci", Role::IntervalOf, undefined(Undefined::NoScores)));
    nothing.push(("frequency", Role::Share, {
        MetricValue::from(IndexMap::from([("C".to_owned(), Estimate::undefined(Undefined::NoScores))]))
    }));
    nothing.push(("conf_count", Role::Other, MetricValue::from(0.0)));
    let results = made(nothing, None, 0);
    let wanted = ["stderr", "listed", "stderr2", "all", "all2", "lower", "upper", "C", "conf_count"];
    assert_eq!(keys(&results), wanted);
    assert_eq!(values(&results), ["NaN", "NaN", "0.5", "NaN", "NaN", "0", "0", "0", "NaN"]);
}

#[test]
fn notes_hold_what_has_no_field_in_a_log() {
    let mut bounded = Estimate::new(0.5).with_n(4).note("skipped_samples", 2);
    bounded.absent = 4;
    bounded.bounds = Some(Bounds::new(0.25, 0.75, 0.25));
    let entries = entries(&made(vec![("mean", Role::Location, bounded.into())], None, 4));
    let wanted =
        json!({"absent": 4, "worst": 0.25, "best": 0.75, "absent_as_wrong": 0.25, "skipped_samples": 2});
    assert_eq!(Json::from(entries["mean"].metadata.clone().unwrap()), wanted);

    let results = results(
        "[stderr(cluster='passage'), ci(), bootstrap_stderr(seed=3), grouped(accuracy(), 'topic', all='groups')]",
        &many_scores()[0],
    );
    let recorded = project(&results);
    let notes = |key: &str| {
        let mut notes = recorded.scores[0].metrics[key].metadata.clone().unwrap();
        notes.remove("estimate");
        Json::from(notes)
    };
    assert_eq!(notes("stderr"), json!({"clusters": 3}));
    assert_eq!(notes("lower"), json!({"level": 0.95, "df": 39}));
    assert_eq!(notes("bootstrap_stderr"), json!({"seed": 3}));
    assert_eq!(notes("t1"), json!({"n": 8}));
    assert!(notes("all")["stderr"].as_f64().unwrap() > 0.05);
}

#[test]
fn the_headline_is_the_first_entry_that_fits() {
    let headline = |wanted: HeadlineRequest| {
        let plan = Plan { headline: Some(wanted), ..plan("[accuracy(), stderr(), ci()]") };
        let results = plan.evaluate(&columns(&many_scores()[0])).unwrap().results;
        let projection = Projection::new(&results);
        let warning = projection.headline_warning().cloned();
        assert_eq!(project(&results).headline, projection.headline().cloned());
        let warned = project(&results).metadata.is_some_and(|notes| notes.contains_key("warnings"));
        assert_eq!(warned, warning.is_some());
        (projection.headline().unwrap().metric.clone(), warning)
    };
    let of = |metric: &str| HeadlineRequest { metric: Some(metric.to_owned()), ..HeadlineRequest::default() };
    assert_eq!(headline(of("upper")), ("upper".to_owned(), None));
    let scorer = HeadlineRequest { scorer: Some("match".to_owned()), ..HeadlineRequest::default() };
    assert_eq!(headline(scorer), ("accuracy".to_owned(), None));
    let (metric, warning) = headline(of("f1"));
    assert_eq!(metric, "accuracy");
    assert_eq!(warning, Some(Warning::NoHeadline { wanted: "metric \"f1\"".to_owned() }));
}

#[test]
fn options_for_errors_change_no_recorded_number() {
    for scores in many_scores() {
        let columns = columns(&scores);
        for metrics in METRICS {
            let json = |plan: &Plan| {
                let results = plan.evaluate(&columns).unwrap().results;
                serde_json::to_string(&ResultsJson::new(&results)).unwrap()
            };
            let mut plan = plan(metrics);
            let wanted = json(&plan);
            plan.errors = plan.errors.cluster("passage");
            plan.errors.level = Some(0.8);
            assert_eq!(json(&plan), wanted, "{metrics}");
        }
    }
}

#[test]
fn estimates_are_in_logs_and_at_most_double_the_results() {
    let mut columns = errorbar_core::ScoreColumns::new(["match"]);
    for at in 0..3_000 {
        let score = errorbar_core::Score::new(f64::from(at % 7) / 7.0);
        columns.push(format!("q{at}"), 1).metadata("g", at / 3).score("match", score).unwrap();
    }
    for metrics in ["[grouped(accuracy(), 'g')]", "[grouped(mean(), 'g'), grouped(stderr(), 'g')]"] {
        let results = plan(metrics).evaluate(&columns).unwrap().results;
        let size = |with: bool| {
            let mut recorded = project(&results).scores.remove(0).metrics;
            assert!(recorded.len() >= 1_001);
            let mut bytes = 0;
            for (key, metric) in &mut recorded {
                let notes = metric.metadata.as_mut().unwrap();
                assert!(notes.contains_key("estimate"), "{key}");
                if !with {
                    notes.remove("estimate");
                }
                let RecordedMetric { name, group, value, params, metadata, .. } = metric;
                let json = json!({"name": name, "group": group, "value": value, "params": params, "metadata": metadata});
                bytes += key.len() + json.to_string().len();
            }
            bytes
        };
        assert!(size(true) <= 2 * size(false), "{} against {}", size(true), size(false));
    }
    let small = results("[accuracy(), stderr(), std()]", &many_scores()[0]);
    let json = serde_json::to_value(ResultsJson::new(&small)).unwrap();
    assert!(!json.to_string().contains("estimate"), "{json}");
    let recorded = project(&small).scores.remove(0).metrics;
    let estimate = recorded["accuracy"].metadata.as_ref().unwrap()["estimate"].as_object().unwrap().clone();
    let fields: Vec<&str> = estimate.keys().map(String::as_str).collect();
    assert_eq!(fields, ["value", "stderr", "lower", "upper", "level", "method", "n"]);
    assert_eq!(recorded["stderr"].metadata.as_ref().unwrap()["estimate"], Json::Null);
    assert_eq!(recorded["std"].metadata, None);
}

/// The fields that JSON had before there were estimates.
#[test]
fn results_as_json_have_their_fields() {
    let results = results("[accuracy(), grouped(ci(), 'topic', all=False)]", &[Some(1.0), None, Some(0.0)]);
    let json = serde_json::to_value(ResultsJson::new(&results)).unwrap();
    let params =
        json!({"metric": {"type": "metric", "name": "ci", "params": {}}, "group_key": "topic", "all": false});
    let entry = |name: &str, value: f64| {
        let metadata = json!({"level": 0.95, "undefined": "n < 2", "n": 1});
        json!({"name": name, "group": "grouped", "value": value, "params": params, "metadata": metadata})
    };
    let wanted = json!({
        "total_samples": 3,
        "completed_samples": 3,
        "headline": {"scorer": "match", "score": "match", "metric": "accuracy", "reducer": null},
        "scores": [{
            "name": "match", "scorer": "match", "reducer": null, "scored_samples": 2, "unscored_samples": 0,
            "missing_samples": 1, "errored_samples": 0, "epochs": 1, "unreduced": false, "unscored_epochs": 0,
            "missing_epochs": 1, "unconvertible": 0, "params": {},
            "metrics": {
                "accuracy": {
                    "name": "accuracy", "group": null, "value": 0.5, "params": {},
                    "metadata": {
                        "absent": 1, "worst": 1.0 / 3.0, "best": 2.0 / 3.0, "absent_as_wrong": 1.0 / 3.0,
                    },
                },
                "t0_lower": entry("t0_lower", 1.0),
                "t0_upper": entry("t0_upper", 1.0),
                "t2_lower": entry("t2_lower", 0.0),
                "t2_upper": entry("t2_upper", 0.0),
            },
        }],
    });
    assert_eq!(json.to_string(), wanted.to_string());
}
