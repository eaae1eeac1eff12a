//! A score table in Parquet.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errorbar_fuzz::table::table("table.parquet", bytes));
