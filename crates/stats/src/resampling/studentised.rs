//! The bootstrap of the t statistic of a mean: (m* − m)/se* over resamples, which carries over the skewness of the data.

use super::means::{ClusterTotal, replicates};
use super::population::Population;
use crate::exact::Moments;
use crate::random::Stream;
use crate::random::purpose::{STUDENTISED_CLUSTERED_MEANS, STUDENTISED_MEANS};

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
    let mut things: Vec<[f64; 2]> = clusters
        .iter()
        .zip(&deviations)
        .map(|(cluster, deviation)| [deviation / unit, cluster.size as f64 / size_unit])
        .collect();
    things.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let runs = things.chunk_by(|a, b| a == b).filter_map(|run| {
        let [d, size] = *run.first()?;
        Some(([d, size, d * d, d * size, size * size], run.len() as u64))
    });
    let population = Population::new(runs);
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
