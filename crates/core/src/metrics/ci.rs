//! `ci`: a confidence interval for the mean.

use std::sync::Arc;

use super::bootstrap_stderr::{checked_num_samples, num_samples_arg, params_without_seed};
use super::level::{checked, level_arg};
use super::stderr::errors_of;
use super::summary::{SummaryPart, SummaryState, subject};
use super::takes_conversion;
use crate::args::{ArgProblem, ArgType, passed, spec_of};
use crate::error::Result;
use crate::estimate::{Draws, Estimate, Estimation, Interval, IntervalMethod, Maybe, Summary, Undefined};
use crate::evaluation::{MetricValue, Role, Subject};
use crate::metadata::Metadata;
use crate::metric::{MetadataKeys, Metric, MetricState, ScoreParts, compute_by_state};
use crate::registry::{MetricEntry, Param, Registry};
use crate::scores::Scores;
use crate::spec::{Arg, Spec};
use crate::stats::{clustered_resampled_means, quantile_linear, resampled_means, t_quantile};
use crate::value::Conversion;

/// How an interval is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CiMethod {
    /// x̄ ± t·se.
    #[default]
    T,
    /// Percentiles of resampled means.
    Bootstrap,
}

impl ArgType for CiMethod {
    const EXPECTED: &'static str = "\"t\" or \"bootstrap\"";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        match arg.as_str() {
            Some("t") => Ok(CiMethod::T),
            Some("bootstrap") => Ok(CiMethod::Bootstrap),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        Arg::Str(if *self == CiMethod::T { "t" } else { "bootstrap" }.to_owned())
    }
}

/// A confidence interval for the mean: `lower` and `upper`.
#[derive(Clone, Debug, Default)]
pub struct Ci {
    level: Option<f64>,
    method: Option<CiMethod>,
    num_samples: Option<usize>,
    to_float: Option<Conversion>,
    cluster: Option<String>,
    seed: Option<u64>,
}

/// A confidence interval for the mean: `lower` and `upper`.
pub fn ci() -> Ci {
    Ci::default()
}

impl Ci {
    takes_conversion!();

    /// The confidence level; 0.95 if not said.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = Some(level);
        self
    }

    /// How the interval is made; by t if not said.
    #[must_use]
    pub fn method(mut self, method: CiMethod) -> Self {
        self.method = Some(method);
        self
    }

    /// How many resamples the bootstrap draws; 1,000 if not said.
    #[must_use]
    pub fn num_samples(mut self, num_samples: usize) -> Self {
        self.num_samples = Some(num_samples);
        self
    }

    /// Clusters the samples by a metadata key.
    #[must_use]
    pub fn cluster(mut self, key: impl Into<String>) -> Self {
        self.cluster = Some(key.into());
        self
    }

    /// The seed, if it shall differ from the plan's. Specs have signed integers, so 63 bits of it count.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed & i64::MAX.cast_unsigned());
        self
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "ci",
    doc: "Confidence interval for the mean (lower, upper), by t or by percentile bootstrap.",
    params: &[
        Param::optional("level", "0.95"),
        Param::optional("method", "\"t\""),
        Param::optional("num_samples", "1000"),
        Param::optional("to_float", "value_to_float()"),
        Param::optional("cluster", "None"),
        Param::optional("seed", "None"),
    ],
    build: |args| {
        Ok(Arc::new(Ci {
            level: level_arg(args)?,
            method: args.get("method")?,
            num_samples: num_samples_arg(args)?,
            to_float: args.get("to_float")?,
            cluster: args.get("cluster")?,
            seed: args.get("seed")?,
        }))
    },
    replaces: false,
};

impl Metric for Ci {
    fn spec(&self) -> Spec {
        spec_of(
            "ci",
            [
                ("level", passed(&self.level)),
                ("method", passed(&self.method)),
                ("num_samples", passed(&self.num_samples)),
                ("to_float", passed(&self.to_float)),
                ("cluster", passed(&self.cluster)),
                ("seed", passed(&self.seed)),
            ],
        )
    }

    fn params(&self) -> Metadata {
        params_without_seed(self)
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::Only(self.cluster.iter().cloned().collect())
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn role(&self) -> Role {
        Role::IntervalOf
    }

    fn subject(&self) -> Option<Subject> {
        Some(subject(self.conversion()))
    }

    fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let level = checked("ci", self.level)?;
        match self.method.unwrap_or_default() {
            CiMethod::T => compute_by_state(self.new_state(level, scores.estimation()), scores),
            CiMethod::Bootstrap => self.bootstrap(level, scores),
        }
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        let level = checked("ci", self.level).ok()?;
        match self.method.unwrap_or_default() {
            CiMethod::T => Some(Box::new(self.new_state(level, estimation))),
            CiMethod::Bootstrap => None,
        }
    }
}

impl Ci {
    fn new_state(&self, level: f64, estimation: &Estimation) -> SummaryState {
        let mut errors = errors_of(self.cluster.as_deref());
        errors.level = Some(level);
        SummaryState::new("ci", self.conversion(), errors, estimation, by_t)
    }

    fn bootstrap(&self, level: f64, scores: &Scores<'_>) -> Result<MetricValue> {
        let count = checked_num_samples("ci", self.num_samples)?;
        scores.take_draws("ci", count)?;
        let seed = self.seed.unwrap_or(scores.seed());
        let summary = scores.summary("ci", &self.conversion(), &errors_of(self.cluster.as_deref()))?;
        let reason = too_few(&summary);
        let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
        (estimate.n, estimate.absent) = (summary.n(), scores.absent() as u64);
        estimate.draws = Some(Draws { seed, count: count as u64 });
        estimate.notes.clusters = summary.clusters().map(|clusters| clusters.len() as u64);
        estimate.interval = match reason {
            Some(reason) => Err(reason),
            None => {
                let mut means = match summary.clusters() {
                    Some(clusters) => clustered_resampled_means(&clusters.totals(), count, seed),
                    None => scores.finite("ci", &self.conversion(), |numbers| {
                        resampled_means(&numbers.to_floats(), count, seed)
                    })?,
                };
                means.sort_unstable_by(f64::total_cmp);
                let tail = (1.0 - level) / 2.0;
                let (lower, upper) = (quantile_linear(&means, tail), quantile_linear(&means, 1.0 - tail));
                Ok(Interval { lower, upper, level, method: IntervalMethod::Bootstrap, df: None })
            }
        };
        Ok(estimate.into())
    }
}

/// Why an interval says nothing, if it does not.
fn too_few(summary: &Summary) -> Option<Undefined> {
    match (summary.n(), summary.clusters().map(|clusters| clusters.len() as u64)) {
        (0, _) => Some(Undefined::NoScores),
        (1, _) => Some(Undefined::TooFewScores { n: 1 }),
        (_, Some(clusters @ 0..=1)) => Some(Undefined::TooFewClusters { clusters }),
        _ => None,
    }
}

/// x̄ ± t·se, with n−1 degrees of freedom, or one less than there are clusters.
fn by_t(state: &SummaryState, part: &SummaryPart<'_>) -> Result<Estimate> {
    let summary = part.summary;
    let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
    estimate.notes.clusters = summary.clusters().map(|clusters| clusters.len() as u64);
    estimate.interval = interval_by_t(state, summary);
    Ok(estimate)
}

fn interval_by_t(state: &SummaryState, summary: &Summary) -> Maybe<Interval> {
    if let Some(reason) = too_few(summary) {
        return Err(reason);
    }
    let mean = summary.mean().ok_or(Undefined::NoScores)?;
    let (error, level) = (summary.std_error(&state.errors)?, state.errors.level());
    let units = summary.clusters().map_or(summary.n(), |clusters| clusters.len() as u64);
    let df = (units - 1) as f64;
    let margin = if error.se > 0.0 { t_quantile(0.5 + level / 2.0, df) * error.se } else { 0.0 };
    let (lower, upper) = (mean - margin, mean + margin);
    Ok(Interval { lower, upper, level, method: IntervalMethod::T, df: Some(df) })
}
