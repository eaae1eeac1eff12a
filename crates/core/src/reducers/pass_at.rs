//! `pass_at_{k}`: the chance that at least one of k epochs succeeds.

use super::threshold::threshold_reducer;
use crate::value::Leaf;

threshold_reducer! {
    /// Probability that at least one of k epochs succeeds (Chen et al. 2021).
    ///
    /// Estimated without bias from all epochs.
    PassAt, "pass_at", |n, successes, k| pass_at_k(n, successes, k).map_or(Leaf::Unscored, Leaf::from)
}

/// 1 − C(n−c, k)/C(n, k) (Chen et al. 2021, arXiv 2107.03374); undefined if k > n.
///
/// C(n−c, k)/C(n, k) is the product of (n−c−j)/(n−j) over j < k, and by symmetry that of 1 − k/i
/// over n−c < i ≤ n: the shorter one is taken. A small result is taken from the logarithms,
/// because 1 − ratio would cancel.
pub(crate) fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    if k > n {
        return None;
    }
    if c == 0 {
        return Some(0.0);
    }
    if n - c < k {
        return Some(1.0);
    }
    let missed: f64 = if k <= c {
        (0..k).map(|j| (n - c - j) as f64 / (n - j) as f64).product()
    } else {
        (n - c + 1..=n).map(|i| (i - k) as f64 / i as f64).product()
    };
    if missed < 0.5 {
        return Some(1.0 - missed);
    }
    let log_missed: f64 = if k <= c {
        (0..k).map(|j| libm::log1p(-(c as f64) / (n - j) as f64)).sum()
    } else {
        (n - c + 1..=n).map(|i| libm::log1p(-(k as f64) / i as f64)).sum()
    };
    Some(-libm::expm1(log_missed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducers::test_support::assert_close;

    #[test]
    fn published_figures() {
        let close = |n, c, k, want| assert_close(pass_at_k(n, c, k), want);
        close(6, 3, 1, 0.5); // the example of the human-eval README
        close(200, 1, 100, 0.5);
        close(200, 10, 10, 0.40854786608141713);
        close(2000, 20, 1000, 0.9999991335665414);
        close(4, 2, 2, 5.0 / 6.0); // 1 − C(2,2)/C(4,2) = 1 − 1/6
        close(10, 8, 3, 1.0);
        close(20, 1, 20, 1.0);
        close(1_000_000_000, 1, 1, 1e-9); // 1 − ratio alone would keep seven digits
        assert_eq!(pass_at_k(3, 0, 2), Some(0.0));
        assert_eq!(pass_at_k(3, 3, 4), None);
    }
}
