//! What the fuzzer starts from and what it once found, without a fuzzer: see `fuzz/README.md`.

use errorbar_test_support::run_seeds;

#[path = "../../../../fuzz/src/folder.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod folder;
#[path = "../../../../fuzz/src/table.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod table;

#[test]
fn tables() {
    run_seeds("table_csv", |bytes| table::table("table.csv", bytes));
    run_seeds("table_jsonl", |bytes| table::table("table.jsonl", bytes));
    run_seeds("table_parquet", |bytes| table::table("table.parquet", bytes));
}

/// Names and texts of a table are in messages as they can be printed: an error is one line, and plays with no terminal.
#[test]
fn no_control_characters_of_a_table_are_in_its_errors() {
    table::table("table.csv", b"id,score,\x1b[31m,\x1b[31m\n1,1,,\n");
    table::table("table.csv", b"\x1b[31m,score\n1,1\n");
    table::table("table.jsonl", b"{\"id\":1,\"score\":1,\"\\u001b\":1,\"\\u001b\":2}\n");
}
