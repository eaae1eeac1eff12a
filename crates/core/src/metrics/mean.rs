//! `mean`: the mean of the scores.

use super::moments::{mean_figure, moments_metric};

moments_metric!(Mean, mean, "mean", "Mean of the scores.", mean_figure, stderr: super::stderr());
