//! `sum`: the total of the scores.

super::descriptive::described_metric!(
    /// The sum of the scores. It has no error; a mean has one.
    ///
    /// # Formula
    /// ```text
    /// Σx
    /// ```
    ///
    /// # When
    /// Points or costs add up to a total.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'sum'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   sum  3.4  no error: a total of these scores, not an estimate; take the mean
    /// ```
    ///
    /// # See also
    /// `mean`, `count`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Sum,
    "sum",
    Sum
);
