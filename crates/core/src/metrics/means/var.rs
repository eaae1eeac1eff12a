//! `var`: the sample variance.

use super::summary::{Computation, spread, summary_metric};
use errorbar_stats::exact::Moments;

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
