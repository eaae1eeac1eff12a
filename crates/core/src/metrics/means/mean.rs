//! `accuracy` and `mean`, and the spread of the scores around it: `var`, `std`.

use super::summary::{Computation, spread, summary_metric};
use errorbar_stats::exact::Moments;

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

summary_metric! {
    /// Sample variance of the scores, divisor n−1.
    ///
    /// # Formula
    /// ```text
    /// s² = Σ(x − x̄)² / (n − 1)
    /// ```
    ///
    /// # When
    /// How far scores are spread, in squared units. For the uncertainty of a mean use `stderr`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'var'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   var  0.07467
    /// ```
    ///
    /// # See also
    /// `std`, `stderr`, `variance_components`
    ///
    /// # Source
    /// As inspect_ai defines it. With n − 1, so without bias.
    Var, "var", Spread, |metric, estimation| Computation::spread(metric, estimation, |_, part| spread(part, Moments::variance))
}

summary_metric! {
    /// Sample standard deviation of the scores, divisor n−1.
    ///
    /// # Formula
    /// ```text
    /// s = √(Σ(x − x̄)² / (n − 1))
    /// ```
    ///
    /// # When
    /// How far single scores are from their mean. It does not fall with the number of samples; `stderr` does.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'std'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   std  0.2733
    /// ```
    ///
    /// # See also
    /// `var`, `stderr`, `quantile`
    ///
    /// # Source
    /// As inspect_ai defines it. With n − 1.
    Std, "std", Spread, |metric, estimation| Computation::spread(metric, estimation, |_, part| spread(part, Moments::std))
}
