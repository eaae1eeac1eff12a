//! Confidence sequences: intervals that hold at every look at once, so that a run may be stopped by what they show.
//!
//! An ordinary interval of level 95 % misses the truth in 5 % of the runs *at one size that was chosen before*. Looked at
//! after every sample it misses sooner or later in many more. A sequence of intervals misses at *any* time in 5 % of
//! the runs at most. So it stays valid whatever decides when to stop, and at any subset of the looks.
//!
//! The sequence is about a finite benchmark: the mean over all of its N samples, of which a random order has shown the
//! first t. The wider question, how the model does on questions like these, is not what it answers.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use crate::random::Stream;
use crate::random::purpose::SAMPLE_ORDER;

/// The largest benchmark of a sequence. Its scores are kept.
const MAX_POPULATION: u64 = 100_000_000;

/// Intervals of the mean of a finite benchmark, after each of its samples in a random order; valid at all of them at once.
///
/// ```
/// use errorbar_stats::sequential::ConfidenceSequence;
///
/// let mut sequence = ConfidenceSequence::new(1000, (0.0, 1.0), 0.95)?;
/// for at in 0..200 {
///     sequence.push(f64::from(u8::from(at % 4 > 0)))?;
/// }
/// let (lower, upper) = sequence.interval();
/// assert_eq!(format!("{lower:.3} to {upper:.3}"), "0.658 to 0.824");
/// # Ok::<(), errorbar_stats::sequential::SequenceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfidenceSequence {
    population: u64,
    range: (f64, f64),
    taken: u64,
    /// The end that is not bounded.
    open: Option<End>,
    lower: LowerBound,
    /// That of the scores turned round: 1 − y.
    upper: LowerBound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Lower,
    Upper,
}

/// Why a score cannot be a part of a sequence, or a sequence be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceError(String);

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SequenceError {}

impl ConfidenceSequence {
    /// The sequence for a benchmark of this many samples, whose scores lie in a range that was known before. Each end misses
    /// the truth with half of what the level leaves.
    ///
    /// # Errors
    /// No sample, or an invalid range or level.
    pub fn new(population: u64, range: (f64, f64), level: f64) -> Result<Self, SequenceError> {
        Self::with_ends(population, range, level, 0.5 + level / 2.0, None)
    }

    /// A lower bound with all of the error; the upper end is that of the range.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn lower_bound(population: u64, range: (f64, f64), level: f64) -> Result<Self, SequenceError> {
        Self::with_ends(population, range, level, level, Some(End::Upper))
    }

    /// An upper bound with all of the error; the lower end is that of the range.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn upper_bound(population: u64, range: (f64, f64), level: f64) -> Result<Self, SequenceError> {
        Self::with_ends(population, range, level, level, Some(End::Lower))
    }

    fn with_ends(
        population: u64,
        range: (f64, f64),
        level: f64,
        confidence: f64,
        open: Option<End>,
    ) -> Result<Self, SequenceError> {
        let (low, high) = range;
        if !(1..=MAX_POPULATION).contains(&population) {
            return Err(SequenceError(format!(
                "a sequence is about 1 to {MAX_POPULATION} samples, found {population}"
            )));
        }
        if !(low < high && (high - low).is_finite()) {
            return Err(SequenceError(format!(
                "the range must be two numbers, the lower one first, found {low} and {high}"
            )));
        }
        if !(level > 0.0 && level < 1.0) {
            return Err(SequenceError(format!(
                "the level must lie between 0 and 1 (both excluded), found {level}"
            )));
        }
        let bound = LowerBound::new(population, 1.0 - confidence);
        Ok(ConfidenceSequence { population, range, taken: 0, open, lower: bound.clone(), upper: bound })
    }

    /// Takes in the score of the next sample in the random order.
    ///
    /// # Errors
    /// A score outside of the range, or one too many. The sequence is as before.
    pub fn push(&mut self, score: f64) -> Result<(), SequenceError> {
        self.push_between(score, score)
    }

    /// The same for a sample without a score: it has the lowest one for the lower end, and the highest for the upper end.
    ///
    /// # Errors
    /// A sample too many.
    pub fn push_absent(&mut self) -> Result<(), SequenceError> {
        let (low, high) = self.range;
        self.push_between(low, high)
    }

    /// The same for a score of which two bounds are known.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_between(&mut self, least: f64, greatest: f64) -> Result<(), SequenceError> {
        let (low, high) = self.range;
        let outside = |score: &f64| !(low..=high).contains(score);
        if let Some(score) = [least, greatest].into_iter().find(outside) {
            return Err(SequenceError(format!("the score {score} lies outside the range {low} to {high}")));
        }
        if self.taken == self.population {
            let population = self.population;
            return Err(SequenceError(format!(
                "there are more scores than the {population} samples of the benchmark"
            )));
        }
        self.taken += 1;
        let unit = |score: f64| ((score - low) / (high - low)).clamp(0.0, 1.0);
        self.lower.push(unit(least));
        self.upper.push(1.0 - unit(greatest));
        Ok(())
    }

    /// Looks at a value exactly: [`side_of`](Self::side_of) has it excluded as soon as the interval does.
    pub fn watch(&mut self, value: f64) {
        let unit = self.unit(value);
        if (0.0..=1.0).contains(&unit) {
            self.lower.watch(unit);
            self.upper.watch(1.0 - unit);
        }
    }

    /// On which side of a value that is watched the mean is; none as long as it may be the value itself.
    pub fn side_of(&self, value: f64) -> Option<Ordering> {
        let unit = self.unit(value);
        match (self.lower.excludes(unit), self.upper.excludes(1.0 - unit)) {
            (true, false) => Some(Ordering::Greater),
            (false, true) => Some(Ordering::Less),
            _ => None,
        }
    }

    fn unit(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        (value - low) / (high - low)
    }

    /// The number of samples so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The number of samples of the benchmark.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// Both ends so far, in a moment: the interval is within them, and narrower by a hundredth at most.
    pub fn bounds(&self) -> (f64, f64) {
        self.scaled(self.lower.running(), self.upper.running())
    }

    /// The interval: what is left of all that the looks so far have not excluded.
    pub fn interval(&self) -> (f64, f64) {
        let exact = |bound: &LowerBound, end: End| if self.open == Some(end) { 0.0 } else { bound.exact() };
        let (lower, upper) = self.scaled(exact(&self.lower, End::Lower), exact(&self.upper, End::Upper));
        match self.open {
            None => (lower, upper),
            Some(End::Upper) => (lower, self.range.1),
            Some(End::Lower) => (self.range.0, upper),
        }
    }

    /// In the few runs that miss, the ends may pass each other; then what lies between them is the interval.
    fn scaled(&self, lower: f64, upper: f64) -> (f64, f64) {
        let (low, high) = self.range;
        let at = |unit: f64| (low + (high - low) * unit).clamp(low, high);
        let (lower, upper) = (at(lower), at(1.0 - upper));
        if lower <= upper { (lower, upper) } else { (upper, lower) }
    }
}

// The random order in which the samples of a run are taken.

/// The numbers below `count` in a random order; the same for ever for a seed.
///
/// ```
/// use errorbar_stats::sequential::random_order;
/// assert_eq!(random_order(6, 0), random_order(6, 0));
/// assert_ne!(random_order(6, 0), random_order(6, 1));
/// ```
pub fn random_order(count: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    let mut stream = Stream::new(seed, SAMPLE_ORDER, 0);
    // Fisher and Yates, from the end.
    for last in (1..count).rev() {
        let other = below(u64::from(last) + 1, &mut stream);
        order.swap(last as usize, other as usize);
    }
    order
}

/// A number below a bound of at most 2³², each equally likely (Lemire 2019).
fn below(bound: u64, stream: &mut Stream) -> u64 {
    let unfair = (1 << 32) % bound;
    loop {
        let product = u64::from(stream.next_u32()) * bound;
        if product & 0xFFFF_FFFF >= unfair {
            return product >> 32;
        }
    }
}

// The lower bound of a mean, after each score.

/// How fine the running bound is: this part of its distance to the mean so far.
const STEPS: f64 = 200.0;
/// The finest step.
const FINEST: f64 = 1e-9;
/// The bisections of the exact bound: 2⁻⁴⁴ of the range, which is beyond what anyone reads.
const BISECTIONS: usize = 44;

/// The lower bound of the mean of N scores in [0, 1], of which some have been drawn.
///
/// The bound of all times so far is the highest candidate that was ever rejected. Following it exactly after each score
/// would take a bisection over all scores each time. A wealth that is a small step above the bound takes a few products;
/// only if it is rejected too has the bound moved, and the next one is computed from all scores. That happens
/// about 70 times while the number of scores doubles, so that N looks take O(N) in all. The bound is too low
/// by a step at most, which is never invalid.
#[derive(Clone, Debug)]
struct LowerBound {
    stakes: Stakes,
    population: f64,
    scores: Vec<f64>,
    sum: f64,
    /// The highest candidate that is known to be rejected.
    floor: f64,
    step: f64,
    probe: Wealth,
    /// Candidates that are looked at exactly.
    watched: Vec<Wealth>,
}

impl LowerBound {
    fn new(population: u64, alpha: f64) -> Self {
        let stakes = Stakes::new(population, alpha);
        let step = 1.0 / STEPS;
        let probe = Wealth::new(step, &stakes);
        let population = population as f64;
        LowerBound {
            stakes,
            population,
            scores: Vec::new(),
            sum: 0.0,
            floor: 0.0,
            step,
            probe,
            watched: Vec::new(),
        }
    }

    /// Looks at a candidate exactly: the bound is above it as soon as it is rejected.
    fn watch(&mut self, candidate: f64) {
        self.watched.push(Wealth::after(&self.scores, candidate, &self.stakes));
    }

    /// Takes in the next score.
    fn push(&mut self, score: f64) {
        self.scores.push(score);
        self.sum += score;
        for wealth in &mut self.watched {
            wealth.take(score, &self.stakes);
            if wealth.is_rejected {
                self.floor = self.floor.max(wealth.candidate);
            }
        }
        self.probe.take(score, &self.stakes);
        // What the scores so far add up to is a bound for certain.
        self.floor = self.floor.max(self.certain());
        while self.probe.is_rejected || self.probe.candidate <= self.floor {
            if self.probe.is_rejected {
                self.floor = self.floor.max(self.probe.candidate);
            }
            if self.floor >= 1.0 {
                return;
            }
            self.move_probe();
        }
        // As the bound comes closer to the mean, steps must become smaller.
        if self.step > 2.0 * self.wanted_step() {
            self.move_probe();
        }
    }

    /// Whether the mean is above a candidate that is watched. What the scores so far add up to is a bound, but one that the mean
    /// may have; only a bound beyond it, and beyond the rounding of a sum, excludes it.
    fn excludes(&self, candidate: f64) -> bool {
        let is_rejected = |wealth: &Wealth| wealth.candidate == candidate && wealth.is_rejected;
        self.watched.iter().any(is_rejected) || self.floor > candidate + FINEST
    }

    fn certain(&self) -> f64 {
        (self.sum / self.population).min(1.0)
    }

    fn wanted_step(&self) -> f64 {
        let mean = self.sum / (self.scores.len().max(1) as f64);
        ((mean - self.floor) / STEPS).max(FINEST)
    }

    fn move_probe(&mut self) {
        self.step = self.wanted_step();
        self.probe = Wealth::after(&self.scores, self.floor + self.step, &self.stakes);
    }

    /// The bound, too low by a step at most.
    fn running(&self) -> f64 {
        self.floor
    }

    /// The bound.
    fn exact(&self) -> f64 {
        let (mut rejected, mut open) = (self.certain(), 1.0);
        for _ in 0..BISECTIONS {
            let middle = rejected + (open - rejected) / 2.0;
            if Wealth::after(&self.scores, middle, &self.stakes).is_rejected {
                rejected = middle;
            } else {
                open = middle;
            }
        }
        rejected
    }
}

// The wealth of a gambler who bets that the mean is above a candidate.
//
// Scores y₁, y₂, … in [0, 1] are drawn without replacement from N, whose mean is m. Given the first t − 1 of them, the
// next has the mean μ = (N·m − Σy)/(N − t + 1), so that 1 + λ·(y − μ) is on average 1 for every stake λ that the past
// decides, and the product of such factors is a fair game. By Ville's inequality, a fair game that never goes below 0
// multiplies the first stake by 1/α with a probability of at most α, ever. Hence a test that rejects the candidates m at which
// it does rejects the truth with a probability of at most α, however often it looks (Waudby-Smith & Ramdas, "Estimating
// means of bounded random variables by betting", JRSS B 86, 2024).
//
// The stakes are a mixture: an equal part of the money is on each of a few constant λ, between what suits a few scores
// and what suits all N. The paper's plug-in stakes needed half as many scores again for a width of a tenth where half are
// right, and about as many or slightly fewer where few are; and stakes
// that depend on the candidate may reject a set with holes. These do not: every factor falls as m rises, so the candidates
// that are not rejected are all those above a bound, which bisection finds.

/// The largest stake; it suits a dozen scores.
const LARGEST: f64 = 2.0;
/// The smallest stake is this over √N: the best one for about N/2 scores of the largest variance.
const SMALLEST: f64 = 6.5;
/// The most stakes.
const MOST: usize = 16;
/// The largest part of the money that a score of 0 may cost.
const AT_RISK: f64 = 0.75;
/// Less money than this is none: it could not come back in any number of scores that fits into memory.
const NOTHING: f64 = 1e-250;
/// By how much sums of scores may be off because of rounding.
const ROUNDING: f64 = 1e-9;

/// How the money is put.
#[derive(Clone, Debug)]
struct Stakes {
    /// N.
    population: f64,
    lambdas: Vec<f64>,
    /// What rejects a candidate: the number of stakes over α.
    goal: f64,
}

impl Stakes {
    /// Those for a benchmark of this size, to reject the truth with a probability of at most `alpha`.
    fn new(population: u64, alpha: f64) -> Self {
        let smallest = SMALLEST / (population as f64).sqrt();
        let halves = std::iter::successors(Some(LARGEST), |lambda| Some(lambda / 2.0));
        let lambdas: Vec<f64> = halves
            .take(MOST)
            .enumerate()
            .take_while(|(at, l)| *at == 0 || *l >= smallest)
            .map(|(_, l)| l)
            .collect();
        let goal = lambdas.len() as f64 / alpha;
        Stakes { population: population as f64, lambdas, goal }
    }
}

/// The wealth at one candidate.
#[derive(Clone, Debug)]
struct Wealth {
    candidate: f64,
    /// The number of scores, and their sum.
    taken: f64,
    sum: f64,
    /// What each stake has come to.
    parts: Vec<f64>,
    is_rejected: bool,
}

impl Wealth {
    fn new(candidate: f64, stakes: &Stakes) -> Self {
        let parts = vec![1.0; stakes.lambdas.len()];
        Wealth { candidate, taken: 0.0, sum: 0.0, parts, is_rejected: false }
    }

    /// The wealth after these scores, or when it has rejected the candidate.
    fn after(scores: &[f64], candidate: f64, stakes: &Stakes) -> Self {
        let mut wealth = Wealth::new(candidate, stakes);
        for score in scores {
            wealth.take(*score, stakes);
            if wealth.is_rejected {
                break;
            }
        }
        wealth
    }

    /// Takes in the next score. What is rejected stays so.
    fn take(&mut self, score: f64, stakes: &Stakes) {
        if self.is_rejected {
            return;
        }
        let rest = stakes.population * self.candidate - self.sum;
        let mean = rest.max(0.0) / (stakes.population - self.taken);
        self.taken += 1.0;
        self.sum += score;
        // The scores so far add up to more than all of them should.
        if rest < -ROUNDING || rest <= 0.0 && score > ROUNDING {
            self.is_rejected = true;
            return;
        }
        if mean <= 0.0 {
            return;
        }
        let all_in = 1.0 + AT_RISK * (score / mean - 1.0);
        let mut wealth = 0.0;
        for (part, lambda) in self.parts.iter_mut().zip(&stakes.lambdas) {
            if *part < NOTHING {
                continue;
            }
            *part *= if lambda * mean < AT_RISK { 1.0 + lambda * (score - mean) } else { all_in };
            wealth += *part;
        }
        self.is_rejected = wealth >= stakes.goal;
    }
}

#[cfg(test)]
mod order_tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = [0_u32; 24];
        for seed in 0..24_000 {
            let order = random_order(4, seed);
            let mut rest: Vec<u32> = (0..4).collect();
            let mut code = 0;
            for number in order {
                let at = rest.iter().position(|other| *other == number).unwrap();
                rest.remove(at);
                code = code * (rest.len() + 1) + at;
            }
            counts[code] += 1;
        }
        // χ² with 23 degrees of freedom: its 99.9 % quantile is 49.7.
        let chi: f64 = counts.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 49.7, "{chi}: {counts:?}");
    }

    /// Logs record the seed, so an order must never change.
    #[test]
    fn orders_are_for_ever() {
        assert!(random_order(0, 7).is_empty());
        assert_eq!(random_order(1, 7), [0]);
        assert_eq!(random_order(10, 7), [0, 1, 4, 8, 3, 9, 5, 2, 7, 6]);
    }
}

#[cfg(test)]
mod wealth_tests {
    use super::*;

    #[test]
    fn stakes_suit_the_size_of_the_benchmark() {
        let lambdas = |population| Stakes::new(population, 0.025).lambdas;
        assert_eq!(lambdas(1), [2.0]);
        assert_eq!(lambdas(100), [2.0, 1.0]);
        assert_eq!(lambdas(1000), [2.0, 1.0, 0.5, 0.25]);
        assert_eq!(lambdas(100_000).len(), 7);
        assert_eq!(lambdas(u64::MAX).len(), MOST);
    }

    /// The game is fair: over all orders of a benchmark, the wealth at the true mean is 1 per stake on average at every
    /// time.
    #[test]
    fn the_game_is_fair_at_the_truth() {
        let scores = [0.0, 0.25, 1.0, 0.5, 1.0];
        let stakes = Stakes { population: 5.0, lambdas: vec![2.0, 0.5], goal: f64::INFINITY };
        for length in 1..=5 {
            let (mut sum, mut orders) = (0.0, 0.0);
            for code in 0..5_usize.pow(length) {
                let order: Vec<usize> = (0..length).map(|at| code / 5_usize.pow(at) % 5).collect();
                let is_order = (0..order.len()).all(|at| !order[..at].contains(&order[at]));
                if !is_order {
                    continue;
                }
                let drawn: Vec<f64> = order.iter().map(|at| scores[*at]).collect();
                sum += Wealth::after(&drawn, 0.55, &stakes).parts.iter().sum::<f64>();
                orders += 1.0;
            }
            assert!((sum / orders - 2.0).abs() < 1e-12, "after {length}: {}", sum / orders);
        }
    }

    #[test]
    fn what_the_sum_excludes_is_rejected_and_the_truth_is_not() {
        let stakes = Stakes::new(4, 0.025);
        // 0.7 and 0.1 of four: the mean is at least 0.2.
        let scores = [0.7, 0.1, 0.0, 0.0];
        assert!(Wealth::after(&scores, 0.199, &stakes).is_rejected);
        assert!(!Wealth::after(&scores, (0.7 + 0.1) / 4.0, &stakes).is_rejected);
        assert!(!Wealth::after(&scores, 0.3, &stakes).is_rejected);
    }
}
