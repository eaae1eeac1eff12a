//! Forms that the attributes accept, each in a module that makes it hard for them.
#![allow(
    dead_code,
    clippy::allow_attributes_without_reason,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what counts is that it compiles"
)]

mod design;
#[no_implicit_prelude]
mod no_names_in_scope;
/// Public, so that what is public in it is.
#[deny(
    missing_docs,
    missing_debug_implementations,
    rust_2018_idioms,
    unreachable_pub,
    unused,
    unused_qualifications,
    elided_lifetimes_in_paths,
    single_use_lifetimes,
    non_snake_case
)]
pub mod strict_crate;
mod unusual_but_right;
