//! Confidence sequences: intervals that hold at every look at once, so that a run may be stopped by what they show.
//!
//! An ordinary interval of level 95 % misses the truth in 5 % of the runs *at one size that was chosen before*. Looked at
//! after every sample it misses sooner or later in many more. A sequence of intervals misses at *any* time in 5 % of
//! the runs at most. So it stays valid whatever decides when to stop, and at any subset of the looks.
//!
//! The sequence is about a finite benchmark: the mean over all of its N samples, of which a random order has shown the
//! first t. The wider question, how the model does on questions like these, is not what it answers.

mod bound;
mod early_stop;
mod figure;
mod order;
mod rule;
mod wealth;

pub use early_stop::EarlyStop;
pub(crate) use early_stop::OrderedScores;
pub use figure::{FigureProblem, MeanFigure, SampleValue};
pub use order::random_order;
pub use rule::{RuleError, RuleMeasure, StopRule};

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use self::bound::LowerBound;
use crate::estimate::{Interval, IntervalMethod, Side};

/// The largest benchmark of a sequence. Its scores are kept.
pub(crate) const MAX_POPULATION: u64 = 100_000_000;

/// Intervals of the mean of a finite benchmark, after each of its samples in a random order; valid at all of them at once.
///
/// ```
/// use errorbar_core::{ConfidenceSequence, Side};
///
/// let mut sequence = ConfidenceSequence::new(1000, (0.0, 1.0), 0.95, Side::TwoSided)?;
/// for at in 0..200 {
///     sequence.push(f64::from(u8::from(at % 4 > 0)))?;
/// }
/// let interval = sequence.interval();
/// assert_eq!(format!("{:.3} to {:.3}", interval.lower, interval.upper), "0.658 to 0.824");
/// # Ok::<(), errorbar_core::SequenceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfidenceSequence {
    population: u64,
    range: (f64, f64),
    level: f64,
    side: Side,
    taken: u64,
    lower: LowerBound,
    /// That of the scores turned round: 1 − y.
    upper: LowerBound,
}

/// Why a score cannot be a part of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SequenceError {
    /// No sample, or more than there can be.
    #[error("a sequence is about 1 to {MAX_POPULATION} samples, found {population}")]
    Population {
        /// How many.
        population: u64,
    },
    /// A range that is none.
    #[error("the range must be two numbers, the lower one first, found {low} and {high}")]
    Range {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A level that is none.
    #[error("the level must lie between 0 and 1 (both excluded), found {level}")]
    Level {
        /// The level.
        level: f64,
    },
    /// A score outside of the range.
    #[error("the score {score} lies outside the range {low} to {high}")]
    OutOfRange {
        /// The score.
        score: f64,
        /// The lowest that there may be.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// More scores than the benchmark has samples.
    #[error("there are more scores than the {population} samples of the benchmark")]
    TooManyScores {
        /// The samples of the benchmark.
        population: u64,
    },
}

impl ConfidenceSequence {
    /// The sequence for a benchmark of this many samples, whose scores lie in a range that was known before. A one-sided
    /// one has all of its error on one side.
    ///
    /// # Errors
    /// No sample, or a range or level that is none.
    pub fn new(population: u64, range: (f64, f64), level: f64, side: Side) -> Result<Self, SequenceError> {
        let (low, high) = range;
        if !(1..=MAX_POPULATION).contains(&population) {
            return Err(SequenceError::Population { population });
        }
        if !(low < high && (high - low).is_finite()) {
            return Err(SequenceError::Range { low, high });
        }
        if !(level > 0.0 && level < 1.0) {
            return Err(SequenceError::Level { level });
        }
        let alpha = 1.0 - side.confidence_of_ends(level);
        let bound = LowerBound::new(population, alpha);
        Ok(ConfidenceSequence {
            population,
            range,
            level,
            side,
            taken: 0,
            lower: bound.clone(),
            upper: bound,
        })
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
            return Err(SequenceError::OutOfRange { score, low, high });
        }
        if self.taken == self.population {
            return Err(SequenceError::TooManyScores { population: self.population });
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
    pub fn interval(&self) -> Interval {
        let exact = |bound: &LowerBound, open: Side| if self.side == open { 0.0 } else { bound.exact() };
        let (lower, upper) = self.scaled(exact(&self.lower, Side::Upper), exact(&self.upper, Side::Lower));
        let interval = Interval::new(lower, upper, self.level, IntervalMethod::Betting);
        interval.one_sided(self.side, Some(self.range))
    }

    /// In the few runs that miss, the ends may pass each other; then what lies between them is the interval.
    fn scaled(&self, lower: f64, upper: f64) -> (f64, f64) {
        let (low, high) = self.range;
        let at = |unit: f64| (low + (high - low) * unit).clamp(low, high);
        let (lower, upper) = (at(lower), at(1.0 - upper));
        if lower <= upper { (lower, upper) } else { (upper, lower) }
    }
}
