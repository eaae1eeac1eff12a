//! The variance of the mean of clustered scores, and its degrees of freedom.

use std::hash::Hash;

use super::{Cluster, ClusterCorrection, Clusters};
use crate::error_plan::{ClusterVariance, ErrorMethod};
use errorbar_stats::exact::ExactSum;

impl<Id: Clone + Eq + Hash> Clusters<Id> {
    /// The clustered standard error of the mean with the small-sample factor (CR1):
    /// √( Σ_g (S_g − n_g·x̄)² · G/(G−1) ) / n; `None` for fewer than two clusters.
    ///
    /// n·S_g − n_g·S is taken from the exact sums, so neither a huge offset nor the order of the
    /// scores can change the result.
    pub(crate) fn stderr(&self) -> Option<f64> {
        self.corrected_stderr(ClusterVariance::Cr1)
    }

    /// The clustered standard error of the mean with a small-sample correction; `None` for fewer than two clusters.
    pub(crate) fn corrected_stderr(&self, correction: ClusterVariance) -> Option<f64> {
        self.stderr_by(ClusterCorrection::new(correction, self.len()))
    }

    /// The standard error of the mean by leaving out one cluster at a time, √((G−1)/G · Σ (x̄₋g − x̄)²): that of CR3 with
    /// the factor (G−1)/G. `None` for fewer than two clusters.
    pub(crate) fn jackknife_stderr(&self) -> Option<f64> {
        self.stderr_by(ClusterCorrection::jackknife(self.len()))
    }

    fn stderr_by(&self, correction: ClusterCorrection) -> Option<f64> {
        let stderr = || correction.stderr(self.n() as f64, |divisor| self.deviations(divisor));
        (self.len() > 1).then(stderr)
    }

    /// D_g over a weight, which is given the number of scores outside of the cluster.
    pub(super) fn deviations(&self, weight: impl Fn(f64) -> f64) -> Vec<f64> {
        let n = self.n();
        let (total_high, total_low) = self.total().to_double_double();
        let deviation = |cluster: &Cluster| {
            let (high, low) = cluster.sum.to_double_double();
            let mut deviation = ExactSum::new();
            deviation.add_times(high, n);
            deviation.add_times(low, n);
            deviation.add_times(-total_high, cluster.n);
            deviation.add_times(-total_low, cluster.n);
            deviation.divide(n) / weight(n.saturating_sub(cluster.n) as f64)
        };
        self.0.values().map(deviation).collect()
    }

    /// Whether all clusters have the same number of scores.
    pub(crate) fn are_of_one_size(&self) -> bool {
        let mut sizes = self.0.values().map(|cluster| cluster.n);
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }

    /// The degrees of freedom of the variance: G − 1 for CR0, CR1 and the bootstrap, those of Bell and McCaffrey (2002)
    /// for CR2, CR3 and the jackknife, n² / (Σ n_g² + (Σ a_g)² − Σ a_g²) with a_g = n_g²/(n − n_g). `None` for fewer
    /// than two clusters.
    pub(crate) fn degrees_of_freedom(&self, method: ErrorMethod) -> Option<f64> {
        (self.len() > 1).then(|| degrees_of_freedom(method, self.0.values().map(|cluster| cluster.n)))
    }
}

/// The degrees of freedom of a method for clusters of these sizes.
pub(crate) fn degrees_of_freedom(method: ErrorMethod, sizes: impl Iterator<Item = u64> + Clone) -> f64 {
    let clusters = sizes.clone().count();
    match ClusterCorrection::of_method(method, clusters) {
        Some(correction) if correction.is_by_size() => bell_mccaffrey(sizes),
        _ => (clusters as f64 - 1.0).max(0.0),
    }
}

/// The degrees of freedom of CR2 for clusters of these sizes.
fn bell_mccaffrey(sizes: impl Iterator<Item = u64> + Clone) -> f64 {
    bell_mccaffrey_of_weights(sizes.map(|size| size as f64))
}

/// The same for the weights of clusters in place of their sizes.
pub(crate) fn bell_mccaffrey_of_weights(weights: impl Iterator<Item = f64> + Clone) -> f64 {
    // Exact sums: the order of the clusters is that in which they were seen.
    let mut total = ExactSum::new();
    weights.clone().for_each(|weight| total.add(weight));
    let n = total.to_f64();
    let (mut of_sizes, mut sum, mut squares) = (ExactSum::new(), ExactSum::new(), ExactSum::new());
    for size in weights {
        let others = n - size;
        let a = size * size / others;
        of_sizes.add_product(size, size);
        sum.add(a);
        squares.add_product(a, a);
    }
    let sum = sum.to_f64();
    n * n / (of_sizes.to_f64() + (sum * sum - squares.to_f64()))
}
