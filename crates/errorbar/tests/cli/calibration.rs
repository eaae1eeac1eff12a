//! Confidence against correctness, and confidences that are none.

use crate::check;

const METRICS: [&str; 14] = [
    "--metric",
    "brier",
    "--metric",
    "log_loss",
    "--metric",
    "auroc",
    "--metric",
    "auprc",
    "--metric",
    "ece(bins=5)",
    "--metric",
    "ece_debiased(bins=5, scheme=\"mass\")",
    "--metric",
    "brier_decomposition(bins=5)",
];

const TABLE: &str = include_str!("../../../../examples/confidence.csv");

fn with(name: &str, table: &str, options: &[&str]) {
    let args: Vec<&str> = ["score", "t.csv"].iter().chain(options).copied().collect();
    check(name, &[("t.csv", table)], &args);
}

#[test]
fn figures_with_their_errors() {
    with("calibration", TABLE, &METRICS);
    let clustered: Vec<&str> =
        METRICS.iter().chain(&["--cluster", "passage", "--format", "csv"]).copied().collect();
    with("calibration_clusters", TABLE, &clustered);
    with("calibration_groups", TABLE, &["--metric", "grouped(brier(), \"topic\")", "--metric", "auroc"]);
}

#[test]
fn the_points_of_a_curve_are_in_the_results() {
    with("calibration_json", TABLE, &["--metric", "ece(bins=2)", "--format", "json"]);
}

#[test]
fn confidence_in_the_metadata_of_scores() {
    let log = r#"{"version": 2, "status": "success",
     "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {}, "config": {},
              "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}]}]},
     "samples": [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C", "metadata": {"confidence": 0.9}}}},
                 {"id": 2, "epoch": 1, "scores": {"match": {"value": "I", "metadata": {"confidence": 0.2}}}},
                 {"id": 3, "epoch": 1, "metadata": {"confidence": 1}, "scores": {"match": {"value": "I"}}}]}"#;
    let args = ["score", "run.json", "--metric", "brier", "--metric", "log_loss", "--metric", "auroc"];
    check("calibration_log", &[("run.json", log)], &args);
}

#[test]
fn confidences_that_are_none() {
    with("calibration_percent", &TABLE.replace(",0.95,", ",95%,"), &["--metric", "brier"]);
    with("calibration_hundred", &TABLE.replace(",0.95,", ",95,"), &["--metric", "ece"]);
    with("calibration_missing", &TABLE.replacen(",0.9,", ",,", 1), &["--metric", "auroc"]);
    with("calibration_other_key", &TABLE.replace("confidence", "sure"), &["--metric", "auprc"]);
    with("calibration_near_key", TABLE, &["--metric", "brier(confidence=\"conf\")"]);
    with("calibration_graded", &TABLE.replacen(",C,", ",0.5,", 1), &["--metric", "log_loss"]);
    with(
        "calibration_one_class",
        &TABLE.replace(",I,", ",C,"),
        &["--metric", "auroc", "--metric", "auprc", "--metric", "brier"],
    );
}
