//! `ci_wilson`: the Wilson score interval for a proportion.

use std::sync::Arc;

use super::level::{checked, level_arg};
use super::stderr::errors_of;
use super::summary::{SummaryPart, SummaryState, subject};
use super::takes_conversion;
use crate::args::{passed, spec_of};
use crate::error::{Error, Result};
use crate::estimate::{Estimate, Estimation, Interval, IntervalMethod, Undefined, Whole, wilson};
use crate::evaluation::{MetricValue, Role, Subject};
use crate::metric::{MetadataKeys, Metric, MetricState, ScoreParts, compute_by_state, same_state};
use crate::registry::{MetricEntry, Param};
use crate::scores::Scores;
use crate::spec::Spec;
use crate::stats::{normal_quantile, t_quantile};
use crate::value::Conversion;

/// The Wilson interval (`lower`, `upper`) for the mean of scores in [0, 1]; right at small n, where
/// x̄ ± t·se is not.
#[derive(Clone, Debug, Default)]
pub struct CiWilson {
    level: Option<f64>,
    to_float: Option<Conversion>,
    cluster: Option<String>,
}

/// The Wilson interval for the mean of scores in [0, 1].
pub fn ci_wilson() -> CiWilson {
    CiWilson::default()
}

impl CiWilson {
    takes_conversion!();

    /// The confidence level; 0.95 if not said.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = Some(level);
        self
    }

    /// Clusters the samples by a metadata key.
    #[must_use]
    pub fn cluster(mut self, key: impl Into<String>) -> Self {
        self.cluster = Some(key.into());
        self
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "ci_wilson",
    doc: "Wilson interval (lower, upper) for the mean of scores in [0, 1]; right at small n.",
    params: &[
        Param::optional("level", "0.95"),
        Param::optional("to_float", "value_to_float()"),
        Param::optional("cluster", "None"),
    ],
    build: |args| {
        Ok(Arc::new(CiWilson {
            level: level_arg(args)?,
            to_float: args.get("to_float")?,
            cluster: args.get("cluster")?,
        }))
    },
    replaces: false,
};

impl Metric for CiWilson {
    fn spec(&self) -> Spec {
        spec_of(
            "ci_wilson",
            [
                ("level", passed(&self.level)),
                ("to_float", passed(&self.to_float)),
                ("cluster", passed(&self.cluster)),
            ],
        )
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
        compute_by_state(self.new_state(checked("ci_wilson", self.level)?, scores.estimation()), scores)
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        let level = checked("ci_wilson", self.level).ok()?;
        Some(Box::new(self.new_state(level, estimation)))
    }
}

impl CiWilson {
    fn new_state(&self, level: f64, estimation: &Estimation) -> WilsonState {
        let mut errors = errors_of(self.cluster.as_deref());
        errors.level = Some(level);
        let conversion = self.conversion();
        let state = SummaryState::new("ci_wilson", conversion.clone(), errors, estimation, by_wilson);
        WilsonState { conversion, state }
    }
}

/// The summary, of scores in [0, 1] only.
#[derive(Clone, Debug)]
struct WilsonState {
    conversion: Conversion,
    state: SummaryState,
}

impl MetricState for WilsonState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        scores.finite("ci_wilson", &self.conversion, |numbers| {
            if numbers.are_proportions() {
                return Ok(());
            }
            match numbers.to_floats().iter().enumerate().find(|(_, f)| !(0.0..=1.0).contains(*f)) {
                None => Ok(()),
                Some((at, &value)) => Err(Error::OutsideUnitInterval {
                    metric: "ci_wilson".to_owned(),
                    sample: scores.sample_id(at).to_owned(),
                    value,
                }),
            }
        })??;
        self.state.update(scores)
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        self.state.merge(Box::new(same_state::<WilsonState>(other)?.state))
    }

    fn finish(&self, whole: Whole) -> Result<MetricValue> {
        self.state.finish(whole)
    }
}

/// Wilson's interval; with clusters on the effective n of the reference, never more than there are scores.
fn by_wilson(state: &SummaryState, part: &SummaryPart<'_>) -> Result<Estimate> {
    let summary = part.summary;
    let (n, level) = (summary.n(), state.errors.level());
    let upper_tail = 0.5 + level / 2.0;
    let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
    let interval = |(lower, upper): (f64, f64), df: Option<f64>| Interval {
        lower,
        upper,
        level,
        method: IntervalMethod::Wilson,
        df,
    };
    let (Some(clusters), [key]) = (summary.clusters(), state.errors.cluster.as_slice()) else {
        let of = |mean: f64| interval(wilson(mean, n as f64, normal_quantile(upper_tail)), None);
        estimate.interval = estimate.value.clone().map(of);
        return Ok(estimate);
    };
    let g = clusters.len();
    let Some(error) = clusters.stderr() else {
        let (metric, key) = ("ci_wilson".to_owned(), key.clone());
        return Err(Error::TooFewClusters { metric, key, clusters: g });
    };
    let (p, variance) = (summary.mean().unwrap_or(0.0), error * error);
    let spread = p * (1.0 - p);
    // The number of independent samples that would give this error, never more than there are.
    let effective = if spread > 0.0 && variance > 0.0 { (spread / variance).min(n as f64) } else { n as f64 };
    let df = (g - 1) as f64;
    estimate.interval = Ok(interval(wilson(p, effective, t_quantile(upper_tail, df)), Some(df)));
    estimate.notes.clusters = Some(g as u64);
    estimate.notes.effective_n = Some(effective);
    Ok(estimate)
}
