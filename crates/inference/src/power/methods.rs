//! The power of tests and the width of intervals: of means (Student's t by the noncentral t distribution, or the normal one),
//! of pairs of zeros and ones (McNemar's test, summed over everything that can be observed), and of shares.
//!
//! Of n pairs m are discordant, m ~ Bin(n, ψ), and of those k are wins, k ~ Bin(m, θ). For each m the test rejects the k
//! at both ends. From one m to the next every probability follows from the last by a few products, so a power costs
//! as many steps as m has likely values, some 17·√(nψ(1−ψ)), and not their squares.

use std::cell::RefCell;
use std::collections::HashMap;

use errorbar_core::engine::wilson;
use errorbar_core::{Defined, Undefined};
use errorbar_stats::differences::{WilsonReach, bonett_price_of};
use errorbar_stats::distributions::{
    binomial_cdf, binomial_pmf, noncentral_t_cdf, normal_cdf, normal_quantile, t_quantile,
};

use super::spread::PowerError;

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

/// The power of the two-sided score test (pooled variance under no difference) of two shares with `n` samples each;
/// `z` is the quantile of the test.
pub(super) fn score_power(base: f64, other: f64, n: f64, z: f64) -> f64 {
    let pooled = 0.5 * (base + other);
    let null = (2.0 * pooled * (1.0 - pooled)).sqrt();
    let spread = (base * (1.0 - base) + other * (1.0 - other)).sqrt();
    let shift = (other - base).abs() * n.sqrt();
    if spread == 0.0 {
        // From 0 to 1: what is observed is certain.
        return f64::from(u8::from(shift > z * null));
    }
    normal_cdf((shift - z * null) / spread) + normal_cdf((-shift - z * null) / spread)
}

/// The width of Wilson's interval of a share.
pub(super) fn wilson_width(share: f64, n: f64, z: f64) -> f64 {
    let (lower, upper) = wilson(share, n, z);
    upper - lower
}

/// The width of the interval of Bonett and Price of the difference of two paired shares.
pub(super) fn bonett_price_width(p10: f64, p01: f64, n: f64, z: f64) -> f64 {
    let (lower, upper) = bonett_price_of(n * p01, n * p10, n, z);
    upper - lower
}

/// The width of Newcombe's interval (method 10) of the difference of two unpaired shares, with `n` samples each.
pub(super) fn newcombe_width(base: f64, other: f64, n: f64, z: f64) -> f64 {
    let (below, above) = WilsonReach::new(other, n, z).minus(WilsonReach::new(base, n, z));
    below + above
}

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

    const Z: f64 = 1.959963984540054;

    /// Published intervals: Wilson 81/263, Bonett and Price 3 and 0 of 10, 1 and 1 of 30, Newcombe 0/10 and 0/10.
    #[test]
    fn published_widths() {
        assert_close(wilson_width(81.0 / 263.0, 263.0, Z), 0.36620957698280004 - 0.2552885198782742, 1e-9);
        assert_close(bonett_price_width(0.0, 0.3, 10.0, Z), 0.5867141054443792 + 0.08671410544437924, 1e-9);
        assert_close(bonett_price_width(1.0 / 30.0, 1.0 / 30.0, 30.0, Z), 2.0 * 0.12249774903375338, 1e-9);
        assert_close(newcombe_width(0.0, 0.0, 10.0, Z), 2.0 * 0.27753279986288926, 1e-9);
    }

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
