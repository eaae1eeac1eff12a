//! `ci_wilson`: the Wilson score interval for a proportion.

use std::sync::Arc;

use super::level::{checked, level_arg};
use super::spread::{Seen, Spread};
use super::takes_conversion;
use crate::args::{passed, spec_of};
use crate::error::{Error, Result};
use crate::estimate::wilson;
use crate::metric::{
    Figure, MetadataKeys, Metric, MetricState, MetricValue, ScoreParts, compute_by_state, same_state,
};
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

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute_by_state(self.new_state(checked("ci_wilson", self.level)?), scores)
    }

    fn state(&self) -> Option<Box<dyn MetricState>> {
        let level = checked("ci_wilson", self.level).ok()?;
        Some(Box::new(self.new_state(level)))
    }
}

impl CiWilson {
    fn new_state(&self, level: f64) -> WilsonState {
        WilsonState { level, spread: Spread::new("ci_wilson", self.conversion(), self.cluster.as_ref()) }
    }
}

#[derive(Clone, Debug)]
struct WilsonState {
    level: f64,
    spread: Spread,
}

impl MetricState for WilsonState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        self.spread.update(scores, |numbers| {
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
        })
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        self.spread.merge(&same_state::<WilsonState>(other)?.spread);
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        let note = |figure: Figure| figure.note("level", self.level);
        let upper_tail = 0.5 + self.level / 2.0;
        let (key, clusters) = match self.spread.seen() {
            Seen::Clustered(key, clusters) => (key, clusters),
            Seen::Plain(moments) => {
                let Some(mean) = moments.mean() else {
                    return Ok(MetricValue::interval(0.0, 0.0, |f| note(f).note("undefined", "n = 0")));
                };
                let (lower, upper) = wilson(mean, moments.count() as f64, normal_quantile(upper_tail));
                return Ok(MetricValue::interval(lower, upper, note));
            }
        };
        let g = clusters.len();
        let Some(error) = clusters.stderr() else {
            let (metric, key) = ("ci_wilson".to_owned(), key.clone());
            return Err(Error::TooFewClusters { metric, key, clusters: g });
        };
        let (n, p, variance) = (clusters.n() as f64, clusters.mean(), error * error);
        let spread = p * (1.0 - p);
        // The number of independent samples that would give this error, never more than there are.
        let effective = if spread > 0.0 && variance > 0.0 { (spread / variance).min(n) } else { n };
        let df = (g - 1) as f64;
        let (lower, upper) = wilson(p, effective, t_quantile(upper_tail, df));
        Ok(MetricValue::interval(lower, upper, |f| {
            note(f).note("clusters", g).note("df", df).note("effective_n", effective)
        }))
    }
}
