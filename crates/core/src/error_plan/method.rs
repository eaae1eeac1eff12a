//! The methods of errors, with their names.

use std::fmt;
use std::str::FromStr;

/// How a standard error was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorMethod {
    /// Scores are independent: s/√n.
    Iid,
    /// Scores of a cluster belong together.
    Cluster(ClusterVariance),
    /// The standard deviation of resampled figures: of samples, or of whole clusters.
    Bootstrap,
    /// Leaving out one sample or one cluster at a time.
    Jackknife,
    /// A smooth function of means.
    Delta,
    /// DeLong's, of an area under a ROC curve.
    DeLong,
    /// The mean of fixed groups: √(Σ SE²)/G.
    Macro,
    /// As a custom metric defines it.
    Custom,
}

/// The small-sample correction of a clustered error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterVariance {
    /// None.
    Cr0,
    /// G/(G−1).
    Cr1,
    /// By the size of each cluster, unbiased for independent scores; with the degrees of freedom of Bell and McCaffrey.
    Cr2,
    /// As the jackknife, without its factor (G−1)/G.
    Cr3,
}

impl ErrorMethod {
    /// The methods that a plan can name.
    pub const CHOICES: [ErrorMethod; 7] = [
        ErrorMethod::Iid,
        ErrorMethod::Cluster(ClusterVariance::Cr0),
        ErrorMethod::Cluster(ClusterVariance::Cr1),
        ErrorMethod::Cluster(ClusterVariance::Cr2),
        ErrorMethod::Cluster(ClusterVariance::Cr3),
        ErrorMethod::Jackknife,
        ErrorMethod::Bootstrap,
    ];

    /// The methods that only metrics choose.
    pub const OF_METRICS: [ErrorMethod; 4] =
        [ErrorMethod::Delta, ErrorMethod::DeLong, ErrorMethod::Macro, ErrorMethod::Custom];

    /// Whether it may draw resamples.
    pub fn is_drawn(self) -> bool {
        self == ErrorMethod::Bootstrap
    }

    /// The name, as in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ErrorMethod::Iid => "iid",
            ErrorMethod::Cluster(ClusterVariance::Cr0) => "CR0",
            ErrorMethod::Cluster(ClusterVariance::Cr1) => "CR1",
            ErrorMethod::Cluster(ClusterVariance::Cr2) => "CR2",
            ErrorMethod::Cluster(ClusterVariance::Cr3) => "CR3",
            ErrorMethod::Bootstrap => "bootstrap",
            ErrorMethod::Jackknife => "jackknife",
            ErrorMethod::Delta => "delta",
            ErrorMethod::DeLong => "delong",
            ErrorMethod::Macro => "macro",
            ErrorMethod::Custom => "custom",
        }
    }
}

impl fmt::Display for ErrorMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of those that there are.
pub(super) fn unknown<'n>(found: &str, names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}, found {found:?}", names.collect::<Vec<_>>().join(", "))
}

impl FromStr for ErrorMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |method: &ErrorMethod| method.name().eq_ignore_ascii_case(text);
        let names = ErrorMethod::CHOICES.iter().map(|method| method.name());
        ErrorMethod::CHOICES.iter().copied().find(named).ok_or_else(|| unknown(text, names))
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorMethod as M;
    use super::*;

    /// The next variant: a new one does not compile until it is here, and fails until a list has it.
    fn next(method: M) -> Option<M> {
        Some(match method {
            M::Iid => M::Cluster(ClusterVariance::Cr0),
            M::Cluster(ClusterVariance::Cr0) => M::Cluster(ClusterVariance::Cr1),
            M::Cluster(ClusterVariance::Cr1) => M::Cluster(ClusterVariance::Cr2),
            M::Cluster(ClusterVariance::Cr2) => M::Cluster(ClusterVariance::Cr3),
            M::Cluster(ClusterVariance::Cr3) => M::Jackknife,
            M::Jackknife => M::Bootstrap,
            M::Bootstrap => M::Delta,
            M::Delta => M::DeLong,
            M::DeLong => M::Macro,
            M::Macro => M::Custom,
            M::Custom => return None,
        })
    }

    #[test]
    fn every_method_is_listed_once() {
        let walked: Vec<M> = std::iter::successors(Some(M::Iid), |method| next(*method)).collect();
        let listed: Vec<M> = M::CHOICES.into_iter().chain(M::OF_METRICS).collect();
        assert_eq!(walked, listed);
    }
}
