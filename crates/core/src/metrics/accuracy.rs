//! `accuracy`: the share of correct answers.

use super::moments::{mean_figure, moments_metric};

moments_metric!(
    Accuracy,
    accuracy,
    "accuracy",
    "Share of correct answers: the mean of the converted scores.",
    mean_figure,
    stderr: super::stderr()
);
