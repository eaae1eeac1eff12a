//! `bootstrap_stderr`: the standard error of the mean, by resampling.

use super::resampling::{DEFAULT_NUM_SAMPLES, check_num_samples, draws, seed_bits};
use super::summary::{Computation, Figure, SummaryMetric};
use crate::args::Count;
use crate::error::Result;
use crate::estimate::{ErrorMethod, Estimate, Estimation, StdError, Undefined};
use crate::evaluation::Role;
use crate::params::Params;
use crate::scores::Scores;
use crate::stats::{resampled_means, standard_deviation};
use crate::value::Conversion;

/// Standard deviation of the means of resampled scores; reproducible by its seed.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "bootstrap_stderr", reference)]
pub struct BootstrapStderr {
    /// The number of resamples.
    #[param(default = DEFAULT_NUM_SAMPLES, from = usize, map = Count, check = check_num_samples)]
    num_samples: Option<Count<usize>>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The seed; that of the plan if unset.
    #[param(map = seed_bits)]
    seed: Option<u64>,
}

impl SummaryMetric for BootstrapStderr {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::ErrorOf, to_float: &self.to_float, cluster: None }
    }

    fn computation(&self, _: &Estimation) -> Computation<Self> {
        Computation::Resampling(BootstrapStderr::resample)
    }
}

impl BootstrapStderr {
    fn resample(&self, scores: &Scores<'_>) -> Result<Estimate> {
        let Count(count) = self.num_samples_or_default();
        let draws = draws(Self::NAME, scores, count, self.seed)?;
        let n = scores.len() as u64;
        let error =
            scores.finite(Self::NAME, &self.figure().conversion(), |numbers| match numbers.len() {
                0 => Err(Undefined::NoScores),
                1 => Err(Undefined::TooFewScores { n }),
                _ if count < 2 => Err(Undefined::Other("num_samples < 2".to_owned())),
                _ => Ok(standard_deviation(&resampled_means(&numbers.to_floats(), count, draws.seed))),
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
        estimate.draws = Some(draws);
        Ok(estimate)
    }
}
