//! `std`: the sample standard deviation. The file is not called `std.rs`, which Rust would take for its library.

use super::summary::{Computation, spread, summary_metric};
use errorbar_stats::exact::Moments;

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
