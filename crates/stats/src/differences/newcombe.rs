//! Newcombe's interval for the difference of two independent shares (method 10), and the tests that belong to it.
//!
//! The distances of Wilson's ends from their shares are added as squares. Newcombe, "Interval estimation for the difference
//! between independent proportions: comparison of eleven methods", 1998.

use crate::distributions::t_quantile;

/// Some successes of n trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

    fn is_valid(self) -> bool {
        self.n > 0 && self.successes <= self.n
    }

    fn effective(self) -> EffectiveShare {
        EffectiveShare::new(self.successes as f64 / self.n as f64, self.n as f64, f64::INFINITY)
    }
}

/// A share with the number of independent trials that its error is worth, and the degrees of freedom of that error.
#[derive(Clone, Copy, Debug)]
pub struct EffectiveShare {
    value: f64,
    n: f64,
    df: f64,
}

impl EffectiveShare {
    /// A share of `n` effective trials; `df` is infinite if its error is known as that of independent trials is.
    pub fn new(value: f64, n: f64, df: f64) -> Self {
        EffectiveShare { value, n, df }
    }

    /// How far the ends of Wilson's interval are from the share, each missing the truth with the probability `tail`.
    fn reach(self, tail: f64) -> WilsonReach {
        WilsonReach::new(self.value, self.n, -t_quantile(tail, self.df))
    }
}

/// How far the ends of Wilson's interval are from the share.
#[derive(Clone, Copy, Debug)]
pub struct WilsonReach {
    below: f64,
    above: f64,
}

impl WilsonReach {
    /// Of a share of n trials; `z` is the quantile of the ends.
    pub fn new(share: f64, n: f64, z: f64) -> Self {
        WilsonReach { below: below(share, n, z), above: below(1.0 - share, n, z) }
    }

    /// How far the ends of Newcombe's interval of the difference, this share minus another one, are from it.
    pub fn minus(self, other: WilsonReach) -> (f64, f64) {
        (libm::hypot(self.below, other.above), libm::hypot(self.above, other.below))
    }
}

/// How far Wilson's lower end lies below the share: p − l = z·(√(p(1−p)/n + z²/4n²) − z·(1 − 2p)/2n)/(1 + z²/n).
fn below(p: f64, n: f64, z: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    let root = (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let shift = z * (1.0 - 2.0 * p) / (2.0 * n);
    // Where the two nearly cancel, their difference is that of their squares over their sum.
    let rise =
        if shift > 0.0 { p * (1.0 - p) * (1.0 / n + z * z / (n * n)) / (root + shift) } else { root - shift };
    z * rise / (1.0 + z * z / n)
}

/// The difference of two independent shares, first minus second: its interval, and the tests that are the interval inverted.
#[derive(Clone, Copy, Debug)]
pub struct ShareDifference {
    /// The share that the other is subtracted from.
    pub first: EffectiveShare,
    /// The share that is subtracted.
    pub second: EffectiveShare,
}

impl ShareDifference {
    fn value(self) -> f64 {
        self.first.value - self.second.value
    }

    /// How far the ends are from the difference, each missing the truth with the probability `tail`.
    fn reach(self, tail: f64) -> (f64, f64) {
        self.first.reach(tail).minus(self.second.reach(tail))
    }

    /// The ends, each missing the truth with the probability `tail`; within [−1, 1].
    pub fn ends(self, tail: f64) -> (f64, f64) {
        let (below, above) = self.reach(tail);
        ((self.value() - below).max(-1.0), (self.value() + above).min(1.0))
    }

    /// The two-sided p-value of no difference: one minus the level at which the interval touches 0.
    pub fn p_value(self) -> f64 {
        (2.0 * self.p_above(0.0).min(self.p_below(0.0))).min(1.0)
    }

    /// The p-value of the claim that the true difference lies within ± margin: the least α at which the interval of the
    /// level 1 − 2α does.
    pub fn tost(self, margin: f64) -> f64 {
        self.p_above(-margin).max(self.p_below(margin))
    }

    /// The p-value of the claim that the true difference is above a line: the tail at which the lower end is on it.
    fn p_above(self, line: f64) -> f64 {
        let distance = self.value() - line;
        if distance >= 0.0 {
            tail_of(distance, |tail| self.reach(tail).0)
        } else {
            1.0 - tail_of(-distance, |tail| self.reach(tail).1)
        }
    }

    fn p_below(self, line: f64) -> f64 {
        ShareDifference { first: self.second, second: self.first }.p_above(-line)
    }
}

/// The tail at which a reach, which grows as the tail shrinks, is a distance. 0 if none is as far.
fn tail_of(distance: f64, reach: impl Fn(f64) -> f64) -> f64 {
    if distance == 0.0 {
        return 0.5;
    }
    let tail = |exponent: f64| libm::exp(-exponent);
    let (mut near, mut far) = (LEAST_EXPONENT, LARGEST_EXPONENT);
    if reach(tail(far)) < distance {
        return 0.0;
    }
    for _ in 0..MAX_STEPS {
        let middle = 0.5 * (near + far);
        if middle <= near || middle >= far {
            break;
        }
        if reach(tail(middle)) < distance {
            near = middle;
        } else {
            far = middle;
        }
    }
    tail(near)
}

/// A tail of one half, where the ends are the difference itself.
const LEAST_EXPONENT: f64 = std::f64::consts::LN_2;

/// Beyond this the tail is no number above 0.
const LARGEST_EXPONENT: f64 = 700.0;

/// Bisections at most: one for each bit.
const MAX_STEPS: u32 = 64;

/// The difference of two shares with trials.
fn difference(first: Share, second: Share) -> Option<ShareDifference> {
    let is_valid = first.is_valid() && second.is_valid();
    is_valid.then(|| ShareDifference { first: first.effective(), second: second.effective() })
}

/// The interval of first − second at a level such as 0.95, within [−1, 1]. None without trials, or with more successes than
/// trials.
///
/// ```
/// # use errorbar_stats::differences::{Share, newcombe};
/// let (lower, upper) = newcombe(Share::new(56, 70), Share::new(48, 80), 0.95).unwrap();
/// assert!((lower - 0.0524).abs() < 1e-4 && (upper - 0.3339).abs() < 1e-4);
/// ```
pub fn newcombe(first: Share, second: Share, level: f64) -> Option<(f64, f64)> {
    difference(first, second).map(|difference| difference.ends(0.5 - level / 2.0))
}

/// The two-sided p-value of no difference: one minus the level at which the interval touches 0.
///
/// So the test and the interval never contradict each other. 1 for equal shares; none where there is no interval.
pub fn newcombe_p_value(first: Share, second: Share) -> Option<f64> {
    difference(first, second).map(ShareDifference::p_value)
}

/// The p-value of the claim that the true difference lies within ± margin: the least α at which the interval of the level
/// 1 − 2α does. None where there is no interval, or no margin.
pub fn newcombe_tost(first: Share, second: Share, margin: f64) -> Option<f64> {
    difference(first, second).filter(|_| margin > 0.0).map(|difference| difference.tost(margin))
}
