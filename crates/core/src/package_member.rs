//! Built-in metrics and reducers under a package name: `errorbar/pass_at_2` in a log is our `pass_at_2`, and results call
//! it by its full name again, as the reference does. So a log keeps its names when its results are computed again, and
//! recorded blocks are found by theirs.

use std::sync::Arc;

use crate::error::Result;
use crate::estimate::Estimation;
use crate::evaluation::{MetricValue, Role, Subject};
use crate::metadata::Metadata;
use crate::metric::{MetadataKeys, Metric, MetricState, ScoreParts, Wants};
use crate::reducer::{EpochReducer, Reducer};
use crate::score::Score;
use crate::scores::Scores;
use crate::spec::Spec;

/// A metric or reducer that does all that the inner one does, under the name of a package.
#[derive(Clone, Debug)]
pub(crate) struct PackageMember<T> {
    package: String,
    inner: T,
}

impl<T> PackageMember<T> {
    pub(crate) fn new(package: &str, inner: T) -> Self {
        PackageMember { package: package.to_owned(), inner }
    }

    fn name(&self, spec: Spec) -> Spec {
        Spec { package: Some(self.package.clone()), ..spec }
    }
}

impl Metric for PackageMember<Arc<dyn Metric>> {
    fn spec(&self) -> Spec {
        self.name(self.inner.spec())
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.inner.compute(scores)
    }

    fn params(&self) -> Metadata {
        self.inner.params()
    }

    fn wants(&self) -> Wants {
        self.inner.wants()
    }

    fn metadata_keys(&self) -> MetadataKeys {
        self.inner.metadata_keys()
    }

    fn score_parts(&self) -> ScoreParts {
        self.inner.score_parts()
    }

    fn role(&self) -> Role {
        self.inner.role()
    }

    fn subject(&self) -> Option<Subject> {
        self.inner.subject()
    }

    fn cluster(&self) -> Option<&str> {
        self.inner.cluster()
    }

    fn inner(&self) -> Option<&dyn Metric> {
        self.inner.inner()
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        self.inner.state(estimation)
    }
}

impl Reducer for PackageMember<Arc<dyn Reducer>> {
    fn spec(&self) -> Spec {
        self.name(self.inner.spec())
    }

    fn log_name(&self) -> String {
        format!("{}/{}", self.package, self.inner.log_name())
    }

    fn reduce(&self, scores: &[Score]) -> Result<Score> {
        self.inner.reduce(scores)
    }

    fn check(&self) -> Result<()> {
        self.inner.check()
    }

    fn needs_epochs(&self) -> Option<u64> {
        self.inner.needs_epochs()
    }

    fn by_epoch(&self) -> Option<&dyn EpochReducer> {
        self.inner.by_epoch()
    }
}
