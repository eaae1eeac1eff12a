//! `stderr`: the standard error of the mean, clustered on request.

use super::summary::{Computation, SummaryMetric, reference_errors};
use crate::estimate::{Estimate, Estimation};
use crate::evaluation::Role;
use crate::params::Params;
use crate::value::Conversion;

/// Standard error of the mean; with `cluster`, for samples that belong together by that metadata key.
///
/// Samples of one cluster (questions on one text, say) are not independent; the clustered error adds up deviations per
/// cluster first.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "stderr")]
pub struct Stderr {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
}

impl SummaryMetric for Stderr {
    const ROLE: Role = Role::ErrorOf;

    fn conversion(&self) -> Conversion {
        self.to_float_or_default()
    }

    fn cluster_key(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    fn computation(&self, estimation: &Estimation) -> Computation<Self> {
        let errors = reference_errors(self.cluster_key());
        Computation::by_state(self, errors, estimation, |state, part| {
            let error = part.summary.std_error(&state.errors);
            let mut estimate = Estimate::of(error.as_ref().map(|error| error.se).map_err(Clone::clone));
            estimate.error = error;
            Ok(estimate)
        })
    }
}
