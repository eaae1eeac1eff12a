//! Figures that describe a sample: standard deviation, quantiles, correlation.

use crate::exact::Moments;

/// The standard deviation with divisor n, as the bootstrap's standard error takes it; NaN of nothing, exactly 0 of equal values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    let mut moments = Moments::new();
    moments.extend(values);
    moments.population_std().unwrap_or(f64::NAN)
}

/// The q-quantile of ascending values by linear interpolation between order statistics (Hyndman & Fan's type 7, numpy's
/// default); NaN of nothing. `q` is clamped to [0, 1].
pub fn quantile_linear(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = last as f64 * q.clamp(0.0, 1.0);
    let below = position as usize; // rounds down
    let at = |index: usize| sorted.get(index.min(last)).copied().unwrap_or(f64::NAN);
    let (low, high) = (at(below), at(below + 1));
    let t = position - below as f64;
    // From the nearer end, as numpy does, so that the upper end is reached exactly.
    if t >= 0.5 { high - (high - low) * (1.0 - t) } else { low + (high - low) * t }
}

/// The q-quantile of ascending values by the inverse of their distribution function (Hyndman & Fan's type 1): the smallest
/// value with a share of at least q at or below it. NaN of nothing; `q` is clamped to [0, 1].
pub fn quantile_inverse(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    // (1 − 0.95)/2 is a little above 0.025: a position that is a whole number but for rounding counts as that number.
    let position = sorted.len() as f64 * q.clamp(0.0, 1.0);
    let whole = position.round();
    let at = if (position - whole).abs() < 1e-9 * whole { whole } else { position.ceil() };
    sorted.get((at as usize).saturating_sub(1).min(last)).copied().unwrap_or(f64::NAN)
}

/// The correlation of pairs from the variances of both sides, above 0, and of their differences. None if a number is too large.
pub fn correlation_of_variances(first: f64, second: f64, of_difference: f64) -> Option<f64> {
    // One root each, so that a product of tiny variances does not vanish.
    let correlation = 0.5 * (first + second - of_difference) / (first.sqrt() * second.sqrt());
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}
