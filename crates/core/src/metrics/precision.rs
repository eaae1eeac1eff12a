//! `precision`: how many of the predictions of a label are right.

pub use super::classification::{Average, Prediction};

super::classification::label_metric!(
    /// The share of the samples predicted as a label that have it, averaged over labels.
    ///
    /// Labels are compared as strings. A label that is never predicted has no precision, nor has an average over it. The error of
    /// one label is that of a ratio, that of an average comes from resampling samples; both by cluster if there are
    /// clusters. It works on unreduced scores, needs all of them at once, and cannot be merged from shards.
    ///
    /// # Formula
    /// ```text
    /// right(label) / predicted(label)
    /// ```
    ///
    /// # When
    /// Scores are predicted labels, and a wrong alarm is what costs.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,topic 1,law,law 2,law,art 3,art,art 4,art,art 5,law,law 6,art,law > topics.csv
    /// $ errorbar score topics.csv --metric 'precision("topic")'
    /// topics.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                        0                   1
    ///   precision  0.67 ± 0.21 [0.20, 1.00]      ├────────●──────┤  only 6 scores · target=topic ·
    ///                                                               279 undefined resamples
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `recall`, `f1_score`, `frequency`
    ///
    /// # Source
    /// Van Rijsbergen 1979, "Information Retrieval".
    Precision,
    "precision",
    Precision
);
