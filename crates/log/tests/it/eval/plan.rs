//! The plan that a log records.

use errorbar_core::metrics::{accuracy, bootstrap_stderr, grouped, mean, stderr};
use errorbar_core::{Error, ErrorPlan, Metrics, Reducers, Registry, metric_fn, metrics, value_to_float};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;
use serde_json::json;

use crate::eval::support::start;

fn header(metrics: serde_json::Value) -> Header {
    let mut start = start();
    start.eval.scorers.as_mut().unwrap()[0].metrics = Some(metrics);
    Header::started(start)
}

fn specs(metrics: &Metrics) -> Vec<String> {
    metrics.iter().map(|metric| metric.spec().to_string()).collect()
}

#[test]
fn metrics_go_into_a_log_and_come_back() {
    let registry = Registry::built_in();
    let own = value_to_float().correct("yes").incorrect("no");
    let all = metrics![
        accuracy().to_float(own.clone()),
        grouped(mean().to_float(own), "category"),
        bootstrap_stderr().num_samples(50).seed(7),
        {"a*": [stderr().cluster("id")]},
    ];
    let logged = metrics_to_log(&all, &registry);
    let options = &logged[2]["options"];
    assert!(
        options.get("seed").is_none(),
        "the reference refuses arguments that it does not know: {options}"
    );
    let (plan, warnings) = plan_from_header(&header(logged), &registry).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(specs(&plan.scorers[0].metrics), specs(&all));
}

#[test]
fn own_metrics_keep_their_name() {
    let own = metric_fn("pass_rate", |_| Ok(0.5));
    let logged = metrics_to_log(&metrics![own], &Registry::built_in());
    assert_eq!(logged, json!([{"name": "pass_rate", "options": {}}]));
}

#[test]
fn what_cannot_be_built_is_named() {
    let logged = json!([
        {"name": "inspect_ai/mean", "options": {}},
        {"name": "their/metric", "options": {"k": 1}},
        {"name": "inspect_ai/stderr", "options": {"no_such": 1}},
        {"name": "inspect_ai/grouped", "options": {
            "group_key": "g", "metric": {"type": "metric", "name": "accuracy", "params": {"to_float": "<lambda>"}},
        }},
    ]);
    let (plan, warnings) = plan_from_header(&header(logged), &Registry::built_in()).unwrap();
    // They have their places all the same: their figures are undefined.
    assert_eq!(plan.scorers[0].metrics.iter().count(), 4);
    let grouped = plan.scorers[0].metrics.iter().last().unwrap();
    assert_eq!(grouped.inner().unwrap().spec().to_string(), "accuracy(to_float=\"<lambda>\")");
    assert_matches!(
        warnings[0],
        LogWarning::Unregistered { metric, scorer: Some(scorer), .. } if metric == "their/metric" && scorer == "match"
    );
    assert_matches!(
        warnings[1],
        LogWarning::Unusable { metric, error: Error::Spec(_), .. } if metric == "inspect_ai/stderr"
    );
    assert_matches!(
        warnings[2],
        LogWarning::ConversionByName(NamedConversion { metric, argument, recorded, .. })
            if metric == "accuracy" && argument == "to_float" && recorded == "<lambda>"
    );
    assert_eq!(warnings.len(), 3);
}

#[test]
fn the_metrics_of_a_task_are_those_of_its_scorers_unless_they_were_changed() {
    let own = json!({"*": [{"name": "inspect_ai/std", "options": {}}]});
    let mut header = header(own.clone());
    header.eval.metrics = Some(own);
    let (plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
    assert_eq!(specs(plan.task_metrics.as_ref().unwrap()), ["std"]);

    // As the reference has it: what stands with the scorer counts, and one without any has no results.
    let mut scorers = header.eval.scorers.take().unwrap();
    scorers[0].metrics = Some(json!([{"name": "inspect_ai/mean", "options": {}}]));
    scorers.push(ScorerInfo::new("bare"));
    header.eval.scorers = Some(scorers);
    let (plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
    assert!(plan.task_metrics.is_none());
    assert_eq!(specs(&plan.scorers[0].metrics), ["mean"]);
    assert_eq!(plan.scorers[1].metrics.iter().count(), 0);
}

#[test]
fn reducers_are_implied_disabled_or_named() {
    let registry = Registry::built_in();
    let mut header = header(json!([]));
    let mut reducers = |names: Option<Vec<&str>>| {
        header.eval.config.epochs_reducer = names.map(|names| names.into_iter().map(str::to_owned).collect());
        plan_from_header(&header, &registry).map(|(plan, _)| plan.reducers)
    };
    assert!(matches!(reducers(None), Ok(Reducers::Implicit)));
    assert!(matches!(reducers(Some(vec![])), Ok(Reducers::Disabled)));
    let Ok(Reducers::Explicit(list)) = reducers(Some(vec!["pass_at_2", "mode"])) else { panic!() };
    assert_eq!(list.iter().map(|r| r.log_name()).collect::<Vec<_>>(), ["pass_at_2", "mode"]);
    assert_matches!(
        reducers(Some(vec!["best_of_all"])).unwrap_err().kind(),
        LogErrorKind::Core(Error::UnknownName { name, .. }) if name == "best_of_all"
    );
}

#[test]
fn how_errors_are_computed_is_read_or_reported() {
    let read = |errors: serde_json::Value| {
        let mut header = header(json!([]));
        header.eval.config.extra.insert(ERRORS.to_owned(), errors);
        let (plan, warnings) = plan_from_header(&header, &Registry::built_in()).unwrap();
        (plan.errors, warnings)
    };
    assert_eq!(read(json!(null)), (ErrorPlan::new(), vec![]));
    let (plan, warnings) = read(json!({"cluster": "passage", "level": 0.9}));
    assert_eq!((plan.cluster.as_slice(), plan.level()), (&["passage".to_owned()][..], 0.9));
    assert_eq!(warnings, []);
    for unreadable in [json!({"level": 95}), json!([1]), json!({"method": "CR9"}), json!({"new": 1})] {
        let (plan, warnings) = read(unreadable.clone());
        assert!(
            plan.is_default() && matches!(warnings.as_slice(), [LogWarning::ErrorPlan { .. }]),
            "{unreadable}"
        );
    }
}

#[test]
fn scores_without_a_recorded_scorer_have_the_metrics_of_the_reference() {
    let (plan, _) = plan_from_header(&header(json!([])), &Registry::built_in()).unwrap();
    let of = |scorer: &str| plan.default_metrics.get(scorer).map(specs).unwrap_or_default();
    assert_eq!(of("f1"), ["mean", "stderr"]);
    assert_eq!(of("exact"), of("f1"));
    assert_eq!(of("target_perplexity"), ["perplexity_per_token", "perplexity_per_seq"]);
    assert_eq!(of("match"), [""; 0]);
}
