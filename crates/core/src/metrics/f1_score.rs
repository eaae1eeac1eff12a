//! `f1_score`: the harmonic mean of precision and recall.

super::classification::label_metric!(
    /// The harmonic mean of precision and recall of a label, 2·right/(predicted + true), averaged over labels.
    ///
    /// Labels are compared as strings. The error of one label is that of a ratio, that of an average comes from resampling
    /// samples; both by cluster if there are clusters. It works on unreduced scores, needs all of them at once, and
    /// cannot be merged from shards.
    ///
    /// # Formula
    /// ```text
    /// 2·right(label) / (predicted(label) + true(label))
    /// ```
    ///
    /// # When
    /// Scores are predicted labels, misses and wrong alarms both cost, and labels are not equally frequent.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,topic 1,law,law 2,law,art 3,art,art 4,art,art 5,law,law 6,art,law > topics.csv
    /// $ errorbar score topics.csv --metric 'f1_score("topic")'
    /// topics.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                       0                             1
    ///   f1_score  0.67 ± 0.21 [0.25, 1.00]          ├───────────●─────────┤  only 6 scores · target=topic
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `precision`, `recall`, `f1`
    ///
    /// # Source
    /// Van Rijsbergen 1979, "Information Retrieval".
    F1Score,
    "f1_score",
    F1
);
