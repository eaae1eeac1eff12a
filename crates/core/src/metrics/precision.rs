//! `precision`: how many of the predictions of a label are right.

pub use super::classification::{Average, Prediction};

super::classification::label_metric!(
    /// The share of the samples predicted as a label that have it, averaged over labels.
    ///
    /// Labels are compared as strings. A label that is never predicted has no precision, nor has an average over it. The error of
    /// one label is that of a ratio, that of an average comes from resampling samples; both by cluster if there are
    /// clusters. It works on unreduced scores, needs all of them at once, and cannot be merged from shards.
    Precision,
    "precision",
    Precision
);
