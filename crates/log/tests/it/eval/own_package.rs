//! Logs that the reference wrote with metrics and reducers of our package: `errorbar/accuracy`, `errorbar/pass_at_2`.

use std::path::Path;

use errorbar_core::{Error, Registry, Results};
use errorbar_log::eval::*;
use errorbar_log::inspect::project;
use errorbar_test_support::assert_matches;
use serde_json::{Value as Json, json};

/// The grades of q0 to q7 in three epochs.
const EPOCHS: [&str; 3] = ["CCICICCI", "CICCICIC", "CICICCIC"];

fn samples() -> Vec<Json> {
    let sample = |epoch: usize, at: usize, grade: char| {
        let category = ["a", "b"][at % 2];
        json!({
            "id": format!("q{at}"), "epoch": epoch + 1, "input": "?", "target": "yes", "messages": [],
            "metadata": {"category": category, "passage": at / 2},
            "scores": {"match": {"value": grade.to_string()}},
        })
    };
    let epochs = EPOCHS.iter().enumerate();
    epochs
        .flat_map(|(epoch, grades)| grades.chars().enumerate().map(move |(at, c)| sample(epoch, at, c)))
        .collect()
}

fn metrics() -> Json {
    let accuracy = json!({"type": "metric", "name": "errorbar/accuracy", "params": {}});
    json!([
        {"name": "inspect_ai/accuracy", "options": {}},
        {"name": "errorbar/accuracy", "options": {}},
        {"name": "errorbar/stderr", "options": {"cluster": "passage"}},
        {"name": "inspect_ai/grouped", "options": {"metric": accuracy, "group_key": "category"}},
        {"name": "errorbar/ci_wilson", "options": {"cluster": "passage"}},
    ])
}

/// A block of the results: the figures are those that inspect_ai 0.3.285 recorded for these scores.
fn recorded(reducer: &str, [mean, stderr, a, b, lower, upper]: [f64; 6]) -> Json {
    let clustered = json!({"cluster": "passage"});
    let inner = json!({"type": "metric", "name": "errorbar/accuracy", "params": {}});
    let by_category = json!({"metric": inner, "group_key": "category"});
    let grouped = |name: &str, value: f64| json!({"name": name, "group": "grouped", "value": value, "params": by_category});
    let end = |name: &str, value: f64| json!({"name": name, "group": "ci_wilson", "value": value, "params": clustered});
    json!({
        "name": "match", "scorer": "match", "reducer": reducer, "scored_samples": 8, "unscored_samples": 0,
        "params": {}, "metrics": {
            "accuracy": {"name": "accuracy", "value": mean, "params": {}},
            "accuracy2": {"name": "errorbar/accuracy", "value": mean, "params": {}},
            "stderr": {"name": "errorbar/stderr", "value": stderr, "params": clustered},
            "a": grouped("a", a), "b": grouped("b", b), "all": grouped("all", mean),
            "lower": end("lower", lower), "upper": end("upper", upper),
        },
    })
}

fn header() -> Json {
    let twelfth = 0.041_666_666_666_666_67;
    let (lower, upper) = (0.186_624_664_723_615_94, 0.923_702_118_051_308_4);
    let (sevens, eights) = (0.583_333_333_333_333_3, 0.666_666_666_666_666_6);
    let wide = [0.341_450_979_529_271_84, 0.989_529_368_795_501_5];
    json!({
        "version": 2, "status": "success",
        "eval": {
            "created": "2026-11-15T22:31:40+00:00", "task": "quiz", "model": "mockllm/model", "dataset": {},
            "config": {
                "epochs": 3,
                "epochs_reducer": ["errorbar/pass_at_2", "mean", "errorbar/at_least_2", "errorbar/pass_at_1"],
            },
            "scorers": [{"name": "match", "options": {}, "metrics": metrics(), "metadata": {}}],
            "metrics": metrics(),
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": 24, "completed_samples": 24, "scores": [
            recorded("errorbar/pass_at_2", [0.875, twelfth, 0.833_333_333_333_333_3, 0.916_666_666_666_666_6, wide[0], wide[1]]),
            recorded("mean", [0.625, twelfth, sevens, eights, lower, upper]),
            recorded("errorbar/at_least_2", [0.625, 0.125, 0.5, 0.75, lower, upper]),
            recorded("errorbar/pass_at_1", [0.625, twelfth, sevens, eights, lower, upper]),
        ]},
        "stats": {"started_at": "", "completed_at": "", "model_usage": {}},
        "reductions": [{"scorer": "match", "reducer": "errorbar/pass_at_2", "samples": [{"value": 1.0, "sample_id": "q0"}]}],
    })
}

fn write(path: &Path, change: impl FnOnce(&mut Json)) {
    let mut log = header();
    log["samples"] = json!(samples());
    change(&mut log);
    std::fs::write(path, log.to_string()).unwrap();
}

fn recompute(log: &EvalLog) -> (Results, Vec<LogWarning>) {
    let (plan, warnings) = plan_from_header(&log.header().unwrap(), &Registry::built_in()).unwrap();
    (plan.evaluate(&log.score_columns(&plan.metadata_keys()).unwrap()).unwrap().results, warnings)
}

#[test]
fn figures_names_and_reducers_are_those_that_the_log_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    write(&path, |_| {});
    let log = EvalLog::open(&path).unwrap();
    let (results, warnings) = recompute(&log);
    assert_eq!(warnings, []);
    let recorded = log.header().unwrap().results.unwrap();
    let differences: Vec<String> = compare(&recorded, &results).iter().map(ToString::to_string).collect();
    assert_eq!(differences, [""; 0]);
    assert!(results.scores.iter().all(|score| score.failures.is_empty()), "{:?}", results.scores);
    for (block, recorded) in project(&results).scores.iter().zip(&recorded.scores) {
        assert_eq!(block.reducer, recorded.reducer);
        for (entry, recorded) in block.metrics.values().zip(recorded.metrics.values()) {
            assert_eq!((&entry.name, &entry.group), (&recorded.name, &recorded.group));
            assert_eq!(entry.params, recorded.params);
        }
    }
    // A figure that is wrong is found in its block.
    write(&path, |log| log["results"]["scores"][2]["metrics"]["accuracy2"]["value"] = json!(0.5));
    let wrong = EvalLog::open(&path).unwrap().header().unwrap().results.unwrap();
    let differences: Vec<String> = compare(&wrong, &results).iter().map(ToString::to_string).collect();
    assert_eq!(differences, ["match (errorbar/at_least_2) · accuracy2: recorded 0.5, recomputed 0.625"]);
}

#[test]
fn results_that_are_put_back_keep_the_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    write(&path, |_| {});
    let log = EvalLog::open(&path).unwrap();
    let registry = Registry::built_in();
    let (plan, _) = plan_from_header(&log.header().unwrap(), &registry).unwrap();
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    let mut revision = log.revise().unwrap();
    revision.set_metrics(&metrics_to_log(plan.task_metrics.as_ref().unwrap(), &registry)).unwrap();
    revision.set_reducers(&plan.reducers).unwrap();
    revision.set_results(&plan.evaluate(&columns).unwrap(), &columns).unwrap();
    revision.write_back().unwrap();
    let written: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(written["eval"]["metrics"], metrics());
    let reducers = &header()["eval"]["config"]["epochs_reducer"];
    assert_eq!(written["eval"]["config"]["epochs_reducer"], *reducers);
    let reduced: Vec<&Json> =
        written["reductions"].as_array().unwrap().iter().map(|reduction| &reduction["reducer"]).collect();
    assert_eq!(reduced, reducers.as_array().unwrap().iter().collect::<Vec<_>>());
    let again = EvalLog::open(&path).unwrap();
    assert_eq!(compare(&again.header().unwrap().results.unwrap(), &recompute(&again).0), []);
}

#[test]
fn scores_by_key_are_keyed_by_the_log_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let by_key = json!({"*": [
        {"name": "errorbar/accuracy", "options": {}},
        {"name": "inspect_ai/stderr", "options": {}},
        {"name": "errorbar/ci_wilson", "options": {}},
    ]});
    write(&path, |log| {
        log["eval"]["metrics"] = Json::Null;
        log["eval"]["config"] = json!({"epochs": 3, "epochs_reducer": ["mean"]});
        log["eval"]["scorers"][0]["metrics"] = by_key;
        for sample in log["samples"].as_array_mut().unwrap() {
            sample["scores"]["match"]["value"] = json!({"a": 1});
        }
    });
    let (results, warnings) = recompute(&EvalLog::open(&path).unwrap());
    assert_eq!(warnings, []);
    let block = &project(&results).scores[0];
    let keys: Vec<&str> = block.metrics.keys().map(String::as_str).collect();
    assert_eq!(keys, ["errorbar/accuracy", "stderr", "errorbar/ci_wilson_lower", "errorbar/ci_wilson_upper"]);
    assert_eq!(block.metrics["errorbar/ci_wilson_lower"].group.as_deref(), Some("ci_wilson"));
}

#[test]
fn a_name_that_we_do_not_have_is_reported_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    write(&path, |log| log["eval"]["config"]["epochs_reducer"] = json!(["errorbar/pas_at_2"]));
    let header = EvalLog::open(&path).unwrap().header().unwrap();
    let error = plan_from_header(&header, &Registry::built_in()).unwrap_err();
    assert_matches!(
        error.kind(),
        LogErrorKind::Core(Error::UnknownName { kind: "reducer", name, nearest: Some(nearest) })
            if name == "errorbar/pas_at_2" && nearest == "pass_at_2"
    );

    let nested = json!({"type": "metric", "name": "errorbar/acuracy", "params": {}});
    let wrong = json!([
        {"name": "errorbar/acuracy", "options": {}},
        {"name": "inspect_ai/grouped", "options": {"metric": nested, "group_key": "category"}},
        {"name": "theirs/acuracy", "options": {}},
    ]);
    write(&path, |log| {
        log["eval"]["metrics"] = wrong.clone();
        log["eval"]["scorers"][0]["metrics"] = wrong;
    });
    let (_, warnings) = recompute(&EvalLog::open(&path).unwrap());
    assert_matches!(
        warnings[0],
        LogWarning::Unregistered { metric, scorer: None, nearest: Some(nearest) }
            if metric == "errorbar/acuracy" && nearest == "accuracy"
    );
    assert_matches!(
        warnings[1],
        LogWarning::Unusable { error: Error::UnknownName { kind: "metric", name, nearest: Some(nearest) }, .. }
            if name == "errorbar/acuracy" && nearest == "accuracy"
    );
    assert_matches!(
        warnings[2],
        LogWarning::Unregistered { metric, nearest: None, .. } if metric == "theirs/acuracy"
    );
    assert_eq!(warnings.len(), 3);
}
