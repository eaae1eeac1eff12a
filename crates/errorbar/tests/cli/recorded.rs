//! Logs with results and no samples: their recorded figures, marked as such.

use serde_json::Value as Json;

use crate::Folder;
use crate::files::LOG;

/// A log of a model that records an accuracy, and its error if there is one, of this number of samples.
fn log(model: &str, accuracy: f64, stderr: Option<f64>, n: u64) -> String {
    let stderr = stderr
        .map(|stderr| format!(r#", "stderr": {{"name": "stderr", "value": {stderr}, "params": {{}}}}"#));
    format!(
        r#"{{"version": 2, "status": "success", "eval": {{"created": "2026-11-15T02:39:22+00:00", "task": "quiz",
 "model": "{model}", "dataset": {{}}, "config": {{}}, "scorers": [{{"name": "match", "metrics": [{{"name": "accuracy"}}, {{"name": "stderr"}}]}}]}},
 "results": {{"total_samples": {n}, "completed_samples": {n}, "scores": [{{"name": "match", "scorer": "match", "scored_samples": {n},
 "unscored_samples": 0, "params": {{}}, "metrics": {{"accuracy": {{"name": "accuracy", "value": {accuracy}, "params": {{}}}}{}}}}}]}},
 "samples": []}}"#,
        stderr.unwrap_or_default()
    )
}

fn folder() -> Folder {
    Folder::new(&[
        ("a.json", &log("mock/a", 0.75, Some(0.05), 100)),
        ("b.json", &log("mock/b", 0.6, Some(0.06), 80)),
        ("bare.json", &log("mock/bare", 0.5, None, 80)),
        ("whole.json", LOG),
    ])
}

/// A log of a task with figures of groups and a custom metric, of a version that does not record samples.
fn log_of_groups(model: &str, accuracy: f64) -> String {
    let figure = |key: &str, name: &str, value: f64| {
        format!(
            r#""{key}": {{"name": "{name}", "group": "grouped", "value": {value}, "params": {{"group_key": "g", "metric": {{"type": "metric", "name": "inspect_ai/accuracy", "params": {{}}}}}}}}"#
        )
    };
    let groups = [("a", accuracy - 0.1), ("b", accuracy + 0.1), ("all", accuracy)];
    let groups = groups.map(|(group, value)| figure(group, group, value)).join(", ");
    let own = format!(r#""own": {{"name": "their/own", "value": 0.25, "params": {{}}}}, {groups}"#);
    let metrics = r#"{"name": "their/own"}, {"name": "inspect_ai/grouped", "options": {"group_key": "g", "metric": {"type": "metric", "name": "inspect_ai/accuracy", "params": {}}}}"#;
    log(model, accuracy, Some(0.05), 60)
        .replacen(r#""metrics": {"accuracy""#, &format!(r#""metrics": {{{own}, "accuracy""#), 1)
        .replacen(r#"{"name": "accuracy"}"#, &format!(r#"{{"name": "inspect_ai/accuracy"}}, {metrics}"#), 1)
}

/// A log with two samples whose conversion is recorded by a name only.
fn log_by_name(model: &str, value: f64) -> String {
    let sample = |id| {
        format!(
            r#"{{"id": {id}, "epoch": 1, "input": "?", "target": "", "scores": {{"match": {{"value": "C"}}}}}}"#
        )
    };
    log(model, value, None, 2)
        .replacen(
            r#"{"name": "accuracy"}"#,
            r#"{"name": "inspect_ai/accuracy", "options": {"to_float": "mine"}}"#,
            1,
        )
        .replacen(r#", {"name": "stderr"}"#, "", 1)
        .replacen(r#""value": 0.5, "params": {}"#, r#""value": 0.5, "params": {"to_float": "mine"}"#, 1)
        .replacen(r#""samples": []"#, &format!(r#""samples": [{}, {}]"#, sample(1), sample(2)), 1)
}

/// What a command prints as JSON.
fn json(folder: &Folder, args: &[&str]) -> Json {
    let output = folder.run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn recorded_figures_are_shown() {
    let folder = folder();
    folder.check("recorded_score", &["score", "a.json", "bare.json"]);
    let logs = json(&folder, &["score", "a.json", "whole.json", "--format", "json"]);
    let [log, whole] = logs.as_array().unwrap().as_slice() else { panic!("{logs}") };
    assert_eq!((&log["recorded"], &whole["recorded"]), (&Json::Bool(true), &Json::Null));
    assert_eq!(
        (log["estimates"][0]["value"].as_f64(), log["estimates"][0]["stderr"].as_f64()),
        (Some(0.75), Some(0.05))
    );
    assert_eq!(log["estimates"][0]["n"], 100);
    let gated = folder.run(&["score", "a.json", "--require", "accuracy > 0.8"]);
    assert_eq!(gated.status.code(), Some(1));
}

#[test]
fn what_is_not_recorded_cannot_be_computed() {
    let folder = folder();
    folder.check("recorded_metric", &["score", "a.json", "--metric", "mean"]);
    for option in ["--cluster=topic", "--reducer=mode", "--write", "--interval=wilson"] {
        let output = folder.run(&["score", "a.json", option]);
        assert_eq!(output.status.code(), Some(2), "{option}");
    }
    assert_eq!(folder.text("a.json"), log("mock/a", 0.75, Some(0.05), 100), "nothing is written");
}

#[test]
fn recorded_figures_are_compared_unpaired() {
    let folder = folder();
    folder.check("recorded_compare", &["compare", "a.json", "b.json"]);
    let compared = json(&folder, &["compare", "a.json", "b.json", "--format", "json"]);
    let one = &compared["comparisons"][0];
    let close = |key: &str, wanted: f64| {
        let found = one[key].as_f64().unwrap();
        assert!((found - wanted).abs() < 1e-9, "{key}: {found}");
    };
    close("difference", -0.15);
    close("stderr", 0.05f64.hypot(0.06));
    assert_eq!(one["paired"], false);
    // Without an error there is the difference, and nothing else.
    let compared = json(&folder, &["compare", "a.json", "bare.json", "--format", "json"]);
    assert_eq!(compared["comparisons"][0]["difference"].as_f64(), Some(-0.25));
    assert_eq!(compared["comparisons"][0]["p"], Json::Null);
    // Beside one with samples.
    let mixed = json(&folder, &["compare", "whole.json", "a.json", "--format", "json"]);
    assert_eq!(mixed["comparisons"][0]["paired"], false);
}

#[test]
fn a_page_has_recorded_figures() {
    let folder = folder();
    let output = folder.run(&["report", "a.json", "b.json", "whole.json", "-o", "page.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = folder.text("page.html");
    assert!(page.contains("figures are recorded.") && page.contains("0.750") && page.contains("0.600"));
}

#[test]
fn rows_of_csv_say_that_they_are_recorded() {
    let folder = folder();
    let last = |args: &[&str]| {
        let output = folder.run(&[&["score", "--format", "csv"], args].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(last(&["a.json", "whole.json"])[..2], ["recorded", "true"]);
    assert_eq!(last(&["whole.json", "a.json"])[..2], ["recorded", "false"]);
    assert!(!last(&["whole.json"]).contains(&"recorded".to_owned()), "nothing is recorded");
}

#[test]
fn facts_of_a_page_are_those_of_the_log() {
    let page = |logs: &[&str]| {
        let folder = folder();
        let output = folder.run(&[&["report", "-o", "page.html"], logs].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        folder.text("page.html")
    };
    assert!(page(&["b.json", "bare.json"]).contains("<dd>2 models × 80 = 160<"));
    let page = page(&["a.json"]);
    assert!(
        page.contains("<dt>Samples</dt><dd>100</dd>") && page.contains("<dt>Answers</dt><dd>100<"),
        "{page}"
    );
    assert!(page.contains("<small>as recorded</small>") && !page.contains("<small>custom</small>"));
}

#[test]
fn recorded_groups_and_custom_metrics_are_compared() {
    let folder =
        Folder::new(&[("a.json", &log_of_groups("mock/a", 0.3)), ("b.json", &log_of_groups("mock/b", 0.6))]);
    folder.check("recorded_compare_groups", &["compare", "a.json", "b.json"]);
}

#[test]
fn a_comparison_without_recorded_errors_says_so() {
    let folder = folder();
    folder.check("recorded_compare_bare", &["compare", "a.json", "bare.json"]);
}

#[test]
fn recorded_figures_are_not_split() {
    let folder = folder();
    folder.check("recorded_compare_by", &["compare", "a.json", "b.json", "--by", "topic"]);
}

#[test]
fn all_pairs_are_compared_beside_a_recorded_run() {
    let whole = |model: &str| LOG.replace("mock/x", model);
    let folder = Folder::new(&[
        ("1.json", &whole("mock/one")),
        ("2.json", &whole("mock/two")),
        ("3.json", &whole("mock/three")),
        ("r.json", &log("mock/recorded", 0.5, Some(0.1), 40)),
    ]);
    let output = folder.run(&["report", ".", "-o", "page.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.text("page.html").contains("each is compared with"));
}

#[test]
fn what_is_undefined_is_not_compared() {
    let folder =
        Folder::new(&[("a.json", &log_by_name("mock/a", 0.5)), ("b.json", &log_by_name("mock/b", 0.5))]);
    let output = folder.run(&["report", "a.json", "b.json", "-o", "page.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = folder.text("page.html");
    assert!(page.contains("They are not compared: the difference is"), "{page}");
    assert!(!page.contains("cannot be told apart"));
}

#[test]
fn addresses_are_no_paths() {
    let folder = folder();
    for (place, hint) in [
        ("https://example.org/a.csv", "addresses are not opened: download the file"),
        ("https://example.org/a.eval", "addresses are not opened: download the file"),
        ("file:///data/a.csv", "name the file by its path, /data/a.csv"),
    ] {
        let output = folder.run(&["score", place]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("this is an address") && error.contains(hint), "{place}: {error}");
        assert!(!error.contains("No such file"), "{place}: {error}");
    }
    for args in [["eval", "https://example.org/t.toml"], ["view", "https://example.org/logs"]] {
        let error = String::from_utf8(folder.run(&args).stderr).unwrap();
        assert!(
            error.contains("this is an address") && error.contains("addresses are not opened"),
            "{error}"
        );
    }
}
