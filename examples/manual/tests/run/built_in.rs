//! "Built-In Metrics"

use serde_json::json;

use crate::data::{first_epoch, mean, stderr, var};
use crate::harness::{assert_near, keys, metric, run, run_both};

#[test]
fn every_built_in_metric() {
    for log in run_both("gpqa_built_in") {
        let block = log.block();
        let expected = ["accuracy", "mean", "var", "std", "stderr", "bootstrap_stderr", "bootstrap_stderr2"];
        assert_eq!(keys(block), expected);
        let scores = first_epoch();
        assert_near(metric(block, "accuracy").value, mean(&scores));
        assert_near(metric(block, "mean").value, mean(&scores));
        assert_near(metric(block, "var").value, var(&scores));
        assert_near(metric(block, "std").value, var(&scores).sqrt());
        assert_near(metric(block, "stderr").value, stderr(&scores));
    }
}

#[test]
fn a_bootstrap_comes_near_and_comes_again() {
    let [log, twin] = run_both("gpqa_built_in");
    let block = log.block();
    // The bootstrap's expectation is √(Σ(x − x̄)²/n / n), its own relative error about 1/√(2B): 2% and 5%.
    let scores = first_epoch();
    let expected = stderr(&scores) * (23.0_f64 / 24.0).sqrt();
    for (key, tolerance) in [("bootstrap_stderr", 0.1), ("bootstrap_stderr2", 0.25)] {
        let found = metric(block, key);
        assert_eq!(found.name, "bootstrap_stderr");
        let off = (found.value / expected - 1.0).abs();
        assert!(off > 1e-9 && off < tolerance, "{key}: found {}, expected about {expected}", found.value);
        assert_eq!(found.value, metric(twin.block(), key).value, "the seed alone decides");
    }
    assert_eq!(metric(block, "bootstrap_stderr2").params.get("num_samples"), Some(&json!(200)));
    assert_eq!(metric(block, "bootstrap_stderr").params.get("num_samples"), None, "only what was passed");
    let again = run("gpqa_built_in");
    assert_eq!(metric(block, "bootstrap_stderr"), metric(again.block(), "bootstrap_stderr"));
}
