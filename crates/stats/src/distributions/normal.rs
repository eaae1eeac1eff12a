//! The standard normal distribution and its quantiles.
//!
//! Only `libm` is called, never the platform's mathematics, so that figures are the same everywhere.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// √(2π).
const SQRT_TAU: f64 = 2.506_628_274_631_000_5;

/// What `FRAC_1_SQRT_2` lacks of 1/√2.
const FRAC_1_SQRT_2_REST: f64 = -4.833_646_656_726_457e-17;

/// P(Z ≤ z).
pub fn normal_cdf(z: f64) -> f64 {
    normal_survival(-z)
}

/// P(Z > z), with full relative accuracy far out in the upper tail.
pub fn normal_survival(z: f64) -> f64 {
    // erfc magnifies a relative error of its argument t by 2t², 1400 at the edge of the range, so the rounding of z/√2 is
    // carried along and put right to first order: erfc′(t) = −2/√π·exp(−t²).
    let t = z * FRAC_1_SQRT_2;
    let rest = libm::fma(z, FRAC_1_SQRT_2, -t) + z * FRAC_1_SQRT_2_REST;
    let main = libm::erfc(t);
    if main == 0.0 || t.is_infinite() {
        return 0.5 * main;
    }
    0.5 * (main - rest * FRAC_2_SQRT_PI * libm::exp(-t * t))
}

/// P(0 < Z ≤ z) for z ≥ 0, with full relative accuracy near zero.
fn normal_central(z: f64) -> f64 {
    0.5 * libm::erf(z * FRAC_1_SQRT_2)
}

fn normal_density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / SQRT_TAU
}

/// The z with P(Z ≤ z) = p: −∞ at 0, +∞ at 1, NaN outside of [0, 1].
///
/// Right to about 1e-15 relative from the smallest positive p to the largest below 1, also next to ½ where z passes
/// through zero.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    // 1 − p is exact for p ≥ ½, and p − ½ for p ≥ ¼ (Sterbenz).
    let (tail, sign) = if p > 0.5 { (1.0 - p, 1.0) } else { (p, -1.0) };
    let z = if tail == 0.0 {
        f64::INFINITY
    } else if tail > 0.25 {
        from_central(0.5 - tail)
    } else {
        from_tail(tail)
    };
    sign * z
}

/// Newton's method on P(0 < Z ≤ z), from the series of the quantile about the centre: four terms err by 1e-3 at worst.
fn from_central(probability: f64) -> f64 {
    let u = SQRT_TAU * probability;
    let u2 = u * u;
    let mut z = u * (1.0 + u2 * (1.0 / 6.0 + u2 * (7.0 / 120.0 + u2 * (127.0 / 5040.0))));
    for _ in 0..3 {
        z += (probability - normal_central(z)) / normal_density(z);
    }
    z
}

/// Newton's method on the logarithm of the tail, whose curvature is mild all the way out.
fn from_tail(probability: f64) -> f64 {
    // Abramowitz & Stegun 26.2.23, right to 4.5e-4; each step then about doubles the digits.
    let t = libm::sqrt(-2.0 * libm::log(probability));
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - numerator / denominator;
    for _ in 0..3 {
        let survival = normal_survival(z);
        z += libm::log(survival / probability) * survival / normal_density(z);
    }
    z
}
