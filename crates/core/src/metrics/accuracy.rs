//! `accuracy`: the share of correct answers.

use super::summary::{SummaryState, summary_metric};

summary_metric!(
    Accuracy,
    accuracy,
    "accuracy",
    "Share of correct answers: the mean of the converted scores.",
    Location,
    SummaryState::location
);
