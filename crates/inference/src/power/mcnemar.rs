//! The exact power of McNemar's test, summed over everything that can be observed.
//!
//! Of n pairs m are discordant, m ~ Bin(n, ψ), and of those k are wins, k ~ Bin(m, θ). For each m the test rejects the k
//! at both ends. From one m to the next every probability follows from the last by a few products, so a power costs
//! as many steps as m has likely values, some 17·√(nψ(1−ψ)), and not their squares.

use super::error::PowerError;
use errorbar_stats::distributions::{binomial_cdf, binomial_pmf, normal_quantile};

/// The most pairs that are summed over; a quarter of a million steps.
const MOST_PAIRS: u64 = 1_000_000_000;

/// P-values are compared with alpha to this relative precision: one that is alpha itself counts as significant.
const SLACK: f64 = 1e-10;

/// McNemar's test at `alpha`, exact or mid-p.
#[derive(Clone, Copy, Debug)]
pub(super) struct McNemar {
    pub(super) alpha: f64,
    pub(super) is_mid: bool,
}

impl McNemar {
    /// The power with `n` pairs of which the shares `p10` and `p01` are discordant in one and the other way.
    pub(super) fn power(self, n: u64, p10: f64, p01: f64) -> Result<f64, PowerError> {
        if n > MOST_PAIRS {
            return Err(PowerError::TooManySamples { most: MOST_PAIRS });
        }
        // Above 1 by rounding only: the shares are checked.
        let discordant = (p10 + p01).min(1.0);
        if discordant == 0.0 {
            return Ok(0.0);
        }
        let (mean, pairs) = (n as f64 * discordant, n as f64);
        let reach = 8.5 * (mean * (1.0 - discordant)).sqrt() + 25.0;
        let first = if discordant == 1.0 { n } else { (mean - reach).max(0.0) as u64 };
        let last = if discordant == 1.0 { n } else { ((mean + reach) as u64).min(n) };
        let mut ends = RejectedEnds::new(self, first, p01 / discordant);
        let mut weight = binomial_pmf(first, n, discordant);
        let mut power = 0.0;
        for m in first..=last {
            power += weight * ends.probability();
            if m < last {
                ends.add_pair();
                let of_m = m as f64;
                weight *= (pairs - of_m) / (of_m + 1.0) * (discordant / (1.0 - discordant));
            }
        }
        Ok(power.clamp(0.0, 1.0))
    }

    /// The least number of pairs from which on the power is as wanted. It rises with the pairs, but with small steps
    /// back, because numbers of pairs are integers: those are behind the answer.
    pub(super) fn pairs(self, p10: f64, p01: f64, power: f64) -> Result<u64, PowerError> {
        let (discordant, difference) = (p10 + p01, (p10 - p01).abs());
        if difference == 0.0 {
            return Err(PowerError::Difference(difference));
        }
        let spread = (discordant - difference * difference).max(0.0).sqrt();
        let needed =
            normal_quantile(1.0 - 0.5 * self.alpha) * discordant.sqrt() + normal_quantile(power) * spread;
        let guess = (needed / difference).max(1.0);
        let is_enough = |n: u64| Ok(self.power(n, p10, p01)? >= power);
        let found = super::plan::least_samples(guess * guess, 1, MOST_PAIRS, &is_enough)?;
        let mut settled = found;
        for n in found..=found.saturating_add(steps_back(found, discordant)) {
            if !is_enough(n)? {
                settled = n + 1;
            }
        }
        Ok(settled)
    }
}

/// How far behind the first number of pairs with enough power one may follow without. Where the number of discordant
/// pairs varies, the steps average out; where nearly all pairs are discordant, they have a length of about √n.
fn steps_back(pairs: u64, discordant: f64) -> u64 {
    let variance = pairs as f64 * discordant * (1.0 - discordant);
    // Each of the steps looked at takes some √n sums: two thousand of them would take seconds, for nothing.
    if variance > 2500.0 || variance > 50.0 && discordant < 0.7 {
        8
    } else {
        16 + (4.0 * (pairs as f64).sqrt()).min(2000.0) as u64
    }
}

/// Both ends of the distribution of wins among m discordant pairs that the test rejects: 0 to k, and m − k to m.
struct RejectedEnds {
    test: McNemar,
    m: u64,
    /// Under no difference: from it follows k.
    null: LowerTail,
    /// Few wins, and, turned around, few losses.
    wins: LowerTail,
    losses: LowerTail,
}

impl RejectedEnds {
    fn new(test: McNemar, m: u64, share_of_wins: f64) -> Self {
        // Near the end, from the normal distribution; then step by step.
        let half = 0.5 * m as f64;
        let z = normal_quantile(1.0 - 0.5 * test.alpha);
        let guess = half - 0.5 * z * (m as f64).sqrt();
        let mut k = (guess >= 0.0).then_some(guess as u64);
        while let Some(at) = k
            && (2 * at >= m || !test.rejects(&LowerTail::new(0.5, m, Some(at))))
        {
            k = at.checked_sub(1);
        }
        let tail = |p: f64| LowerTail::new(p, m, k);
        let mut ends = RejectedEnds {
            test,
            m,
            null: tail(0.5),
            wins: tail(share_of_wins),
            losses: tail(1.0 - share_of_wins),
        };
        ends.widen();
        ends
    }

    /// Takes in what is rejected besides.
    fn widen(&mut self) {
        loop {
            let mut next = self.null;
            next.take_next(self.m);
            let at = next.k.unwrap_or_default();
            if 2 * at >= self.m || !self.test.rejects(&next) {
                return;
            }
            self.null = next;
            self.wins.take_next(self.m);
            self.losses.take_next(self.m);
        }
    }

    /// Goes on to one more discordant pair.
    fn add_pair(&mut self) {
        for tail in [&mut self.null, &mut self.wins, &mut self.losses] {
            tail.add_trial(self.m);
        }
        self.m += 1;
        self.widen();
    }

    /// The chance of a number of wins that is rejected.
    fn probability(&self) -> f64 {
        // As many wins as losses is rejected only with a mid-p near 1, and then all else is too.
        let is_even =
            self.m > 0 && self.m.is_multiple_of(2) && self.null.k.map_or(0, |k| k + 1) == self.m / 2;
        if is_even && self.test.is_mid {
            let middle = binomial_pmf(self.m / 2, self.m, 0.5);
            if 1.0 - 0.5 * middle <= self.test.alpha {
                return 1.0;
            }
        }
        self.wins.cdf + self.losses.cdf
    }
}

impl McNemar {
    /// Whether the end of a tail under no difference is rejected.
    fn rejects(self, null: &LowerTail) -> bool {
        let p_value = 2.0 * null.cdf - if self.is_mid { null.pmf } else { 0.0 };
        p_value <= self.alpha * (1.0 + SLACK)
    }
}

/// P(X ≤ k) and P(X = k) for X ~ Bin(m, p); without k, the empty tail.
#[derive(Clone, Copy)]
struct LowerTail {
    p: f64,
    k: Option<u64>,
    cdf: f64,
    pmf: f64,
}

impl LowerTail {
    fn new(p: f64, m: u64, k: Option<u64>) -> Self {
        let (cdf, pmf) = k.map_or((0.0, 0.0), |k| (binomial_cdf(k, m, p), binomial_pmf(k, m, p)));
        LowerTail { p, k, cdf, pmf }
    }

    /// From k to k + 1.
    fn take_next(&mut self, m: u64) {
        self.pmf = match self.k {
            None => binomial_pmf(0, m, self.p),
            // Below m, where a tail ends, nothing is left if every trial succeeds.
            Some(_) if self.p == 1.0 => 0.0,
            Some(k) => self.pmf * ((m - k) as f64 / (k + 1) as f64 * (self.p / (1.0 - self.p))),
        };
        self.cdf += self.pmf;
        self.k = Some(self.k.map_or(0, |k| k + 1));
    }

    /// From m to m + 1 trials.
    fn add_trial(&mut self, m: u64) {
        let Some(k) = self.k else { return };
        self.cdf = (self.cdf - self.p * self.pmf).max(0.0);
        self.pmf *= (m + 1) as f64 * (1.0 - self.p) / (m + 1 - k) as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every outcome of both sums, by their definitions.
    fn enumerated(test: McNemar, n: u64, p10: f64, p01: f64) -> f64 {
        let discordant = p10 + p01;
        let mut power = 0.0;
        for m in 0..=n {
            for wins in 0..=m {
                let least = wins.min(m - wins);
                let tail = binomial_cdf(least, m, 0.5);
                let point = binomial_pmf(least, m, 0.5);
                let p_value = match (test.is_mid, 2 * least == m) {
                    (false, _) => (2.0 * tail).min(1.0),
                    (true, true) => 1.0 - 0.5 * point,
                    (true, false) => 2.0 * tail - point,
                };
                if m > 0 && p_value <= test.alpha * (1.0 + SLACK) {
                    power += binomial_pmf(m, n, discordant) * binomial_pmf(wins, m, p01 / discordant);
                }
            }
        }
        power
    }

    #[test]
    fn sums_are_those_of_all_outcomes() {
        for n in [1, 2, 5, 17, 60, 150] {
            for (p10, p01) in
                [(0.1, 0.3), (0.0, 0.2), (0.3, 0.0), (0.5, 0.5), (0.25, 0.75), (0.0, 1.0), (0.02, 0.01)]
            {
                for alpha in [0.05, 0.0625, 1e-4, 0.5, 0.95] {
                    for is_mid in [false, true] {
                        let test = McNemar { alpha, is_mid };
                        let (got, want) = (test.power(n, p10, p01).unwrap(), enumerated(test, n, p10, p01));
                        assert!((got - want).abs() < 1e-12, "{n} {p10} {p01} {alpha} {is_mid}: {got} {want}");
                    }
                }
            }
        }
    }

    /// The power is enough there and for a long time after it, and not before.
    #[test]
    fn the_least_number_of_pairs() {
        for (p10, p01) in [(0.05, 0.1), (0.0, 0.3), (0.1, 0.9), (0.2, 0.26)] {
            for is_mid in [false, true] {
                let test = McNemar { alpha: 0.05, is_mid };
                let n = test.pairs(p10, p01, 0.8).unwrap();
                assert!(test.power(n - 1, p10, p01).unwrap() < 0.8, "{p10} {p01} {n}");
                for later in n..n + 300 {
                    assert!(test.power(later, p10, p01).unwrap() >= 0.8, "{p10} {p01} {n} {later}");
                }
            }
        }
    }

    #[test]
    fn many_pairs_are_bounded_work() {
        let test = McNemar { alpha: 0.05, is_mid: true };
        let power = test.power(1_000_000_000, 0.2, 0.2 + 0.2 / 1e4).unwrap();
        // The normal distribution: 2e-5 is one standard error, as √(0.4/1e9).
        assert!((power - 0.170_075).abs() < 1e-4, "{power}");
        assert_eq!(
            test.power(1_000_000_001, 0.2, 0.3),
            Err(PowerError::TooManySamples { most: 1_000_000_000 })
        );
    }
}
