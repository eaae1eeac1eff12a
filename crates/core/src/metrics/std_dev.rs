//! `std`: the sample standard deviation. The file is not called `std.rs`, which Rust would take for its library.

use super::summary::{Computation, spread, summary_metric};
use crate::stats::Moments;

summary_metric! {
    /// Sample standard deviation of the scores, divisor n−1.
    Std, "std", Spread, |metric, estimation| Computation::spread(metric, estimation, |_, part| spread(part, Moments::std))
}
