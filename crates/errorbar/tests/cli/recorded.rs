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
