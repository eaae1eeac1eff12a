//! Random numbers that a seed, a purpose and a position decide, and nothing else.

mod philox;
mod xoshiro;

pub mod purpose;
pub use philox::{Stream, philox4x32_10};
pub(crate) use xoshiro::Xoshiro;
