//! `pass_k_{k}`: the chance that all of k epochs succeed.

use std::sync::Arc;

use super::threshold::{PARAMS, Threshold, threshold_reducer};
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::ReducerEntry;
use crate::value::{Conversion, Leaf};

/// The probability that all of `k` epochs succeed, estimated without bias from all n.
#[derive(Clone, Debug)]
pub struct PassK(Threshold);

/// The probability that all of `k` epochs succeed.
pub fn pass_k(k: u64) -> PassK {
    PassK(Threshold::new(k))
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "pass_k",
    doc: "Probability that all of k epochs succeed (Yao et al. 2024).",
    params: PARAMS,
    build: |args| Ok(Arc::new(PassK(Threshold::build(args)?))),
    replaces: false,
};

threshold_reducer!(PassK, "pass_k");

impl EpochReducer for PassK {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.0.conversion)
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let n = epochs.len() as u64;
        let rate = pass_hat_k(n, self.0.successes(epochs.floats()), self.0.k);
        ReducedValue::Leaf(rate.map_or(Leaf::Unscored, Leaf::from))
    }
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

    #[test]
    fn published_figures() {
        let close = |n, c, k, want: f64| {
            let got = pass_hat_k(n, c, k).unwrap();
            assert!((got - want).abs() <= 1e-14 * want.abs(), "{n} {c} {k}: {got} {want}");
        };
        close(10, 8, 3, 56.0 / 120.0); // C(8,3)/C(10,3)
        close(200, 10, 10, 4.4541437266507297e-17);
        close(4, 2, 2, 1.0 / 6.0);
        close(8, 6, 4, 15.0 / 70.0); // C(6,4)/C(8,4)
        close(200, 1, 100, 0.0);
        close(5, 5, 5, 1.0);
        assert_eq!(pass_hat_k(3, 3, 4), None);
    }
}
