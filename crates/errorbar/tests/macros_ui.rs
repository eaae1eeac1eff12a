//! What the attributes say when they are used wrongly.
//!
//! The messages that come from rustc change with its version; `TRYBUILD=overwrite cargo test --test macros_ui`
//! takes the new ones over.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
