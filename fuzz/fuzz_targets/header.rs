//! A log around the JSON of a header.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errorbar_fuzz::log::header(bytes));
