//! Sums without rounding: in any order and any split the same bits, and what follows from them.

mod sum;

pub use sum::{ExactSum, common_exponent, root_of_squares};

use rayon::prelude::*;
use rayon::slice::ParallelSliceMut;

use sum::Magnitude;

// Count, mean, variance and standard error from exact sums.

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
        self.sum.extend_with_squares(Some(&mut self.sum_of_squares), values);
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

// The distinct values of a data set and how often each occurs, in ascending order.

/// Each distinct value with its count, ascending. The two zeros count as one; NaNs sort by their bits, last or first.
pub fn tally(values: &[f64]) -> Vec<(f64, u64)> {
    // −0 + 0 is +0.
    let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    sorted.par_sort_unstable_by(f64::total_cmp);
    let runs = sorted.chunk_by(|a, b| a.to_bits() == b.to_bits());
    runs.filter_map(|run| Some((*run.first()?, run.len() as u64))).collect()
}

#[cfg(test)]
mod tests {
    use super::tally;

    #[test]
    fn values_are_counted_in_order() {
        assert_eq!(tally(&[]), []);
        assert_eq!(tally(&[1.0, 0.0, 1.0, -0.0]), [(0.0, 2), (1.0, 2)]);
        assert_eq!(tally(&[1.0, 1.0]), [(1.0, 2)]);
        let thirds = [0.5, 0.0, 1.0, 0.5, -0.0];
        assert_eq!(tally(&thirds), [(0.0, 2), (0.5, 2), (1.0, 1)]);
        // 0, 1, …, 99 downwards, 50 once more, and the other zero.
        let mut many: Vec<f64> = (0..100).rev().map(f64::from).collect();
        many.extend([50.0, -0.0]);
        let expected: Vec<_> = (0..100).map(|i| (f64::from(i), 1 + u64::from(i == 50 || i == 0))).collect();
        assert_eq!(tally(&many), expected);
    }

    #[test]
    fn values_that_return_are_counted() {
        let values: Vec<f64> = (0..6400).map(|i| f64::from(i % 64)).collect();
        let expected: Vec<_> = (0..64).map(|i| (f64::from(i), 100)).collect();
        assert_eq!(tally(&values), expected);
    }
}
