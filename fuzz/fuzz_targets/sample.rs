//! A log around the JSON of a sample.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errorbar_fuzz::log::sample(bytes));
