//! A spec, an argument, metrics.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| errorbar_fuzz::spec::spec(bytes));
