//! `mean`: the mean of the scores.

use super::summary::{Computation, summary_metric};

summary_metric! {
    /// Mean of the scores.
    ///
    /// # Formula
    /// ```text
    /// x̄ = Σx / n
    /// ```
    ///
    /// # When
    /// Scores are numbers: grades, points, F1 of words. On right and wrong it is the same as `accuracy`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'mean'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                   0                                       1
    ///   mean  0.57 ± 0.11 [0.30, 0.80]              ├──────────●────────┤          only 6 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `accuracy`, `median`, `weighted_mean`, `stderr`
    ///
    /// # Source
    /// Miller 2024, "Adding error bars to evals", arXiv 2411.00640.
    Mean, "mean", Location, Computation::location
}
