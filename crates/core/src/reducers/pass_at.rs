//! `pass_at_{k}`: the chance that at least one of k epochs succeeds.

use std::sync::Arc;

use super::threshold::{PARAMS, Threshold, threshold_reducer};
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::ReducerEntry;
use crate::value::{Conversion, Leaf};

/// The probability that at least one of `k` epochs succeeds, estimated without bias from all n.
#[derive(Clone, Debug)]
pub struct PassAt(Threshold);

/// The probability that at least one of `k` epochs succeeds.
pub fn pass_at(k: u64) -> PassAt {
    PassAt(Threshold::new(k))
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "pass_at",
    doc: "Probability that at least one of k epochs succeeds (Chen et al. 2021).",
    params: PARAMS,
    build: |args| Ok(Arc::new(PassAt(Threshold::build(args)?))),
    replaces: false,
};

threshold_reducer!(PassAt, "pass_at");

impl EpochReducer for PassAt {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.0.conversion)
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let n = epochs.len() as u64;
        let rate = pass_at_k(n, self.0.successes(epochs.floats()), self.0.k);
        ReducedValue::Leaf(rate.map_or(Leaf::Unscored, Leaf::from))
    }
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

    #[test]
    fn published_figures() {
        let close = |n, c, k, want: f64| {
            let got = pass_at_k(n, c, k).unwrap();
            assert!((got - want).abs() <= 1e-14 * want.abs(), "{n} {c} {k}: {got} {want}");
        };
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
