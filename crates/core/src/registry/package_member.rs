//! Built-in metrics and reducers under a package name: `errorbar/pass_at_2` in a log is our `pass_at_2`, and results call
//! it by its full name again, as the reference does. So a log keeps its names when its results are computed again, and
//! recorded blocks are found by theirs.

use std::sync::Arc;

use crate::metric::{Metric, forward_metric};
use crate::reducer::{Reducer, forward_reducer};
use crate::spec::{Spec, ToSpec};

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
}

impl<T: ToSpec> ToSpec for PackageMember<T> {
    fn spec(&self) -> Spec {
        Spec { package: Some(self.package.clone()), ..self.inner.spec() }
    }
}

impl Metric for PackageMember<Arc<dyn Metric>> {
    forward_metric!(self => self.inner);
}

impl Reducer for PackageMember<Arc<dyn Reducer>> {
    fn log_name(&self) -> String {
        format!("{}/{}", self.package, self.inner.log_name())
    }

    forward_reducer!(self => self.inner);
}
