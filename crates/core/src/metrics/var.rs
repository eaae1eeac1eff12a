//! `var`: the sample variance.

use super::summary::{Computation, spread, summary_metric};
use crate::stats::Moments;

summary_metric! {
    /// Sample variance of the scores, divisor n−1.
    Var, "var", Spread, |metric, estimation| Computation::spread(metric, estimation, |_, part| spread(part, Moments::variance))
}
