//! What comes out: estimates, for each scorer and reducer.

mod rows;

use std::fmt;

use indexmap::IndexMap;
pub use rows::{EstimateRow, FigurePath, NoHeadline, Scope, unknown};
use serde::{Serialize, Serializer};

use crate::columns::{ScoreColumns, ScoreDetails, ValueColumn};
use crate::error::Error;
use crate::error_plan::ErrorPlan;
use crate::estimate::{Estimate, Undefined};
use crate::metadata::Metadata;
use crate::plan::HeadlineRequest;
use crate::score::{SampleId, Score};
use crate::spec::{Spec, nearest};
use crate::value::{Conversion, Value};

/// The most metadata keys that an error names.
const KEYS_LISTED: usize = 12;

/// What a plan gives over scores.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The estimates.
    pub results: Results,
    /// One score per sample, for each scorer and reducer.
    pub reductions: Vec<Reduction>,
}

/// The estimates of an evaluation. Owns neither columns nor ids.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Results {
    /// Samples times epochs.
    pub total_samples: usize,
    /// Those of them without an error.
    pub completed_samples: usize,
    /// Which figure the plan wants first; the first one if unset.
    pub headline: Option<HeadlineRequest>,
    /// One for each scorer, reducer and, for metrics by key of map-valued scores, key.
    pub scores: Vec<ScoreResult>,
    /// What a reader of the numbers should know.
    pub warnings: Vec<Warning>,
    /// How errors and intervals were requested.
    pub errors: ErrorPlan,
}

/// The metrics of one scorer under one reducer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScoreResult {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// Whether the metrics saw every epoch by itself.
    pub unreduced: bool,
    /// Whether a score that the metrics saw has the expectation of one epoch: epochs are not reduced, or by their mean.
    pub keeps_expectation: bool,
    /// Whether the scorer compares the option that was picked among several with the right one.
    pub picks_option: bool,
    /// The key of map-valued scores, for metrics by key.
    pub field: Option<String>,
    /// How many scores there are, and what became of the others.
    pub counts: Counts,
    /// The metadata keys that errors of the plan are clustered by: its own, or that of the first clustered metric.
    pub cluster: Vec<String>,
    /// The scorer's arguments.
    pub params: Metadata,
    /// The metrics, in order.
    pub metrics: Vec<MetricResult>,
    /// Metrics that failed, and why. The others stand.
    pub failures: Vec<Failure>,
}

impl ScoreResult {
    /// The key of map-valued scores, else the scorer.
    pub fn name(&self) -> &str {
        self.field.as_deref().unwrap_or(&self.scorer)
    }
}

/// How many scores there are, and what became of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Scores that the metrics saw.
    pub scored: usize,
    /// Scores that are unscored.
    pub unscored: usize,
    /// Samples that have no entry for the scorer.
    pub missing: usize,
    /// Samples times epochs of the evaluation that errored.
    pub errored: usize,
    /// The largest number of epochs that a sample has, K.
    pub epochs: usize,
    /// How many samples have how many scored epochs, as pairs of epochs and samples, ascending; empty if all have the
    /// same number. Samples without any do not count.
    pub samples_by_epochs: Vec<(usize, usize)>,
    /// Samples times epochs whose score is unscored, before reduction.
    pub unscored_epochs: usize,
    /// Samples times epochs that have no entry for the scorer, before reduction.
    pub missing_epochs: usize,
    /// Values that have no meaning as a number and count as 0.
    pub unconvertible: usize,
    /// Samples times epochs whose score has a reason (`invalid_response_format`, `refusal`, …), by reason.
    pub reasons: IndexMap<String, usize>,
}

/// A metric and its value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MetricResult {
    /// The metric with its arguments.
    pub spec: Spec,
    /// The arguments as logs record them.
    pub params: Metadata,
    /// The name of the innermost metric: `accuracy` for accuracy by group.
    pub metric: String,
    /// The innermost metric with its arguments.
    pub inner: Spec,
    /// The metadata key that the metric itself clusters samples by.
    pub cluster: Option<String>,
    /// What kind of figure it is.
    pub role: Role,
    /// Which numbers it is about, where that is known.
    pub subject: Option<Subject>,
    /// Whether it is the mean of the scores as they are.
    pub is_plain_mean: bool,
    /// The value.
    pub value: MetricValue,
}

impl MetricResult {
    /// A metric of this name with its value; without arguments, and about nothing that is known.
    ///
    /// ```
    /// use errorbar_core::{MetricResult, MetricValue, Role};
    /// use errorbar_core::{Estimate, Spec};
    ///
    /// let mean = Estimate::new(0.8).with_stderr(0.05).with_n(60);
    /// let result = MetricResult::new(Spec::new("mean"), Role::Location, MetricValue::from(mean));
    /// assert_eq!(result.metric, "mean");
    /// ```
    pub fn new(spec: Spec, role: Role, value: MetricValue) -> Self {
        let (metric, inner) = (spec.name.clone(), spec.innermost().clone());
        let (params, cluster, subject) = (Metadata::new(), None, None);
        MetricResult { spec, params, metric, inner, cluster, role, subject, is_plain_mean: false, value }
    }
}

/// What kind of figure a metric gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// It lies among the scores: a mean.
    Location,
    /// A share of the scores.
    Share,
    /// How far scores lie apart.
    Spread,
    /// The standard error of a location over the same numbers.
    ErrorOf,
    /// The interval of a location over the same numbers.
    IntervalOf,
    /// Anything else.
    #[default]
    Other,
}

impl Role {
    /// The number that the reference has for an estimate: its zeros for errors and spreads of too few scores, not a
    /// number for anything else that is undefined.
    pub fn recorded(self, estimate: &Estimate) -> f64 {
        match &estimate.value {
            Ok(value) => *value,
            Err(Undefined::Overflow) => f64::INFINITY,
            Err(
                Undefined::NoScores
                | Undefined::TooFewScores { .. }
                | Undefined::TooFewClusters { .. }
                | Undefined::NoSpread { .. },
            ) => 0.0,
            // One resample has no spread.
            Err(Undefined::Other(_)) if self == Role::ErrorOf => 0.0,
            Err(_) => f64::NAN,
        }
    }
}

/// Which way the figures of a metric are better, so that a difference can be called better or worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// The higher, the better: scores.
    Higher,
    /// The lower, the better: losses, errors of calibration, perplexity.
    Lower,
    /// Neither is better: a spread, a number of samples, the share of a label.
    #[default]
    Neither,
}

impl Direction {
    /// The name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::Neither => "neither",
        }
    }
}

/// Which numbers a metric is about.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Subject {
    /// The field of map-valued scores.
    pub field: Option<String>,
    /// How values are read, the outermost first.
    pub conversions: Vec<Conversion>,
    /// How fields that are absent are read.
    pub on_missing: Option<String>,
}

impl Results {
    /// Names the metadata keys that there are, in errors about one that there is not: a reader that fetched only what the
    /// plan needs knows no others.
    pub fn name_metadata_keys<'k>(&mut self, keys: impl Iterator<Item = &'k str> + Clone) {
        for failure in self.scores.iter_mut().flat_map(|score| &mut score.failures) {
            failure.error.name_metadata_keys(keys.clone());
        }
    }
}

impl Error {
    /// Names these metadata keys, if it is about one that is missing: there are more than were read.
    pub fn name_metadata_keys<'k>(&mut self, keys: impl Iterator<Item = &'k str>) {
        let listed = || keys.take(KEYS_LISTED).map(str::to_owned).collect();
        match self {
            Error::MissingKey { known, .. } | Error::MissingConfidence { known, .. } => *known = listed(),
            Error::UnknownRater { name, nearest: near, keys, .. } => {
                *keys = listed();
                let found = || nearest(name, keys.iter().map(String::as_str)).map(str::to_owned);
                *near = near.take().or_else(found);
            }
            _ => {}
        }
    }
}

/// What a metric returns: an estimate, several by name or by position, or one for each group of samples.
///
/// ```
/// use errorbar_core::{Estimate, IndexMap, MetricValue};
/// assert_eq!(MetricValue::from(0.5).number(), Some(0.5));
/// let ends = MetricValue::from(IndexMap::from([("low".to_owned(), 0.2), ("high".to_owned(), 0.8)]));
/// assert_eq!(ends.get("high").and_then(Estimate::number), Some(0.8));
/// ```
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every value is one estimate, and a box for each would cost more"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// One estimate.
    One(Estimate),
    /// Several, by name; a missing one is left out of the results.
    Map(IndexMap<String, Option<Estimate>>),
    /// Several, by position; a missing one is left out and the others keep their position.
    List(Vec<Option<Estimate>>),
    /// One for each group of samples.
    Groups(Groups),
}

/// A metric for each value of a metadata key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Groups {
    /// The metadata key.
    pub key: String,
    /// The groups, in order of first appearance; those without a score too.
    pub groups: Vec<Group>,
    /// The aggregate beside them.
    pub all: Option<GroupAggregate>,
}

impl Groups {
    /// The groups of a metadata key, without an aggregate.
    pub fn new(key: impl Into<String>, groups: Vec<Group>) -> Self {
        Groups { key: key.into(), groups, all: None }
    }

    /// Adds the aggregate.
    #[must_use]
    pub fn with_all(
        mut self,
        label: impl Into<String>,
        over: AggregateBasis,
        value: impl Into<MetricValue>,
    ) -> Self {
        self.all = Some(GroupAggregate { label: label.into(), over, value: Box::new(value.into()) });
        self
    }
}

/// A metric over one group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The value of the metadata key as Python writes it: which group it is.
    pub name: String,
    /// The name that results show.
    pub label: String,
    /// The number of scores in it.
    pub n: u64,
    /// The value.
    pub value: MetricValue,
}

impl Group {
    /// A group that results show by its name.
    pub fn new(name: impl Into<String>, n: u64, value: impl Into<MetricValue>) -> Self {
        let name = name.into();
        Group { label: name.clone(), name, n, value: value.into() }
    }
}

/// The aggregate beside groups.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupAggregate {
    /// The name that results show.
    pub label: String,
    /// What it is taken over.
    pub over: AggregateBasis,
    /// The value.
    pub value: Box<MetricValue>,
}

/// What an aggregate is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AggregateBasis {
    /// All samples: the metric itself.
    Samples,
    /// The groups: the plain mean of their values.
    Groups,
}

impl MetricValue {
    /// The estimate, if it is one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            MetricValue::One(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// The estimate itself; undefined if it is not one.
    pub(crate) fn into_estimate(self) -> Estimate {
        match self {
            MetricValue::One(estimate) => estimate,
            _ => Estimate::undefined(Undefined::NoScores),
        }
    }

    /// The number, if it is one and it is defined.
    pub fn number(&self) -> Option<f64> {
        self.estimate().and_then(Estimate::number)
    }

    /// The estimate under a key of a map, or of the group of that label.
    pub fn get(&self, key: &str) -> Option<&Estimate> {
        match self {
            MetricValue::Map(map) => map.get(key)?.as_ref(),
            MetricValue::Groups(groups) => {
                let all = groups.all.as_ref().filter(|all| all.label == key).map(|all| all.value.as_ref());
                let group = groups.groups.iter().find(|group| group.label == key).map(|group| &group.value);
                group.or(all)?.estimate()
            }
            MetricValue::One(_) | MetricValue::List(_) => None,
        }
    }

    /// Every estimate changed.
    #[must_use]
    pub fn map(self, mut change: impl FnMut(Estimate) -> Estimate) -> Self {
        self.map_each(&mut change)
    }

    fn map_each(self, change: &mut dyn FnMut(Estimate) -> Estimate) -> Self {
        match self {
            MetricValue::One(estimate) => MetricValue::One(change(estimate)),
            MetricValue::Map(map) => {
                MetricValue::Map(map.into_iter().map(|(key, e)| (key, e.map(&mut *change))).collect())
            }
            MetricValue::List(list) => {
                MetricValue::List(list.into_iter().map(|e| e.map(&mut *change)).collect())
            }
            MetricValue::Groups(Groups { key, groups, all }) => MetricValue::Groups(Groups {
                key,
                groups: groups
                    .into_iter()
                    .map(|group| Group { value: group.value.map_each(change), ..group })
                    .collect(),
                all: all.map(|all| GroupAggregate { value: Box::new(all.value.map_each(change)), ..all }),
            }),
        }
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        MetricValue::One(Estimate::new(value))
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
impl From<Estimate> for MetricValue {
    fn from(estimate: Estimate) -> Self {
        MetricValue::One(estimate)
    }
}
impl From<Groups> for MetricValue {
    fn from(groups: Groups) -> Self {
        MetricValue::Groups(groups)
    }
}
impl<E: Into<Estimate>> From<IndexMap<String, E>> for MetricValue {
    fn from(map: IndexMap<String, E>) -> Self {
        MetricValue::Map(map.into_iter().map(|(key, value)| (key, Some(value.into()))).collect())
    }
}
impl<E: Into<Estimate>> From<IndexMap<String, Option<E>>> for MetricValue {
    fn from(map: IndexMap<String, Option<E>>) -> Self {
        MetricValue::Map(map.into_iter().map(|(key, value)| (key, value.map(Into::into))).collect())
    }
}
impl<E: Into<Estimate>> From<Vec<E>> for MetricValue {
    fn from(list: Vec<E>) -> Self {
        MetricValue::List(list.into_iter().map(|value| Some(value.into())).collect())
    }
}
impl<E: Into<Estimate>> From<Vec<Option<E>>> for MetricValue {
    fn from(list: Vec<Option<E>>) -> Self {
        MetricValue::List(list.into_iter().map(|value| value.map(Into::into)).collect())
    }
}

/// A metric that could not be computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// The metric's name.
    pub metric: String,
    /// Why.
    #[serde(serialize_with = "as_text")]
    pub error: Error,
}

fn as_text<S: Serializer>(text: &impl fmt::Display, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(text)
}

/// What a reader of the numbers should know.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Values that have no meaning as a number were counted as 0.
    #[error(
        "{count} value(s) of `{scorer}`{} have no meaning as a number and count as 0 (sample {sample:?}: {example}); {}",
        key.as_ref().map(|key| format!(" under the key {key:?}")).unwrap_or_default(),
        advice(reducer.as_deref(), example)
    )]
    Unconvertible {
        /// The scorer.
        scorer: String,
        /// The key of map-valued scores, for metrics by key.
        key: Option<String>,
        /// The reducer that met them, if it was not a metric.
        reducer: Option<String>,
        /// How many values.
        count: usize,
        /// The sample that one of them belongs to.
        sample: String,
        /// That value.
        example: String,
    },
    /// A pattern of metrics by key matches no key.
    #[error("the pattern {pattern:?} matches no key of the scores by `{scorer}`; there are: {}", keys.join(", "))]
    NoMatch {
        /// The scorer.
        scorer: String,
        /// The pattern.
        pattern: String,
        /// The keys that there are.
        keys: Vec<String>,
    },
    /// A key that the first map-valued score lacks gets no metrics.
    #[error(
        "the key {key:?} of the scores by `{scorer}` (sample {sample:?}) gets no metrics: the keys of the first \
         map-valued score count; give it to every sample, NaN where there is no value"
    )]
    LateKey {
        /// The scorer.
        scorer: String,
        /// The key.
        key: String,
        /// The first sample that has it.
        sample: String,
    },
    /// Samples have different numbers of scored epochs, under a reducer whose value depends on it.
    #[error(
        "samples have {fewest} to {most} scored epochs of `{scorer}`, and what {reducer} gives depends on that number, so \
         that they cannot be compared; pass_at(k), g_pass(k, j) and best_of(k) do not depend on it"
    )]
    UnequalEpochs {
        /// The scorer.
        scorer: String,
        /// The reducer.
        reducer: String,
        /// The smallest number of scored epochs that a sample has.
        fewest: usize,
        /// The largest.
        most: usize,
    },
    /// No figure matches the requested headline; the first one takes its place.
    #[error("no figure matches the requested headline ({wanted}); the first figure takes its place")]
    NoHeadline {
        /// The requested headline.
        wanted: String,
    },
}

/// What to do about values of scores without a meaning as a number.
fn advice(reducer: Option<&str>, example: &str) -> String {
    let nested = example.starts_with("a map") || example.starts_with("a list");
    match reducer {
        // Reducers read lists and maps value by value, so what they met is within.
        None if nested => {
            "lists and maps are no numbers: give metrics by key, as in {\"*\": [mean(), stderr()]}, \
                           or a metric over lists"
                .to_owned()
        }
        Some(reducer) => format!(
            "the reducer {reducer} reads them before any metric does: define what they mean with \
             {reducer}(value_to_float=value_to_float(correct=…, incorrect=…)), or do not reduce"
        ),
        None => "define what they mean with to_float=value_to_float(correct=…, incorrect=…)".to_owned(),
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        as_text(self, serializer)
    }
}

/// The reduced scores of one scorer under one reducer.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean.
    pub reducer: Option<String>,
    /// The row of the columns that each sample is known by; none if they are the same.
    pub(crate) rows: Option<Vec<u32>>,
    pub(crate) values: ValueColumn,
    pub(crate) details: ScoreDetails,
}

impl Reduction {
    /// The number of samples.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sample id and reduced score, in order; `columns` are those that were reduced.
    pub fn iter<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> impl Iterator<Item = (SampleId, Score)> + use<'a> {
        (0..self.len()).map(self.sample(columns))
    }

    /// The same in the order of [`SampleId::sort_key`].
    pub fn iter_by_key<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> impl Iterator<Item = (SampleId, Score)> + use<'a> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_cached_key(|at| columns.sample_id(self.row(*at)).sort_key());
        order.into_iter().map(self.sample(columns))
    }

    fn row(&self, at: usize) -> usize {
        self.rows.as_ref().and_then(|rows| rows.get(at)).map_or(at, |row| *row as usize)
    }

    /// The samples among columns in another order, in which each row was one of these.
    pub(crate) fn map_rows(&mut self, row_of: &[u32]) {
        let row = |at: usize| row_of.get(self.row(at)).copied().unwrap_or(u32::MAX);
        self.rows = Some((0..self.len()).map(row).collect());
        self.details.map_panel_rows(row_of);
    }

    fn sample<'a>(&'a self, columns: &'a ScoreColumns) -> impl Fn(usize) -> (SampleId, Score) + use<'a> {
        let voters = columns.scorer(&self.scorer);
        move |at| {
            let value = self.values.to_value(at).unwrap_or(Value::Unscored);
            let score = self.details.to_detail(at, voters).with_value(value);
            (columns.sample_id(self.row(at)), score)
        }
    }
}
