//! `var`: the sample variance.

use super::summary::{SummaryState, of_two_or_more, summary_metric};

summary_metric!(
    Var,
    var,
    "var",
    "Sample variance of the scores, divisor n−1.",
    Spread,
    |name, conversion, estimation| SummaryState::plain(name, conversion, estimation, |_, summary, _| {
        Ok(of_two_or_more(summary.moments().and_then(|moments| moments.variance()), summary.n()))
    })
);
