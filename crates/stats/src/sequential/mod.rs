//! Confidence sequences: intervals that hold at every look at once, so that a run may be stopped by what they show.
//!
//! An ordinary interval of level 95 % misses the truth in 5 % of the runs *at one size that was chosen before*. Looked at
//! after every sample it misses sooner or later in many more. A sequence of intervals misses at *any* time in 5 % of
//! the runs at most. So it stays valid whatever decides when to stop, and at any subset of the looks.
//!
//! The sequence is about a finite benchmark: the mean over all of its N samples, of which a random order has shown the
//! first t. The wider question, how the model does on questions like these, is not what it answers.

mod bound;
mod order;
mod wealth;

pub use order::random_order;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use self::bound::LowerBound;

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

/// Why a score cannot be a part of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SequenceError {
    /// No sample, or more than there can be.
    Population {
        /// How many.
        population: u64,
    },
    /// A range that is none.
    Range {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A level that is none.
    Level {
        /// The level.
        level: f64,
    },
    /// A score outside of the range.
    OutOfRange {
        /// The score.
        score: f64,
        /// The lowest that there may be.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// More scores than the benchmark has samples.
    TooManyScores {
        /// The samples of the benchmark.
        population: u64,
    },
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SequenceError::Population { population } => {
                write!(f, "a sequence is about 1 to {MAX_POPULATION} samples, found {population}")
            }
            SequenceError::Range { low, high } => {
                write!(f, "the range must be two numbers, the lower one first, found {low} and {high}")
            }
            SequenceError::Level { level } => {
                write!(f, "the level must lie between 0 and 1 (both excluded), found {level}")
            }
            SequenceError::OutOfRange { score, low, high } => {
                write!(f, "the score {score} lies outside the range {low} to {high}")
            }
            SequenceError::TooManyScores { population } => {
                write!(f, "there are more scores than the {population} samples of the benchmark")
            }
        }
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
            return Err(SequenceError::Population { population });
        }
        if !(low < high && (high - low).is_finite()) {
            return Err(SequenceError::Range { low, high });
        }
        if !(level > 0.0 && level < 1.0) {
            return Err(SequenceError::Level { level });
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
