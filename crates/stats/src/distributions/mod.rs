//! Distribution functions, tails and quantiles, with the accuracy that the crate's README states.

mod beta;

pub use beta::{beta_cdf, beta_quantile, beta_survival, beta_survival_quantile};

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

use beta::beta_front;

// The standard normal distribution and its quantiles.
//
// Only `libm` is called, never the platform's mathematics, so that figures are the same everywhere.

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

// The logarithm of the gamma function, and what Stirling's formula lacks of it.

/// ½·ln 2π.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;

/// ln |Γ(x)|: +∞ at zero and at negative integers.
///
/// Right to 1e-14 relative for x > 0, also next to its zeros at 1 and 2.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln Γ(a) − [(a − ½)·ln a − a + ½·ln 2π] for a > 0: 1/(12a) and smaller terms.
///
/// The absolute error is below 1e-14, and below 1e-17 from a = 10 on.
fn stirling_error(a: f64) -> f64 {
    /// B₂ₖ/(2k(2k − 1)), Abramowitz & Stegun 6.1.41.
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1_260.0,
        -1.0 / 1_680.0,
        1.0 / 1_188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3_617.0 / 122_400.0,
    ];
    if a < 10.0 {
        return ln_gamma(a) - ((a - 0.5) * libm::log(a) - a + HALF_LN_TAU);
    }
    let v = 1.0 / (a * a);
    SERIES.iter().rev().fold(0.0, |sum, term| sum * v + term) / a
}

/// e − ln(1 + e) for e > −1, with full relative accuracy at zero, where it vanishes like e²/2.
fn excess_of_log(e: f64) -> f64 {
    if !(-0.66..=2.0).contains(&e) {
        return e - libm::log1p(e);
    }
    // ln(1 + e) = 2·(r + r³/3 + r⁵/5 + …) with r = e/(2 + e), |r| ≤ ½; and e − 2r = e·r.
    let r = e / (2.0 + e);
    let r2 = r * r;
    let mut power = 1.0;
    let mut sum = 0.0;
    let mut odd = 3.0;
    loop {
        let term = power / odd;
        sum += term;
        if term < sum * (0.25 * f64::EPSILON) {
            break;
        }
        power *= r2;
        odd += 2.0;
    }
    r * (e - 2.0 * r2 * sum)
}

// The binomial distribution, by way of the beta distribution.
//
// Right to 1e-12 relative, tails to 1e-300 included, for up to a million trials.

/// P(K = k) for K ~ Bin(n, p): 0 for k > n, NaN for p outside of [0, 1].
pub fn binomial_pmf(k: u64, n: u64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if k > n {
        return 0.0;
    }
    let (count, trials) = (to_f64(k), to_f64(n));
    let others = to_f64(n - k);
    match (p, k) {
        (0.0, 0) => 1.0,
        (0.0, _) => 0.0,
        (1.0, _) => f64::from(u8::from(k == n)),
        (_, 0) => libm::exp(trials * libm::log1p(-p)),
        (_, _) if k == n => libm::pow(p, trials),
        // C(n, k) = n/(k·(n − k)·B(k, n − k))
        _ => beta_front(p, count, others) * (trials / count / others),
    }
}

/// P(K ≤ k) for K ~ Bin(n, p), with full relative accuracy in the lower tail.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if k >= n { 1.0 } else { beta_survival(p, to_f64(k) + 1.0, to_f64(n - k)) }
}

/// P(K > k) for K ~ Bin(n, p), with full relative accuracy in the upper tail.
pub fn binomial_survival(k: u64, n: u64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if k >= n { 0.0 } else { beta_cdf(p, to_f64(k) + 1.0, to_f64(n - k)) }
}

#[expect(clippy::cast_precision_loss, reason = "above 2^53 the nearest number is meant")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

// The two sums beneath the incomplete beta function. Both are used on the side of the mean where they converge.

/// More terms than either needs for parameters up to 1e12; they end by themselves when a term no longer counts.
const MAX_TERMS: u32 = 1_000_000;

/// Σ (a + b)_k/(a + 1)_k · x^k, with which I_x(a, b) = x^a·(1 − x)^b/(a·B(a, b)) times the sum (DLMF 8.17.8). All terms are
/// positive.
fn beta_series(a: f64, b: f64, x: f64) -> f64 {
    let mut sum = 1.0;
    let mut term = 1.0;
    for k in 0..MAX_TERMS {
        let k = f64::from(k);
        term *= (a + b + k) / (a + 1.0 + k) * x;
        sum += term;
        if term < sum * (0.25 * f64::EPSILON) {
            break;
        }
    }
    sum
}

/// The continued fraction f with I_x(a, b) = x^a·y^b/(B(a, b)·f), y = 1 − x, by the modified Lentz method.
///
/// DiDonato & Morris, "Algorithm 708", ACM TOMS 18 (1992), equation 9. Unlike the fraction of DLMF 8.17.22 it takes y as well
/// as x, so that x next to 1 does no harm; as a grows it tends to the fraction of erfc and needs no more terms than that.
/// `lambda` is a·y − b·x, which the caller can compute without the cancellation of the two products.
fn beta_fraction(a: f64, b: f64, x: f64, y: f64, lambda: f64) -> f64 {
    let beta = |n: f64| {
        n + n * (b - n) * x / (a + 2.0 * n - 1.0)
            + (a + n) * (lambda + 1.0 + n * (1.0 + y)) / (a + 2.0 * n + 1.0)
    };
    let alpha = |n: f64| {
        let denominator = a + 2.0 * n - 1.0;
        // The factors are paired so that none of the products overflows for large a.
        ((a + n - 1.0) / denominator * x) * ((a + b + n - 1.0) / denominator * x) * (n * (b - n))
    };
    // The first term without the one that vanishes, which would be 0/0 at a = 1.
    let mut fraction = a * (lambda + 1.0) / (a + 1.0);
    let mut c = fraction;
    let mut d = 0.0;
    for n in 1..MAX_TERMS {
        let (alpha, beta) = (alpha(f64::from(n)), beta(f64::from(n)));
        d = 1.0 / (beta + alpha * d);
        c = beta + alpha / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction
}

// The noncentral t distribution, from which the power of a t test is computed.

/// P(T ≤ t) for the noncentral t distribution with `df` > 0 degrees of freedom, which may be fractional or infinite, and
/// noncentrality `delta`: T = (Z + δ)/S, S² a mean square with `df` degrees of freedom.
///
/// The absolute error is below 1e-12; a small tail has no more digits than that. Measured for `df` from 0.3 to 1e7 and
/// |δ| to 80. NaN for `df` below 0.001 or |δ| above 100,000, where the sum would take minutes.
pub fn noncentral_t_cdf(t: f64, df: f64, delta: f64) -> f64 {
    if t.is_nan() || delta.is_nan() || delta.is_infinite() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    if df.is_infinite() {
        return normal_cdf(t - delta);
    }
    if df < LEAST_DF || delta.abs() > LARGEST_DELTA {
        return f64::NAN;
    }
    // E Φ(t·S − δ) in w = ln S. The density of w falls off exponentially below and doubly so above, and the integrand is
    // smooth, so the trapezoidal rule errs by exp(−2π²/(h·κ)²) with the step h and the larger κ of the two
    // reciprocal widths: √(2ν) of the density, and |δ| of Φ where it rises. Both are tame only within π/4 of the real
    // axis, which bounds the step where both widths are large: exp(−π²/(2h)) at h = 1/8 is 1e-17.
    let half = 0.5 * df;
    let front = 2.0 * libm::sqrt(half / (2.0 * PI)) * libm::exp(-stirling_error(half));
    let step = 0.5 / libm::sqrt(2.0 * df + delta * delta + 16.0);
    let term = |w: f64| {
        let density = front * libm::exp(-half * (libm::expm1(2.0 * w) - 2.0 * w));
        (density, normal_cdf(libm::fma(t, libm::exp(w), -delta)))
    };
    let mut sum = 0.0;
    for direction in [1.0, -1.0] {
        // The centre belongs to the first of the two.
        let mut index = if direction > 0.0 { 0.0 } else { 1.0 };
        loop {
            let (density, probability) = term(direction * index * step);
            sum += density * probability;
            // The density has its top at zero and falls from there.
            if density < SMALLEST_DENSITY * df.min(1.0) {
                break;
            }
            index += 1.0;
        }
    }
    (sum * step).clamp(0.0, 1.0)
}

/// The number of terms grows with 1/`df` and with |δ|: these take some ten million.
const LEAST_DF: f64 = 1e-3;
const LARGEST_DELTA: f64 = 1e5;

/// What is left of the integral where the density is this small is below 1e-17.
const SMALLEST_DENSITY: f64 = 1e-19;

// Student's t distribution with any positive degrees of freedom, and its quantiles.
//
// Two things cost digits in the usual route through ln Γ and x = ν/(ν + t²) when ν is large: a difference of two large
// logarithms, and 1 − x where x is near 1. Here Γ(a + ½)/Γ(a) is computed directly, and x and y = 1 − x are carried side by
// side. Whichever of the tail and the central probability is small has its own formula, so neither is ever the
// difference of two nearly equal numbers.

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
