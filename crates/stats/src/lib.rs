//! Exact sums, quantiles, intervals, tests and resampling that give the same bits on every machine.
//!
//! The key decision: **sums are exact** ([`exact::ExactSum`]), so the order of the data, the number of threads and the split
//! into parts cannot change a result, and merging partial sums equals summing the whole. Compensated sums were rejected: they
//! are accurate, but still depend on the order. Random figures depend on a seed and on nothing else ([`random::Stream`]).
//!
//! | module | contents |
//! |---|---|
//! | [`exact`] | sums, moments and counts of values without rounding |
//! | [`descriptive`] | standard deviation, quantiles, correlation |
//! | [`distributions`] | normal, t, noncentral t, beta, binomial: tails and quantiles to 1e-12 |
//! | [`differences`] | Welch, McNemar, sign flip, TOST, Newcombe, Bonett–Price |
//! | [`resampling`] | bootstrap of means, clusters and any figure; BCa, jackknife, studentised, wild |
//! | [`sequential`] | confidence sequences: intervals that hold at every look |
//! | [`multiple`] | Holm, Benjamini–Hochberg |
//! | [`random`] | counter-based random numbers |
//!
//! ```
//! use errorbar_stats::exact::Moments;
//!
//! let moments_of = |values: &[f64]| {
//!     let mut moments = Moments::new();
//!     moments.extend(values);
//!     moments
//! };
//! let scores = moments_of(&[0.1, 0.2, 0.3]);
//! assert_eq!(scores.mean(), Some(0.2)); // plain f64 arithmetic gives 0.20000000000000004
//! ```
#![forbid(unsafe_code)]

pub mod descriptive;
pub mod differences;
pub mod distributions;
pub mod exact;
pub mod multiple;
pub mod random;
pub mod resampling;
pub mod sequential;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
