//! `pass_k_{k}`: the chance that all of k epochs succeed.

use super::threshold::threshold_reducer;
use crate::value::Leaf;

threshold_reducer! {
    /// Probability that all of k epochs succeed (Yao et al. 2024).
    ///
    /// Estimated without bias from all epochs.
    PassK, "pass_k", |n, successes, k| pass_hat_k(n, successes, k).map_or(Leaf::Unscored, Leaf::from)
}

/// C(c, k)/C(n, k) (Yao et al. 2024, arXiv 2406.12045); undefined if k > n, 0 if c < k.
///
/// As a product of (c−j)/(n−j) over j < k, or, where fewer epochs failed than k, by symmetry of
/// (i−k)/i over c < i ≤ n.
pub(crate) fn pass_hat_k(n: u64, c: u64, k: u64) -> Option<f64> {
    if k > n {
        return None;
    }
    if c < k {
        return Some(0.0);
    }
    Some(if k <= n - c {
        (0..k).map(|j| (c - j) as f64 / (n - j) as f64).product()
    } else {
        (c + 1..=n).map(|i| (i - k) as f64 / i as f64).product()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducers::test_support::assert_close;

    #[test]
    fn published_figures() {
        let close = |n, c, k, want| assert_close(pass_hat_k(n, c, k), want);
        close(10, 8, 3, 56.0 / 120.0); // C(8,3)/C(10,3)
        close(200, 10, 10, 4.4541437266507297e-17);
        close(4, 2, 2, 1.0 / 6.0);
        close(8, 6, 4, 15.0 / 70.0); // C(6,4)/C(8,4)
        close(200, 1, 100, 0.0);
        close(5, 5, 5, 1.0);
        assert_eq!(pass_hat_k(3, 3, 4), None);
    }
}
