//! `sum`: the total of the scores.

super::descriptive::described_metric!(
    /// The sum of the scores. It has no error; a mean has one.
    Sum,
    "sum",
    Sum
);
