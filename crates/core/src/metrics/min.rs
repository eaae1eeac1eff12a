//! `min`: the smallest score.

super::descriptive::described_metric!(
    /// The smallest score. An extreme has no error; a quantile has one.
    Min,
    "min",
    Min
);
