//! The standard error of a mean as a figure of its own: `stderr`, `bootstrap_stderr`.

use super::resampling::{DEFAULT_NUM_SAMPLES, check_num_samples, draws, seed_bits, take_means};
use super::summary::{Computation, Figure, SummaryMetric};
use crate::metrics::prelude::*;
use errorbar_stats::resampling::ResampledMeans;

/// Standard error of the mean; with `cluster`, for samples that belong together by that metadata key.
///
/// Samples of one cluster (questions on one passage, for example) are not independent; the clustered error adds up deviations per
/// cluster first.
///
/// # Formula
/// ```text
/// SE = s / √n
/// with clusters: SE = √(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / n
/// ```
///
/// # When
/// The error of a mean as a figure of its own, as logs record it. For clusters prefer `--cluster KEY`, which also
/// gives the interval (CR2, with Bell and McCaffrey's degrees of freedom).
///
/// # Example
/// ```console
/// $ printf '%s\n' id,passage,score 1,a,1 2,a,1 3,b,0 4,b,0 5,c,1 6,c,0 > passages.csv
/// $ errorbar score passages.csv --metric accuracy --metric 'stderr(cluster="passage")'
/// passages.csv · 6 rows
///
/// score · 6 scored
///                                       0                   1
///   accuracy  0.50 ± 0.29 [0.04, 0.96]   ├────────●────────┤   only 6 scores · only 3 clusters, df 2 ·
///                                                              design effect 1.7
///
/// ± one standard error (CR1 by passage) · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `accuracy`, `ci`, `bootstrap_stderr`, `variance_components`
///
/// # Source
/// Miller 2024, "Adding error bars to evals", arXiv 2411.00640.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "stderr", reference)]
pub struct Stderr {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
}

impl SummaryMetric for Stderr {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::ErrorOf, to_float: &self.to_float, cluster: self.cluster.as_ref() }
    }

    fn computation(&self, estimation: &Estimation) -> Computation<Self> {
        let errors = self.figure().reference_errors();
        Computation::by_state(self, errors, estimation, |state, part| {
            let error = part.summary.std_error(&state.errors);
            let mut estimate = Estimate::of(error.as_ref().map(|error| error.se).map_err(Clone::clone));
            estimate.error = error;
            Ok(estimate)
        })
    }
}

/// Standard deviation of the means of resampled scores; reproducible by its seed.
///
/// # Formula
/// ```text
/// SE = √(Σ_b (x̄_b − mean of x̄_b)² / B), x̄_b the mean of resample b
/// ```
///
/// # When
/// For comparison with tools that resample. For a mean `stderr` is the same without the noise of resampling; for
/// other figures use `bootstrap`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'bootstrap_stderr(seed=1)'
/// marks.csv · 6 rows
///
/// score · 6 scored
///   bootstrap_stderr  0.1007  seed=1
/// ```
///
/// # See also
/// `stderr`, `bootstrap`, `ci`
///
/// # Source
/// Efron & Tibshirani 1993, "An Introduction to the Bootstrap".
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
        let draws = draws(scores, count, self.seed);
        let n = scores.len() as u64;
        let means = scores.finite(Self::NAME, &self.figure().conversion(), |numbers| {
            let too_few = match numbers.len() {
                0 => Some(Undefined::NoScores),
                1 => Some(Undefined::TooFewScores { n }),
                _ => (count < 2).then(|| Undefined::Other("num_samples < 2".to_owned())),
            };
            too_few.map_or_else(|| ResampledMeans::of(numbers).ok_or(Undefined::NoScores), Err)
        })?;
        let error = match means {
            Ok(means) => {
                take_means(self, scores, &means, draws)?;
                Ok(means.standard_deviation(count, draws.seed))
            }
            Err(reason) => Err(reason),
        };
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
