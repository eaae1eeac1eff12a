//! `pass_at_{k}`: the chance that at least one of k epochs succeeds.

use super::hypergeometric::at_least_of;
use super::threshold::threshold_reducer;
use crate::value::Leaf;

threshold_reducer! {
    /// Probability that at least one of k epochs succeeds (Chen et al. 2021).
    ///
    /// Estimated without bias from all epochs. A range of k, `pass_at(1..8)`, is a reducer for each k: a curve.
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
