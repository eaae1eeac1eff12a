//! Lists of metrics: those of a scorer or a task.

use std::sync::Arc;

use super::Metric;
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::spec::{self, MetricTree};

/// Metrics for some keys of map-valued scores: a shell glob, and what to compute for each key it matches.
pub type MetricMap = spec::MetricMap<Arc<dyn Metric>>;

/// An entry of a list of metrics.
pub type MetricItem = spec::MetricItem<Arc<dyn Metric>>;

/// The metrics of a scorer or a task.
pub type Metrics = MetricTree<Arc<dyn Metric>>;

impl<M: Metric + 'static> From<M> for MetricItem {
    fn from(metric: M) -> Self {
        MetricItem::Metric(Arc::new(metric))
    }
}

impl Metrics {
    /// The sample metadata keys that the metrics need.
    pub fn metadata_keys(&self) -> MetadataKeys {
        self.iter().fold(MetadataKeys::NONE, |keys, metric| keys.and(metric.metadata_keys()))
    }

    /// The parts of scores that the metrics read.
    pub fn score_parts(&self) -> ScoreParts {
        self.iter().map(|metric| metric.score_parts()).max().unwrap_or(ScoreParts::Value)
    }
}

impl<I: Into<MetricItem>> FromIterator<I> for Metrics {
    fn from_iter<T: IntoIterator<Item = I>>(items: T) -> Self {
        Metrics::List(items.into_iter().map(Into::into).collect())
    }
}

/// A list of metrics, with maps for the keys of map-valued scores where wanted.
///
/// ```
/// use errorbar_core::metrics;
/// use errorbar_core::metrics::{accuracy, grouped, mean, stderr};
/// let plain = metrics![accuracy(), grouped(accuracy(), "category"), stderr().cluster("category")];
/// let by_key = metrics![accuracy(), {"al*": [mean(), stderr()], "beta": [mean()]}];
/// assert_eq!(plain.iter().count(), 3);
/// assert_eq!(by_key.iter().count(), 4);
/// ```
#[macro_export]
macro_rules! metrics {
    (@list [$($done:expr,)*]) => {
        $crate::Metrics::List(::std::vec![$($done),*])
    };
    (@list [$($done:expr,)*] { $($map:tt)* } $(, $($rest:tt)*)?) => {
        $crate::metrics!(@list [
            $($done,)*
            $crate::MetricItem::Map($crate::metrics!(@map { $($map)* })),
        ] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $metric:expr $(, $($rest:tt)*)?) => {
        $crate::metrics!(
            @list [$($done,)* <$crate::MetricItem as ::std::convert::From<_>>::from($metric),] $($($rest)*)?
        )
    };
    (@map { $($pattern:literal : [$($metric:expr),* $(,)?]),* $(,)? }) => {
        <$crate::MetricMap as ::std::iter::FromIterator<_>>::from_iter([
            $((
                ::std::borrow::ToOwned::to_owned($pattern),
                ::std::vec![$(::std::sync::Arc::new($metric) as ::std::sync::Arc<dyn $crate::Metric>),*],
            )),*
        ])
    };
    ($($all:tt)*) => {
        $crate::metrics!(@list [] $($all)*)
    };
}
