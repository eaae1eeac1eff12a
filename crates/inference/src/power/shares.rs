//! Shares of right answers: the power of the score test of two unpaired ones, and how wide intervals of shares are.
//!
//! Widths are those with exactly the expected counts.

use errorbar_core::engine::wilson;
use errorbar_stats::differences::{WilsonReach, bonett_price_of};
use errorbar_stats::distributions::normal_cdf;

/// The power of the two-sided score test (pooled variance under no difference) of two shares with `n` samples each;
/// `z` is the quantile of the test.
pub(super) fn score_power(base: f64, other: f64, n: f64, z: f64) -> f64 {
    let pooled = 0.5 * (base + other);
    let null = (2.0 * pooled * (1.0 - pooled)).sqrt();
    let spread = (base * (1.0 - base) + other * (1.0 - other)).sqrt();
    let shift = (other - base).abs() * n.sqrt();
    if spread == 0.0 {
        // From 0 to 1: what is observed is certain.
        return f64::from(u8::from(shift > z * null));
    }
    normal_cdf((shift - z * null) / spread) + normal_cdf((-shift - z * null) / spread)
}

/// The width of Wilson's interval of a share.
pub(super) fn wilson_width(share: f64, n: f64, z: f64) -> f64 {
    let (lower, upper) = wilson(share, n, z);
    upper - lower
}

/// The width of the interval of Bonett and Price of the difference of two paired shares.
pub(super) fn bonett_price_width(p10: f64, p01: f64, n: f64, z: f64) -> f64 {
    let (lower, upper) = bonett_price_of(n * p01, n * p10, n, z);
    upper - lower
}

/// The width of Newcombe's interval (method 10) of the difference of two unpaired shares, with `n` samples each.
pub(super) fn newcombe_width(base: f64, other: f64, n: f64, z: f64) -> f64 {
    let (below, above) = WilsonReach::new(other, n, z).minus(WilsonReach::new(base, n, z));
    below + above
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z: f64 = 1.959963984540054;

    fn assert_close(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-9, "{got} {want}");
    }

    /// Published intervals: Wilson 81/263, Bonett and Price 3 and 0 of 10, 1 and 1 of 30, Newcombe 0/10 and 0/10.
    #[test]
    fn published_widths() {
        assert_close(wilson_width(81.0 / 263.0, 263.0, Z), 0.36620957698280004 - 0.2552885198782742);
        assert_close(bonett_price_width(0.0, 0.3, 10.0, Z), 0.5867141054443792 + 0.08671410544437924);
        assert_close(bonett_price_width(1.0 / 30.0, 1.0 / 30.0, 30.0, Z), 2.0 * 0.12249774903375338);
        assert_close(newcombe_width(0.0, 0.0, 10.0, Z), 2.0 * 0.27753279986288926);
    }
}
