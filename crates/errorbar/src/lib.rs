//! Scoring metrics for language-model evaluations, with honest error bars.
//!
//! This is the crate to depend on: the engine ([`errorbar_core`], re-exported here), the attributes
//! [`macro@metric`] and [`macro@reducer`], a [`prelude`], and the whole command line as a function.
//! A program that ends in [`main()`] *is* the command line, with its own metrics and reducers in it:
//!
//! ```no_run,standalone_crate
//! use errorbar::prelude::*;
//!
//! /// Proportion of samples scoring at or above `threshold`.
//! #[metric]
//! fn pass_rate(scores: &Scores<'_>, #[default(0.5)] threshold: f64) -> Result<f64> {
//!     let mut passed = 0;
//!     for sample in scores {
//!         if sample.score.as_f64()? >= threshold {
//!             passed += 1;
//!         }
//!     }
//!     Ok(f64::from(passed) / scores.len().max(1) as f64)
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     errorbar::main() // cargo run -- score table.csv --metric 'pass_rate(0.8)'
//! }
//! ```
#![forbid(unsafe_code)]

mod app;
mod commands;
mod message;
pub mod prelude;

pub use app::{App, main};
pub use errorbar_core::*;
pub use errorbar_macros::{metric, reducer};

/// The README's snippet runs with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
