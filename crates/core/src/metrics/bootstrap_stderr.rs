//! `bootstrap_stderr`: the standard error of the mean, by resampling.

use std::sync::Arc;

use super::summary::subject;
use super::takes_conversion;
use crate::args::{Args, passed, spec_of};
use crate::error::{Error, Result};
use crate::estimate::{Draws, ErrorMethod, Estimate, StdError, Undefined};
use crate::evaluation::{MetricValue, Role, Subject};
use crate::metadata::Metadata;
use crate::metric::{MetadataKeys, Metric, ScoreParts};
use crate::registry::{MetricEntry, Param};
use crate::scores::Scores;
use crate::spec::{Spec, params_to_log};
use crate::stats::{resampled_means, standard_deviation};
use crate::value::Conversion;

/// The standard deviation of the means of resampled scores.
#[derive(Clone, Debug, Default)]
pub struct BootstrapStderr {
    num_samples: Option<usize>,
    to_float: Option<Conversion>,
    seed: Option<u64>,
}

/// The standard deviation of the means of resampled scores.
pub fn bootstrap_stderr() -> BootstrapStderr {
    BootstrapStderr::default()
}

pub(super) const DEFAULT_NUM_SAMPLES: usize = 1000;

impl BootstrapStderr {
    takes_conversion!();

    /// How many resamples are drawn; 1,000 if not said.
    #[must_use]
    pub fn num_samples(mut self, num_samples: usize) -> Self {
        self.num_samples = Some(num_samples);
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
    name: "bootstrap_stderr",
    doc: "Standard deviation of the means of resampled scores; reproducible by its seed.",
    params: &[
        Param::optional("num_samples", "1000"),
        Param::optional("to_float", "value_to_float()"),
        Param::optional("seed", "None"),
    ],
    build: |args| {
        Ok(Arc::new(BootstrapStderr {
            num_samples: num_samples_arg(args)?,
            to_float: args.get("to_float")?,
            seed: args.get("seed")?,
        }))
    },
    replaces: false,
};

/// The number of resamples, checked: none would make the figure a silent zero.
pub(super) fn num_samples_arg(args: &Args<'_>) -> Result<Option<usize>> {
    let num_samples: Option<i64> = args.get("num_samples")?;
    match num_samples {
        None => Ok(None),
        Some(count) => match usize::try_from(count).ok().filter(|c| (1..=MAX_NUM_SAMPLES).contains(c)) {
            Some(count) => Ok(Some(count)),
            None => Err(args.error("num_samples", problem(count))),
        },
    }
}

/// The same check for a number given to a builder, when it is used.
pub(super) fn checked_num_samples(metric: &str, num_samples: Option<usize>) -> Result<usize> {
    let count = num_samples.unwrap_or(DEFAULT_NUM_SAMPLES);
    if (1..=MAX_NUM_SAMPLES).contains(&count) {
        return Ok(count);
    }
    let (target, argument) = (metric.to_owned(), "num_samples".to_owned());
    Err(Error::Argument { target, argument, problem: problem(count) })
}

/// The arguments but for the seed, which the reference would refuse to find in a log: the seed stands
/// in the notes of the figure.
pub(super) fn params_without_seed(metric: &dyn Metric) -> Metadata {
    let mut args = metric.spec().kwargs;
    args.shift_remove("seed");
    params_to_log(&args)
}

/// Replicates are numbered by 32 bits, and far fewer are ever useful.
const MAX_NUM_SAMPLES: usize = 100_000_000;

fn problem(count: impl std::fmt::Display) -> String {
    format!("must lie between 1 and {MAX_NUM_SAMPLES}, found {count}")
}

impl Metric for BootstrapStderr {
    fn spec(&self) -> Spec {
        spec_of(
            "bootstrap_stderr",
            [
                ("num_samples", passed(&self.num_samples)),
                ("to_float", passed(&self.to_float)),
                ("seed", passed(&self.seed)),
            ],
        )
    }

    fn params(&self) -> Metadata {
        params_without_seed(self)
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn role(&self) -> Role {
        Role::ErrorOf
    }

    fn subject(&self) -> Option<Subject> {
        Some(subject(self.conversion()))
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let count = checked_num_samples("bootstrap_stderr", self.num_samples)?;
        scores.take_draws("bootstrap_stderr", count)?;
        let seed = self.seed.unwrap_or(scores.seed());
        let n = scores.len() as u64;
        let error = scores.finite("bootstrap_stderr", &self.conversion(), |numbers| match numbers.len() {
            0 => Err(Undefined::NoScores),
            1 => Err(Undefined::TooFewScores { n }),
            _ if count < 2 => Err(Undefined::Other("num_samples < 2".to_owned())),
            _ => Ok(standard_deviation(&resampled_means(&numbers.to_floats(), count, seed))),
        })?;
        let std_error = |se: f64| StdError {
            se,
            method: ErrorMethod::Bootstrap,
            df: (n - 1) as f64,
            clusters: Vec::new(),
            degenerate: se == 0.0,
        };
        let mut estimate = Estimate::of(error.clone());
        estimate.error = error.map(std_error);
        (estimate.n, estimate.absent) = (n, scores.absent() as u64);
        estimate.draws = Some(Draws { seed, count: count as u64 });
        Ok(estimate.into())
    }
}
