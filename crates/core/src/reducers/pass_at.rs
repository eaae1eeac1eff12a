//! `pass_at_{k}`: the chance that at least one of k epochs succeeds.

use super::hypergeometric::at_least_of;
use super::threshold::threshold_reducer;
use crate::value::Leaf;

threshold_reducer! {
    /// Probability that at least one of k epochs succeeds (Chen et al. 2021).
    ///
    /// Estimated without bias from all epochs. A range of k, `pass_at(1..8)`, is a reducer for each k: a curve.
    ///
    /// # Formula
    /// ```text
    /// pass@k = 1 − C(n−c, k) / C(n, k)
    /// n epochs, c of them successes
    /// ```
    ///
    /// # When
    /// One success among k attempts suffices, as with code that tests select. Run more epochs than k: the estimate
    /// then has less variance.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
    /// $ errorbar score runs.csv --reducer 'pass_at(1..3)'
    /// runs.csv · 9 rows
    ///
    /// score: accuracy · 3 epochs · 3 scored
    ///                                        0                             1
    ///   pass_at_1  0.67 ± 0.19 [0.11, 0.97]     ├────────────────●────────┤   only 3 scores
    ///   pass_at_2  0.89 ± 0.11 [0.24, 1.00]          ├──────────────────●──┤  only 3 scores
    ///   pass_at_3  1.00        [0.44, 1.00]               ├────────────────●  no spread in 3 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `pass_k`, `g_pass`, `at_least`, `best_of`
    ///
    /// # Source
    /// Chen et al. 2021, "Evaluating large language models trained on code", arXiv 2107.03374.
    PassAt, "pass_at", [is_probability], |n, successes, k| at_least_of(n, successes, k, 1).map_or(Leaf::Unscored, Leaf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducers::test_support::assert_close;

    #[test]
    fn published_figures() {
        let close = |n, c, k, want| assert_close(at_least_of(n, c, k, 1), want);
        close(6, 3, 1, 0.5); // the example of the human-eval README
        close(5, 1, 3, 3.0 / 5.0);
        close(10, 3, 5, 11.0 / 12.0);
        close(200, 1, 100, 0.5);
        close(200, 10, 10, 0.40854786608141713);
        close(2000, 20, 1000, 0.9999991335665414);
        close(4, 2, 2, 5.0 / 6.0); // 1 − C(2,2)/C(4,2) = 1 − 1/6
        close(10, 8, 3, 1.0);
        close(20, 1, 20, 1.0);
        close(1_000_000_000, 1, 1, 1e-9); // 1 − ratio alone would keep seven digits
        assert_eq!(at_least_of(3, 0, 2, 1), Some(0.0));
        assert_eq!(at_least_of(3, 3, 4, 1), None);
    }
}
