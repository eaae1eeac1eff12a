//! What the fuzzer starts from and what it once found, without a fuzzer: see `fuzz/README.md`.

use errorbar_test_support::run_seeds;

use crate::mutations::{log, spec};

#[test]
fn logs() {
    run_seeds("eval_log", |bytes| log::any_log("log.eval", bytes));
    run_seeds("json_log", |bytes| log::any_log("log.json", bytes));
}

#[test]
fn records() {
    run_seeds("sample", log::sample);
    run_seeds("header", log::header);
}

#[test]
fn specs() {
    run_seeds("spec", spec::spec);
}
