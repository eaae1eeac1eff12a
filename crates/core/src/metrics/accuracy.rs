//! `accuracy`: the share of correct answers.

use super::summary::{Computation, summary_metric};

summary_metric! {
    /// Share of correct answers: the mean of the converted scores.
    Accuracy, "accuracy", Location, Computation::location
}
