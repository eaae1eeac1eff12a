//! What the fuzzer starts from and what it once found, without a fuzzer: see `fuzz/README.md`.

use std::path::PathBuf;

use crate::mutations::{log, spec, table};

/// Runs every seed of a target; there must be some.
fn all(target: &str, run: impl Fn(&[u8])) {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz", "seeds", target].iter().collect();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seeds in {}", folder.display());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let run = std::panic::AssertUnwindSafe(|| run(&bytes));
        assert!(std::panic::catch_unwind(run).is_ok(), "{}", path.display());
    }
}

#[test]
fn logs() {
    all("eval_log", |bytes| log::any_log("log.eval", bytes));
    all("json_log", |bytes| log::any_log("log.json", bytes));
}

#[test]
fn records() {
    all("sample", log::sample);
    all("header", log::header);
}

#[test]
fn tables() {
    all("table_csv", |bytes| table::table("table.csv", bytes));
    all("table_jsonl", |bytes| table::table("table.jsonl", bytes));
    all("table_parquet", |bytes| table::table("table.parquet", bytes));
}

#[test]
fn specs() {
    all("spec", spec::spec);
}
