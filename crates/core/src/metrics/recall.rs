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
    /// topics.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                     0                   1
    ///   recall  0.67 ± 0.33 [0.21, 0.94]      ├────────●────┤    only 3 scores · target=topic · label=law
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `precision`, `f1_score`, `frequency`
    ///
    /// # Source
    /// Van Rijsbergen 1979, "Information Retrieval".
    Recall,
    "recall",
    Recall
);
