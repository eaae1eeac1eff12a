//! "Overview"

use serde_json::json;

use crate::data::{first_epoch, mean, stderr};
use crate::harness::{assert_near, keys, metric, run, run_both};

#[test]
fn a_scorer_brings_its_metrics() {
    for log in run_both("overview") {
        assert_eq!((log.header.eval.task.as_str(), log.sample_count()), ("overview", 24));
        let block = log.block();
        assert_eq!((block.name.as_str(), block.scorer.as_str(), &block.reducer), ("choice", "choice", &None));
        assert_eq!((block.scored_samples, block.unscored_samples), (Some(24), Some(0)));
        assert_eq!(keys(block), ["accuracy", "stderr"]);
        assert_near(metric(block, "accuracy").value, mean(&first_epoch()));
        assert_near(metric(block, "stderr").value, stderr(&first_epoch()));
        assert_eq!(log.header.eval.metrics, None, "the task has none of its own");
    }
}

#[test]
fn a_tasks_metrics_take_their_place() {
    let log = run("overview_custom");
    let block = log.block();
    assert_eq!((block.scorer.as_str(), keys(block)), ("choice", vec!["custom_metric"]));
    let custom = metric(block, "custom_metric");
    assert_eq!((custom.name.as_str(), &custom.group, custom.params.len()), ("custom_metric", &None, 0));
    // 15 of 24 are correct: (15/24 − 1/4) / (1 − 1/4) = (5/8 − 2/8) · 4/3 = 1/2.
    assert_near(custom.value, 0.5);
    assert_eq!(*log.task_metrics(), json!([{"name": "custom_metric", "options": {}}]));
}

#[test]
fn built_in_ones_are_named_again() {
    let log = run("overview_both");
    let block = log.block();
    assert_eq!(keys(block), ["accuracy", "stderr", "custom_metric"]);
    assert_near(metric(block, "accuracy").value, mean(&first_epoch()));
    assert_near(metric(block, "stderr").value, stderr(&first_epoch()));
    assert_near(metric(block, "custom_metric").value, 0.5);
    let recorded = json!([
        {"name": "inspect_ai/accuracy", "options": {}},
        {"name": "inspect_ai/stderr", "options": {}},
        {"name": "custom_metric", "options": {}},
    ]);
    assert_eq!(*log.task_metrics(), recorded);
}
