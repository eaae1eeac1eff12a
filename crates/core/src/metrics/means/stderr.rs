//! `stderr`: the standard error of the mean, clustered on request.

use super::summary::{Computation, Figure, SummaryMetric};
use crate::error_plan::Estimation;
use crate::estimate::Estimate;
use crate::evaluation::Role;
use crate::registry::Params;
use crate::value::Conversion;

/// Standard error of the mean; with `cluster`, for samples that belong together by that metadata key.
///
/// Samples of one cluster (questions on one passage, for example) are not independent; the clustered error adds up deviations per
/// cluster first.
///
/// # Formula
/// ```text
/// SE = s / √n
/// with clusters: SE = √(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / n
/// ```
///
/// # When
/// The error of a mean as a figure of its own, as logs record it. For clusters prefer `--cluster KEY`, which also
/// gives the interval (CR2, with Bell and McCaffrey's degrees of freedom).
///
/// # Example
/// ```console
/// $ printf '%s\n' id,passage,score 1,a,1 2,a,1 3,b,0 4,b,0 5,c,1 6,c,0 > passages.csv
/// $ errorbar score passages.csv --metric accuracy --metric 'stderr(cluster="passage")'
/// passages.csv · 6 rows
///
/// score · 6 scored
///                                       0                   1
///   accuracy  0.50 ± 0.29 [0.04, 0.96]   ├────────●────────┤   only 6 scores · only 3 clusters, df 2 ·
///                                                              design effect 1.7
///
/// ± one standard error (CR1 by passage) · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `accuracy`, `ci`, `bootstrap_stderr`, `variance_components`
///
/// # Source
/// Miller 2024, "Adding error bars to evals", arXiv 2411.00640.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "stderr", reference)]
pub struct Stderr {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
}

impl SummaryMetric for Stderr {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::ErrorOf, to_float: &self.to_float, cluster: self.cluster.as_ref() }
    }

    fn computation(&self, estimation: &Estimation) -> Computation<Self> {
        let errors = self.figure().reference_errors();
        Computation::by_state(self, errors, estimation, |state, part| {
            let error = part.summary.std_error(&state.errors);
            let mut estimate = Estimate::of(error.as_ref().map(|error| error.se).map_err(Clone::clone));
            estimate.error = error;
            Ok(estimate)
        })
    }
}
