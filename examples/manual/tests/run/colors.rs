//! "Example"

use serde_json::{Value as Json, json};

use crate::harness::{assert_near, keys, metric, run};

#[test]
fn a_scorer_brings_a_metric_of_ones_own() {
    let log = run("colors");
    assert_eq!((log.header.eval.task.as_str(), log.sample_count()), ("colors", 1));
    let block = log.block();
    assert_eq!((block.name.as_str(), block.scorer.as_str()), ("word_overlap", "word_overlap"));
    assert_eq!(keys(block), ["mean", "stderr", "pass_rate"]);
    // "Painters say red, yellow and blue." has two of red, green and blue.
    assert_near(metric(block, "mean").value, 2.0 / 3.0);
    assert_near(metric(block, "pass_rate").value, 1.0);
    assert!(metric(block, "pass_rate").params.is_empty(), "a default is not recorded");
    // One sample says nothing about its error: the number is 0 as everywhere, with a note that it is none.
    let error = metric(block, "stderr");
    assert_near(error.value, 0.0);
    assert_eq!(error.metadata.as_ref().and_then(|notes| notes.get("undefined")), Some(&json!("n < 2")));
}

#[test]
fn the_log_records_the_scorer_with_its_metrics() {
    let log = run("colors");
    let scorers = log.header.eval.scorers.as_ref().expect("scorers");
    assert_eq!((scorers.len(), scorers[0].name.as_str()), (1, "word_overlap"));
    let recorded = json!([
        {"name": "inspect_ai/mean", "options": {}},
        {"name": "inspect_ai/stderr", "options": {}},
        {"name": "pass_rate", "options": {}},
    ]);
    assert_eq!(scorers[0].metrics, Some(recorded));
    assert_eq!(log.header.eval.metrics, None);
}

#[test]
fn a_task_may_have_other_metrics() {
    let log = run("colors_strict");
    let block = log.block();
    assert_eq!((block.scorer.as_str(), keys(block)), ("word_overlap", vec!["pass_rate"]));
    let rate = metric(block, "pass_rate");
    assert_near(rate.value, 0.0);
    assert_eq!(Json::from(rate.params.clone()), json!({"threshold": 0.8}));
}
