//! A partial result.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    errorbar_fuzz::partial::partial(bytes);
});
