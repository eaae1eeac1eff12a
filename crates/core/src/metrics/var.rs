//! `var`: the sample variance.

use super::summary::{SummaryState, of_two_or_more, summary_metric};

summary_metric!(
    Var,
    var,
    "var",
    "Sample variance of the scores, divisor n−1.",
    Spread,
    |name, conversion, estimation| SummaryState::plain(name, conversion, estimation, |_, part| {
        Ok(of_two_or_more(part.summary.moments().variance(), part.summary.n()))
    })
);
