//! Scoring metrics for language-model evaluations, with honest error bars.
#![forbid(unsafe_code)]

pub use errorbar_core::*;
