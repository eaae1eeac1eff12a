//! What the measures of calibration have in common: the confidence of each answer, and whether the answer was right.
//!
//! A prediction is one answer, so a sample in one epoch. Figures see predictions in the order of their confidence, each with
//! the unit that it belongs to, so they do not depend on the order of samples.

mod bins;
mod ece;
mod losses;
mod ranking;

pub use ece::*;
pub use losses::*;
pub use ranking::*;

use self::bins::{Bin, Scheme, bins, check_bins};
use super::mean;
use crate::metrics::prelude::*;

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
            #[param(default = super::CONFIDENCE.to_owned())]
            confidence: Option<String>,
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            to_float: Option<$crate::Conversion>,
        }

        impl $type {
            fn source(&self) -> super::PredictionSource {
                super::PredictionSource {
                    metric: <Self as $crate::Params>::NAME,
                    key: self.confidence_or_default(),
                    conversion: self.to_float_or_default(),
                }
            }
        }
    };
    ($(#[$doc:meta])* binned $type:ident, $name:literal) => {
        super::confidence_metric! { @[
            /// The number of bins.
            #[param(default = 10, check = super::check_bins)]
            bins: Option<usize>,
            /// Bins of equal width ("width") or with equally many answers ("mass").
            #[param(default = super::Scheme::Width)]
            scheme: Option<super::Scheme>,
        ] $(#[$doc])* $type, $name }
    };
    ($(#[$doc:meta])* $type:ident, $name:literal) => {
        super::confidence_metric! { @[] $(#[$doc])* $type, $name }
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

/// How often a prediction is in a resample: as often as its unit.
fn weight_in(counts: &[u32]) -> impl Fn(&ConfidentAnswer) -> u32 {
    move |prediction| counts.get(prediction.unit as usize).copied().unwrap_or(0)
}

/// Every prediction once.
fn once(_: &ConfidentAnswer) -> u32 {
    1
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

/// Prepares the mean of one number for each prediction, with the error and the interval of the plan.
fn mean_loss(
    source: PredictionSource,
    loss: Loss,
    estimation: &Estimation,
    scores: &Scores<'_>,
) -> Result<PreparedValue> {
    let losses: Vec<f64> = source.read(scores)?.iter().map(loss.of).collect();
    let largest = losses.iter().filter(|found| **found == loss.largest).count();
    let set = scores.derive(0..scores.len(), ValueColumn::from_floats(losses));
    let mut estimation = estimation.clone();
    // The range of the plan is that of the scores.
    estimation.errors.range = Some((0.0, loss.largest));
    let prepared = mean().prepare(&estimation, &set.scores())?;
    let mean = prepared.ok_or_else(|| Error::custom("a mean was not prepared"))?;
    Ok(PreparedValue::new(mean.kind, move |whole| {
        // Bounds would take an absent sample for a loss of 0 or 1.
        let estimate = Estimate { bounds: None, ..mean.finish(whole)?.into_estimate() };
        Ok(match loss.note_of_largest {
            Some(note) => estimate.note_some(note, (largest > 0).then_some(largest)).into(),
            None => estimate.into(),
        })
    }))
}

#[cfg(test)]
mod tests;
