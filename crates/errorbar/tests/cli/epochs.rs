//! Epochs: curves, components, both errors, and what is absent.

use std::fs;

use crate::eval::Logs;
use crate::{check, workspace};

/// Four samples with three epochs each.
const FOUR: &str = "id,epoch,score,kind\n\
    a,1,1,x\na,2,1,x\na,3,0,x\nb,1,0,x\nb,2,0,x\nb,3,1,x\nc,1,1,y\nc,2,1,y\nc,3,1,y\nd,1,0,y\nd,2,0,y\nd,3,0,y\n";

/// Two samples with unequal epochs, of which one has no score, and one without any.
const GAPS: &str = "id,epoch,score\na,1,1\na,2,\nb,1,0\nb,2,1\nb,3,1\nc,1,\nc,2,\n";

#[test]
fn a_curve_is_a_table_of_its_reducers() {
    let reducers = ["pass_at(1..3)", "pass_k(1..3)", "g_pass(3, 1..3)", "best_of(1..3)"];
    let options = reducers.iter().flat_map(|reducer| ["--reducer", reducer]);
    let args: Vec<&str> = ["score", "t.csv", "--metric", "mean"].into_iter().chain(options).collect();
    check("epochs_curves", &[("t.csv", FOUR)], &args);
}

#[test]
fn components_and_consistency() {
    let args = ["score", "t.csv", "-m", "mean", "-m", "variance_components", "-m", "consistency"];
    check("epochs_components", &[("t.csv", FOUR)], &args);
    let args = ["score", "t.csv", "-m", "grouped(consistency(), 'kind')"];
    check("epochs_consistency_by_group", &[("t.csv", FOUR)], &args);
}

#[test]
fn what_is_absent_is_in_every_format() {
    for format in ["table", "json", "csv", "markdown", "latex"] {
        let args = ["score", "t.csv", "-m", "mean", "--format", format];
        check(&format!("epochs_gaps_{format}"), &[("t.csv", GAPS)], &args);
    }
    check("epochs_unequal_max", &[("t.csv", GAPS)], &["score", "t.csv", "-m", "mean", "-r", "max"]);
}

#[test]
fn bad_numbers_of_epochs_are_refused() {
    let specs = [
        "pass_at(0)",
        "pass_at(8..1)",
        "pass_at(1..1000)",
        "pass_at(1..)",
        "g_pass(2, 3)",
        "g_pass(4)",
        "best_of(0)",
        "g_pass(1..2, 1..2)",
    ];
    let options = specs.iter().flat_map(|spec| ["-r", spec]);
    let args: Vec<&str> = ["score", "t.csv"].into_iter().chain(options).collect();
    check("epochs_bad_specs", &[("t.csv", FOUR)], &args);
    check("epochs_too_few", &[("t.csv", FOUR)], &["score", "t.csv", "-m", "mean", "-r", "best_of(3..4)"]);
}

/// What the reference lacks has our package in front of it, and is found again under it.
#[test]
fn a_log_with_reducers_of_ours_agrees_with_itself() {
    let logs = Logs::new();
    let task =
        ["eval", "examples/sums/sums.toml", "-m", "mean", "-m", "variance_components", "-m", "consistency"];
    let reducers = ["-r", "pass_at(1..2)", "-r", "g_pass(4, 2)", "-r", "best_of_2"];
    let args: Vec<&str> = task.into_iter().chain(reducers).collect();
    logs.run(&workspace(), &args);
    let log = logs.only();
    logs.check("epochs_verify", &workspace(), &["verify", log.to_str().unwrap()]);
    logs.check("epochs_score_log", &workspace(), &["score", log.to_str().unwrap()]);
    let header = errorbar_log::eval::EvalLog::open(&log).unwrap().header().unwrap();
    let recorded = ["pass_at_1", "pass_at_2", "errorbar/g_pass(k=4, j=2)", "errorbar/best_of_2"];
    assert_eq!(header.eval.config.epochs_reducer.as_deref(), Some(recorded.map(str::to_owned).as_slice()));
    let blocks = header.results.unwrap().scores;
    let reducers: Vec<&str> = blocks.iter().filter_map(|block| block.reducer.as_deref()).collect();
    assert_eq!(reducers, recorded);
}

/// A run says as much about its ratings as `score` does of its log.
#[test]
fn ratings_beyond_the_threshold_are_reported_after_a_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("d.jsonl"), "{\"input\": \"a?\", \"target\": \"b\"}\n").unwrap();
    fs::write(folder.path().join("ratings.csv"), "id,score\n1,7\n").unwrap();
    let task = "dataset = \"d.jsonl\"\nscorer = \"precomputed('ratings.csv')\"\nmodel = \"mock/b\"\n\
                epochs = {count = 2, reducers = [\"mean\", \"pass_at_2\"]}\n";
    fs::write(folder.path().join("t.toml"), task).unwrap();
    let logs = Logs::new();
    let output = logs.run(folder.path(), &["eval", "t.toml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    let warning = "pass_at_2 takes every score from 1 on for a success, and there are scores up to 7";
    assert!(text.contains(warning) && text.contains("--reducer 'pass_at(k=2, value=7)'"), "{text}");
}
