//! How errors and intervals are computed: options, task files, and what logs record of it.

use std::path::Path;

use errorbar_log::eval::EvalLog;

use crate::eval::Logs;
use crate::{check, errorbar};

const TABLE: (&str, &str) = ("t.csv", "id,score,passage\nq1,1,a\nq2,0,a\nq3,1,b\nq4,1,b\nq5,0,c\nq6,1,c\n");
const DATASET: (&str, &str) = (
    "d.jsonl",
    "{\"id\": 1, \"input\": \"1?\", \"target\": \"1\", \"metadata\": {\"passage\": \"a\"}}\n\
     {\"id\": 2, \"input\": \"2?\", \"target\": \"2\", \"metadata\": {\"passage\": \"b\"}}\n\
     {\"id\": 3, \"input\": \"3?\", \"target\": \"1\", \"metadata\": {\"passage\": \"a\"}}\n",
);
const TASK: &str = "dataset = { path = \"d.jsonl\" }\nscorer = \"match()\"\nmodel = \"mock/1\"\n";

#[test]
fn options_that_are_wrong_name_themselves() {
    let with = |name: &str, options: &[&str]| {
        let args: Vec<&str> = ["score", "t.csv"].iter().chain(options).copied().collect();
        check(name, &[TABLE], &args);
    };
    with("errors_method", &["--errors", "CR4"]);
    with("errors_interval", &["--interval", "wilsen"]);
    with("errors_level", &["--level", "95"]);
    with("errors_draws", &["--draws", "5"]);
    with("errors_range", &["--range", "10", "0"]);
    with("errors_range_one", &["--range", "0"]);
    with("errors_three_clusters", &["--cluster", "a", "--cluster", "b", "--cluster", "c"]);
    with("errors_same_cluster", &["--cluster", "passage", "--cluster", "passage"]);
    with("errors_empty_cluster", &["--cluster", ""]);
    with("errors_iid_clustered", &["--cluster", "passage", "--errors", "iid"]);
    with("errors_without_cluster", &["--errors", "CR2"]);
    with("errors_unknown_cluster", &["--cluster", "pasage"]);
}

#[test]
fn a_task_is_checked_with_them() {
    let files = [DATASET, ("t.toml", TASK)];
    check("errors_eval_method", &files, &["eval", "t.toml", "--errors", "CR2"]);
    check("errors_eval_iid", &files, &["eval", "t.toml", "--errors", "iid", "--cluster", "passage"]);
    let task = format!(
        "{TASK}errors = {{ clutser = \"passage\", method = \"CR5\", interval = \"wilsn\", level = 95 }}\n"
    );
    check("task_file_errors", &[DATASET, ("t.toml", &task)], &["eval", "t.toml"]);
}

/// The plan of errors that a log records, as text.
fn recorded(log: &Path) -> String {
    let eval = EvalLog::open(log).unwrap().header().unwrap().eval;
    eval.config.extra.get("errors").map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_log_records_how_its_errors_are_computed() {
    let folder = tempfile::tempdir().unwrap();
    let task = format!("{TASK}errors = {{ cluster = \"passage\", method = \"CR1\", level = 0.9 }}\n");
    std::fs::write(folder.path().join(DATASET.0), DATASET.1).unwrap();
    std::fs::write(folder.path().join("t.toml"), task).unwrap();
    let run = |args: &[&str]| {
        let logs = Logs::new();
        let output = logs.run(folder.path(), args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        (recorded(&logs.only()), logs)
    };
    let (of_task, logs) = run(&["eval", "t.toml"]);
    assert_eq!(of_task, r#"{"cluster":"passage","method":"CR1","level":0.9}"#);
    let (of_option, _) = run(&["eval", "t.toml", "--level", "0.8", "--interval", "t"]);
    assert_eq!(of_option, r#"{"cluster":"passage","method":"CR1","interval":"t","level":0.8}"#);
    let (independent, _) = run(&["eval", "t.toml", "--errors", "iid", "--level", "0.95"]);
    assert_eq!(independent, r#"{"method":"iid","level":0.95}"#);

    // A change of the task does not change what a log was run with, and `score --write` records what it was given.
    let log = logs.only();
    std::fs::write(folder.path().join("t.toml"), TASK).unwrap();
    let resume = ["eval", "t.toml", "--resume", log.to_str().unwrap()];
    assert_eq!(errorbar(folder.path(), &resume).output().unwrap().status.code(), Some(0));
    assert_eq!(recorded(&log), of_task);
    let score = |options: &[&str]| {
        let args: Vec<&str> = ["score", log.to_str().unwrap()].iter().chain(options).copied().collect();
        let output = errorbar(folder.path(), &args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        recorded(&log)
    };
    assert_eq!(score(&["--range", "0", "2"]), of_task);
    assert_eq!(score(&["--write"]), of_task);
    assert_eq!(
        score(&["--write", "--range", "0", "2"]),
        r#"{"cluster":"passage","method":"CR1","level":0.9,"range":[0.0,2.0]}"#
    );
}

#[test]
fn a_plan_that_cannot_be_read_is_reported() {
    let log = r#"{"version": 2, "status": "success",
     "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {},
              "config": {"errors": {"cluster": 5}}, "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}]}]},
     "samples": [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}},
                 {"id": 2, "epoch": 1, "scores": {"match": {"value": "I"}}}]}"#;
    check("errors_unreadable", &[("run.json", log)], &["score", "run.json", "--format", "csv"]);
}

#[test]
fn what_is_written_with_options_is_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(DATASET.0), DATASET.1).unwrap();
    std::fs::write(folder.path().join("t.toml"), TASK).unwrap();
    let logs = Logs::new();
    assert_eq!(logs.run(folder.path(), &["eval", "t.toml"]).status.code(), Some(0));
    let log = logs.only();
    let estimates = |options: &[&str]| {
        let args: Vec<&str> =
            ["score", log.to_str().unwrap(), "--format", "csv"].iter().chain(options).copied().collect();
        let output = errorbar(folder.path(), &args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let options = ["--cluster", "passage", "--errors", "CR1", "--level", "0.5"];
    let (before, with) = (estimates(&[]), estimates(&options));
    assert!(before.contains(",iid,") && before.contains(",0.95,"), "{before}");
    assert!(with.contains(",CR1,") && with.contains(",0.5,"), "{with}");
    // Without --write the log stays as it is.
    assert_eq!(estimates(&[]), before);
    let written: Vec<&str> = options.into_iter().chain(["--write"]).collect();
    assert_eq!(estimates(&written), with);
    assert_eq!(estimates(&[]), with);
    let verified = errorbar(folder.path(), &["verify", log.to_str().unwrap()]).output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn options_decide_what_a_row_shows_and_never_what_a_log_has() {
    let metrics = ["score", "t.csv", "--metric", "accuracy", "--metric", "stderr"];
    let run = |options: &[&str]| {
        let args: Vec<&str> = metrics.iter().chain(options).chain(&["--format", "json"]).copied().collect();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(TABLE.0), TABLE.1).unwrap();
        let output = errorbar(folder.path(), &args).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let (plain, clustered) = (run(&[]), run(&["--cluster", "passage", "--interval", "t"]));
    assert_eq!(plain[0]["results"], clustered[0]["results"]);
    let row = |json: &serde_json::Value| json[0]["estimates"][0].clone();
    assert_eq!((&row(&plain)["error_method"], &row(&plain)["method"]), (&"iid".into(), &"wilson".into()));
    assert_eq!((&row(&clustered)["error_method"], &row(&clustered)["method"]), (&"CR2".into(), &"t".into()));
    assert_eq!(row(&clustered)["clusters"], 3);
}

#[test]
fn a_cluster_key_that_no_sample_has_is_reported_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(DATASET.0), DATASET.1).unwrap();
    std::fs::write(folder.path().join("t.toml"), format!("{TASK}errors = {{ cluster = \"pasage\" }}\n"))
        .unwrap();
    Logs::new().check("errors_eval_unknown_cluster", folder.path(), &["eval", "t.toml"]);
}
