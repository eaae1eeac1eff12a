//! The names that `#[scorer]` and `#[solver]` refer to, laid out as in the crate `errorbar`.

pub(crate) use errorbar_core::*;

pub(crate) use crate as eval;
