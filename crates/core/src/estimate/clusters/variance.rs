//! The variance of the mean of clustered scores, and its degrees of freedom.

use std::hash::Hash;

use super::{Cluster, Clusters};
use crate::error_plan::{ClusterVariance, ErrorMethod};
use errorbar_stats::exact::{ExactSum, root_of_squares};

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

/// What the deviations of clusters are divided by, and the factor of their squares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterCorrection {
    leverage: Leverage,
    factor: f64,
}

/// The power of 1 − n_g/n that a deviation is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leverage {
    None,
    Half,
    Full,
}

impl ClusterCorrection {
    /// That of a method for this number of clusters; none for a method that has no such form.
    pub(crate) fn of_method(method: ErrorMethod, clusters: usize) -> Option<Self> {
        match method {
            ErrorMethod::Cluster(correction) => Some(ClusterCorrection::new(correction, clusters)),
            ErrorMethod::Jackknife => Some(ClusterCorrection::jackknife(clusters)),
            _ => None,
        }
    }

    pub(crate) fn new(correction: ClusterVariance, clusters: usize) -> Self {
        let g = clusters as f64;
        let (leverage, factor) = match correction {
            ClusterVariance::Cr0 => (Leverage::None, 1.0),
            ClusterVariance::Cr1 => (Leverage::None, g / (g - 1.0)),
            ClusterVariance::Cr2 => (Leverage::Half, 1.0),
            ClusterVariance::Cr3 => (Leverage::Full, 1.0),
        };
        ClusterCorrection { leverage, factor }
    }

    /// Leaving out one cluster at a time: x̄ − x̄₋g = D_g/(n − n_g).
    pub(crate) fn jackknife(clusters: usize) -> Self {
        let g = clusters as f64;
        ClusterCorrection { leverage: Leverage::Full, factor: (g - 1.0) / g }
    }

    /// The factor of the sum of squares.
    pub(crate) fn factor(self) -> f64 {
        self.factor
    }

    /// Whether it goes by the size of each cluster, so that its degrees of freedom are those of Bell and McCaffrey.
    pub(crate) fn is_by_size(self) -> bool {
        self.leverage != Leverage::None
    }

    /// d_g, in a whole of n of which `others` are outside of the cluster.
    pub(crate) fn divisor(self, n: f64, others: f64) -> f64 {
        match self.leverage {
            Leverage::None => n,
            Leverage::Half => n.sqrt() * others.sqrt(),
            Leverage::Full => others,
        }
    }

    /// factor/d_g².
    pub(crate) fn weight(self, n: f64, others: f64) -> f64 {
        let square = match self.leverage {
            Leverage::None => n * n,
            Leverage::Half => n * others,
            Leverage::Full => others * others,
        };
        self.factor / square
    }

    /// The standard error of a mean of n. `deviations` are the D_g, each over what it is given for the others.
    pub(crate) fn stderr(self, n: f64, deviations: impl FnOnce(&dyn Fn(f64) -> f64) -> Vec<f64>) -> f64 {
        match self.leverage {
            // A common divisor is divided by once.
            Leverage::None => root_of_squares(&deviations(&|_| 1.0), self.factor) / n,
            _ => root_of_squares(&deviations(&|others| self.divisor(n, others)), self.factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_factors_over_squared_divisors() {
        for method in ErrorMethod::CHOICES {
            let Some(correction) = ClusterCorrection::of_method(method, 4) else { continue };
            let (n, others) = (12.0, 9.0);
            let divisor = correction.divisor(n, others);
            let expected = correction.factor() / (divisor * divisor);
            assert!((correction.weight(n, others) / expected - 1.0).abs() < 1e-15, "{method}");
            let one = correction.stderr(n, |divisor| vec![3.0 / divisor(others)]);
            assert!((one / (9.0 * expected).sqrt() - 1.0).abs() < 1e-15, "{method}");
        }
    }
}
