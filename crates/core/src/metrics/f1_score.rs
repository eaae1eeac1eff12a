//! `f1_score`: the harmonic mean of precision and recall.

super::classification::label_metric!(
    /// The harmonic mean of precision and recall of a label, 2·right/(predicted + true), averaged over labels.
    ///
    /// Labels are compared as strings. The error of one label is that of a ratio, that of an average comes from resampling
    /// samples; both by cluster if there are clusters. It works on unreduced scores, needs all of them at once, and
    /// cannot be merged from shards.
    F1Score,
    "f1_score",
    F1
);
