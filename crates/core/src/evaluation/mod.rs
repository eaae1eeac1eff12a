//! What comes out: estimates, for each scorer and reducer.

mod figure_path;
mod headline;
mod reduction;
mod rows;
mod value;
mod warning;

pub use figure_path::{FigurePath, unknown};
pub use headline::NoHeadline;
pub(crate) use reduction::ReducedSamples;
pub use reduction::Reduction;
pub use rows::{EstimateRow, Scope};
pub use value::{AggregateBasis, Group, GroupAggregate, Groups, MetricValue};
pub use warning::{Failure, Warning};

use indexmap::IndexMap;

use crate::error::Error;
use crate::error_plan::ErrorPlan;
use crate::estimate::{Estimate, Undefined};
use crate::metadata::Metadata;
use crate::plan::HeadlineRequest;
use crate::spec::{Spec, nearest};
use crate::value::Conversion;

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
