//! The attributes `#[metric]` and `#[reducer]` of errorbar.
#![forbid(unsafe_code)]
