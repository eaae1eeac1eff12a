//! How far confidence is from accuracy, bin by bin: `ece`, `ece_debiased`.

use std::f64::consts::PI;

use serde_json::json;

use super::{
    Bin, ConfidentAnswer, PredictionSource, Scheme, bins, confidence_metric, once, reads_predictions, sorted,
    weight_in,
};
use crate::estimate::wilson;
use crate::metrics::prelude::*;
use errorbar_stats::distributions::{normal_quantile, normal_survival};

confidence_metric! {
    /// The mean distance between confidence and accuracy over bins of confidence (expected calibration error), with a
    /// bootstrap interval; works on unreduced scores.
    ///
    /// Σ n/N·|accuracy − mean confidence|. Chance alone makes it larger than 0, the more so with few answers in a bin:
    /// ece_debiased corrects for that. The note `bins` has the points of a reliability curve. It cannot be merged from
    /// parts. A score must be right or wrong, 1 or 0.
    ///
    /// # Formula
    /// ```text
    /// Σ n_b/n · |accuracy_b − confidence_b| over bins b
    /// ```
    ///
    /// # When
    /// How far confidence is from accuracy, in the units of accuracy. For few answers use `ece_debiased`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
    /// $ errorbar score sure.csv --metric 'ece(bins=2)'
    /// sure.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                      0                             1
    ///   ece  0.100 ± 0.094 [0.050, 0.417]   ├─●────────┤                    only 6 scores · bins=2
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `ece_debiased`, `brier`, `auroc`
    ///
    /// # Source
    /// Naeini, Cooper & Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian binning"; Guo et al.
    /// 2017, "On calibration of modern neural networks".
    binned Ece, "ece"
}

impl Metric for Ece {
    metric_flags! { self: direction = Lower, resample_cost = 4 }

    reads_predictions!();

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let (source, bins, scheme) = self.binning();
        binned_estimate(source, scores, bins, scheme, |bins, _| error(bins))
    }
}

impl Ece {
    /// The prediction at each position, and the bins that they are in; some may be empty.
    pub(crate) fn bins_of(&self, scores: &Scores<'_>) -> Result<(Vec<ConfidentAnswer>, Vec<Bin>)> {
        let (source, count, scheme) = self.binning();
        let predictions = source.read(scores)?;
        let bins = bins(&sorted(predictions.clone(), None), once, count, scheme);
        Ok((predictions, bins))
    }

    /// Where predictions come from, and how they are divided into bins.
    pub(super) fn binning(&self) -> (PredictionSource, usize, Scheme) {
        let source = self.source();
        (source, self.bins_or_default(), self.scheme_or_default())
    }
}

/// A figure of bins with a bootstrap interval, and the points of a reliability curve. The figure gets the number of
/// samplings that the noise of the bins is of: a resample has that of the scores and as much of its own.
pub(super) fn binned_estimate(
    source: PredictionSource,
    scores: &Scores<'_>,
    count: usize,
    scheme: Scheme,
    figure: fn(&[Bin], f64) -> Option<f64>,
) -> Result<MetricValue> {
    let predictions = source.read(scores)?;
    let all = bins(&sorted(predictions.clone(), None), once, count, scheme);
    let value = figure(&all, 1.0).ok_or(Undefined::NoScores);
    let estimate = resampled_estimate(source.metric, scores, value, |units| {
        let sorted = sorted(predictions, Some(units));
        move |counts: &[u32]| figure(&bins(&sorted, weight_in(counts), count, scheme), 2.0)
    })?;
    Ok(estimate.note("bins", curve(&all, &scores.estimation().errors)).into())
}

/// Σ n/N·|accuracy − mean confidence|; none without predictions.
fn error(bins: &[Bin]) -> Option<f64> {
    let n: u64 = bins.iter().map(|bin| bin.n).sum();
    let distance = |bin: &Bin| (bin.right as f64 - bin.confidences).abs();
    (n > 0).then(|| bins.iter().map(distance).sum::<f64>() / n as f64)
}

/// The points of a reliability curve: the bins that are not empty, with Wilson's interval of their accuracy.
fn curve(bins: &[Bin], plan: &ErrorPlan) -> Json {
    let z = normal_quantile(0.5 + plan.level() / 2.0);
    let point = |bin: &Bin| {
        let (lower, upper) = wilson(bin.accuracy(), bin.n as f64, z);
        json!({
            "from": bin.lower, "to": bin.upper, "n": bin.n,
            "confidence": bin.confidence(), "accuracy": bin.accuracy(),
            "lower": lower, "upper": upper,
        })
    };
    bins.iter().filter(|bin| bin.n > 0).map(point).collect()
}

confidence_metric! {
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
    binned EceDebiased, "ece_debiased"
}

impl Metric for EceDebiased {
    metric_flags! { self: direction = Lower, resample_cost = 4 }

    reads_predictions!();

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source = self.source();
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
