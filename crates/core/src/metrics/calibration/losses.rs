//! The mean loss of confidences: `brier`, in parts too, and `log_loss`.

use super::{
    Bin, ConfidentAnswer, Loss, bins, confidence_metric, mean_loss, once, reads_predictions, sorted,
    weight_in,
};
use crate::estimate::resampled_estimates;
use crate::metrics::prelude::*;

/// The metric is the mean of a loss.
macro_rules! mean_loss {
    ($type:ident, $loss:expr) => {
        impl Metric for $type {
            metric_flags! { self: role = Location, direction = Lower, resample_cost = 2 }

            reads_predictions!();

            prepared_by!(Self::prepared);
        }

        impl $type {
            fn prepared(&self, estimation: &Estimation, scores: &Scores<'_>) -> Result<PreparedValue> {
                mean_loss(self.source(), $loss, estimation, scores)
            }
        }
    };
}

confidence_metric! {
    /// The mean squared difference between confidence and outcome (Brier score), with the plan's error and interval; works
    /// on unreduced scores.
    ///
    /// 0 is best; 0.25 is what a confidence of one half always gets. A score must be right or wrong, 1 or 0.
    ///
    /// # Formula
    /// ```text
    /// Σ (confidence − outcome)² / n
    /// ```
    ///
    /// # When
    /// A model states its confidence: one figure for accuracy and calibration at once.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
    /// $ errorbar score sure.csv --metric 'brier'
    /// sure.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                        0                                       1
    ///   brier  0.150 ± 0.073 [0.043, 0.408]    ├───●─────────┤                          only 6 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `log_loss`, `brier_decomposition`, `ece`, `auroc`
    ///
    /// # Source
    /// Brier 1950, "Verification of forecasts expressed in terms of probability".
    Brier, "brier"
}

fn squared_error(prediction: &ConfidentAnswer) -> f64 {
    let error = prediction.confidence - prediction.outcome();
    error * error
}

mean_loss!(Brier, Loss { of: squared_error, largest: 1.0, note_of_largest: None });

confidence_metric! {
    /// The mean of −ln p, p the confidence given to what turned out (log loss, cross-entropy), with the plan's error and
    /// interval; works on unreduced scores.
    ///
    /// A probability below 2⁻⁵² counts as 2⁻⁵², as in scikit-learn, so a wrong answer given with certainty costs 36.04 and not
    /// infinity; the note `clipped_predictions` has how many did. A score must be right or wrong, 1 or 0.
    ///
    /// # Formula
    /// ```text
    /// −Σ ln p / n, p the confidence in what turned out
    /// ```
    ///
    /// # When
    /// As `brier`, where certainty that is wrong should cost much more.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
    /// $ errorbar score sure.csv --metric 'log_loss'
    /// sure.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                       0.1                                   1.2
    ///   log_loss  0.46 ± 0.16 [0.19, 1.10]     ├─────────●──────────────────────┤      only 6 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `brier`, `perplexity_per_token`, `ece`
    ///
    /// # Source
    /// Good 1952, "Rational decisions".
    LogLoss, "log_loss"
}

/// −ln of the probability of what happened.
fn surprise(prediction: &ConfidentAnswer) -> f64 {
    match prediction.is_right {
        true => -libm::log(prediction.confidence.max(f64::EPSILON)),
        false if prediction.confidence > 1.0 - f64::EPSILON => -libm::log(f64::EPSILON),
        false => -libm::log1p(-prediction.confidence),
    }
}

mean_loss!(
    LogLoss,
    Loss { of: surprise, largest: -libm::log(f64::EPSILON), note_of_largest: Some("clipped_predictions") }
);

confidence_metric! {
    /// The parts of the Brier score over bins of confidence, each with a bootstrap interval; works on unreduced scores.
    ///
    /// `brier = reliability − resolution + uncertainty + within_bins`: the distance of confidence from accuracy (0 is best),
    /// how far the accuracy of the bins differs (more is better), the variance of the outcome, and what is lost by taking the
    /// confidences of a bin as one (0 if they are equal). Murphy 1973; Stephenson, Coelho & Jolliffe 2008. It cannot be merged
    /// from parts. A score must be right or wrong, 1 or 0.
    ///
    /// # Formula
    /// ```text
    /// brier = reliability − resolution + uncertainty + within_bins
    /// ```
    ///
    /// # When
    /// Why a Brier score is as it is: confidence that is wrong, or confidence that does not discriminate.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
    /// $ errorbar score sure.csv --metric 'brier_decomposition(bins=2)'
    /// sure.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                                  -0.1                                  0.3
    ///   brier_decomposition  bins=2 · only 6 scores
    ///     reliability   0.030 ± 0.045 [0.004, 0.180]             ├──●──────────────┤
    ///     resolution    0.125 ± 0.078 [0.000, 0.250]             ├────────────●────────────┤
    ///     uncertainty   0.250 ± 0.054 [0.000, 0.250]             ├────────────────────────●
    ///     within_bins  -0.005 ± 0.022 [-0.057, 0.028]       ├────●──┤
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `brier`, `ece`, `auroc`
    ///
    /// # Source
    /// Murphy 1973, "A new vector partition of the probability score". Within bins: Stephenson, Coelho & Jolliffe 2008.
    binned BrierDecomposition, "brier_decomposition"
}

/// The names of the parts, in the order of [`parts`].
const PARTS: [&str; 4] = ["reliability", "resolution", "uncertainty", "within_bins"];

impl Metric for BrierDecomposition {
    metric_flags! { self: resample_cost = 4 }

    reads_predictions!();

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source = self.source();
        let predictions = source.read(scores)?;
        let (count, scheme) = (self.bins_or_default(), self.scheme_or_default());
        let all = sorted(predictions.clone(), None);
        let values = match parts(&all, once, &bins(&all, once, count, scheme)) {
            Some(parts) => parts.map(Ok).to_vec(),
            None => vec![Err(Undefined::NoScores); PARTS.len()],
        };
        let estimates = resampled_estimates(Self::NAME, scores, values, |units| {
            let sorted = sorted(predictions, Some(units));
            move |counts: &[u32]| {
                let bins = bins(&sorted, weight_in(counts), count, scheme);
                parts(&sorted, weight_in(counts), &bins).unwrap_or([f64::NAN; 4]).to_vec()
            }
        })?;
        let named = PARTS.iter().map(|name| (*name).to_owned()).zip(estimates);
        Ok(named.collect::<IndexMap<String, Estimate>>().into())
    }
}

/// Reliability, resolution, uncertainty, and what is left of the Brier score; none without predictions.
fn parts(
    predictions: &[ConfidentAnswer],
    weight: impl Fn(&ConfidentAnswer) -> u32,
    bins: &[Bin],
) -> Option<[f64; 4]> {
    let n: u64 = bins.iter().map(|bin| bin.n).sum();
    let right: u64 = bins.iter().map(|bin| bin.right).sum();
    if n == 0 {
        return None;
    }
    let share = right as f64 / n as f64;
    // Plain products: powers are left to the platform.
    let square = |x: f64| x * x;
    let over_bins = |distance: &dyn Fn(&Bin) -> f64| {
        let part = |bin: &Bin| bin.n as f64 * square(distance(bin));
        bins.iter().filter(|bin| bin.n > 0).map(part).sum::<f64>() / n as f64
    };
    let reliability = over_bins(&|bin| bin.confidence() - bin.accuracy());
    let resolution = over_bins(&|bin| bin.accuracy() - share);
    let uncertainty = share * (1.0 - share);
    let squared = |prediction: &ConfidentAnswer| {
        f64::from(weight(prediction)) * square(prediction.confidence - prediction.outcome())
    };
    let brier = predictions.iter().map(squared).sum::<f64>() / n as f64;
    let within_bins = brier - (reliability - resolution + uncertainty);
    // Of sums that cancel nothing but rounding is left.
    let rounding = 4.0 * f64::EPSILON * (n as f64).sqrt() * (brier + reliability + resolution + uncertainty);
    let within_bins = if within_bins.abs() > rounding { within_bins } else { 0.0 };
    Some([reliability, resolution, uncertainty, within_bins])
}
