//! Whatever the bytes are, reading ends in a table or in an error that names the file.

use std::path::Path;

use errorbar_table::{TableOptions, read_table};
use proptest::prelude::*;

const CSV: &str = "id,epoch,score,topic\nq1,1,C,\"a, b\"\nq2,1,0.5,\nq1,2,nan,c\n\"q \"\"3\"\"\",1,,d\n";
const JSONL: &str = r#"{"id": "q1", "epoch": 1, "score": {"a": 1, "b": NaN}, "topic": "x"}
{"id": 2, "score": [1, true, "C", null], "topic": {"deep": [[[1e400]]]}}
{"id": "\u00e9\ud83d\ude00", "score": -Infinity, "n": 123456789012345678901234567890}
"#;

fn read_anything(name: &str, bytes: &[u8], options: &TableOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    match read_table(&path, options) {
        Ok(table) => {
            let _ = errorbar_core::Plan::new().evaluate(&table.columns);
        }
        Err(error) => {
            assert_eq!(error.path(), Path::new(&path));
            assert!(!error.hint().is_empty());
            let lines = bytes.iter().filter(|b| **b == b'\n').count() as u64 + 1;
            assert!(error.line().is_none_or(|line| (1..=lines).contains(&line)), "{error}");
        }
    }
}

/// A valid table with some bytes changed, removed, doubled or added.
fn mutated(table: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let edit =
        (0..table.len(), 0..4u8, prop_oneof![any::<u8>(), Just(b'"'), Just(b','), Just(b'\n'), Just(b'{')]);
    prop::collection::vec(edit, 1..8).prop_map(move |edits| {
        let mut bytes = table.as_bytes().to_vec();
        for (at, kind, byte) in edits {
            let at = at.min(bytes.len().saturating_sub(1));
            match kind {
                0 => bytes[at] = byte,
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at.max(1)),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn changed_tables_never_panic(csv in mutated(CSV), json in mutated(JSONL)) {
        let named = TableOptions::new().score_columns(["score", "topic"]);
        for options in [TableOptions::new(), named] {
            read_anything("t.csv", &csv, &options);
            read_anything("t.tsv", &csv, &options);
            read_anything("t.jsonl", &json, &options);
            read_anything("t.jsonl", &csv, &options);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_anything("t.csv", &bytes, &TableOptions::new());
        read_anything("t.jsonl", &bytes, &TableOptions::new());
    }
}

#[test]
fn deep_nesting_is_refused_not_a_stack_overflow() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        for key in ["score", "topic"] {
            let line = format!("{{\"id\": 1, \"{key}\": {deep}}}\n");
            read_anything("t.jsonl", line.as_bytes(), &TableOptions::new());
        }
    }
}
