//! A score table of JSON lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errorbar_fuzz::table::table("table.jsonl", bytes));
