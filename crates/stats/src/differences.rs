//! Intervals and tests for the difference of two samples: paired and unpaired, means and shares.

use crate::distributions::{binomial_cdf, binomial_pmf, normal_quantile, t_quantile, t_survival};
use crate::exact::ExactSum;

// The interval of Bonett and Price for the difference of two shares over the same samples.
//
// Wald's interval with one pair added to each of the wins and the losses: it keeps its level where most pairs agree, and
// has a width where all of them do. Bonett & Price, "Adjusted Wald confidence interval for a difference of binomial
// proportions based on paired data", 2012.
//
// At its level of 90 % the upper end is below 0 in at most 5.4 % of samples of 20 or more pairs without a difference, and at
// least in 3.3 % if six or more pairs are expected to differ. Two kinds of tables are beyond these limits. If nearly all pairs
// differ (more than 86 %), the number of wins is nearly all that varies and its steps are coarse: up to 7.6 % (24 pairs without
// ties), where no test has a rate between 3.2 % and 7.6 %. And from 184 pairs on, four losses and no win are no longer enough:
// 2.5 % with six differing pairs, 3 % with seven and a half.

/// The interval of (wins − losses)/n at a level such as 0.95, within [−1, 1]; of the n pairs the others are ties.
///
/// ```
/// # use errorbar_stats::differences::bonett_price;
/// let (lower, upper) = bonett_price(3, 0, 10, 0.95);
/// assert!((lower + 0.0867).abs() < 1e-4 && (upper - 0.5867).abs() < 1e-4);
/// ```
pub fn bonett_price(wins: u64, losses: u64, n: u64, level: f64) -> (f64, f64) {
    bonett_price_of(wins as f64, losses as f64, n as f64, normal_quantile(0.5 + level / 2.0))
}

/// The same of counts that need not be whole, such as those of an effective n, with the quantile of the ends.
pub fn bonett_price_of(wins: f64, losses: f64, n: f64, quantile: f64) -> (f64, f64) {
    let (difference, stderr) = bonett_price_centre(wins, losses, n);
    let margin = quantile * stderr;
    ((difference - margin).max(-1.0), (difference + margin).min(1.0))
}

/// The difference with one win and one loss more, and its standard error: the interval is symmetric around it.
pub fn bonett_price_centre(wins: f64, losses: f64, n: f64) -> (f64, f64) {
    let pairs = n + 2.0;
    let (won, lost) = ((wins + 1.0) / pairs, (losses + 1.0) / pairs);
    // From the counts, so that equal ones give 0.
    let difference = (wins - losses) / pairs;
    (difference, ((won + lost - difference * difference).max(0.0) / pairs).sqrt())
}

// McNemar's test of two classifiers on the same samples: of the pairs that differ, is one direction more frequent?
//
// Without a difference each of the b + c discordant pairs is a win or a loss with probability ½, so the tests are those of
// the binomial distribution. Fagerland, Lydersen & Laake, "The McNemar test for binary matched-pairs data: mid-p and
// asymptotic are better than exact conditional", 2013.

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
fn power_of_half(exponent: u64) -> f64 {
    libm::scalbn(1.0, -i32::try_from(exponent).unwrap_or(i32::MAX))
}

// Two one-sided tests: is a difference small enough not to matter?
//
// Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of
// average bioavailability", 1987.

/// The p-value of the claim that the true difference lies within ± margin: the larger one of the two tests.
///
/// It is below α exactly where the t interval at level 1 − 2α lies within the margin. None if there is no error, or no margin.
///
/// ```
/// # use errorbar_stats::differences::tost_p_value;
/// // One standard error inside of the margin, with 10 degrees of freedom.
/// assert!((tost_p_value(0.01, 0.02, 10.0, 0.03).unwrap() - 0.170_446_566_151_029_98).abs() < 1e-12);
/// ```
pub fn tost_p_value(difference: f64, stderr: f64, df: f64, margin: f64) -> Option<f64> {
    if !(stderr > 0.0 && margin > 0.0) {
        return None;
    }
    let p_value = t_survival((margin - difference.abs()) / stderr, df);
    p_value.is_finite().then_some(p_value)
}

// The difference of two independent means whose errors need not be equal.
//
// Welch, "The generalization of 'Student's' problem when several different population variances are involved", 1947;
// Satterthwaite, "An approximate distribution of estimates of variance components", 1946.

/// A mean with its standard error and the degrees of freedom of that error: n − 1, or those of the clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeanError {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub stderr: f64,
    /// The degrees of freedom.
    pub df: f64,
}

impl MeanError {
    /// A mean with its standard error and the degrees of freedom of that.
    pub fn new(mean: f64, stderr: f64, df: f64) -> Self {
        MeanError { mean, stderr, df }
    }
}

/// The difference of two means, and Welch's test of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Welch {
    /// First minus second.
    pub difference: f64,
    /// Its standard error.
    pub stderr: f64,
    /// The degrees of freedom of Welch and Satterthwaite.
    pub df: f64,
    /// The two-sided p-value of no difference.
    pub p_value: f64,
}

impl Welch {
    /// First minus second. None if neither mean has an error, or a number is not finite.
    ///
    /// ```
    /// # use errorbar_stats::differences::{MeanError, Welch};
    /// let first = MeanError::new(0.70, 0.03, 9.0);
    /// let second = MeanError::new(0.60, 0.04, 19.0);
    /// let test = Welch::new(first, second).unwrap();
    /// assert!((test.stderr - 0.05).abs() < 1e-15 && (test.df - 27.8).abs() < 0.1);
    /// ```
    pub fn new(first: MeanError, second: MeanError) -> Option<Self> {
        let difference = first.mean - second.mean;
        let stderr = libm::hypot(first.stderr, second.stderr);
        if !(stderr > 0.0 && stderr.is_finite() && difference.is_finite()) {
            return None;
        }
        let df = satterthwaite(&[(first.stderr, first.df), (second.stderr, second.df)], stderr);
        let p_value = two_sided(difference / stderr, df);
        (p_value.is_finite()).then_some(Welch { difference, stderr, df, p_value })
    }

    /// The interval at a level such as 0.95.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let margin = t_quantile(0.5 + level / 2.0, self.df) * self.stderr;
        (self.difference - margin, self.difference + margin)
    }
}

/// Satterthwaite's degrees of freedom of the error of a sum of independent figures, each with its standard error and degrees of
/// freedom; `total` is the error of the sum, above 0.
///
/// From shares of the variance, whose squares cannot overflow. A figure without error adds no uncertainty of the variance.
pub fn satterthwaite(parts: &[(f64, f64)], total: f64) -> f64 {
    let part = |(stderr, df): &(f64, f64)| {
        let share = (stderr / total) * (stderr / total);
        if share == 0.0 { 0.0 } else { share * share / df }
    };
    let rest: f64 = parts.iter().map(part).sum();
    if rest > 0.0 { 1.0 / rest } else { f64::INFINITY }
}

/// The p-value of a t test of no difference, two-sided.
pub fn two_sided(t: f64, df: f64) -> f64 {
    (2.0 * t_survival(t.abs(), df)).min(1.0)
}

// Newcombe's interval for the difference of two independent shares (method 10), and the tests that belong to it.
//
// The distances of Wilson's ends from their shares are added as squares. Newcombe, "Interval estimation for the difference
// between independent proportions: comparison of eleven methods", 1998.

/// A share with the number of independent trials that its error is worth, and the degrees of freedom of that error.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    value: f64,
    n: f64,
    df: f64,
}

impl Share {
    /// Some successes of n independent trials. None without trials, or with more successes than trials.
    pub fn new(successes: u64, n: u64) -> Option<Self> {
        let is_valid = n > 0 && successes <= n;
        is_valid.then(|| Share::effective(successes as f64 / n as f64, n as f64, f64::INFINITY))
    }

    /// A share of `n` effective trials; `df` is infinite if its error is known as that of independent trials is.
    pub fn effective(value: f64, n: f64, df: f64) -> Self {
        Share { value, n, df }
    }

    /// How far the ends of Wilson's interval are from the share, each missing the truth with the probability `tail`.
    fn reach(self, tail: f64) -> WilsonReach {
        WilsonReach::new(self.value, self.n, -t_quantile(tail, self.df))
    }
}

/// How far the ends of Wilson's interval are from the share.
#[derive(Clone, Copy, Debug)]
pub struct WilsonReach {
    below: f64,
    above: f64,
}

impl WilsonReach {
    /// Of a share of n trials; `z` is the quantile of the ends.
    pub fn new(share: f64, n: f64, z: f64) -> Self {
        WilsonReach { below: below(share, n, z), above: below(1.0 - share, n, z) }
    }

    /// How far the ends of Newcombe's interval of the difference, this share minus another one, are from it.
    pub fn minus(self, other: WilsonReach) -> (f64, f64) {
        (libm::hypot(self.below, other.above), libm::hypot(self.above, other.below))
    }
}

/// How far Wilson's lower end lies below the share: p − l = z·(√(p(1−p)/n + z²/4n²) − z·(1 − 2p)/2n)/(1 + z²/n).
fn below(p: f64, n: f64, z: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    let root = (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let shift = z * (1.0 - 2.0 * p) / (2.0 * n);
    // Where the two nearly cancel, their difference is that of their squares over their sum.
    let rise =
        if shift > 0.0 { p * (1.0 - p) * (1.0 / n + z * z / (n * n)) / (root + shift) } else { root - shift };
    z * rise / (1.0 + z * z / n)
}

/// The difference of two independent shares, first minus second: its interval, and the tests that are the interval inverted, so
/// that test and interval never contradict each other.
///
/// ```
/// # use errorbar_stats::differences::{Share, ShareDifference};
/// let (first, second) = (Share::new(56, 70).unwrap(), Share::new(48, 80).unwrap());
/// let (lower, upper) = ShareDifference { first, second }.ends(0.025);
/// assert!((lower - 0.0524).abs() < 1e-4 && (upper - 0.3339).abs() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ShareDifference {
    /// The share that the other is subtracted from.
    pub first: Share,
    /// The share that is subtracted.
    pub second: Share,
}

impl ShareDifference {
    fn value(self) -> f64 {
        self.first.value - self.second.value
    }

    /// How far the ends are from the difference, each missing the truth with the probability `tail`.
    fn reach(self, tail: f64) -> (f64, f64) {
        self.first.reach(tail).minus(self.second.reach(tail))
    }

    /// The ends, each missing the truth with the probability `tail`; within [−1, 1].
    pub fn ends(self, tail: f64) -> (f64, f64) {
        let (below, above) = self.reach(tail);
        ((self.value() - below).max(-1.0), (self.value() + above).min(1.0))
    }

    /// The two-sided p-value of no difference: one minus the level at which the interval touches 0.
    pub fn p_value(self) -> f64 {
        (2.0 * self.p_above(0.0).min(self.p_below(0.0))).min(1.0)
    }

    /// The p-value of the claim that the true difference lies within ± margin: the least α at which the interval of the
    /// level 1 − 2α does.
    pub fn tost(self, margin: f64) -> f64 {
        self.p_above(-margin).max(self.p_below(margin))
    }

    /// The p-value of the claim that the true difference is above a line: the tail at which the lower end is on it.
    fn p_above(self, line: f64) -> f64 {
        let distance = self.value() - line;
        if distance >= 0.0 {
            tail_of(distance, |tail| self.reach(tail).0)
        } else {
            1.0 - tail_of(-distance, |tail| self.reach(tail).1)
        }
    }

    fn p_below(self, line: f64) -> f64 {
        ShareDifference { first: self.second, second: self.first }.p_above(-line)
    }
}

/// The tail at which a reach, which grows as the tail shrinks, is a distance. 0 if none is as far.
fn tail_of(distance: f64, reach: impl Fn(f64) -> f64) -> f64 {
    if distance == 0.0 {
        return 0.5;
    }
    let tail = |exponent: f64| libm::exp(-exponent);
    let (mut near, mut far) = (LEAST_EXPONENT, LARGEST_EXPONENT);
    if reach(tail(far)) < distance {
        return 0.0;
    }
    for _ in 0..MAX_STEPS {
        let middle = 0.5 * (near + far);
        if middle <= near || middle >= far {
            break;
        }
        if reach(tail(middle)) < distance {
            near = middle;
        } else {
            far = middle;
        }
    }
    tail(near)
}

/// A tail of one half, where the ends are the difference itself.
const LEAST_EXPONENT: f64 = std::f64::consts::LN_2;

/// Beyond this the tail is no number above 0.
const LARGEST_EXPONENT: f64 = 700.0;

/// Bisections at most: one for each bit.
const MAX_STEPS: u32 = 64;

// The sign-flip permutation test of paired differences: if neither side is better, each difference is as likely as its
// negative.
//
// The p-value is the share of the 2^n sign patterns whose sum is at least as far from 0 as the observed one; ties count as
// extreme. Let A be the sum of the magnitudes of the positive differences of a random pattern, and m the smaller one of the
// observed sums of the positive and of the negative magnitudes. A is distributed symmetrically, so the share is 2·P(A ≤ m),
// and only sums up to m matter.
//
// Differences of scores mostly are multiples of a step: ½, a point of a scale, 1/epochs. Then P(A ≤ m) follows from the
// counts of sums in units of the step, one difference after the other. Few differences without a step are enumerated: the
// sorted sums of the two halves meet in the middle.

/// The exact two-sided p-value: none if it would take long (more than a tenth of a second), or if a difference is not
/// finite.
///
/// Differences of zero change no sum and do not count; 1 if there are no others. Sums that differ by rounding are equal.
///
/// ```
/// # use errorbar_stats::differences::sign_flip_exact;
/// // Only all plus and all minus are as extreme: 2 of 2^4.
/// assert_eq!(sign_flip_exact(&[0.5, 0.25, 0.0, 0.5, 0.25]), Some(0.125));
/// ```
pub fn sign_flip_exact(differences: &[f64]) -> Option<f64> {
    let sides = Sides::new(differences)?;
    if sides.are_equal() {
        return Some(1.0);
    }
    sides.by_counts().or_else(|| sides.by_enumeration())
}

/// Sums closer than this share of the sum of all magnitudes are equal: differences such as 0.3 − 0.2 and 0.2 − 0.1 are, but
/// for their rounding.
const ROUNDING: f64 = 1e-11;

/// How far a difference may be from a multiple of the step, as a share of the largest difference.
const OFF_STEP: f64 = 1e-10;

/// The most steps in the largest difference. Beyond it a step means little, and counting takes long.
const MOST_STEPS: u32 = 10_000;

/// Differences without a step that are enumerated at most: each half has 2^18 sums.
const MOST_ENUMERATED: usize = 36;

/// Additions of the counting at most.
const MOST_ADDITIONS: u64 = 100_000_000;

/// The magnitudes of the positive and of the negative differences; zeros are in neither.
struct Sides {
    /// Those with the smaller sum.
    smaller: Vec<f64>,
    larger: Vec<f64>,
    smaller_sum: f64,
    larger_sum: f64,
}

impl Sides {
    fn new(differences: &[f64]) -> Option<Self> {
        let (mut smaller, mut larger) = (Vec::new(), Vec::new());
        for difference in differences {
            if !difference.is_finite() {
                return None;
            }
            if *difference > 0.0 {
                larger.push(*difference);
            } else if *difference < 0.0 {
                smaller.push(-difference);
            }
        }
        let sum = |magnitudes: &[f64]| {
            let mut sum = ExactSum::new();
            sum.extend(magnitudes);
            sum.to_f64()
        };
        let (mut smaller_sum, mut larger_sum) = (sum(&smaller), sum(&larger));
        if smaller_sum > larger_sum {
            std::mem::swap(&mut smaller, &mut larger);
            std::mem::swap(&mut smaller_sum, &mut larger_sum);
        }
        (smaller_sum + larger_sum).is_finite().then_some(Sides { smaller, larger, smaller_sum, larger_sum })
    }

    /// Whether the observed sum is 0, so that every pattern is as extreme.
    fn are_equal(&self) -> bool {
        self.larger_sum - self.smaller_sum <= ROUNDING * (self.larger_sum + self.smaller_sum)
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.smaller.iter().chain(&self.larger).copied()
    }

    /// How many steps the largest magnitude has, for the largest step that divides all of them, but for rounding.
    fn steps(&self, largest: f64) -> Option<f64> {
        let mut distinct: Vec<f64> = self.all().map(|magnitude| magnitude / largest).collect();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup_by(|next, kept| *next - *kept <= OFF_STEP);
        if distinct.len() > MOST_STEPS as usize {
            return None;
        }
        (1..=MOST_STEPS).map(f64::from).find(|steps| {
            distinct.iter().all(|share| {
                let multiple = share * steps;
                // A step above twice a difference would make it zero.
                multiple >= 0.5 && (multiple - libm::round(multiple)).abs() <= OFF_STEP * steps
            })
        })
    }

    /// 2·P(A ≤ m), A the sum of a random subset, in units of a common step. None if there is no step, or if it takes too many
    /// additions.
    fn by_counts(&self) -> Option<f64> {
        let largest = self.all().fold(0.0, f64::max);
        let steps = self.steps(largest)?;
        let multiple = |magnitude: f64| libm::round(magnitude / largest * steps) as u32;
        let mut multiples: Vec<u32> = self.all().map(multiple).collect();
        multiples.sort_unstable();
        if multiples.first() == multiples.last() {
            return Some(mcnemar_exact(self.larger.len() as u64, self.smaller.len() as u64));
        }
        let smaller_sum: u64 = self.smaller.iter().map(|magnitude| u64::from(multiple(*magnitude))).sum();
        if smaller_sum.saturating_mul(multiples.len() as u64) > MOST_ADDITIONS {
            return None;
        }
        // The probabilities of the sums 0 to m. Nothing is subtracted, so the smallest have all their digits too.
        let size = usize::try_from(smaller_sum).ok()? + 1;
        let mut before = vec![0.0_f64; size];
        let mut after = before.clone();
        *before.first_mut()? = 1.0;
        let mut reached = 0;
        for multiple in multiples {
            // From the smallest on, so that few sums are reached at first.
            reached = (reached + multiple as usize).min(size - 1);
            add_multiple(before.get(..=reached)?, after.get_mut(..=reached)?, multiple as usize);
            std::mem::swap(&mut before, &mut after);
        }
        let mut all = ExactSum::new();
        all.extend(&before);
        Some((2.0 * all.to_f64()).min(1.0))
    }

    /// Counts the patterns whose sum is at most that of the smaller side.
    fn by_enumeration(&self) -> Option<f64> {
        let magnitudes: Vec<f64> = self.all().collect();
        if magnitudes.len() > MOST_ENUMERATED {
            return None;
        }
        let (first, second) = magnitudes.split_at(magnitudes.len() / 2);
        let (first, second) = (sorted_sums(first), sorted_sums(second));
        let bound = self.smaller_sum + ROUNDING * (self.smaller_sum + self.larger_sum);
        let mut count = 0_u64;
        let mut below = second.len();
        for sum in &first {
            while below > 0 && second.get(below - 1).is_some_and(|other| sum + other > bound) {
                below -= 1;
            }
            count += below as u64;
        }
        Some((2.0 * count as f64 * power_of_half(magnitudes.len() as u64)).min(1.0))
    }
}

/// The sums of all subsets, the smallest first.
fn sorted_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let mut merged = Vec::with_capacity(2 * sums.len());
        // The largest sum has the value in it, so none without it is left over.
        let mut without = sums.iter().copied().peekable();
        for with in sums.iter().map(|sum| sum + value) {
            while let Some(sum) = without.next_if(|sum| *sum <= with) {
                merged.push(sum);
            }
            merged.push(with);
        }
        sums = merged;
    }
    sums
}

/// Each sum s is reached from s without the multiple, or from s − multiple with it.
fn add_multiple(before: &[f64], after: &mut [f64], multiple: usize) {
    let (low, high) = after.split_at_mut(multiple.min(before.len()));
    for (share, without) in low.iter_mut().zip(before) {
        *share = 0.5 * without;
    }
    for ((share, without), with) in high.iter_mut().zip(before.iter().skip(multiple)).zip(before) {
        *share = 0.5 * (without + with);
    }
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
