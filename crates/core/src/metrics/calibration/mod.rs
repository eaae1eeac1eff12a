//! What the measures of calibration have in common: the confidence of each answer, and whether the answer was right.
//!
//! A prediction is one answer, so a sample in one epoch. Figures see predictions in the order of their confidence, each with
//! the unit that it belongs to, so they do not depend on the order of samples.

mod ranking;

use std::f64::consts::PI;

pub use ranking::*;
use serde_json::json;

use super::mean;
use crate::estimate::{resampled_estimates, wilson};
use crate::metrics::prelude::*;
use errorbar_stats::distributions::{normal_quantile, normal_survival};

/// The metadata key of confidences if none is named.
const CONFIDENCE: &str = "confidence";

/// Where confidences are, and how values become right or wrong.
#[derive(Clone, Debug)]
struct PredictionSource {
    metric: &'static str,
    key: String,
    conversion: Conversion,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConfidentAnswer {
    pub(crate) confidence: f64,
    pub(crate) is_right: bool,
    /// What it belongs to when units are resampled.
    pub(crate) unit: u32,
}

impl ConfidentAnswer {
    /// 1 if the answer was right.
    pub(crate) fn outcome(&self) -> f64 {
        f64::from(u8::from(self.is_right))
    }

    /// How often it is in a resample: as often as its unit is drawn, and once if nothing is.
    fn weight(&self, draws: Option<&[u32]>) -> u64 {
        draws.map_or(1, |draws| draws.get(self.unit as usize).copied().unwrap_or(0).into())
    }
}

/// A metric over predictions: its arguments, of which all have the confidence and the conversion, and those that are `binned`
/// the bins; and where its predictions come from.
macro_rules! confidence_metric {
    (@[$($fields:tt)*] $(#[$doc:meta])* $type:ident, $name:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, $crate::Params)]
        #[params(crate = $crate, name = $name)]
        pub struct $type {
            $($fields)*
            /// The metadata key of the confidence, a number from 0 to 1: that of the score, or else of the sample.
            #[param(default = $crate::metrics::calibration::CONFIDENCE.to_owned())]
            confidence: Option<String>,
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            to_float: Option<$crate::Conversion>,
        }

        impl $type {
            fn source(&self) -> $crate::metrics::calibration::PredictionSource {
                $crate::metrics::calibration::PredictionSource {
                    metric: <Self as $crate::Params>::NAME,
                    key: self.confidence_or_default(),
                    conversion: self.to_float_or_default(),
                }
            }
        }
    };
    ($(#[$doc:meta])* binned $type:ident, $name:literal) => {
        confidence_metric! { @[
            /// The number of bins.
            #[param(default = 10, check = $crate::metrics::calibration::check_bins)]
            bins: Option<usize>,
            /// Bins of equal width ("width") or with equally many answers ("mass").
            #[param(default = $crate::metrics::calibration::Scheme::Width)]
            scheme: Option<$crate::metrics::calibration::Scheme>,
        ] $(#[$doc])* $type, $name }
    };
    ($(#[$doc:meta])* $type:ident, $name:literal) => {
        confidence_metric! { @[] $(#[$doc])* $type, $name }
    };
}
use confidence_metric;

/// What metrics over predictions read: every epoch, with the confidence in the metadata of scores and samples.
macro_rules! reads_predictions {
    () => {
        $crate::metric::metric_flags! { self:
            metadata_keys = $crate::MetadataKeys::one(self.confidence_or_default()),
            score_parts = Metadata, wants = Unreduced
        }

        fn required_keys(&self) -> Vec<$crate::RequiredKey> {
            vec![$crate::RequiredKey::new(self.confidence_or_default(), $crate::KeyUsage::Confidence)]
        }
    };
}
use reads_predictions;

impl PredictionSource {
    /// The prediction at each position, all of one unit.
    ///
    /// # Errors
    /// A score that is neither right nor wrong, a confidence that is missing or outside of 0 to 1.
    fn read(&self, scores: &Scores<'_>) -> Result<Vec<ConfidentAnswer>> {
        let outcomes = scores.finite(self.metric, &self.conversion, <[f64]>::to_vec)?;
        let column = scores.key(self.metric, &self.key);
        let mut predictions = Vec::with_capacity(outcomes.len());
        for (at, outcome) in outcomes.into_iter().enumerate() {
            let is_right = match outcome {
                1.0 => true,
                0.0 => false,
                _ => return Err(self.no_outcome(scores, at, outcome)),
            };
            let of_score = scores.score_metadata(at).and_then(|metadata| metadata.get(&self.key));
            let of_sample = || column.value(column.code_of_row(scores.column_row(at) as u32)? as usize);
            let found = of_score.filter(|value| !value.is_null()).or_else(of_sample);
            let found = found.filter(|value| !value.is_null()).ok_or_else(|| self.missing(scores, at))?;
            let confidence = number_of(found).filter(|number| (0.0..=1.0).contains(number));
            let confidence = confidence.ok_or_else(|| self.no_confidence(scores, at, found))?;
            predictions.push(ConfidentAnswer { confidence, is_right, unit: 0 });
        }
        Ok(predictions)
    }

    fn no_outcome(&self, scores: &Scores<'_>, at: usize, found: f64) -> Error {
        let wanted = "confidence is compared with answers that are right or wrong: scores must be 1 or 0, C or I; name a \
                      conversion with to_float";
        Error::shape(self.metric, scores.sample_id(at), found.to_string(), wanted)
    }

    fn missing(&self, scores: &Scores<'_>, at: usize) -> Error {
        let columns = scores.set().columns;
        let of_score = scores.score_metadata(at).into_iter().flat_map(|metadata| metadata.keys().cloned());
        let known = of_score.chain(columns.metadata_keys().map(str::to_owned)).take(12).collect();
        Error::MissingConfidence {
            metric: self.metric.to_owned(),
            key: self.key.clone(),
            sample: scores.sample_id(at).to_owned(),
            known,
        }
    }

    fn no_confidence(&self, scores: &Scores<'_>, at: usize, found: &Json) -> Error {
        let text: String = json_text(found).chars().take(60).collect();
        let hint = if percentage(found) { ", so divide percentages by 100" } else { "" };
        let (sample, key) = (scores.sample_id(at), &self.key);
        let problem = format!(
            "the confidence of sample {sample:?} (metadata key `{key}`) is {text}; it must be a number from 0 to 1{hint}"
        );
        Error::undefined(self.metric, problem)
    }
}

/// Whether a confidence looks like one of 0 to 100.
fn percentage(value: &Json) -> bool {
    let text = value.as_str().and_then(|text| text.trim().strip_suffix('%')?.trim().parse::<f64>().ok());
    text.or_else(|| number_of(value).filter(|number| *number > 1.0)).is_some_and(|number| number <= 100.0)
}

/// Predictions in the order of their confidence, the units of the plan beside them.
///
/// Where several are alike the unit decides, so that sums have the same bits in any order of the scores.
fn sorted(mut predictions: Vec<ConfidentAnswer>, units: Option<&ScoreUnits>) -> Vec<ConfidentAnswer> {
    if let Some(units) = units {
        let of_positions = units.of_positions();
        for (prediction, unit) in predictions.iter_mut().zip(of_positions) {
            prediction.unit = unit;
        }
    }
    predictions.sort_unstable_by(|a, b| {
        let order = a.confidence.total_cmp(&b.confidence).then(a.is_right.cmp(&b.is_right));
        order.then(a.unit.cmp(&b.unit))
    });
    predictions
}

/// The estimate of a figure of predictions in the order of their confidence, given how often each unit is drawn.
fn resampled(
    metric: &str,
    scores: &Scores<'_>,
    predictions: Vec<ConfidentAnswer>,
    value: Defined<f64>,
    figure: impl Fn(&[ConfidentAnswer], Option<&[u32]>) -> Option<f64> + Sync,
) -> Result<Estimate> {
    resampled_estimate(metric, scores, value, |units| {
        let sorted = sorted(predictions, Some(units));
        move |draws: &[u32]| figure(&sorted, Some(draws))
    })
}

/// Why there is no figure that compares right answers with wrong ones; none if there are both.
fn one_class(predictions: &[ConfidentAnswer]) -> Option<Undefined> {
    let right = predictions.iter().filter(|prediction| prediction.is_right).count();
    let n = predictions.len();
    match right {
        _ if n == 0 => Some(Undefined::NoScores),
        0 => Some(Undefined::Other(format!("all {n} answers are wrong; it takes right and wrong ones"))),
        _ if right == n => {
            Some(Undefined::Other(format!("all {n} answers are right; it takes right and wrong ones")))
        }
        _ => None,
    }
}

/// A number for each prediction.
#[derive(Clone, Copy, Debug)]
struct Loss {
    of: fn(&ConfidentAnswer) -> f64,
    /// The largest that there is; the smallest is 0.
    largest: f64,
    /// The name of the note that counts predictions with the largest loss, if they are to be counted.
    note_of_largest: Option<&'static str>,
}

/// What is read of the losses of predictions as scores, given how many are the largest.
fn read_losses<T>(
    source: PredictionSource,
    loss: Loss,
    scores: &Scores<'_>,
    read: impl FnOnce(&Scores<'_>, usize) -> Result<T>,
) -> Result<T> {
    let losses: Vec<f64> = source.read(scores)?.iter().map(loss.of).collect();
    let largest = losses.iter().filter(|found| **found == loss.largest).count();
    let mut set = scores.derive(0..scores.len(), ValueColumn::from_floats(&losses));
    // The range of the plan is that of the scores.
    set.estimation.errors.range = Some((0.0, loss.largest));
    read(&set.scores().in_context(scores.context()), largest)
}

/// The mean of one number for each prediction, with the error and the interval of the plan.
fn mean_loss(source: PredictionSource, loss: Loss, scores: &Scores<'_>) -> Result<MetricValue> {
    read_losses(source, loss, scores, |losses, largest| {
        // Bounds would take an absent sample for a loss of 0 or 1.
        let estimate = Estimate { bounds: None, ..mean().compute(losses)?.into_estimate() };
        Ok(match loss.note_of_largest {
            Some(note) => estimate.note_some(note, (largest > 0).then_some(largest)).into(),
            None => estimate.into(),
        })
    })
}

/// How confidences are divided into bins.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Bins of equal width.
    #[default]
    Width,
    /// Bins of about equally many predictions.
    Mass,
}

/// The most bins: a resample costs as much as there are.
const MOST_BINS: usize = 1000;

/// What is wrong with a number of bins.
fn check_bins(bins: &usize) -> Result<(), String> {
    match *bins {
        1..=MOST_BINS => Ok(()),
        other => Err(format!("must be from 1 to {MOST_BINS}, found {other}")),
    }
}

/// The predictions with lower < confidence ≤ upper; the first bin has its lower end too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) n: u64,
    pub(crate) right: u64,
    /// The sum of confidences.
    pub(crate) confidences: f64,
}

impl Bin {
    /// The share of right answers; not a number without predictions.
    pub(crate) fn accuracy(&self) -> f64 {
        self.right as f64 / self.n as f64
    }

    /// The mean confidence; not a number without predictions.
    pub(crate) fn confidence(&self) -> f64 {
        self.confidences / self.n as f64
    }
}

/// The bins of predictions in the order of their confidence, each counted as often as it is drawn. Some may be empty.
fn bins(predictions: &[ConfidentAnswer], draws: Option<&[u32]>, count: usize, scheme: Scheme) -> Vec<Bin> {
    let edges = match scheme {
        // The quotient, not a multiple of the width: 0.3 must be the edge 3/10, to the last bit.
        Scheme::Width => (1..count).map(|edge| edge as f64 / count as f64).collect(),
        Scheme::Mass => quantiles(predictions, draws, count),
    };
    let ends = edges.iter().copied().chain(std::iter::once(1.0));
    let starts = std::iter::once(0.0).chain(edges.iter().copied());
    let empty = |(lower, upper): (f64, f64)| Bin { lower, upper, n: 0, right: 0, confidences: 0.0 };
    let mut bins: Vec<Bin> = starts.zip(ends).map(empty).collect();
    let mut at = 0;
    for prediction in predictions {
        while edges.get(at).is_some_and(|edge| prediction.confidence > *edge) {
            at += 1;
        }
        let weight = prediction.weight(draws);
        if let Some(bin) = bins.get_mut(at).filter(|_| weight > 0) {
            bin.n += weight;
            bin.right += if prediction.is_right { weight } else { 0 };
            bin.confidences += weight as f64 * prediction.confidence;
        }
    }
    bins
}

/// The quantiles that divide the predictions into parts, interpolated linearly between order statistics. The positions
/// are integers with a fraction, so rounding cannot put an observation on the wrong side.
fn quantiles(predictions: &[ConfidentAnswer], draws: Option<&[u32]>, parts: usize) -> Vec<f64> {
    let n: u64 = predictions.iter().map(|prediction| prediction.weight(draws)).sum();
    let mut seen = 0;
    let mut rest = predictions.iter();
    let mut current = None;
    // The order statistic at an index from 0; indices ascend.
    let mut order_statistic = |index: u64| {
        while seen <= index {
            let Some(prediction) = rest.next() else { break };
            let weight = prediction.weight(draws);
            if weight > 0 {
                seen += weight;
                current = Some(prediction.confidence);
            }
        }
        current.unwrap_or(0.0)
    };
    let parts = parts as u64;
    let quantile = |edge: u64| {
        let position = u128::from(n.saturating_sub(1)) * u128::from(edge);
        let (index, rest) = ((position / u128::from(parts)) as u64, (position % u128::from(parts)) as u64);
        let low = order_statistic(index);
        if rest == 0 {
            return low;
        }
        let high = order_statistic(index + 1);
        low + (high - low) * (rest as f64 / parts as f64)
    };
    (1..parts).map(quantile).collect()
}

confidence_metric! {
    /// The mean distance between confidence and accuracy over bins of confidence (expected calibration error), with a
    /// bootstrap interval; works on unreduced scores.
    ///
    /// Σ n/N·|accuracy − mean confidence|. Chance alone makes it larger than 0, the more so with few answers in a bin:
    /// ece_debiased corrects for that. The note `bins` has the points of a reliability curve. A score must be
    /// right or wrong, 1 or 0.
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
        let bins = bins(&sorted(predictions.clone(), None), None, count, scheme);
        Ok((predictions, bins))
    }

    /// Where predictions come from, and how they are divided into bins.
    fn binning(&self) -> (PredictionSource, usize, Scheme) {
        let source = self.source();
        (source, self.bins_or_default(), self.scheme_or_default())
    }
}

/// A figure of bins with a bootstrap interval, and the points of a reliability curve. The figure gets the number of
/// samplings that the noise of the bins is of: a resample has that of the scores and as much of its own.
fn binned_estimate(
    source: PredictionSource,
    scores: &Scores<'_>,
    count: usize,
    scheme: Scheme,
    figure: fn(&[Bin], f64) -> Option<f64>,
) -> Result<MetricValue> {
    let predictions = source.read(scores)?;
    let all = bins(&sorted(predictions.clone(), None), None, count, scheme);
    let value = figure(&all, 1.0).ok_or(Undefined::NoScores);
    let estimate = resampled(source.metric, scores, predictions, value, |sorted, draws| {
        figure(&bins(sorted, draws, count, scheme), 2.0)
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
    /// distance was seen than chance gives. A bin whose answers are all right or all wrong has no correction. A score must
    /// be right or wrong, 1 or 0.
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

/// The metric is the mean of a loss.
macro_rules! mean_loss {
    ($type:ident, $loss:expr) => {
        impl Metric for $type {
            metric_flags! { self: role = Location, direction = Lower, resample_cost = 2 }

            reads_predictions!();

            fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
                mean_loss(self.source(), $loss, scores)
            }

            fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
                read_losses(self.source(), $loss, scores, |losses, _| mean().score_kind(losses))
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
    /// confidences of a bin as one (0 if they are equal). Murphy 1973; Stephenson, Coelho & Jolliffe 2008. A score must be
    /// right or wrong, 1 or 0.
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
        let figures = |sorted: &[ConfidentAnswer], draws: Option<&[u32]>| {
            parts(sorted, draws, &bins(sorted, draws, count, scheme))
        };
        let values = match figures(&all, None) {
            Some(parts) => parts.map(Ok).to_vec(),
            None => vec![Err(Undefined::NoScores); PARTS.len()],
        };
        let estimates = resampled_estimates(Self::NAME, scores, values, |units| {
            let sorted = sorted(predictions, Some(units));
            move |draws: &[u32]| figures(&sorted, Some(draws)).unwrap_or([f64::NAN; 4]).to_vec()
        })?;
        let named = PARTS.iter().map(|name| (*name).to_owned()).zip(estimates);
        Ok(named.collect::<IndexMap<String, Estimate>>().into())
    }
}

/// Reliability, resolution, uncertainty, and what is left of the Brier score; none without predictions.
fn parts(predictions: &[ConfidentAnswer], draws: Option<&[u32]>, bins: &[Bin]) -> Option<[f64; 4]> {
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
        prediction.weight(draws) as f64 * square(prediction.confidence - prediction.outcome())
    };
    let brier = predictions.iter().map(squared).sum::<f64>() / n as f64;
    let within_bins = brier - (reliability - resolution + uncertainty);
    // Of sums that cancel nothing but rounding is left.
    let rounding = 4.0 * f64::EPSILON * (n as f64).sqrt() * (brier + reliability + resolution + uncertainty);
    let within_bins = if within_bins.abs() > rounding { within_bins } else { 0.0 };
    Some([reliability, resolution, uncertainty, within_bins])
}

#[cfg(test)]
mod bin_tests {
    use super::*;

    fn predictions(confidences: &[f64]) -> Vec<ConfidentAnswer> {
        let prediction =
            |confidence: &f64| ConfidentAnswer { confidence: *confidence, is_right: true, unit: 0 };
        confidences.iter().map(prediction).collect()
    }

    #[test]
    fn an_edge_belongs_to_the_bin_below() {
        let rows = predictions(&[0.0, 0.1, 0.3, 0.30000000000000004, 0.7, 1.0]);
        let counts: Vec<u64> = bins(&rows, None, 10, Scheme::Width).iter().map(|bin| bin.n).collect();
        assert_eq!(counts, [2, 0, 1, 1, 0, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn bins_of_equal_mass_keep_ties_together() {
        let rows = predictions(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
        // numpy.percentile: 0.275, 0.45, 0.625
        let edges: Vec<f64> = quantiles(&rows, None, 4);
        for (edge, expected) in edges.iter().zip([0.275, 0.45, 0.625]) {
            assert!((edge - expected).abs() < 1e-15, "{edges:?}");
        }
        assert!(bins(&rows, None, 4, Scheme::Mass).iter().all(|bin| bin.n == 2));
        let ties = predictions(&[0.5, 0.9, 0.9, 0.9, 0.9, 0.9]);
        let counts: Vec<u64> = bins(&ties, None, 3, Scheme::Mass).iter().map(|bin| bin.n).collect();
        assert_eq!(counts, [6, 0, 0]);
    }

    #[test]
    fn a_weight_is_as_many_copies() {
        let mut rows = predictions(&[0.05, 0.2, 0.4, 0.95]);
        rows.iter_mut().zip(0..).for_each(|(row, unit)| row.unit = unit);
        let copies = predictions(&[0.05, 0.05, 0.05, 0.4, 0.95, 0.95]);
        let draws = Some(&[3, 0, 1, 2][..]);
        for scheme in [Scheme::Width, Scheme::Mass] {
            assert_eq!(bins(&rows, draws, 5, scheme), bins(&copies, None, 5, scheme), "{scheme:?}");
        }
    }
}

#[cfg(test)]
mod tests;
