//! The binomial distribution, by way of the beta distribution.
//!
//! Right to 1e-12 relative, tails to 1e-300 included, for up to a million trials.

use super::beta::{beta_cdf, beta_front, beta_survival};

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
