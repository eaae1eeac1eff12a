//! `stderr`: the standard error of the mean, clustered on request.

use std::sync::Arc;

use super::cluster::Clusters;
use super::moments::{MomentsState, of_two_or_more};
use super::takes_conversion;
use crate::args::{passed, spec_of};
use crate::error::Result;
use crate::metric::{
    Figure, MetadataKeys, Metric, MetricState, MetricValue, ScoreParts, compute_by_state, same_state,
};
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

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        match &self.cluster {
            None => compute_by_state(self.plain(), scores),
            Some(key) => compute_by_state(self.clustered(key), scores),
        }
    }

    fn state(&self) -> Option<Box<dyn MetricState>> {
        Some(match &self.cluster {
            None => Box::new(self.plain()),
            Some(key) => Box::new(self.clustered(key)),
        })
    }
}

impl Stderr {
    fn plain(&self) -> MomentsState {
        MomentsState::new("stderr", self.conversion(), |m| of_two_or_more(m.moments().stderr()))
    }

    fn clustered(&self, key: &str) -> ClusteredState {
        ClusteredState { conversion: self.conversion(), key: key.to_owned(), clusters: Clusters::default() }
    }
}

#[derive(Clone, Debug)]
struct ClusteredState {
    conversion: Conversion,
    key: String,
    clusters: Clusters,
}

impl MetricState for ClusteredState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let clusters = &mut self.clusters;
        scores.finite("stderr", &self.conversion, |numbers| {
            clusters.update("stderr", &self.key, scores, numbers)
        })?
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        self.clusters.merge(&same_state::<ClusteredState>(other)?.clusters);
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        let figure = match self.clusters.stderr() {
            Some(error) => Figure::new(error),
            None => Figure::undefined(0.0, "clusters < 2"),
        };
        Ok(figure.note("clusters", self.clusters.len()).into())
    }
}
