//! McNemar's test of two classifiers on the same samples: of the pairs that differ, is one direction more frequent?
//!
//! Without a difference each of the b + c discordant pairs is a win or a loss with probability ½, so the tests are those of
//! the binomial distribution. Fagerland, Lydersen & Laake, "The McNemar test for binary matched-pairs data: mid-p and
//! asymptotic are better than exact conditional", 2013.

use super::binomial::{binomial_cdf, binomial_pmf};

/// The two-sided p-value of the exact test from the two counts of discordant pairs: 1 if there are none.
///
/// ```
/// # use errorbar_core::stats::mcnemar_exact;
/// // Nine wins and one loss: 2·(1 + 10)/2^10.
/// assert!((mcnemar_exact(9, 1) - 22.0 / 1024.0).abs() < 1e-15);
/// ```
pub fn mcnemar_exact(wins: u64, losses: u64) -> f64 {
    let (fewer, discordant) = (wins.min(losses), wins + losses);
    if wins == losses {
        return 1.0;
    }
    if fewer == 0 {
        return power_of_half(discordant - 1);
    }
    (2.0 * binomial_cdf(fewer, discordant, 0.5)).min(1.0)
}

/// The mid-p version: half the probability of the counts that were seen is left out. The exact test is conservative, as counts
/// are discrete; this one is not, and its false alarms hardly exceed the nominal rate. 1 without discordant pairs.
///
/// ```
/// # use errorbar_core::stats::mcnemar_mid_p;
/// // Nine wins and one loss: 2·(1 + 10/2)/2^10.
/// assert!((mcnemar_mid_p(9, 1) - 12.0 / 1024.0).abs() < 1e-15);
/// ```
pub fn mcnemar_mid_p(wins: u64, losses: u64) -> f64 {
    let (fewer, discordant) = (wins.min(losses), wins + losses);
    if discordant == 0 {
        return 1.0;
    }
    let observed = binomial_pmf(fewer, discordant, 0.5);
    if wins == losses {
        return 1.0 - 0.5 * observed;
    }
    if fewer == 0 {
        return power_of_half(discordant);
    }
    // The sum is at least 1 + losses/wins times its last term, so the difference loses at most one binary digit.
    2.0 * binomial_cdf(fewer, discordant, 0.5) - observed
}

/// 2^−exponent, 0 below the smallest number.
pub(super) fn power_of_half(exponent: u64) -> f64 {
    libm::scalbn(1.0, -i32::try_from(exponent).unwrap_or(i32::MAX))
}
