//! Count, mean, variance and standard error from exact sums.

use rayon::prelude::*;

use super::magnitude::Magnitude;
use super::sum::ExactSum;

/// Count, sum and sum of squares, all exact: mergeable, and free of the rounding that an offset or an order would cause.
///
/// The variance comes from `n·Σx² − (Σx)²`, the formula that every textbook warns against, and rightly so in floating point.
/// Here both terms are exact integers of a common unit, so nothing cancels but what should, and each figure is rounded once.
///
/// ```
/// # use errorbar_stats::exact::Moments;
/// let mut moments = Moments::new();
/// moments.extend(&[1.0, 2.0, 4.0]);
/// assert_eq!(moments.mean(), Some(7.0 / 3.0));
/// assert_eq!(moments.variance(), Some(7.0 / 3.0)); // (3·21 − 7²) / (3·2) = 14 / 6
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    n: u64,
    sum: ExactSum,
    sum_of_squares: ExactSum,
}

impl Moments {
    /// No observations.
    pub const fn new() -> Self {
        Self { n: 0, sum: ExactSum::new(), sum_of_squares: ExactSum::new() }
    }

    /// The moments of this many observations with these sums.
    pub fn from_sums(n: u64, sum: ExactSum, sum_of_squares: ExactSum) -> Self {
        Self { n, sum, sum_of_squares }
    }

    /// The exact sum of the squares of the observations.
    pub fn sum_of_squares(&self) -> &ExactSum {
        &self.sum_of_squares
    }

    /// Adds one observation.
    pub fn push(&mut self, x: f64) {
        self.n += 1;
        self.sum.add(x);
        self.sum_of_squares.add_product(x, x);
    }

    /// Adds `count` equal observations.
    pub fn push_times(&mut self, x: f64, count: u64) {
        self.n += count;
        self.sum.add_times(x, count);
        self.sum_of_squares.add_square_times(x, count);
    }

    /// Adds every observation of a slice; of a long one on all threads, which cannot show in exact sums.
    pub fn extend(&mut self, values: &[f64]) {
        if values.len() < 2 * PART {
            return self.extend_here(values);
        }
        let parts = values.par_chunks(PART).fold(Moments::new, |mut moments, part| {
            moments.extend_here(part);
            moments
        });
        self.merge(&parts.reduce(Moments::new, |mut all, part| {
            all.merge(&part);
            all
        }));
    }

    fn extend_here(&mut self, values: &[f64]) {
        self.n += values.len() as u64;
        self.sum.extend_with_squares(&mut self.sum_of_squares, values);
    }

    /// Adds the observations of another set.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.sum.merge(&other.sum);
        self.sum_of_squares.merge(&other.sum_of_squares);
    }

    /// The number of observations.
    pub fn count(&self) -> u64 {
        self.n
    }

    /// The exact sum of the observations.
    pub fn sum(&self) -> &ExactSum {
        &self.sum
    }

    /// The mean, correctly rounded; `None` without observations.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum.divide(self.n))
    }

    /// The sample variance (divisor n − 1), correctly rounded; `None` with fewer than two observations.
    pub fn variance(&self) -> Option<f64> {
        let n = self.n;
        (n > 1).then(|| self.spread(&[n, n - 1], Magnitude::to_f64))
    }

    /// The sample standard deviation (divisor n − 1); `None` with fewer than two observations.
    pub fn std(&self) -> Option<f64> {
        let n = self.n;
        (n > 1).then(|| self.spread(&[n, n - 1], Magnitude::sqrt))
    }

    /// The standard error of the mean, s/√n; `None` with fewer than two observations.
    pub fn stderr(&self) -> Option<f64> {
        let n = self.n;
        (n > 1).then(|| self.spread(&[n, n - 1, n], Magnitude::sqrt))
    }

    /// The standard deviation with divisor n; `None` without observations.
    pub fn population_std(&self) -> Option<f64> {
        let n = self.n;
        (n > 0).then(|| self.spread(&[n, n], Magnitude::sqrt))
    }

    /// `n·Σx² − (Σx)²` over the divisors, rounded by `round`.
    fn spread(&self, divisors: &[u64], round: impl FnOnce(&Magnitude) -> f64) -> f64 {
        if self.sum.is_poisoned() {
            return f64::NAN;
        }
        let (_, sum) = self.sum.magnitude();
        let (_, squares) = self.sum_of_squares.magnitude();
        let scatter = squares.times(self.n).minus(&sum.squared());
        round(&scatter.over(divisors))
    }
}

/// Observations that a thread takes at once.
const PART: usize = 1 << 15;
