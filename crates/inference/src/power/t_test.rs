//! The power of two-sided tests of a mean: Student's t, by the noncentral t distribution, and the normal one.

use std::cell::RefCell;
use std::collections::HashMap;

use errorbar_core::{Defined, Undefined};
use errorbar_stats::distributions::{noncentral_t_cdf, normal_quantile, t_quantile};

/// The power of a two-sided test at `alpha` of a difference that is `shift` standard errors from 0, both tails
/// counted. Infinite `df` give the normal test.
pub(crate) fn t_power(shift: f64, df: f64, alpha: f64) -> f64 {
    let critical = -t_quantile(0.5 * alpha, df);
    let shift = shift.abs();
    if shift > CERTAIN * (critical + 1.0) {
        return 1.0;
    }
    let below = noncentral_t_cdf(critical, df, shift);
    (1.0 - below + noncentral_t_cdf(-critical, df, shift)).clamp(0.0, 1.0)
}

/// A difference of this many critical values is missed only if the standard error is that many times too large, which does
/// not happen with [`LEAST_DF`]; the distribution itself would take longer to sum.
const CERTAIN: f64 = 40.0;

/// The number of standard errors that a difference must be from 0 to be detected with this power. None with
/// less than half a degree of freedom, or beyond [`LARGEST_SHIFT`].
pub(crate) fn detectable_shift(df: f64, alpha: f64, power: f64) -> Option<f64> {
    // With few degrees of freedom it takes milliseconds, and thousands of small groups have the same few.
    thread_local! {
        static KNOWN: RefCell<HashMap<[u64; 3], Option<f64>>> = RefCell::default();
    }
    let key = [df, alpha, power].map(f64::to_bits);
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&key).copied()) {
        return known;
    }
    let shift = computed_shift(df, alpha, power);
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, shift);
    });
    shift
}

/// The shifts that a thread remembers at most.
const MOST_KNOWN: usize = 4096;

fn computed_shift(df: f64, alpha: f64, power: f64) -> Option<f64> {
    let is_sound = df >= LEAST_DF && 0.0 < alpha && alpha < power && power < 1.0;
    let normal = normal_quantile(1.0 - 0.5 * alpha) + normal_quantile(power);
    let mut upper = normal.max(0.125);
    while is_sound && t_power(upper, df, alpha) < power {
        upper *= 2.0;
        if upper > LARGEST_SHIFT {
            return None;
        }
    }
    is_sound.then(|| root(0.0, upper, |shift| t_power(shift, df, alpha) - power))
}

/// The sum that gives the noncentral t distribution grows with the shift, and with 1/df: these take a second.
const LARGEST_SHIFT: f64 = 1e4;
pub(super) const LEAST_DF: f64 = 0.5;

/// The smallest true difference that a two-sided test at `alpha` detects with this power, given the standard error of
/// the observed difference and its degrees of freedom (infinite: normal).
pub(crate) fn detectable_difference(se: f64, df: f64, alpha: f64, power: f64) -> Defined<f64> {
    // `> 0` is false for what is not a number as well.
    if !(0.0 < alpha && alpha < power && power < 1.0) {
        return Err(Undefined::Other("needs 0 < alpha < power < 1".to_owned()));
    }
    if !(se > 0.0 && df > 0.0) {
        return Err(Undefined::Other("needs a standard error above 0 and degrees of freedom".to_owned()));
    }
    let beyond = || Undefined::Other("too few degrees of freedom".to_owned());
    let difference = detectable_shift(df, alpha, power).ok_or_else(beyond)? * se;
    if difference.is_finite() { Ok(difference) } else { Err(Undefined::Overflow) }
}

/// Where a rising function is 0: the nearer end if it is not 0 between them. False position with the Illinois rule, and a
/// bisection every fourth step, so that the work is bounded whatever the shape of the function.
pub(crate) fn root(lower: f64, upper: f64, value: impl Fn(f64) -> f64) -> f64 {
    let (mut lower, mut upper) = (lower, upper);
    let (mut at_lower, mut at_upper) = (value(lower), value(upper));
    if at_lower >= 0.0 {
        return lower;
    }
    if at_upper <= 0.0 {
        return upper;
    }
    let mut was_below = None;
    for step in 0..MAX_STEPS {
        let middle = 0.5 * (lower + upper);
        if upper - lower <= LAST_WIDTH * middle.abs() {
            return middle;
        }
        let crossing = upper - at_upper * ((upper - lower) / (at_upper - at_lower));
        let is_inside = lower < crossing && crossing < upper;
        let inner = if step % 4 == 3 || !is_inside { middle } else { crossing };
        let at_inner = value(inner);
        if at_inner == 0.0 {
            return inner;
        }
        let is_below = at_inner < 0.0;
        // An end that stays for the second time counts half, so that the next crossing falls on its side.
        let weight = if was_below == Some(is_below) { 0.5 } else { 1.0 };
        if is_below {
            (lower, at_lower, at_upper) = (inner, at_inner, at_upper * weight);
        } else {
            (upper, at_upper, at_lower) = (inner, at_inner, at_lower * weight);
        }
        was_below = Some(is_below);
    }
    0.5 * (lower + upper)
}

/// Fifty bisections, and the steps between them.
const MAX_STEPS: u32 = 200;

/// The probabilities are right to 1e-12, so nothing is gained by less.
const LAST_WIDTH: f64 = 1e-14;

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance * want.abs(), "{got} {want}");
    }

    /// By integration with mpmath, n = 10 and an effect of half a standard deviation.
    #[test]
    fn power_and_shift_agree_with_quadrature() {
        assert_close(t_power(0.5 * 10.0_f64.sqrt(), 9.0, 0.05), 0.293_175_606_514_076_6, 1e-12);
        assert_close(detectable_shift(9.0, 0.05, 0.8).unwrap(), 3.149_632_886_450_618, 1e-12);
    }

    /// Miller 2024, section 5: n = 198, ω² = 1/9, σ² = 1/6; from 13.2 % with one epoch to 7.5 % with ten (truncated).
    #[test]
    fn published_detectable_differences() {
        let difference = |epochs: f64| {
            let variance = 1.0 / 9.0 + 2.0 / 6.0 / epochs;
            detectable_difference((variance / 198.0_f64).sqrt(), f64::INFINITY, 0.05, 0.8).unwrap()
        };
        assert_close(difference(1.0), 0.1327, 3e-4);
        assert_close(difference(10.0), 0.0757, 5e-4);
    }

    #[test]
    fn what_cannot_be_detected_has_a_reason() {
        for (se, df, alpha, power) in [
            (0.0, 9.0, 0.05, 0.8),
            (f64::NAN, 9.0, 0.05, 0.8),
            (1.0, 0.0, 0.05, 0.8),
            (1.0, 9.0, 0.0, 0.8),
            (1.0, 9.0, 1.0, 0.8),
            (1.0, 9.0, 0.05, 0.05),
            (1.0, 9.0, 0.05, 1.0),
            (1.0, 0.1, 0.001, 0.9),
        ] {
            let reason = detectable_difference(se, df, alpha, power);
            assert!(matches!(reason, Err(Undefined::Other(_))), "{se} {df} {alpha} {power}: {reason:?}");
        }
        assert_eq!(detectable_difference(f64::MAX, 9.0, 0.05, 0.8), Err(Undefined::Overflow));
    }
}
