//! `std`: the sample standard deviation. The file is not called `std.rs`, which Rust would take for its library.

use super::summary::{SummaryState, of_two_or_more, summary_metric};

summary_metric!(
    Std,
    std,
    "std",
    "Sample standard deviation of the scores, divisor n−1.",
    Spread,
    |name, conversion, estimation| SummaryState::plain(name, conversion, estimation, |_, part| {
        Ok(of_two_or_more(part.summary.moments().std(), part.summary.n()))
    })
);
