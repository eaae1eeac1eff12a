//! The small-sample corrections of clustered errors: the one table of CR0 to CR3 and the jackknife.
//!
//! The variance is factor · Σ (D_g/d_g)², D_g the sum of the deviations of a cluster. With n the size of the whole and
//! n − n_g that of the other clusters:
//!
//! | method | d_g | factor |
//! |---|---|---|
//! | CR0 | n | 1 |
//! | CR1 | n | G/(G−1) |
//! | CR2 | √(n(n − n_g)) | 1 |
//! | CR3 | n − n_g | 1 |
//! | jackknife | n − n_g | (G−1)/G |
//!
//! Pustejovsky & Tipton, "Small-sample methods for cluster-robust variance estimation", 2018, for a mean: the matrix
//! (I − H_gg)^(−½) has the eigenvalue √(n/(n − n_g)) along the ones, and D_g is a sum along the ones.

use crate::error_plan::{ClusterVariance, ErrorMethod};
use errorbar_stats::exact::root_of_squares;

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
