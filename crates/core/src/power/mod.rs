//! How many samples does it take, and what can these samples show?

mod t_test;

#[allow(unused_imports, reason = "for comparisons")]
pub(crate) use t_test::detectable_difference;
