//! The reference's answers, committed under `conformance/cases`, against ours.
//!
//! `conformance/README.md` describes how the cases are made and gives a verdict for every tag of a case
//! where we deviate from the reference on purpose; `verdicts.rs` defines what ours must do there.

mod case;
mod compare;
mod estimates;
mod tables;
mod verdicts;

use errorbar_test_support::conformance::{self, cases};

/// Files that are no cases but tables.
const TABLES: [&str; 2] = ["python_text.json", "value_to_float.json"];

fn check(file: &str) {
    conformance::check(file, 1, case::run, compare::differences, verdicts::check);
}

errorbar_test_support::conformance_tests! {
    check: check,
    folder: "",
    besides: ["python_text.json", "value_to_float.json"],
    aggregate: "aggregate.json",
    bootstrap: "bootstrap.json",
    clustered: "clustered.json",
    conversion: "conversion.json",
    empty: "empty.json",
    frequency: "frequency.json",
    grouped: "grouped.json",
    headline: "headline.json",
    infinite: "infinite.json",
    krippendorff: "krippendorff.json",
    majority: "majority.json",
    maps: "maps.json",
    metrics_basic: "metrics-basic.json",
    missing: "missing.json",
    naming: "naming.json",
    perplexity: "perplexity.json",
    ranges: "ranges.json",
    reducer_errors: "reducer-errors.json",
    reducer_fields: "reducer-fields.json",
    reducer_options: "reducer-options.json",
    reducers: "reducers.json",
    scorers: "scorers.json",
    unscored: "unscored.json",
    wants: "wants.json",
}

fn files() -> Vec<String> {
    let is_table = |file: &String| TABLES.contains(&file.as_str());
    conformance::files("").into_iter().filter(|file| !is_table(file)).collect()
}

#[test]
fn there_are_enough_cases() {
    let count: usize = files().iter().map(|file| cases(file).len()).sum();
    assert!(count >= 400, "{count}");
}

#[test]
fn every_verdict_is_written_down() {
    conformance::check_verdicts(files());
}
