//! The nonparametric bootstrap of a mean.
//!
//! Replicate b of a given seed is the same number on any number of threads, in any order of the data, and whatever the number of
//! replicates: the data is put into a canonical order first, each replicate has its own random numbers, and sums are
//! taken in a fixed order.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::draw_table::DrawTable;
use super::exact::ExactSum;
use super::moments::Moments;
use super::philox::Stream;
use super::population::Population;
use super::purpose::{CLUSTERED_MEANS, MEANS};
use super::tally::tally;
use super::xoshiro::Xoshiro;

/// Nanoseconds of work from which on threads pay for being woken.
const PARALLEL_WORK: u64 = 1_000_000;

/// `num_samples` means of resamples with replacement, each as large as `values`; empty when `values` is.
///
/// Values must be finite for the means to be. If all values are equal, so are all means, exactly.
///
/// Two distinct values take one binomial draw per replicate; otherwise see the module `population` for how it is done.
pub fn resampled_means(values: &[f64], num_samples: usize, seed: u64) -> Vec<f64> {
    resampled_means_of(&tally(values), num_samples, seed)
}

/// The same, of distinct values in ascending order with their counts.
pub(crate) fn resampled_means_of(tally: &[(f64, u64)], num_samples: usize, seed: u64) -> Vec<f64> {
    let n = tally.iter().map(|(_, count)| count).sum();
    let Some(frame) = Frame::of_values(tally, n) else {
        return Vec::new();
    };
    match tally {
        [(value, _)] => vec![*value; num_samples],
        &[(low, _), (high, high_count)] => {
            let table = DrawTable::binomial(n, high_count);
            let (low, high) = (frame.inwards(low), frame.inwards(high));
            let one = |replicate| {
                let highs = table.draw(Stream::new(seed, MEANS, replicate).next_u64());
                frame.mean(low * (n - highs) as f64 + high * highs as f64, n as f64)
            };
            (0..num_samples as u64).map(one).collect()
        }
        _ => {
            let runs = tally.iter().map(|(value, count)| ([frame.inwards(*value)], *count));
            let population = Population::new(runs);
            replicates(&population, num_samples, seed, MEANS, |[sum]| frame.mean(sum, n as f64))
        }
    }
}

/// The size of a cluster of observations and their sum, as what [`ExactSum::to_double_double`] gives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClusterTotal {
    /// The number of observations.
    pub size: u64,
    /// Their sum, as the unevaluated sum of two numbers.
    pub sum: (f64, f64),
}

impl ClusterTotal {
    /// As many observations with this sum.
    pub fn new(size: u64, sum: (f64, f64)) -> Self {
        ClusterTotal { size, sum }
    }

    /// The mean of the observations of all clusters, and their number.
    pub(crate) fn mean_of(clusters: &[ClusterTotal]) -> (f64, u64) {
        let (mut sum, mut size) = (ExactSum::new(), 0);
        for cluster in clusters {
            sum.extend(&[cluster.sum.0, cluster.sum.1]);
            size += cluster.size;
        }
        (sum.divide(size), size)
    }

    /// S_g − n_g·x̄, exact before it is rounded.
    pub(crate) fn deviation(&self, mean: f64) -> f64 {
        let mut deviation = ExactSum::new();
        deviation.extend(&[self.sum.0, self.sum.1]);
        deviation.add_product(-mean, self.size as f64);
        deviation.to_f64()
    }
}

/// `num_samples` means over resamples of whole clusters: as many clusters as there are, drawn with replacement, and their observations
/// pooled. Empty when there is no cluster.
///
/// Sums should be finite, and sizes above 0 and below 2^53 together. If all observations are equal, so are all means, exactly.
pub fn clustered_resampled_means(clusters: &[ClusterTotal], num_samples: usize, seed: u64) -> Vec<f64> {
    let Some(frame) = Frame::of_clusters(clusters) else {
        return Vec::new();
    };
    let mut things: Vec<[f64; 2]> =
        clusters.iter().map(|cluster| [frame.total_inwards(cluster), cluster.size as f64]).collect();
    things.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let runs = things.chunk_by(|a, b| a == b);
    let runs = runs.filter_map(|run| Some((*run.first()?, run.len() as u64)));
    let population = Population::new(runs);
    replicates(&population, num_samples, seed, CLUSTERED_MEANS, |[sum, size]| frame.mean(sum, size))
}

/// The standard deviation with divisor n, as the bootstrap's standard error takes it; NaN of nothing, exactly 0 of equal values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    let mut moments = Moments::new();
    moments.extend(values);
    moments.population_std().unwrap_or(f64::NAN)
}

/// The q-quantile of ascending values by linear interpolation between order statistics (Hyndman & Fan's type 7, numpy's
/// default); NaN of nothing. `q` is clamped to [0, 1].
pub fn quantile_linear(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = last as f64 * q.clamp(0.0, 1.0);
    let below = position as usize; // rounds down
    let at = |index: usize| sorted.get(index.min(last)).copied().unwrap_or(f64::NAN);
    let (low, high) = (at(below), at(below + 1));
    let t = position - below as f64;
    // From the nearer end, as numpy does, so that the upper end is reached exactly.
    if t >= 0.5 { high - (high - low) * (1.0 - t) } else { low + (high - low) * t }
}

/// The q-quantile of ascending values by the inverse of their distribution function (Hyndman & Fan's type 1): the smallest
/// value with a share of at least q at or below it. NaN of nothing; `q` is clamped to [0, 1].
pub fn quantile_inverse(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    // (1 − 0.95)/2 is a little above 0.025: a position that is a whole number but for rounding counts as that number.
    let position = sorted.len() as f64 * q.clamp(0.0, 1.0);
    let whole = position.round();
    let at = if (position - whole).abs() < 1e-9 * whole { whole } else { position.ceil() };
    sorted.get((at as usize).saturating_sub(1).min(last)).copied().unwrap_or(f64::NAN)
}

/// Runs the replicates, on threads if that is worth it.
pub(super) fn replicates<const K: usize>(
    population: &Population<K>,
    num_samples: usize,
    seed: u64,
    purpose: u32,
    mean: impl Fn([f64; K]) -> f64 + Sync,
) -> Vec<f64> {
    let one = |counts: &mut Vec<u64>, replicate: usize| {
        let mut random = Xoshiro::from_stream(Stream::new(seed, purpose, replicate as u64));
        mean(population.replicate(&mut random, counts))
    };
    if population.cost().saturating_mul(num_samples as u64) < PARALLEL_WORK {
        let mut counts = Vec::new();
        return (0..num_samples).map(|b| one(&mut counts, b)).collect();
    }
    let all = (0..num_samples).into_par_iter();
    all.map_init(Vec::new, one).collect()
}

/// Where sums are taken: about a pivot, and at a scale at which they cannot overflow.
///
/// The pivot is the exact mean, so that a huge offset costs the replicates no digits and equal values give exactly 0. It is 0
/// where plain sums are exact anyway: the mean of 0s and 1s is then k/n to the last bit.
struct Frame {
    /// Already scaled.
    pivot: f64,
    /// A power of two, 1 for all ordinary data.
    scale: f64,
}

/// From here on sums of 2^40 numbers may overflow, and numbers are scaled by 2^-100 before they are added.
const LARGE: f64 = 2e289; // about 2^962
const SCALE_OF_LARGE: f64 = 7.888_609_052_210_118e-31; // 2^-100

impl Frame {
    /// `None` without values.
    fn of_values(tally: &[(f64, u64)], n: u64) -> Option<Self> {
        let (first, last) = (tally.first()?.0, tally.last()?.0);
        let largest = first.abs().max(last.abs());
        if tally.iter().all(|(value, _)| adds_exactly(*value, n)) {
            return Some(Self::new(0.0, largest));
        }
        let mut sum = ExactSum::new();
        for (value, count) in tally {
            sum.add_times(*value, *count);
        }
        Some(Self::new(sum.divide(n), largest))
    }

    /// `None` without clusters.
    fn of_clusters(clusters: &[ClusterTotal]) -> Option<Self> {
        let highs = clusters.iter().map(|cluster| cluster.sum.0.abs());
        let largest = highs.reduce(f64::max)?;
        let n = clusters.len() as u64;
        let exact = |ClusterTotal { sum, .. }: &ClusterTotal| sum.1 == 0.0 && adds_exactly(sum.0, n);
        if clusters.iter().all(exact) {
            return Some(Self::new(0.0, largest));
        }
        Some(Self::new(ClusterTotal::mean_of(clusters).0, largest))
    }

    fn new(pivot: f64, largest: f64) -> Self {
        let scale = if largest < LARGE { 1.0 } else { SCALE_OF_LARGE };
        Self { pivot: pivot * scale, scale }
    }

    /// A value's distance from the pivot.
    fn inwards(&self, value: f64) -> f64 {
        value * self.scale - self.pivot
    }

    /// A cluster's sum less that of as many pivots: exactly 0 when all its observations are equal to the pivot.
    fn total_inwards(&self, cluster: &ClusterTotal) -> f64 {
        let size = cluster.size as f64;
        let (high, low) = (cluster.sum.0 * self.scale, cluster.sum.1 * self.scale);
        let product = self.pivot * size;
        let rounding = libm::fma(self.pivot, size, -product);
        (high - product) + (low - rounding)
    }

    /// The mean of observations whose distances from the pivot have this sum.
    fn mean(&self, sum: f64, n: f64) -> f64 {
        (self.pivot + sum / n) / self.scale
    }
}

/// Whether `n` numbers like this one add up in `f64` without rounding: multiples of 2^-10 whose sum stays below 2^43.
fn adds_exactly(x: f64, n: u64) -> bool {
    const LIMIT: f64 = (1_u64 << 43) as f64;
    (x * 1024.0).fract() == 0.0 && x.abs() * n as f64 <= LIMIT
}
