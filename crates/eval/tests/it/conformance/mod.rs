//! The results of the reference's text scorers, committed under `conformance/cases/text`, against ours.
//!
//! `conformance/README.md` describes how the cases are made and gives a verdict for every tag of a case where we
//! deviate from the reference on purpose; `verdicts.rs` defines what ours must do there.

mod case;
mod verdicts;

use errorbar_test_support::conformance::{self, cases};

fn check(file: &str) {
    let judge = |tag: &str, _: &_, ours: &_, differences: &[String]| verdicts::check(tag, ours, differences);
    conformance::check(&format!("text/{file}"), 40, case::run, case::differences, judge);
}

errorbar_test_support::conformance_tests! {
    check: check,
    folder: "text",
    besides: [],
    answer: "answer.json",
    choice: "choice.json",
    exact: "exact.json",
    f1: "f1.json",
    includes: "includes.json",
    match_numeric: "match-numeric.json",
    match_text: "match.json",
    pattern: "pattern.json",
}

fn files() -> impl Iterator<Item = String> {
    conformance::files("text").into_iter().map(|file| format!("text/{file}"))
}

#[test]
fn every_verdict_is_written_down() {
    conformance::check_verdicts(files());
}

/// A test that compares nothing would pass: each kind of outcome must occur in each file that can have it.
#[test]
fn the_cases_tell_right_from_wrong() {
    for file in files() {
        let cases = cases(&file);
        let with = |value: &str| cases.iter().filter(|case| case.expect["value"] == value).count();
        match file.as_str() {
            "text/f1.json" => {
                assert!(cases.iter().any(|c| c.expect["value"].as_f64().is_some_and(|v| 0.0 < v && v < 1.0)))
            }
            _ => assert!(with("C") >= 40 && with("I") >= 40, "{file}: {} C, {} I", with("C"), with("I")),
        }
    }
}
