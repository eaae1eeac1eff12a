//! McNemar's test of two classifiers on the same samples: of the pairs that differ, is one direction more frequent?
//!
//! Without a difference each of the b + c discordant pairs is a win or a loss with probability ½, so the tests are those of
//! the binomial distribution. Fagerland, Lydersen & Laake, "The McNemar test for binary matched-pairs data: mid-p and
//! asymptotic are better than exact conditional", 2013.

use crate::distributions::{binomial_cdf, binomial_pmf};

/// The two-sided p-value of the exact test from the two counts of discordant pairs: 1 if there are none.
///
/// ```
/// # use errorbar_stats::differences::mcnemar_exact;
/// // Nine wins and one loss: 2·(1 + 10)/2^10.
/// assert_eq!(mcnemar_exact(9, 1), 22.0 / 1024.0);
/// ```
pub fn mcnemar_exact(wins: u64, losses: u64) -> f64 {
    let (fewer, discordant) = (wins.min(losses), wins + losses);
    if wins == losses {
        return 1.0;
    }
    if fewer == 0 {
        return power_of_half(discordant - 1);
    }
    match tail_counts(fewer, discordant) {
        Some((tail, _)) => libm::scalbn(tail as f64, 1 - discordant as i32),
        None => (2.0 * binomial_cdf(fewer, discordant, 0.5)).min(1.0),
    }
}

/// The mid-p version: half the probability of the counts that were seen is left out. The exact test is conservative, as counts
/// are discrete; this one is not, and its false alarms hardly exceed the nominal rate. 1 without discordant pairs.
///
/// ```
/// # use errorbar_stats::differences::mcnemar_mid_p;
/// // Nine wins and one loss: 2·(1 + 10/2)/2^10.
/// assert_eq!(mcnemar_mid_p(9, 1), 12.0 / 1024.0);
/// ```
pub fn mcnemar_mid_p(wins: u64, losses: u64) -> f64 {
    let (fewer, discordant) = (wins.min(losses), wins + losses);
    if discordant == 0 {
        return 1.0;
    }
    if fewer == 0 {
        return power_of_half(discordant);
    }
    if let Some((tail, observed)) = tail_counts(fewer, discordant).filter(|_| wins != losses) {
        return libm::scalbn((2 * tail - observed) as f64, -(discordant as i32));
    }
    let observed = binomial_pmf(fewer, discordant, 0.5);
    if wins == losses {
        return 1.0 - 0.5 * observed;
    }
    // The sum is at least 1 + losses/wins times its last term, so the difference loses at most one binary digit.
    2.0 * binomial_cdf(fewer, discordant, 0.5) - observed
}

/// Of the 2ⁿ outcomes of `n` pairs, those with at most `fewer` losses, and those with as many; none if they are too many for
/// a float to hold exactly. The p-values of few pairs are fractions of these, and should be these fractions.
fn tail_counts(fewer: u64, n: u64) -> Option<(u64, u64)> {
    const MOST: u64 = 52;
    if n > MOST {
        return None;
    }
    let (mut tail, mut count) = (1_u64, 1_u64);
    for losses in 1..=fewer {
        count = count * (n - losses + 1) / losses;
        tail += count;
    }
    Some((tail, count))
}

/// 2^−exponent, 0 below the smallest number.
pub(super) fn power_of_half(exponent: u64) -> f64 {
    libm::scalbn(1.0, -i32::try_from(exponent).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_have_the_fraction_of_their_outcomes() {
        assert_eq!(mcnemar_exact(1, 3), 0.625);
        assert_eq!(mcnemar_mid_p(1, 3), 6.0 / 16.0);
        assert_eq!(mcnemar_mid_p(2, 2), 1.0 - 0.5 * 6.0 / 16.0);
        // Where counting ends, the sum of probabilities goes on without a step.
        for (wins, losses) in [(20, 32), (21, 31), (1, 51), (25, 27)] {
            let (fewer, n) = (u64::min(wins, losses), wins + losses);
            let by_sum = 2.0 * binomial_cdf(fewer, n, 0.5);
            assert!((mcnemar_exact(wins, losses) / by_sum.min(1.0) - 1.0).abs() < 1e-13, "{wins} {losses}");
            let mid = by_sum - binomial_pmf(fewer, n, 0.5);
            assert!((mcnemar_mid_p(wins, losses) / mid - 1.0).abs() < 1e-13, "{wins} {losses}");
        }
    }
}
