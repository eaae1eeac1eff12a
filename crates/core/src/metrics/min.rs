//! `min`: the smallest score.

super::descriptive::described_metric!(
    /// The smallest score. An extreme has no error; a quantile has one.
    ///
    /// # Formula
    /// ```text
    /// min x
    /// ```
    ///
    /// # When
    /// The worst case that was seen. It falls with every sample more, so compare only runs of the same samples.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'min'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   min  0.2  no error: an extreme has no standard error; take a quantile
    /// ```
    ///
    /// # See also
    /// `max`, `quantile`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Min,
    "min",
    Min
);
