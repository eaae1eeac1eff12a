//! `recall`: how many of the samples of a label are predicted as such.

super::classification::label_metric!(
    /// The share of the samples of a label that are predicted as such, averaged over labels.
    ///
    /// Labels are compared as strings. A label that no sample has has no recall, nor has an average over it. The error of one label is
    /// that of a ratio, that of an average comes from resampling samples; both by cluster if there are clusters. It
    /// works on unreduced scores, needs all of them at once, and cannot be merged from shards.
    ///
    /// # Formula
    /// ```text
    /// right(label) / true(label)
    /// ```
    ///
    /// # When
    /// Scores are predicted labels, and a miss is what costs.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,topic 1,law,law 2,law,art 3,art,art 4,art,art 5,law,law 6,art,law > topics.csv
    /// $ errorbar score topics.csv --metric 'recall("topic", label="law")'
    /// ```
    ///
    /// # See also
    /// `precision`, `f1_score`, `frequency`
    Recall,
    "recall",
    Recall
);
