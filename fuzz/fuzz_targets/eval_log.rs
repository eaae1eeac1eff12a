//! An `.eval` log of these bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errorbar_fuzz::log::any_log("log.eval", bytes));
