//! `mean`: the mean of the scores.

use super::summary::{SummaryState, summary_metric};

summary_metric!(Mean, mean, "mean", "Mean of the scores.", Location, SummaryState::location);
