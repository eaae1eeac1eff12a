//! What a metric is.
//!
//! ```text
//!            ┌──────────── compute(&Scores) ────────────┐
//!  Scores ───┤                                          ├──▶ MetricValue
//!            └─▶ state ─ update ─ update ─ merge ─ finish ┘
//! ```
//!
//! A metric whose state is small also hands out that state: shards update one each, merge them
//! and finish, and any split gives the bits of the whole. The built-in ones with a state have no
//! other way to compute, so the two paths cannot drift apart.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::score::Metadata;
use crate::scores::Scores;
use crate::spec::{SEED, Spec, params_to_log};

/// One number with what must be known about it.
///
/// ```
/// use errorbar_core::Figure;
/// let error = Figure::undefined(0.0, "n < 2");
/// assert_eq!(error.undefined_reason(), Some("n < 2"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The number, as logs record it.
    pub value: f64,
    /// Machine-readable notes: `undefined`, `seed`, `clusters`, `df`, …
    pub notes: Metadata,
}

impl Figure {
    /// A number without notes.
    pub fn new(value: f64) -> Self {
        Figure { value, notes: Metadata::new() }
    }

    /// A number that logs record, but that means "unknown", with the reason.
    pub fn undefined(value: f64, reason: &str) -> Self {
        Figure::new(value).note("undefined", reason)
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.notes.insert(key.to_owned(), value.into());
        self
    }

    /// Adds a note if there is something to note.
    #[must_use]
    pub fn note_some(self, key: &str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.note(key, value),
            None => self,
        }
    }

    /// Why the number means "unknown", if it does.
    pub fn undefined_reason(&self) -> Option<&str> {
        self.notes.get("undefined").and_then(Json::as_str)
    }
}

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        Figure::new(value)
    }
}

/// What a metric returns: a number, a map of numbers, or a list of numbers.
///
/// ```
/// use errorbar_core::{IndexMap, MetricValue};
/// assert_eq!(MetricValue::from(0.5).number(), Some(0.5));
/// let bounds = MetricValue::from(IndexMap::from([("low".to_owned(), 0.2), ("high".to_owned(), 0.8)]));
/// assert_eq!(bounds.get("high"), Some(0.8));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// One number.
    Number(Figure),
    /// Several, by name; a missing one is left out of the results.
    Map(IndexMap<String, Option<Figure>>),
    /// Several, by position; a missing one is left out and the others keep their position.
    List(Vec<Option<Figure>>),
}

impl MetricValue {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            MetricValue::Number(figure) => Some(figure.value),
            _ => None,
        }
    }

    /// The number under a key, if it is a map that has it.
    pub fn get(&self, key: &str) -> Option<f64> {
        match self {
            MetricValue::Map(map) => map.get(key)?.as_ref().map(|f| f.value),
            _ => None,
        }
    }

    /// Adds a note to every figure.
    #[must_use]
    pub fn note(self, key: &str, value: impl Into<Json>) -> Self {
        let value = value.into();
        let noted = |figure: Option<Figure>| figure.map(|figure| figure.note(key, value.clone()));
        match self {
            MetricValue::Number(figure) => MetricValue::Number(figure.note(key, value)),
            MetricValue::Map(map) => MetricValue::Map(map.into_iter().map(|(k, f)| (k, noted(f))).collect()),
            MetricValue::List(list) => MetricValue::List(list.into_iter().map(noted).collect()),
        }
    }

    pub(crate) fn interval(lower: f64, upper: f64, note: impl Fn(Figure) -> Figure) -> Self {
        let figure = |value| Some(note(Figure::new(value)));
        MetricValue::Map(IndexMap::from([
            ("lower".to_owned(), figure(lower)),
            ("upper".to_owned(), figure(upper)),
        ]))
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        MetricValue::Number(Figure::new(value))
    }
}
impl From<i64> for MetricValue {
    fn from(value: i64) -> Self {
        MetricValue::from(value as f64)
    }
}
impl From<usize> for MetricValue {
    fn from(value: usize) -> Self {
        MetricValue::from(value as f64)
    }
}
impl From<Figure> for MetricValue {
    fn from(figure: Figure) -> Self {
        MetricValue::Number(figure)
    }
}
impl From<IndexMap<String, f64>> for MetricValue {
    fn from(map: IndexMap<String, f64>) -> Self {
        MetricValue::Map(map.into_iter().map(|(k, v)| (k, Some(v.into()))).collect())
    }
}
impl From<IndexMap<String, Option<f64>>> for MetricValue {
    fn from(map: IndexMap<String, Option<f64>>) -> Self {
        MetricValue::Map(map.into_iter().map(|(k, v)| (k, v.map(Figure::new))).collect())
    }
}
impl From<Vec<f64>> for MetricValue {
    fn from(list: Vec<f64>) -> Self {
        MetricValue::List(list.into_iter().map(|v| Some(v.into())).collect())
    }
}
impl From<Vec<Option<f64>>> for MetricValue {
    fn from(list: Vec<Option<f64>>) -> Self {
        MetricValue::List(list.into_iter().map(|v| v.map(Figure::new)).collect())
    }
}

/// Which scores a metric wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wants {
    /// Reduced scores, unless reduction is disabled.
    #[default]
    Auto,
    /// One score per sample; an error if reduction is disabled and samples repeat.
    Reduced,
    /// Every epoch; reducers do not matter.
    Unreduced,
}

/// The sample metadata keys that a metric needs, so that readers fetch no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataKeys {
    /// These.
    Only(Vec<String>),
    /// Whatever there is.
    All,
}

impl MetadataKeys {
    /// No key at all.
    pub const NONE: MetadataKeys = MetadataKeys::Only(Vec::new());

    /// One key.
    pub fn one(key: impl Into<String>) -> Self {
        MetadataKeys::Only(vec![key.into()])
    }

    /// The keys of both.
    #[must_use]
    pub fn and(self, other: MetadataKeys) -> Self {
        match (self, other) {
            (MetadataKeys::Only(mut keys), MetadataKeys::Only(more)) => {
                for key in more {
                    if !keys.contains(&key) {
                        keys.push(key);
                    }
                }
                MetadataKeys::Only(keys)
            }
            _ => MetadataKeys::All,
        }
    }

    /// Whether a key is among them.
    pub fn contains(&self, key: &str) -> bool {
        match self {
            MetadataKeys::All => true,
            MetadataKeys::Only(keys) => keys.iter().any(|k| k == key),
        }
    }
}

/// The parts of a score that a metric reads, so that readers of logs hold no others: answers and explanations may be
/// long. Each has those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreParts {
    /// The value, and the reason of one that is unscored.
    Value,
    /// Its metadata too.
    Metadata,
    /// Everything: answer, explanation and history too.
    All,
}

/// Something computed over scores.
///
/// Implement it, write a function with `#[metric]`, or use [`metric_fn`] on a closure.
///
/// ```
/// use errorbar_core::{MetadataKeys, Metric, MetricValue, Result, Scores, Spec, Wants};
///
/// /// The share of samples whose `source` is trusted and whose score is at least one half.
/// #[derive(Debug)]
/// struct TrustedShare;
///
/// impl Metric for TrustedShare {
///     fn spec(&self) -> Spec {
///         Spec::new("trusted_share")
///     }
///
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
pub trait Metric: fmt::Debug + Send + Sync {
    /// The name and the arguments that were passed, as logs record them.
    fn spec(&self) -> Spec;

    /// The value over these scores. Must not depend on their order.
    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue>;

    /// The arguments as results and logs record them: all that were passed, unless said otherwise.
    fn params(&self) -> Metadata {
        params_to_log(&self.spec().kwargs)
    }

    /// Which scores the metric wants.
    fn wants(&self) -> Wants {
        Wants::Auto
    }

    /// Which sample metadata the metric reads; all of it, unless said otherwise.
    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::All
    }

    /// Which parts of the scores the metric reads; all of them, unless overridden.
    fn score_parts(&self) -> ScoreParts {
        ScoreParts::All
    }

    /// The metric that gives the standard error of this one, if there is one.
    fn standard_error(&self) -> Option<Arc<dyn Metric>> {
        None
    }

    /// An empty state, if the metric can be computed piece by piece.
    fn state(&self) -> Option<Box<dyn MetricState>> {
        None
    }
}

/// The arguments of a metric that holds another one, which records its own arguments in its own way.
pub(crate) fn params_with_inner(metric: &dyn Metric, argument: &str, inner: &dyn Metric) -> Metadata {
    let spec = inner.spec();
    let mut described = Metadata::new();
    described.insert("type".to_owned(), "metric".into());
    described.insert("name".to_owned(), spec.log_name().into());
    described.insert("params".to_owned(), inner.params().into());
    if let Some(seed) = spec.kwargs.get(SEED) {
        described.insert(SEED.to_owned(), seed.to_log_json(SEED));
    }
    let mut params = params_to_log(&metric.spec().kwargs);
    params.insert(argument.to_owned(), described.into());
    params
}

/// The state of a metric over the scores seen so far.
///
/// ```
/// use errorbar_core::metrics::mean;
/// use errorbar_core::{Metric, Score, ScoreColumns, ScoreSet};
///
/// // Two shards, one mean: the bits are those of the whole.
/// let mut merged = mean().state().ok_or("a state")?;
/// for shard in [[0.1, 0.2], [0.3, 0.4]] {
///     let mut columns = ScoreColumns::new(["s"]);
///     for (id, score) in shard.into_iter().enumerate() {
///         columns.push(id.to_string(), 1).score("s", Score::new(score))?;
///     }
///     let mut state = mean().state().ok_or("a state")?;
///     state.update(&ScoreSet::unreduced(&columns, "s")?.scores())?;
///     merged.merge(state)?;
/// }
/// assert_eq!(merged.finish()?.number(), Some(0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait MetricState: fmt::Debug + Send + Any {
    /// Takes in more scores.
    fn update(&mut self, scores: &Scores<'_>) -> Result<()>;

    /// Takes in all that another state of the same metric has seen.
    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()>;

    /// The value over everything seen.
    fn finish(&self) -> Result<MetricValue>;
}

/// Computes a metric through its state: the one path of every built-in that has a state.
pub(crate) fn compute_by_state(mut state: impl MetricState, scores: &Scores<'_>) -> Result<MetricValue> {
    state.update(scores)?;
    state.finish()
}

/// The other state as one's own type, or an error that says what happened.
pub(crate) fn same_state<S: MetricState>(other: Box<dyn MetricState>) -> Result<S> {
    let any: Box<dyn Any> = other;
    any.downcast::<S>().map(|state| *state).map_err(|_| {
        Error::custom(format!(
            "only states of the same metric can be merged into {}",
            std::any::type_name::<S>()
        ))
    })
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
    FnMetric { name: name.into(), wants: Wants::Auto, keys: MetadataKeys::All, compute }
}

/// A metric made of a closure; see [`metric_fn`].
pub struct FnMetric<F> {
    name: String,
    wants: Wants,
    keys: MetadataKeys,
    compute: F,
}

impl<F> FnMetric<F> {
    /// Says which sample metadata the closure reads; all of it, if not said.
    #[must_use]
    pub fn keys(mut self, keys: MetadataKeys) -> Self {
        self.keys = keys;
        self
    }

    /// Says which scores the closure wants.
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

impl<F, V> Metric for FnMetric<F>
where
    F: Fn(&Scores<'_>) -> Result<V> + Send + Sync,
    V: Into<MetricValue>,
{
    fn spec(&self) -> Spec {
        Spec::new(&self.name)
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        (self.compute)(scores).map(Into::into)
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn metadata_keys(&self) -> MetadataKeys {
        self.keys.clone()
    }
}

impl Metric for Arc<dyn Metric> {
    fn spec(&self) -> Spec {
        self.as_ref().spec()
    }
    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.as_ref().compute(scores)
    }
    fn wants(&self) -> Wants {
        self.as_ref().wants()
    }
    fn params(&self) -> Metadata {
        self.as_ref().params()
    }
    fn metadata_keys(&self) -> MetadataKeys {
        self.as_ref().metadata_keys()
    }
    fn score_parts(&self) -> ScoreParts {
        self.as_ref().score_parts()
    }
    fn standard_error(&self) -> Option<Arc<dyn Metric>> {
        self.as_ref().standard_error()
    }
    fn state(&self) -> Option<Box<dyn MetricState>> {
        self.as_ref().state()
    }
}
