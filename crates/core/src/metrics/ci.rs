//! `ci`: a confidence interval for the mean.

use super::level::{DEFAULT_LEVEL, check_level};
use super::resampling::{DEFAULT_NUM_SAMPLES, check_num_samples, draws, seed_bits};
use super::summary::{Computation, Figure, SummaryMetric, SummaryPart, SummaryState};
use crate::args::{ArgWord, Count};
use crate::error::Result;
use crate::estimate::{Estimate, Estimation, Interval, IntervalMethod, Maybe, Summary, Undefined};
use crate::evaluation::Role;
use crate::params::Params;
use crate::scores::Scores;
use crate::stats::{clustered_resampled_means, quantile_linear, resampled_means, t_quantile};
use crate::value::Conversion;

/// How an interval is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CiMethod {
    /// x̄ ± t·se.
    #[default]
    T,
    /// Percentiles of resampled means.
    Bootstrap,
}

impl ArgWord for CiMethod {
    const EXPECTED: &'static str = "\"t\" or \"bootstrap\"";
    const WORDS: &'static [(&'static str, Self)] = &[("t", CiMethod::T), ("bootstrap", CiMethod::Bootstrap)];
}

/// Confidence interval for the mean (lower, upper), by t or by percentile bootstrap.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "ci")]
pub struct Ci {
    /// The confidence level.
    #[param(default = DEFAULT_LEVEL, check = check_level)]
    level: Option<f64>,
    /// How the interval is computed.
    #[param(default = CiMethod::T)]
    method: Option<CiMethod>,
    /// The number of resamples of the bootstrap.
    #[param(default = DEFAULT_NUM_SAMPLES, from = usize, map = Count, check = check_num_samples)]
    num_samples: Option<Count<usize>>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
    /// The seed of the bootstrap; that of the plan if unset.
    #[param(map = seed_bits)]
    seed: Option<u64>,
}

impl SummaryMetric for Ci {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::IntervalOf, to_float: &self.to_float, cluster: self.cluster.as_ref() }
    }

    fn computation(&self, estimation: &Estimation) -> Computation<Self> {
        match self.method_or_default() {
            CiMethod::Bootstrap => Computation::Resampling(Ci::resample),
            CiMethod::T => {
                let mut errors = self.figure().reference_errors();
                errors.level = Some(self.level_or_default());
                Computation::by_state(self, errors, estimation, by_t)
            }
        }
    }
}

impl Ci {
    fn resample(&self, scores: &Scores<'_>) -> Result<Estimate> {
        let (Count(count), level) = (self.num_samples_or_default(), self.level_or_default());
        let draws = draws(Self::NAME, scores, count, self.seed)?;
        let (conversion, errors) = (self.figure().conversion(), self.figure().reference_errors());
        let summary = scores.summary(Self::NAME, &conversion, &errors)?;
        let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
        (estimate.n, estimate.absent) = (summary.n(), scores.absent() as u64);
        estimate.notes.clusters = summary.clusters().map(|clusters| clusters.len() as u64);
        estimate.interval = match too_few(&summary) {
            Some(reason) => Err(reason),
            None => {
                let mut means = match summary.clusters() {
                    Some(clusters) => clustered_resampled_means(&clusters.totals(), count, draws.seed),
                    None => scores.finite(Self::NAME, &conversion, |numbers| {
                        resampled_means(&numbers.to_floats(), count, draws.seed)
                    })?,
                };
                means.sort_unstable_by(f64::total_cmp);
                let tail = (1.0 - level) / 2.0;
                let (lower, upper) = (quantile_linear(&means, tail), quantile_linear(&means, 1.0 - tail));
                Ok(Interval::new(lower, upper, level, IntervalMethod::Bootstrap))
            }
        };
        estimate.draws = Some(draws);
        Ok(estimate)
    }
}

/// Why there is no interval, if there is none.
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
    Ok(Interval::new(lower, upper, level, IntervalMethod::T).with_df(Some(df)))
}
