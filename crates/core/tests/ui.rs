//! The errors of the attributes and the derive when used wrongly. Here, and not beside the crate that users depend on,
//! because this builds every dependency once more.
//!
//! The messages that come from rustc change with its version; `TRYBUILD=overwrite cargo test -p errorbar-core --test ui`
//! takes the new ones over.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
