//! `accuracy`: the share of correct answers.

use super::summary::{Computation, summary_metric};

summary_metric! {
    /// Share of correct answers: the mean of the converted scores.
    ///
    /// # Formula
    /// ```text
    /// x̄ = Σx / n
    /// ```
    ///
    /// # When
    /// Answers are right or wrong (C and I, P counts one half). Its error and interval come with it: there is no need
    /// to add `stderr` or `ci`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
    /// $ errorbar score exam.csv --metric 'accuracy'
    /// exam.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                       0                                       1
    ///   accuracy  0.67 ± 0.21 [0.30, 0.90]              ├──────────────●────────┤      only 6 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `mean`, `stderr`, `ci_wilson`, `grouped`
    ///
    /// # Source
    /// Interval of shares: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    Accuracy, "accuracy", Location, Computation::location
}
