//! Wilson's score interval for a proportion, and for the mean of any scores with a known range.

use super::{Ends, IntervalInput};
use crate::estimate::{Defined, Undefined};
use errorbar_stats::distributions::{normal_quantile, t_quantile};

pub(super) fn ends(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let (low, high) = input
        .range()
        .map_err(|reason| Undefined::Other(format!("wilson needs scores with a known range: {reason}")))?;
    if is_plain(input) {
        let n = input.n as f64 / (1.0 - input.sampled);
        let (lower, upper) = wilson(input.mean, n, normal_quantile(confidence));
        return Ok(Ends::new(lower, upper));
    }
    let error = input.error.as_ref().map_err(Clone::clone)?;
    let width = high - low;
    let p = ((input.mean - low) / width).clamp(0.0, 1.0);
    let effective = effective_n(input)?;
    let (lower, upper) = wilson(p, effective, t_quantile(confidence, error.df));
    // The ends of the range exactly, regardless of the rounding of the scale.
    let scaled = |share: f64| if share == 1.0 { high } else { (low + share * width).min(high) };
    Ok(Ends { lower: scaled(lower), upper: scaled(upper), df: Some(error.df) })
}

/// Whether the interval is Wilson's own: of independent zeros and ones.
pub(in crate::estimate) fn is_plain(input: &IntervalInput<'_>) -> bool {
    input.is_binary() && input.independent
}

/// The number of independent zeros and ones that would have this variance: n* = m(1−m)/V with the range rescaled to [0, 1], at
/// least 1. If the scores are zeros and ones it is at most n; graded scores vary less than those, and may have more (a cap would
/// make their intervals too wide). Without variance it is the number of scores or clusters. A population that is sampled
/// without replacement leaves a part of the variance out, and n scores count as n/(1 − n/N).
pub(in crate::estimate) fn effective_n(input: &IntervalInput<'_>) -> Defined<f64> {
    if is_plain(input) {
        return Ok(input.n as f64 / (1.0 - input.sampled));
    }
    let error = input.error.as_ref().map_err(Clone::clone)?;
    let (low, high) = input.range().map_err(Undefined::Other)?;
    let p = ((input.mean - low) / (high - low)).clamp(0.0, 1.0);
    let se = error.se / (high - low);
    let spread = p * (1.0 - p);
    if !(se > 0.0 && spread > 0.0) {
        return Ok(input.units() as f64 / (1.0 - input.sampled));
    }
    let effective = (spread / se / se).max(1.0);
    Ok(if input.is_binary() { effective.min(input.n as f64 / (1.0 - input.sampled)) } else { effective })
}

/// Products below have lost digits.
const VANISHING: f64 = 1e-280;

/// Wilson (1927): (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n), within [0, 1].
pub fn wilson(p: f64, n: f64, z: f64) -> (f64, f64) {
    let z2 = z * z;
    let centre = p + z2 / (2.0 * n);
    let radicand = p * (1.0 - p) / n + z2 / (4.0 * n * n);
    let margin = if radicand > VANISHING {
        z * radicand.sqrt()
    } else {
        // The same root, in units of 1/2n.
        z / (2.0 * n) * (4.0 * (n * p) * (1.0 - p) + z2).sqrt()
    };
    let scale = 1.0 + z2 / n;
    // At p of 0 or 1 the nearer end is exactly there, regardless of the rounding of the root.
    let lower = if p == 0.0 { 0.0 } else { ((centre - margin) / scale).max(0.0) };
    let upper = if p == 1.0 { 1.0 } else { ((centre + margin) / scale).min(1.0) };
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With p of 1/k and n of k the ends are those of the same multiples of 1/k, as 1 − p is 1.
    #[test]
    fn small_shares_have_the_ends_of_larger_ones() {
        let at = |k: f64| {
            let (lower, upper) = wilson(2.0 / k, k, 4.3);
            (lower * k, upper * k)
        };
        let (large, small) = (at(1e100), at(1e300));
        assert!(large.0 < 2.0 && 2.0 < large.1);
        assert!(
            (large.0 - small.0).abs() < 1e-12 && (large.1 - small.1).abs() < 1e-12,
            "{large:?} {small:?}"
        );
    }
}
