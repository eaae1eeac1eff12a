//! `ci`: a confidence interval for the mean.

use std::sync::Arc;

use super::bootstrap_stderr::{checked_num_samples, num_samples_arg, params_without_seed};
use super::cluster::Clusters;
use super::level::{checked, level_arg};
use super::spread::{Seen, Spread};
use super::takes_conversion;
use crate::args::{ArgProblem, ArgType, passed, spec_of};
use crate::error::Result;
use crate::metric::{
    Figure, MetadataKeys, Metric, MetricState, MetricValue, ScoreParts, compute_by_state, same_state,
};
use crate::registry::{MetricEntry, Param, Registry};
use crate::score::Metadata;
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

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let level = checked("ci", self.level)?;
        match self.method.unwrap_or_default() {
            CiMethod::T => compute_by_state(self.new_state(level), scores),
            CiMethod::Bootstrap => self.bootstrap(level, scores),
        }
    }

    fn state(&self) -> Option<Box<dyn MetricState>> {
        let level = checked("ci", self.level).ok()?;
        match self.method.unwrap_or_default() {
            CiMethod::T => Some(Box::new(self.new_state(level))),
            CiMethod::Bootstrap => None,
        }
    }
}

impl Ci {
    fn new_state(&self, level: f64) -> CiState {
        CiState { level, spread: Spread::new("ci", self.conversion(), self.cluster.as_ref()) }
    }

    fn bootstrap(&self, level: f64, scores: &Scores<'_>) -> Result<MetricValue> {
        let count = checked_num_samples("ci", self.num_samples)?;
        scores.take_draws("ci", count)?;
        let seed = self.seed.unwrap_or(scores.seed());
        let mut clusters = None;
        let mut means = scores.finite("ci", &self.conversion(), |numbers| -> Result<Vec<f64>> {
            let mut by_cluster = None;
            if let Some(key) = self.cluster.as_ref().filter(|_| numbers.len() > 0) {
                by_cluster.insert(clusters.insert(Clusters::default())).update("ci", key, scores, numbers)?;
            }
            Ok(match (numbers.len(), by_cluster) {
                (0, _) => vec![0.0],
                (1, _) => vec![numbers.get(0)],
                (_, Some(clusters)) => clustered_resampled_means(&clusters.totals(), count, seed),
                (_, None) => resampled_means(&numbers.to_floats(), count, seed),
            })
        })??;
        means.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - level) / 2.0;
        let clusters = clusters.map(|c| c.len());
        let note = |figure: Figure| {
            let figure = figure.note("level", level).note("seed", seed).note_some("clusters", clusters);
            figure.note_some("undefined", too_few(scores.len() as u64, clusters))
        };
        Ok(MetricValue::interval(quantile_linear(&means, tail), quantile_linear(&means, 1.0 - tail), note))
    }
}

/// Why an interval says nothing, if it does not.
fn too_few(n: u64, clusters: Option<usize>) -> Option<&'static str> {
    match (n, clusters) {
        (0, _) => Some("n = 0"),
        (1, _) => Some("n < 2"),
        (_, Some(g)) if g < 2 => Some("clusters < 2"),
        _ => None,
    }
}

#[derive(Clone, Debug)]
struct CiState {
    level: f64,
    spread: Spread,
}

impl MetricState for CiState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        self.spread.update(scores, |_| Ok(()))
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        self.spread.merge(&same_state::<CiState>(other)?.spread);
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        let (n, mean, error, df, clusters) = match self.spread.seen() {
            Seen::Plain(m) => {
                (m.count(), m.mean().unwrap_or(0.0), m.stderr(), m.count().saturating_sub(1), None)
            }
            Seen::Clustered(_, c) => {
                let df = c.len().saturating_sub(1).max(1) as u64;
                (c.n(), c.mean(), c.stderr(), df, Some(c.len()))
            }
        };
        let reason = too_few(n, clusters);
        let note = |figure: Figure| {
            let df = reason.is_none().then_some(df);
            let figure = figure.note("level", self.level).note_some("df", df);
            figure.note_some("clusters", clusters).note_some("undefined", reason)
        };
        if n == 0 {
            return Ok(MetricValue::interval(0.0, 0.0, note));
        }
        let margin = match error {
            Some(error) if n > 1 && error > 0.0 => t_quantile(0.5 + self.level / 2.0, df as f64) * error,
            _ => 0.0,
        };
        Ok(MetricValue::interval(mean - margin, mean + margin, note))
    }
}
