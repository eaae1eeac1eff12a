//! "Custom Metrics" and "Custom Reducers"

use std::process::Command;

use serde_json::{Value as Json, json};

use crate::data::{mean, of_each};
use crate::harness::{assert_near, keys, metric, run, run_own_mean};

#[test]
fn both_means_are_used_by_their_name() {
    let log = run_own_mean("gpqa");
    assert_eq!(log.sample_count(), 120);
    assert_eq!(log.reducers(), [Some("mean")]);
    let block = log.block();
    assert_eq!(keys(block), ["mean"]);
    assert_eq!(metric(block, "mean").name, "mean");
    assert_near(metric(block, "mean").value, mean(&of_each(|question| f64::from(question.count()) / 5.0)));
    assert_eq!(*log.task_metrics(), json!([{"name": "mean", "options": {}}]), "not that of inspect_ai");
}

/// The manual's reducer makes a score of the value alone; the built-in one keeps what all epochs agree on.
#[test]
fn the_reducer_is_the_programs_own() {
    let answer = |reductions: &Json, reducer: &str| {
        let reductions = reductions.as_array().expect("reductions");
        let reduction =
            reductions.iter().find(|reduction| reduction["reducer"] == reducer).expect("that reducer");
        let samples = reduction["samples"].as_array().expect("samples");
        let first = samples.iter().find(|sample| sample["sample_id"] == 1).expect("question 1");
        assert_eq!(first["value"], 1.0);
        first.get("answer").and_then(Json::as_str).map(str::to_owned)
    };
    assert_eq!(answer(&run_own_mean("gpqa").reductions(), "mean"), None);
    assert_eq!(answer(&run("gpqa_reducers").reductions(), "mean").as_deref(), Some("B"));
}

#[test]
fn lists_show_what_replaced_the_built_in_ones() {
    for (kind, sentence) in
        [("metrics", "Compute mean of all scores."), ("reducers", "Compute a mean value of all scores.")]
    {
        let listed =
            Command::new(env!("CARGO_BIN_EXE_own_mean")).args(["list", kind]).output().expect("it starts");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains(sentence), "{listed}");
    }
}
