//! The correlation of two sets of numbers.

/// The correlation of pairs from the variances of both sides, above 0, and of their differences. None if a number is too large.
pub(crate) fn correlation_of_variances(first: f64, second: f64, of_difference: f64) -> Option<f64> {
    // One root each, so that a product of tiny variances does not vanish.
    let correlation = 0.5 * (first + second - of_difference) / (first.sqrt() * second.sqrt());
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}
