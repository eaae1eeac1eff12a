//! Student's t distribution with any positive degrees of freedom, and its quantiles.
//!
//! Two things cost digits in the usual route through ln Γ and x = ν/(ν + t²) when ν is large: a difference of two large
//! logarithms, and 1 − x where x is near 1. Here Γ(a + ½)/Γ(a) is computed directly, and x and y = 1 − x are carried side by
//! side. Whichever of the tail and the central probability is small has its own formula, so neither is ever the
//! difference of two nearly equal numbers.

use std::f64::consts::PI;

use super::incomplete_beta::{beta_fraction, beta_series};
use super::normal::{normal_quantile, normal_survival};

/// √π.
const SQRT_PI: f64 = 1.772_453_850_905_516;

/// P(T ≤ t) for `df` > 0 degrees of freedom, which may be fractional or infinite.
pub fn t_cdf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df.is_infinite() {
        return normal_survival(-t);
    }
    let split = StudentT::new(df).split(t.abs());
    if t < 0.0 {
        split.tail
    } else {
        // Above the centre the tail is the smaller part, and taking it off loses nothing.
        1.0 - split.tail
    }
}

/// P(T > t) for `df` > 0 degrees of freedom, with full relative accuracy in the upper tail.
pub fn t_survival(t: f64, df: f64) -> f64 {
    t_cdf(-t, df)
}

/// The t with P(T ≤ t) = p: −∞ at 0, +∞ at 1, NaN outside of [0, 1] or for `df` ≤ 0.
///
/// Right to about 1e-14 relative for any `df`, integral or not; an infinite `df` gives the normal quantile.
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df.is_infinite() {
        return normal_quantile(p);
    }
    // 1 − p is exact for p ≥ ½, and p − ½ for p ≥ ¼ (Sterbenz).
    let (tail, sign) = if p > 0.5 { (1.0 - p, 1.0) } else { (p, -1.0) };
    let central = 0.5 - tail;
    let t = if tail == 0.0 {
        f64::INFINITY
    } else if central == 0.0 {
        0.0
    } else if df == 1.0 {
        if tail < 0.25 { 1.0 / libm::tan(PI * tail) } else { libm::tan(PI * central) }
    } else if df == 2.0 {
        2.0 * central / libm::sqrt(2.0 * tail * (1.0 - tail))
    } else if tail > 0.25 {
        StudentT::new(df).quantile_of_central(central, tail)
    } else {
        StudentT::new(df).quantile_of_tail(tail)
    };
    sign * t
}

/// The distribution with the constants that depend on its degrees of freedom.
struct StudentT {
    df: f64,
    /// a = ν/2, the first parameter of the incomplete beta function.
    half_df: f64,
    /// Γ(a + ½)/Γ(a).
    gamma_ratio: f64,
}

/// The probabilities on both sides of a t ≥ 0, and the density there.
struct Split {
    /// P(0 < T ≤ t)
    central: f64,
    /// P(T > t)
    tail: f64,
    density: f64,
    /// P(T > t)/(t · density), which stays in range where the density underflows.
    tail_over_slope: f64,
}

impl StudentT {
    fn new(df: f64) -> Self {
        let half_df = 0.5 * df;
        Self { df, half_df, gamma_ratio: gamma_half_ratio(half_df) }
    }

    fn split(&self, t: f64) -> Split {
        let (a, b) = (self.half_df, 0.5);
        // x = ν/(ν + t²), y = t²/(ν + t²) and x^a, from whichever of t²/ν and ν/t² is below 1.
        let root_df = libm::sqrt(self.df);
        let (x, y, root_x, root_y, x_to_a) = if t <= root_df {
            let s = t / root_df;
            let norm = 1.0 + s * s;
            let (root_x, root_y) = (1.0 / libm::sqrt(norm), s / libm::sqrt(norm));
            // The logarithm does not turn the rounding of x, next to 1, into a-fold relative error.
            let x_to_a = libm::exp(-a * libm::log1p(t * t / self.df));
            (1.0 / norm, s * s / norm, root_x, root_y, x_to_a)
        } else {
            let r = root_df / t;
            let norm = 1.0 + r * r;
            let (root_x, root_y) = (r / libm::sqrt(norm), 1.0 / libm::sqrt(norm));
            // The power does not turn the rounding of a large logarithm into relative error, nor does t² overflow.
            let x_to_a = libm::pow(r, self.df) * libm::exp(-a * libm::log1p(r * r));
            (r * r / norm, 1.0 / norm, root_x, root_y, x_to_a)
        };
        let front = self.gamma_ratio / SQRT_PI * x_to_a;
        let density = front * root_x / root_df;
        if y * (a + 2.5) < 1.5 {
            // ½·I_y(½, a)
            let central = front * root_y * beta_series(b, a, y);
            let tail = 0.5 - central;
            Split { central, tail, density, tail_over_slope: tail / (t * density) }
        } else {
            // ½·I_x(a, ½)
            let fraction = beta_fraction(a, b, x, y, a * y - b * x);
            let tail = 0.5 * front * root_y / fraction;
            Split { central: 0.5 - tail, tail, density, tail_over_slope: 0.5 / fraction }
        }
    }

    /// Wallace (1959): z ≈ (8ν + 1)/(8ν + 3) · √(ν·ln(1 + t²/ν)), solved for t.
    fn wallace(&self, tail: f64) -> f64 {
        let z = -normal_quantile(tail);
        let w = z * (8.0 * self.df + 3.0) / (8.0 * self.df + 1.0);
        libm::sqrt(self.df * libm::expm1(w * w / self.df))
    }

    /// Newton's method on P(0 < T ≤ t), which is concave: after one step it approaches from below, whatever the start.
    fn quantile_of_central(&self, central: f64, tail: f64) -> f64 {
        let floor = central / self.split(0.0).density;
        let mut t = self.wallace(tail).max(floor);
        for _ in 0..MAX_STEPS {
            let split = self.split(t);
            let step = (central - split.central) / split.density;
            t = (t + step).max(floor);
            if step.abs() <= t * LAST_STEP {
                break;
            }
        }
        t
    }

    /// Newton's method on ln P(T > t) as a function of ln t, which is concave: after one step it approaches from above,
    /// whatever the start.
    fn quantile_of_tail(&self, tail: f64) -> f64 {
        // Leaving out the 1 of 1 + t²/ν gives a power law for the tail that is too heavy everywhere, hence a bound.
        let ln_constant = libm::log(self.gamma_ratio / (SQRT_PI * libm::sqrt(self.df)));
        let ln_power = 0.5 * (self.df - 1.0) * libm::log(self.df);
        let bound = libm::exp((ln_constant + ln_power - libm::log(tail)) / self.df);
        if bound.is_infinite() && self.df < 1.0 {
            return bound;
        }
        let mut t = self.wallace(tail).min(bound);
        for _ in 0..MAX_STEPS {
            let split = self.split(t);
            if split.tail < f64::MIN_POSITIVE && split.tail < tail {
                // Too far out to be measured.
                t *= 0.75;
                continue;
            }
            let step = split.tail_over_slope * libm::log(split.tail / tail);
            t *= libm::exp(step);
            if step.abs() <= LAST_STEP {
                break;
            }
        }
        t
    }
}

/// Newton steps at most; one to three are usual.
const MAX_STEPS: u32 = 200;

/// After a relative step this small the next would be below rounding, as the error is squared each time.
const LAST_STEP: f64 = 1e-9;

/// Γ(a + ½)/Γ(a).
///
/// Large a: with w = a − ¼ the ratio is √w times a series in 1/w² (Tricomi & Erdélyi 1951; Fields 1966), of which seven terms
/// suffice from a = 11 on (2e-16). Small a are brought there by Γ(z + 1) = z·Γ(z).
fn gamma_half_ratio(a: f64) -> f64 {
    const SERIES: [f64; 7] = [
        1.0,
        1.0 / 64.0,
        -19.0 / 8_192.0,
        631.0 / 524_288.0,
        -174_317.0 / 134_217_728.0,
        20_491_783.0 / 8_589_934_592.0,
        -7_334_801_895.0 / 1_099_511_627_776.0,
    ];
    let mut a = a;
    let mut lowered = 1.0;
    while a < 11.0 {
        lowered *= a / (a + 0.5);
        a += 1.0;
    }
    let w = a - 0.25;
    let v = 1.0 / (w * w);
    let series = SERIES.iter().rev().fold(0.0, |sum, term| sum * v + term);
    lowered * libm::sqrt(w) * series
}
