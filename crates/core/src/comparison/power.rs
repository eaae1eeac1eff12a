//! The smallest difference that samples like these would detect.

use crate::stats::{noncentral_t_cdf, normal_quantile, t_quantile};

/// The level of the test, two-sided.
const ALPHA: f64 = 0.05;
/// The wanted power.
const POWER: f64 = 0.8;
/// Beyond this the t distribution is the normal one, to twelve digits of the result.
const MANY: f64 = 1e9;

/// The difference that a two-sided t test at 5 % finds with a power of 80 %, for this standard error and its degrees of
/// freedom. None if there is no such number.
pub(super) fn detectable(se: f64, df: f64) -> Option<f64> {
    Some(se * noncentrality(df)?).filter(|difference| difference.is_finite())
}

/// The noncentrality at which the test has the power.
fn noncentrality(df: f64) -> Option<f64> {
    let normal = normal_quantile(1.0 - ALPHA / 2.0) + normal_quantile(POWER);
    if df > MANY {
        return Some(normal);
    }
    let critical = t_quantile(1.0 - ALPHA / 2.0, df);
    let power = |delta: f64| {
        1.0 - noncentral_t_cdf(critical, df, delta) + noncentral_t_cdf(-critical, df, delta)
    };
    // The power rises with the noncentrality, and is lower than with infinitely many degrees of freedom.
    let (mut low, mut high) = (normal - 0.01, 2.0 * critical + normal);
    let mut rise = 0;
    while power(high) < POWER {
        (low, high) = (high, 2.0 * high);
        rise += 1;
        if rise > 20 {
            return None;
        }
    }
    // Illinois: the secant, with the weight of an end that stays halved.
    let (mut at_low, mut at_high) = (power(low) - POWER, power(high) - POWER);
    if at_low > 0.0 || at_low.is_nan() || at_high.is_nan() {
        return None;
    }
    for _ in 0..200 {
        if high - low <= 1e-12 * high {
            break;
        }
        let middle = (low * at_high - high * at_low) / (at_high - at_low);
        let middle = if middle > low && middle < high { middle } else { 0.5 * (low + high) };
        let at = power(middle) - POWER;
        if at == 0.0 || at.abs() < 1e-14 {
            return Some(middle);
        }
        if at < 0.0 {
            (low, at_low, at_high) = (middle, at, 0.5 * at_high);
        } else {
            (high, at_high, at_low) = (middle, at, 0.5 * at_low);
        }
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against scipy: the root of nct.sf(c, df, δ) + nct.cdf(−c, df, δ) = 0.8, c = t.ppf(0.975, df).
    #[test]
    fn the_noncentrality_of_the_t_test() {
        for (df, expected) in EXPECTED {
            let found = noncentrality(df).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-8, "{df}: {found} {expected}");
        }
        assert!((noncentrality(f64::INFINITY).unwrap() - 2.801585218112969).abs() < 1e-12);
    }

    const EXPECTED: [(f64, f64); 4] = [
        (1.0, 16.334008870249864),
        (4.0, 3.7610595538250267),
        (29.0, 2.898742846324863),
        (999.0, 2.804278596761233),
    ];
}
