//! `errorbar coverage`.

use crate::eval::Logs;
use crate::{check, workspace};

/// Forty questions on ten passages, nine of ten right.
fn table() -> String {
    let row = |at: u32| format!("q{at},{},{}\n", u32::from(at % 10 != 3), at % 10 / 2 + at / 10 * 5);
    format!("id,score,passage\n{}", (0..40).map(row).collect::<String>())
}

fn coverage(name: &str, options: &[&str]) {
    let args: Vec<&str> = ["coverage", "t.csv", "--simulations", "400", "--draws", "200"]
        .into_iter()
        .chain(options.iter().copied())
        .collect();
    check(name, &[("t.csv", &table())], &args);
}

#[test]
fn every_method_is_simulated() {
    coverage("coverage", &[]);
    coverage("coverage_cluster", &["--cluster", "passage"]);
    coverage("coverage_one", &["--interval", "wilson", "--level", "0.8", "--seed", "7"]);
}

/// Methods that do not fit the scores are below the table; they made it twice as wide as a terminal.
#[test]
fn methods_without_an_interval_are_below_the_table() {
    let graded: String = (0..30).map(|at| format!("q{at},{}\n", at * at % 7)).collect();
    let table = format!("id,score\n{graded}");
    for (name, more) in
        [("coverage_graded", [].as_slice()), ("coverage_graded_markdown", &["-f", "markdown"])]
    {
        let args = ["coverage", "t.csv", "--simulations", "200", "--draws", "100"];
        let args: Vec<&str> = args.iter().chain(more).copied().collect();
        check(name, &[("t.csv", &table)], &args);
    }
}

/// The width of an interval with one end was the distance from the open end.
#[test]
fn one_sided_intervals_have_no_width() {
    coverage("coverage_upper", &["--side", "upper", "--interval", "t"]);
    coverage("coverage_upper_csv", &["--side", "upper", "--interval", "t", "--format", "csv"]);
}

#[test]
fn formats() {
    for format in ["json", "csv", "markdown", "latex"] {
        coverage(&format!("coverage_{format}"), &["--interval", "t", "--format", format]);
    }
}

#[test]
fn a_log_is_simulated_by_scorer() {
    let logs = Logs::new();
    logs.run(&workspace(), &["eval", "examples/almanac/almanac.toml"]);
    let log = logs.only();
    let args = ["coverage", log.to_str().unwrap(), "--simulations", "100", "--draws", "100"];
    logs.check("coverage_log", &workspace(), &args);
}

#[test]
fn files_that_cannot_tell() {
    let equal = "id,score\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n";
    check("coverage_equal", &[("t.csv", equal)], &["coverage", "t.csv"]);
    check("coverage_one_score", &[("t.csv", "id,score\n1,1\n")], &["coverage", "t.csv"]);
    let few = "id,score,g\n1,1,a\n2,0,a\n3,1,b\n4,0,b\n5,1,c\n6,0,c\n";
    check("coverage_few_clusters", &[("t.csv", few)], &["coverage", "t.csv", "--cluster", "g"]);
    check("coverage_no_key", &[("t.csv", few)], &["coverage", "t.csv", "--cluster", "h"]);
    check(
        "coverage_two_keys",
        &[("t.csv", few)],
        &["coverage", "t.csv", "--cluster", "g", "--cluster", "id"],
    );
    check("coverage_no_score", &[("t.csv", "id,score\n1,\n2,NaN\n")], &["coverage", "t.csv"]);
    check("coverage_text", &[("t.csv", "id,score\n1,good\n2,bad\n")], &["coverage", "t.csv"]);
    check("coverage_zero_simulations", &[("t.csv", few)], &["coverage", "t.csv", "--simulations", "0"]);
    check("coverage_no_file", &[], &["coverage", "nothing.csv"]);
}

/// Maps are simulated key by key; a key without spread is reported, and the others stand.
#[test]
fn maps() {
    let row = |at: u32| format!("{{\"id\": {at}, \"score\": {{\"a\": {}, \"b\": 1}}}}\n", at % 3);
    let maps: String = (0..9).map(row).collect();
    check(
        "coverage_maps",
        &[("t.jsonl", &maps)],
        &["coverage", "t.jsonl", "--interval", "t", "--simulations", "50"],
    );
}
