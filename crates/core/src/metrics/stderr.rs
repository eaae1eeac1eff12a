//! `stderr`: the standard error of the mean, clustered on request.

use std::sync::Arc;

use super::summary::{SummaryState, iid, subject};
use super::takes_conversion;
use crate::args::{passed, spec_of};
use crate::error::Result;
use crate::estimate::{Cr, ErrorMethod, ErrorPlan, Estimate, Estimation};
use crate::evaluation::{MetricValue, Role, Subject};
use crate::metric::{MetadataKeys, Metric, MetricState, ScoreParts, compute_by_state};
use crate::registry::{MetricEntry, Param};
use crate::scores::Scores;
use crate::spec::Spec;
use crate::value::Conversion;

/// The standard error of the mean: std/√n, or clustered by a metadata key.
///
/// Samples of one cluster (questions on one text, say) are not independent; the clustered error
/// adds up deviations per cluster first.
#[derive(Clone, Debug, Default)]
pub struct Stderr {
    to_float: Option<Conversion>,
    cluster: Option<String>,
}

/// The standard error of the mean.
pub fn stderr() -> Stderr {
    Stderr::default()
}

impl Stderr {
    takes_conversion!();

    /// Clusters the samples by a metadata key.
    #[must_use]
    pub fn cluster(mut self, key: impl Into<String>) -> Self {
        self.cluster = Some(key.into());
        self
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "stderr",
    doc: "Standard error of the mean; with `cluster`, for samples that belong together by that metadata key.",
    params: &[Param::optional("to_float", "value_to_float()"), Param::optional("cluster", "None")],
    build: |args| Ok(Arc::new(Stderr { to_float: args.get("to_float")?, cluster: args.get("cluster")? })),
    replaces: false,
};

impl Metric for Stderr {
    fn spec(&self) -> Spec {
        spec_of("stderr", [("to_float", passed(&self.to_float)), ("cluster", passed(&self.cluster))])
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::Only(self.cluster.iter().cloned().collect())
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn role(&self) -> Role {
        Role::ErrorOf
    }

    fn subject(&self) -> Option<Subject> {
        Some(subject(self.conversion()))
    }

    fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute_by_state(self.new_state(scores.estimation()), scores)
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        Some(Box::new(self.new_state(estimation)))
    }
}

impl Stderr {
    fn new_state(&self, estimation: &Estimation) -> SummaryState {
        let errors = errors_of(self.cluster.as_deref());
        SummaryState::new("stderr", self.conversion(), errors, estimation, |state, part| {
            let error = part.summary.std_error(&state.errors);
            let mut estimate = Estimate::of(error.as_ref().map(|error| error.se).map_err(Clone::clone));
            estimate.error = error;
            Ok(estimate)
        })
    }
}

/// The errors of the reference: of independent scores, or clustered with the factor G/(G−1).
pub(super) fn errors_of(cluster: Option<&str>) -> ErrorPlan {
    let Some(key) = cluster else { return iid() };
    let mut errors = ErrorPlan::new().cluster(key);
    errors.method = Some(ErrorMethod::Cluster(Cr::Cr1));
    errors
}
