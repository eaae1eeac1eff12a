//! What a metric is.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::estimate::{ScoreKind, Summary};
use crate::evaluation::{Direction, MetricValue, Role, Subject};
use crate::inputs::{FigureNames, KeyUsage, MetadataKeys, Raters, RequiredKey, ScoreParts, Wants};
use crate::metadata::Metadata;
use crate::scores::Scores;
use crate::spec::{self, MetricTree, SEED, Spec, ToSpec, params_to_log};
use crate::value::Conversion;

/// Something computed over scores.
///
/// Implement it, write a function with `#[metric]`, or use [`metric_fn`] on a closure.
///
/// ```
/// use errorbar_core::{MetadataKeys, Metric, MetricValue, Params, Result, Scores, Wants};
///
/// /// The share of samples whose `source` is trusted and whose score is at least one half.
/// #[derive(Debug, Params)]
/// #[params(crate = errorbar_core, name = "trusted_share")]
/// struct TrustedShare;
///
/// impl Metric for TrustedShare {
///     fn wants(&self) -> Wants {
///         Wants::Reduced
///     }
///
///     fn metadata_keys(&self) -> MetadataKeys {
///         MetadataKeys::one("source")
///     }
///
///     fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
///         let good = scores.into_iter().filter(|sample| {
///             let source = sample.sample_metadata.get("source");
///             source.is_some_and(|s| s == "trusted") && sample.score.to_f64() >= 0.5
///         });
///         Ok((good.count() as f64 / scores.len().max(1) as f64).into())
///     }
/// }
/// ```
pub trait Metric: ToSpec + fmt::Debug + Send + Sync {
    /// The value over these scores. Must not depend on their order.
    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue>;

    /// The arguments as results and logs record them: all that were passed, unless overridden.
    fn params(&self) -> Metadata {
        params_to_log(&self.spec().kwargs)
    }

    /// Which scores the metric wants.
    fn wants(&self) -> Wants {
        if self.needs_epochs() { Wants::Unreduced } else { Wants::Auto }
    }

    /// Whether it is about the epochs of samples, so that it has no meaning over reduced scores. Then a metric that
    /// applies it, to each group for instance, sees every epoch too.
    fn needs_epochs(&self) -> bool {
        self.inner().is_some_and(|inner| inner.needs_epochs())
    }

    /// The metric that it applies: to each group, to a field. What is not overridden below is as that metric has it.
    fn inner(&self) -> Option<&dyn Metric> {
        None
    }

    /// Which sample metadata the metric reads; all of it, unless overridden.
    fn metadata_keys(&self) -> MetadataKeys {
        self.inner().map_or(MetadataKeys::All, |inner| inner.metadata_keys())
    }

    /// Which parts of the scores the metric reads; all of them, unless overridden.
    fn score_parts(&self) -> ScoreParts {
        self.inner().map_or(ScoreParts::All, |inner| inner.score_parts())
    }

    /// Whether it reads scores as labels, not as numbers: in a table it then sees the cells as they are written, `PASS`
    /// and `NA` included.
    fn reads_labels(&self) -> bool {
        self.inner().is_some_and(|inner| inner.reads_labels())
    }

    /// What kind of figure it gives.
    fn role(&self) -> Role {
        self.inner().map_or(Role::Other, |inner| inner.role())
    }

    /// Which way its figures are better; of a location the higher ones, unless overridden.
    fn direction(&self) -> Direction {
        match (self.inner(), self.role()) {
            (Some(inner), _) => inner.direction(),
            (None, Role::Location) => Direction::Higher,
            (None, _) => Direction::Neither,
        }
    }

    /// Which numbers it is about. An error or interval goes into the row of the location that has the same subject.
    fn subject(&self) -> Option<Subject> {
        self.inner()?.subject()
    }

    /// The conversion of values to numbers, if it is the mean of those numbers over all samples: then each sample has its
    /// part in it, and a run can be stopped by it. See `StopRule` of errorbar-inference.
    fn mean_of(&self) -> Option<Conversion> {
        None
    }

    /// Whether it is the mean of the scores as they are, so that its expectation is that of one score.
    fn is_plain_mean(&self) -> bool {
        match self.inner() {
            Some(inner) => inner.is_plain_mean(),
            None => self.mean_of().is_some_and(|conversion| conversion == Conversion::default()),
        }
    }

    /// The metadata key that it clusters samples by.
    fn cluster(&self) -> Option<&str> {
        self.inner()?.cluster()
    }

    /// The metadata key that it groups samples by itself, without which it fails; not that of the metric in it.
    fn group_key(&self) -> Option<&str> {
        None
    }

    /// The metadata keys without which it fails. A custom metric may do without those that it reads.
    fn required_keys(&self) -> Vec<RequiredKey> {
        let cluster = self.cluster().map(|key| RequiredKey::new(key, KeyUsage::Cluster));
        let group = self.group_key().map(|key| RequiredKey::new(key, KeyUsage::Group));
        let within = self.inner().map(|inner| inner.required_keys()).unwrap_or_default();
        let own: Vec<RequiredKey> = cluster.into_iter().chain(group).collect();
        let within = within.into_iter().filter(|key| !own.contains(key)).collect::<Vec<_>>();
        own.into_iter().chain(within).collect()
    }

    /// What the names of its figures follow from.
    fn figure_names(&self) -> FigureNames {
        FigureNames::OfScores
    }

    /// The raters that it names: other scorers, fields of map-valued scores, metadata keys. See [`Scores::ratings`].
    fn raters(&self) -> Raters {
        self.inner().map(|inner| inner.raters()).unwrap_or_default()
    }

    /// Whether its figures depend on the ids of samples and not only on what scores and metadata they have: it draws
    /// samples in the order of their ids, for instance. `is_resampled`: the plan resamples figures that have formulas
    /// too, or they see every epoch. Where nothing depends on ids, samples that look the same are counted together when
    /// [partial results](crate::Partial) are merged. True unless overridden.
    fn depends_on_ids(&self, is_resampled: bool) -> bool {
        self.inner().is_none_or(|inner| inner.depends_on_ids(is_resampled))
    }

    /// How long its value over a resample takes, as a multiple of what a mean or a median takes: for plans that come from
    /// files of others, which may resample for [a limited time](crate::Plan::max_draws). That of a metric that holds
    /// another one is a little more than that of the other; the slowest built-in ones have 20, which is the default.
    fn resample_cost(&self) -> u64 {
        self.inner().map_or(20, |inner| inner.resample_cost().saturating_add(1))
    }

    /// The numbers that its value is the plain mean of, one for each score, if it is one: they can be compared sample by
    /// sample. A metric without them is compared by resampling.
    fn sample_numbers(&self, scores: &Scores<'_>) -> Option<Result<Vec<f64>>> {
        let conversion = self.mean_of()?;
        let spec = self.spec();
        Some(scores.finite(&spec.name, &conversion, <[f64]>::to_vec))
    }

    /// What kind of numbers it sees in these scores, if the interval of a group depends on what all scores are: it is then
    /// found in the [context](Scores::context) of the group's scores.
    fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
        let _ = scores;
        Ok(None)
    }

    /// The summary that its value is the mean of, with the errors of the plan, if it is one.
    fn summary(&self, scores: &Scores<'_>) -> Option<Arc<Summary>> {
        let _ = scores;
        None
    }
}

/// The arguments of a metric that holds another one, which records its own arguments in its own way.
pub(crate) fn params_with_inner(metric: &dyn Metric, argument: &str, inner: &dyn Metric) -> Metadata {
    let spec = inner.spec();
    let mut described = Metadata::new();
    described.insert("type".to_owned(), "metric".into());
    described.insert("name".to_owned(), spec.recorded_name().into());
    described.insert("params".to_owned(), inner.params().into());
    if let Some(seed) = spec.kwargs.get(SEED) {
        described.insert(SEED.to_owned(), seed.to_log_json(SEED));
    }
    let mut params = params_to_log(&metric.spec().kwargs);
    params.insert(argument.to_owned(), described.into());
    params
}

/// A metric from a name and a closure.
///
/// ```
/// use errorbar_core::{metric_fn, Scores};
/// let best = metric_fn("best", |scores: &Scores<'_>| {
///     Ok(scores.floats().into_iter().fold(f64::NEG_INFINITY, f64::max))
/// });
/// ```
pub fn metric_fn<F, V>(name: impl Into<String>, compute: F) -> FnMetric<F>
where
    F: Fn(&Scores<'_>) -> Result<V> + Send + Sync,
    V: Into<MetricValue>,
{
    FnMetric { name: name.into(), wants: Wants::Auto, keys: MetadataKeys::All, role: Role::Other, compute }
}

/// A metric made of a closure; see [`metric_fn`].
pub struct FnMetric<F> {
    name: String,
    wants: Wants,
    keys: MetadataKeys,
    role: Role,
    compute: F,
}

impl<F> FnMetric<F> {
    /// Sets what kind of figure the closure gives; other, if unset.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Sets which sample metadata the closure reads; all of it, if unset.
    #[must_use]
    pub fn keys(mut self, keys: MetadataKeys) -> Self {
        self.keys = keys;
        self
    }

    /// Sets which scores the closure wants.
    #[must_use]
    pub fn wants(mut self, wants: Wants) -> Self {
        self.wants = wants;
        self
    }
}

impl<F> fmt::Debug for FnMetric<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metric_fn({:?})", self.name)
    }
}

impl<F> ToSpec for FnMetric<F> {
    fn spec(&self) -> Spec {
        Spec::new(&self.name)
    }
}

impl<F, V> Metric for FnMetric<F>
where
    F: Fn(&Scores<'_>) -> Result<V> + Send + Sync,
    V: Into<MetricValue>,
{
    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        (self.compute)(scores).map(Into::into)
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn metadata_keys(&self) -> MetadataKeys {
        self.keys.clone()
    }

    fn role(&self) -> Role {
        self.role
    }
}

/// What a metric declares of itself with a value each, in place of the methods of these names: `role = Location`.
macro_rules! metric_flags {
    ($self:ident: $($flag:ident = $value:expr),+ $(,)?) => {
        $($crate::metric::metric_flags!(@$flag $self $value);)+
    };
    (@role $self:ident $value:expr) => {
        $crate::metric::metric_flags!(@method $self role() Role $value);
    };
    (@direction $self:ident $value:expr) => {
        $crate::metric::metric_flags!(@method $self direction() Direction $value);
    };
    (@wants $self:ident $value:expr) => {
        $crate::metric::metric_flags!(@method $self wants() Wants $value);
    };
    (@score_parts $self:ident $value:expr) => {
        $crate::metric::metric_flags!(@method $self score_parts() ScoreParts $value);
    };
    (@figure_names $self:ident $value:expr) => {
        $crate::metric::metric_flags!(@method $self figure_names() FigureNames $value);
    };
    (@method $self:ident $name:ident() $type:ident $value:expr) => {
        fn $name(&$self) -> $crate::$type {
            #[allow(unused_imports, reason = "a value may be computed")]
            use $crate::$type::*;
            $value
        }
    };
    (@metadata_keys $self:ident $value:expr) => {
        fn metadata_keys(&$self) -> $crate::MetadataKeys {
            $value
        }
    };
    (@raters $self:ident $value:expr) => {
        fn raters(&$self) -> $crate::Raters {
            $value
        }
    };
    (@resample_cost $self:ident $value:expr) => {
        fn resample_cost(&$self) -> u64 {
            $value
        }
    };
    (@depends_on_ids $self:ident $value:expr) => {
        fn depends_on_ids(&$self, _: bool) -> bool {
            $value
        }
    };
    (@$flag:ident $self:ident $value:expr) => {
        fn $flag(&$self) -> bool {
            $value
        }
    };
}

pub(crate) use metric_flags;

/// Methods that call those of the same names: of the expression, of `self`.
macro_rules! forward_methods {
    ($self:ident => $inner:expr; $($name:ident($($arg:ident: $type:ty),*) -> $value:ty;)+) => {
        $(fn $name(&$self $(, $arg: $type)*) -> $value {
            $inner.$name($($arg),*)
        })+
    };
}

pub(crate) use forward_methods;

/// The methods of a metric that does what another one does: the expression, of `self`.
macro_rules! forward_metric {
    ($self:ident => $inner:expr) => {
        $crate::metric::forward_methods! { $self => $inner;
            compute(scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue>;
            params() -> $crate::Metadata;
            wants() -> $crate::Wants;
            needs_epochs() -> bool;
            metadata_keys() -> $crate::MetadataKeys;
            score_parts() -> $crate::ScoreParts;
            reads_labels() -> bool;
            role() -> $crate::Role;
            direction() -> $crate::Direction;
            subject() -> Option<$crate::Subject>;
            mean_of() -> Option<$crate::Conversion>;
            is_plain_mean() -> bool;
            cluster() -> Option<&str>;
            raters() -> $crate::Raters;
            inner() -> Option<&dyn $crate::Metric>;
            group_key() -> Option<&str>;
            required_keys() -> Vec<$crate::RequiredKey>;
            figure_names() -> $crate::FigureNames;
            depends_on_ids(is_resampled: bool) -> bool;
            resample_cost() -> u64;
            sample_numbers(scores: &$crate::Scores<'_>) -> Option<$crate::Result<Vec<f64>>>;
            score_kind(scores: &$crate::Scores<'_>) -> $crate::Result<Option<$crate::ScoreKind>>;
            summary(scores: &$crate::Scores<'_>) -> Option<std::sync::Arc<$crate::Summary>>;
        }
    };
}

pub(crate) use forward_metric;

impl ToSpec for Arc<dyn Metric> {
    fn spec(&self) -> Spec {
        self.as_ref().spec()
    }
}

impl Metric for Arc<dyn Metric> {
    forward_metric!(self => self.as_ref());
}

// Lists of metrics: those of a scorer or a task.

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
