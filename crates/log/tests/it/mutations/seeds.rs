//! What the fuzzer starts from and what it once found, without a fuzzer: see `fuzz/README.md`.

use errorbar_test_support::run_seeds;

use crate::mutations::{log, spec, table};

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
fn tables() {
    run_seeds("table_csv", |bytes| table::table("table.csv", bytes));
    run_seeds("table_jsonl", |bytes| table::table("table.jsonl", bytes));
    run_seeds("table_parquet", |bytes| table::table("table.parquet", bytes));
}

#[test]
fn specs() {
    run_seeds("spec", spec::spec);
}
