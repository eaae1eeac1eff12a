//! The nonparametric bootstrap of a mean.
//!
//! Replicate b of a given seed is the same number on any number of threads, in any order of the data, and whatever the number of
//! replicates: the data is put into a canonical order first, each replicate has its own random numbers, and sums are
//! taken in a fixed order.

use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::population::{DrawTable, Population};
use crate::exact::{ExactSum, Moments, tally};
use crate::random::Stream;
use crate::random::purpose::{CLUSTERED_MEANS, MEANS, STUDENTISED_CLUSTERED_MEANS, STUDENTISED_MEANS};

/// Nanoseconds of work from which on threads pay for being woken.
const PARALLEL_WORK: u64 = 1_000_000;

/// `num_samples` means of resamples with replacement, each as large as `values`; empty when `values` is.
///
/// Values must be finite for the means to be. If all values are equal, so are all means, exactly.
///
/// Two distinct values take one binomial draw per replicate; otherwise see the module `population` for how it is done.
pub fn resampled_means(values: &[f64], num_samples: usize, seed: u64) -> Vec<f64> {
    ResampledMeans::of(values).map(|means| means.all(num_samples, seed)).unwrap_or_default()
}

/// The means of resamples of a data set, of which as many are computed as are wanted.
pub struct ResampledMeans {
    frame: Frame,
    source: MeanSource,
}

/// What a mean is drawn from.
enum MeanSource {
    Equal(f64),
    Two { table: DrawTable, n: u64, low: f64, high: f64 },
    Values { population: Population<1>, n: u64 },
    Clusters(Population<2>),
}

/// The means that are held to be summed.
const PART: usize = 1 << 16;

impl ResampledMeans {
    /// The means of values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        Self::of_values(&tally(values))
    }

    /// The means of distinct values in ascending order with their counts; `None` without any.
    pub fn of_values(tally: &[(f64, u64)]) -> Option<Self> {
        let n = tally.iter().map(|(_, count)| count).sum();
        let frame = Frame::of_values(tally, n)?;
        let source = match tally {
            [(value, _)] => MeanSource::Equal(*value),
            &[(low, _), (high, high_count)] => MeanSource::Two {
                table: DrawTable::binomial(n, high_count),
                n,
                low: frame.inwards(low),
                high: frame.inwards(high),
            },
            _ => {
                let runs = tally.iter().map(|(value, count)| ([frame.inwards(*value)], *count));
                MeanSource::Values { population: Population::new(runs), n }
            }
        };
        Some(Self { frame, source })
    }

    /// The means over resamples of whole clusters: as many clusters as there are, drawn with replacement, and their observations
    /// pooled; `None` without any. Sums should be finite, and sizes above 0 and below 2^53 together. If all observations are
    /// equal, so are all means, exactly.
    pub fn of_clusters(clusters: &[ClusterTotal]) -> Option<Self> {
        let frame = Frame::of_clusters(clusters)?;
        let things = clusters.iter().map(|cluster| [frame.total_inwards(cluster), cluster.size as f64]);
        let source = MeanSource::Clusters(Population::new(runs_of(things)));
        Some(Self { frame, source })
    }

    /// About how many nanoseconds a mean takes.
    pub fn cost(&self) -> u64 {
        match &self.source {
            MeanSource::Equal(_) => 0,
            MeanSource::Two { .. } => 10,
            MeanSource::Values { population, .. } => population.cost(),
            MeanSource::Clusters(population) => population.cost(),
        }
    }

    /// The mean of one replicate. `counts` is scratch space.
    fn mean(&self, seed: u64, replicate: u64, counts: &mut Vec<u64>) -> f64 {
        let frame = &self.frame;
        match &self.source {
            MeanSource::Equal(value) => *value,
            MeanSource::Two { table, n, low, high } => {
                let highs = table.draw(Stream::new(seed, MEANS, replicate).next_u64());
                frame.mean(low * (n - highs) as f64 + high * highs as f64, *n as f64)
            }
            MeanSource::Values { population, n } => {
                let [sum] = population.sums(Stream::new(seed, MEANS, replicate), counts);
                frame.mean(sum, *n as f64)
            }
            MeanSource::Clusters(population) => {
                let [sum, size] = population.sums(Stream::new(seed, CLUSTERED_MEANS, replicate), counts);
                frame.mean(sum, size)
            }
        }
    }

    fn range(&self, range: Range<usize>, seed: u64) -> Vec<f64> {
        replicates(self.cost(), range, |counts, replicate| self.mean(seed, replicate, counts))
    }

    /// This number of means.
    pub fn all(&self, num_samples: usize, seed: u64) -> Vec<f64> {
        self.range(0..num_samples, seed)
    }

    /// The standard deviation of this number of means, as [`descriptive::standard_deviation`](crate::descriptive) of them
    /// has it, without holding them.
    pub fn standard_deviation(&self, num_samples: usize, seed: u64) -> f64 {
        let mut moments = Moments::new();
        for first in (0..num_samples).step_by(PART) {
            moments.extend(&self.range(first..num_samples.min(first + PART), seed));
        }
        moments.population_std().unwrap_or(f64::NAN)
    }
}

/// Things in a canonical order, equal ones together with their number.
fn runs_of(things: impl Iterator<Item = [f64; 2]>) -> impl Iterator<Item = ([f64; 2], u64)> {
    let mut things: Vec<[f64; 2]> = things.collect();
    things.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let runs = things.chunk_by(|a, b| a == b);
    let runs = runs.filter_map(|run| Some((*run.first()?, run.len() as u64)));
    runs.collect::<Vec<_>>().into_iter()
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
    pub fn mean_of(clusters: &[ClusterTotal]) -> (f64, u64) {
        let (mut sum, mut size) = (ExactSum::new(), 0);
        for cluster in clusters {
            sum.extend(&[cluster.sum.0, cluster.sum.1]);
            size += cluster.size;
        }
        (sum.divide(size), size)
    }

    /// S_g − n_g·x̄, exact before it is rounded.
    pub fn deviation(&self, mean: f64) -> f64 {
        let mut deviation = ExactSum::new();
        deviation.extend(&[self.sum.0, self.sum.1]);
        deviation.add_product(-mean, self.size as f64);
        deviation.to_f64()
    }
}

/// Runs replicates that take so many nanoseconds each, on threads if that is worth it. Each gets scratch space.
pub(super) fn replicates<S: Default + Send, T: Send>(
    cost: u64,
    range: Range<usize>,
    one: impl Fn(&mut S, u64) -> T + Sync,
) -> Vec<T> {
    if cost.saturating_mul(range.len() as u64) < PARALLEL_WORK {
        let mut scratch = S::default();
        return range.map(|replicate| one(&mut scratch, replicate as u64)).collect();
    }
    range.into_par_iter().map_init(S::default, |scratch, replicate| one(scratch, replicate as u64)).collect()
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

// The bootstrap of the t statistic of a mean: (m* − m)/se* over resamples, which carries over the skewness of the data.

/// Below this share of the mean square, a variance is the rounding of one that is 0.
const ROUNDING: f64 = 1e-12;

/// The t statistics of resamples.
#[derive(Clone, Debug)]
pub struct StudentisedMeans {
    /// The mean of the data.
    pub mean: f64,
    /// Its standard error, by the formula that the resamples use.
    pub stderr: f64,
    /// (m* − m)/se*, ascending. A resample without spread has the statistic −∞ or +∞, by the side on which its mean lies: it
    /// has no information on how far out.
    pub statistics: Vec<f64>,
}

impl StudentisedMeans {
    fn new(mean: f64, stderr: f64, mut statistics: Vec<f64>) -> Self {
        statistics.sort_unstable_by(f64::total_cmp);
        Self { mean, stderr, statistics }
    }

    /// The q-quantile of the statistics by the inverse of their distribution function; NaN of nothing.
    pub fn quantile(&self, q: f64) -> f64 {
        crate::descriptive::quantile_inverse(&self.statistics, q)
    }
}

/// The t statistics of `num_samples` resamples of values: distinct, in ascending order, with their counts. `None` if there
/// are fewer than two distinct ones, or their standard error is beyond a float.
pub fn studentised_means(tally: &[(f64, u64)], num_samples: usize, seed: u64) -> Option<StudentisedMeans> {
    let mut moments = Moments::new();
    tally.iter().for_each(|(value, count)| moments.push_times(*value, *count));
    let (mean, std, stderr) = (moments.mean()?, moments.std()?, moments.stderr()?);
    if !(tally.len() > 1 && std > 0.0 && std.is_finite() && mean.is_finite()) {
        return None;
    }
    // About the mean and in units of the standard deviation nothing overflows, and little cancels.
    let runs = tally.iter().map(|(value, count)| {
        // Halves: a difference of the largest numbers would overflow.
        let z = (0.5 * value - 0.5 * mean) / (0.5 * std);
        ([z, z * z], *count)
    });
    let population = Population::new(runs);
    let n = moments.count() as f64;
    let statistic = |[sum, squares]: [f64; 2]| {
        let mean = sum / n;
        let scatter = squares - sum * mean;
        studentise(mean, scatter, squares, || (scatter / (n - 1.0) / n).sqrt())
    };
    let statistics = replicates(population.cost(), 0..num_samples, |counts, replicate| {
        statistic(population.sums(Stream::new(seed, STUDENTISED_MEANS, replicate), counts))
    });
    Some(StudentisedMeans::new(mean, stderr, statistics))
}

/// The t statistics of `num_samples` resamples of whole clusters, with the clustered standard error (CR1). `None` if there are
/// fewer than two clusters, or they do not differ, or the standard error is beyond a float.
pub fn studentised_cluster_means(
    clusters: &[ClusterTotal],
    num_samples: usize,
    seed: u64,
) -> Option<StudentisedMeans> {
    let g = clusters.len() as f64;
    let (mean, n) = ClusterTotal::mean_of(clusters);
    let deviations: Vec<f64> = clusters.iter().map(|cluster| cluster.deviation(mean)).collect();
    let factor = g / (g - 1.0);
    let root = crate::exact::root_of_squares(&deviations, factor);
    let stderr = root / n as f64;
    if !(clusters.len() > 1 && root > 0.0 && root.is_finite() && mean.is_finite()) {
        return None;
    }
    // Sizes in units of the mean size, sums in units that give them squares of 1 or so.
    let (unit, size_unit) = (root / g.sqrt(), n as f64 / g);
    let things = clusters.iter().zip(&deviations);
    let things = things.map(|(cluster, deviation)| [deviation / unit, cluster.size as f64 / size_unit]);
    let with_products =
        |([d, size], count): ([f64; 2], u64)| ([d, size, d * d, d * size, size * size], count);
    let population = Population::new(runs_of(things).map(with_products));
    let statistic = |[sum, size, squares, products, sizes]: [f64; 5]| {
        let mean = sum / size;
        let scatter = squares - 2.0 * mean * products + mean * mean * sizes;
        studentise(mean, scatter, squares, || (scatter * factor).sqrt() / size)
    };
    let statistics = replicates(population.cost(), 0..num_samples, |counts, replicate| {
        statistic(population.sums(Stream::new(seed, STUDENTISED_CLUSTERED_MEANS, replicate), counts))
    });
    Some(StudentisedMeans::new(mean, stderr, statistics))
}

/// A mean over its standard error; infinite if the resample has no spread, and 0 if its mean is that of the data all the same.
fn studentise(mean: f64, scatter: f64, squares: f64, stderr: impl FnOnce() -> f64) -> f64 {
    if scatter > ROUNDING * squares {
        mean / stderr()
    } else if mean.abs() > ROUNDING {
        mean * f64::INFINITY
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptive::standard_deviation;

    /// Runs, blocks and both, over parts that are full and that are not.
    #[test]
    fn means_that_are_not_held_have_the_same_deviation() {
        let layouts: [&[u64]; 6] = [&[9], &[4, 3], &[1, 2, 3], &[1; 300], &[300, 5], &[700, 255, 300, 1, 80]];
        for runs in layouts {
            let tally: Vec<(f64, u64)> =
                (0_u32..).map(|at| f64::from(at) / 7.0).zip(runs.iter().copied()).collect();
            let means = ResampledMeans::of_values(&tally).unwrap();
            for count in [1, 1000, PART + 1] {
                let held = standard_deviation(&means.all(count, 3));
                assert_eq!(means.standard_deviation(count, 3).to_bits(), held.to_bits(), "{runs:?}, {count}");
            }
        }
        let clusters: Vec<ClusterTotal> =
            (1..40).map(|at| ClusterTotal::new(1 + at % 5, (at as f64 / 3.0, 0.0))).collect();
        let means = ResampledMeans::of_clusters(&clusters).unwrap();
        let held = standard_deviation(&means.all(PART + 1, 3));
        assert_eq!(means.standard_deviation(PART + 1, 3).to_bits(), held.to_bits());
    }
}
