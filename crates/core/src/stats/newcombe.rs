//! Newcombe's interval for the difference of two independent shares (method 10), and the test that belongs to it.
//!
//! The distances of Wilson's ends from their shares are added as squares. Newcombe, "Interval estimation for the difference
//! between independent proportions: comparison of eleven methods", 1998.

use super::normal::{normal_quantile, normal_survival};

/// Some successes of n trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The successes.
    pub successes: u64,
    /// The trials.
    pub n: u64,
}

impl Share {
    /// So many successes of n.
    pub fn new(successes: u64, n: u64) -> Self {
        Share { successes, n }
    }

    fn value(self) -> f64 {
        self.successes as f64 / self.n as f64
    }

    /// How far Wilson's lower end lies below the share: p − l = z·(√(p(1−p)/n + z²/4n²) − z·(1 − 2p)/2n)/(1 + z²/n).
    fn below(self, z: f64) -> f64 {
        if self.successes == 0 {
            return 0.0;
        }
        let (p, n) = (self.value(), self.n as f64);
        let root = (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        let shift = z * (1.0 - 2.0 * p) / (2.0 * n);
        // Where the two nearly cancel, their difference is that of their squares over their sum.
        let rise = if shift > 0.0 {
            p * (1.0 - p) * (1.0 / n + z * z / (n * n)) / (root + shift)
        } else {
            root - shift
        };
        z * rise / (1.0 + z * z / n)
    }

    /// How far the upper end lies above it.
    fn above(self, z: f64) -> f64 {
        Share { successes: self.n - self.successes, n: self.n }.below(z)
    }

    fn is_valid(self) -> bool {
        self.n > 0 && self.successes <= self.n
    }
}

/// The interval of first − second at a level such as 0.95, within [−1, 1]. None without trials, or with more successes than
/// trials.
///
/// ```
/// # use errorbar_core::stats::{Share, newcombe};
/// let (lower, upper) = newcombe(Share::new(56, 70), Share::new(48, 80), 0.95).unwrap();
/// assert!((lower - 0.0524).abs() < 1e-4 && (upper - 0.3339).abs() < 1e-4);
/// ```
pub fn newcombe(first: Share, second: Share, level: f64) -> Option<(f64, f64)> {
    if !(first.is_valid() && second.is_valid()) {
        return None;
    }
    let z = normal_quantile(0.5 + level / 2.0);
    let difference = first.value() - second.value();
    let lower = difference - libm::hypot(first.below(z), second.above(z));
    let upper = difference + libm::hypot(first.above(z), second.below(z));
    Some((lower.max(-1.0), upper.min(1.0)))
}

/// The two-sided p-value of no difference: one minus the level at which the interval touches 0.
///
/// So the test and the interval never contradict each other. 1 for equal shares; none where there is no interval.
pub fn newcombe_p_value(first: Share, second: Share) -> Option<f64> {
    if !(first.is_valid() && second.is_valid()) {
        return None;
    }
    let (larger, smaller) = if first.value() >= second.value() { (first, second) } else { (second, first) };
    let difference = larger.value() - smaller.value();
    if difference == 0.0 {
        return Some(1.0);
    }
    // The distance grows with z from 0 to at least √(p₁² + (1 − p₂)²), which is above the difference.
    let reach = |z: f64| libm::hypot(larger.below(z), smaller.above(z));
    let (mut low, mut high) = (0.0, 1.0);
    while reach(high) < difference && high < LARGEST_Z {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..MAX_STEPS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if reach(middle) < difference {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some((2.0 * normal_survival(high)).min(1.0))
}

/// Beyond this the p-value is no number above 0.
const LARGEST_Z: f64 = 64.0;

/// Bisections at most: one for each bit.
const MAX_STEPS: u32 = 64;
