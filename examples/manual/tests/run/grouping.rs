//! "Metric Grouping"

use serde_json::{Value as Json, json};

use crate::data::{first_epoch, first_epoch_of, mean, stderr};
use crate::harness::{Log, assert_near, keys, metric, run_both};

const CATEGORIES: [&str; 3] = ["physics", "chemistry", "biology"];

/// Checks the figures of the categories under these names, in order of first appearance, and that of all.
fn check(log: &Log, names: [&str; 3], all: f64, options: &Json) {
    let block = log.block();
    assert_eq!((block.scorer.as_str(), &block.reducer), ("choice", &None));
    assert_eq!(keys(block), [names[0], names[1], names[2], "all", "stderr"]);
    for (name, category) in names.into_iter().zip(CATEGORIES) {
        assert_near(metric(block, name).value, mean(&first_epoch_of(category)));
    }
    assert_near(metric(block, "all").value, all);
    for name in [names[0], names[1], names[2], "all"] {
        let entry = metric(block, name);
        assert_eq!((entry.name.as_str(), entry.group.as_deref()), (name, Some("grouped")));
        assert_eq!(Json::from(entry.params.clone()), *options);
    }
    let error = metric(block, "stderr");
    assert_eq!((error.name.as_str(), &error.group), ("stderr", &None));
    assert_near(error.value, stderr(&first_epoch()));
    let recorded = json!([
        {"name": "inspect_ai/grouped", "options": options},
        {"name": "inspect_ai/stderr", "options": {}},
    ]);
    assert_eq!(*log.task_metrics(), recorded);
}

fn options(more: &[(&str, &str)]) -> Json {
    let accuracy = json!({"type": "metric", "name": "accuracy", "params": {}});
    let mut options = json!({"metric": accuracy, "group_key": "category"});
    for (key, value) in more {
        options[key] = json!(value);
    }
    options
}

#[test]
fn all_is_that_of_all_samples() {
    for log in run_both("gpqa_grouped") {
        check(&log, CATEGORIES, mean(&first_epoch()), &options(&[]));
    }
}

#[test]
fn all_is_the_mean_of_the_groups() {
    // 7 of 10, 4 of 8 and 4 of 6 are correct: (7/10 + 1/2 + 2/3) / 3 = 56/90.
    for log in run_both("gpqa_grouped_all") {
        check(&log, CATEGORIES, 56.0 / 90.0, &options(&[("all", "groups")]));
    }
}

#[test]
fn names_follow_the_template() {
    let names = ["category_physics", "category_chemistry", "category_biology"];
    for log in run_both("gpqa_grouped_named") {
        let options = options(&[("name_template", "category_{group_name}")]);
        check(&log, names, mean(&first_epoch()), &options);
    }
}
