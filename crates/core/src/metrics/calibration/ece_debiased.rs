//! `ece_debiased`: the expected calibration error without what chance adds to it.

use std::f64::consts::PI;

use super::calibration::{Bin, CONFIDENCE, PredictionSource, Scheme, check_bins, reads_predictions};
use super::ece::binned_estimate;
use crate::error::Result;
use crate::evaluation::{Direction, MetricValue};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;
use crate::value::Conversion;
use errorbar_stats::distributions::normal_survival;

/// The expected calibration error less what chance adds to it, with a bootstrap interval; works on unreduced scores.
///
/// In each bin the distance d between accuracy and confidence is replaced by 2·|d| − E|N(d, s²)|, s the standard error of
/// the accuracy: the correction of Kumar, Liang & Ma (2019) without their simulation. It may be below 0 where less
/// distance was seen than chance gives. A bin whose answers are all right or all wrong has no correction. It cannot be
/// merged from parts. A score must be right or wrong, 1 or 0.
///
/// # Formula
/// ```text
/// Σ n_b/n · (2·|d_b| − E|N(d_b, s_b²)|), d_b = accuracy_b − confidence_b
/// ```
///
/// # When
/// As `ece`, for fewer than a thousand answers or so, where chance alone makes `ece` large.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
/// $ errorbar score sure.csv --metric 'ece_debiased(bins=2)'
/// sure.csv · 6 rows
///
/// score · 6 scored
///                                             -0.2                        0.5
///   ece_debiased  -0.02 ± 0.15 [-0.10, 0.40]      ├───●─────────────────┤      only 6 scores · bins=2
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `ece`, `brier`
///
/// # Source
/// Kumar, Liang & Ma 2019, "Verified uncertainty calibration", NeurIPS 32; `normal_debiased_ce` of their library.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "ece_debiased")]
pub struct EceDebiased {
    /// The number of bins.
    #[param(default = 10, check = check_bins)]
    bins: Option<usize>,
    /// Bins of equal width ("width") or with equally many answers ("mass").
    #[param(default = Scheme::Width)]
    scheme: Option<Scheme>,
    /// The metadata key of the confidence, a number from 0 to 1: that of the score, or else of the sample.
    #[param(default = CONFIDENCE.to_owned())]
    confidence: Option<String>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for EceDebiased {
    reads_predictions!();

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    fn resample_cost(&self) -> u64 {
        4
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source =
            PredictionSource::new(Self::NAME, self.confidence_or_default(), self.to_float_or_default());
        binned_estimate(source, scores, self.bins_or_default(), self.scheme_or_default(), debiased)
    }
}

/// Σ n/N·(2·|d| − E|N(d, noise·s²)|); none without predictions.
fn debiased(bins: &[Bin], noise: f64) -> Option<f64> {
    let n: u64 = bins.iter().map(|bin| bin.n).sum();
    let part = |bin: &Bin| {
        let distance = (bin.accuracy() - bin.confidence()).abs();
        let variance = noise * bin.accuracy() * (1.0 - bin.accuracy()) / bin.n as f64;
        bin.n as f64 * (2.0 * distance - mean_distance(distance, variance.sqrt()))
    };
    (n > 0).then(|| bins.iter().filter(|bin| bin.n > 0).map(part).sum::<f64>() / n as f64)
}

/// E|X| of a normal X with this mean, which is not negative, and this standard deviation.
fn mean_distance(mean: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return mean;
    }
    let z = mean / deviation;
    deviation * (2.0 / PI).sqrt() * libm::exp(-0.5 * z * z) + mean * (1.0 - 2.0 * normal_survival(z))
}
