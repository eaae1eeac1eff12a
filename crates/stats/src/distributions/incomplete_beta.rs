//! The two sums beneath the incomplete beta function. Both are used on the side of the mean where they converge.

/// More terms than either needs for parameters up to 1e12; they end by themselves when a term no longer counts.
const MAX_TERMS: u32 = 1_000_000;

/// Σ (a + b)_k/(a + 1)_k · x^k, with which I_x(a, b) = x^a·(1 − x)^b/(a·B(a, b)) times the sum (DLMF 8.17.8). All terms are
/// positive.
pub(super) fn beta_series(a: f64, b: f64, x: f64) -> f64 {
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
pub(super) fn beta_fraction(a: f64, b: f64, x: f64, y: f64, lambda: f64) -> f64 {
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
