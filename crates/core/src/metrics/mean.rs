//! `mean`: the mean of the scores.

use super::summary::{Computation, summary_metric};

summary_metric! {
    /// Mean of the scores.
    Mean, "mean", Location, Computation::location
}
