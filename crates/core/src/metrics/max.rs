//! `max`: the largest score.

super::descriptive::described_metric!(
    /// The largest score. An extreme has no error; a quantile has one.
    Max,
    "max",
    Max
);
