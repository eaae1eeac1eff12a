//! `auprc`: precision over recall, as confidence ranks the answers.

use super::calibration::{
    CONFIDENCE, PredictionSource, Ranking, once, one_class, reads_predictions, sorted, weight_in,
};
use crate::error::Result;
use crate::estimate::{Undefined, resampled_estimate};
use crate::evaluation::{Direction, MetricValue};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;
use crate::value::Conversion;

/// The area under the curve of precision over recall of right answers, ranked by confidence (average precision), with a
/// bootstrap interval; works on unreduced scores.
///
/// Σ (Rₖ − Rₖ₋₁)·Pₖ over the distinct confidences, without interpolation. A confidence that says nothing gets the
/// accuracy. It cannot be merged from parts. A score must be right or wrong, 1 or 0.
///
/// # Formula
/// ```text
/// Σ (Rₖ − Rₖ₋₁)·Pₖ over the distinct confidences, the greatest first
/// ```
///
/// # When
/// As `auroc`, where right answers are rare.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
/// $ errorbar score sure.csv --metric 'auprc'
/// sure.csv · 6 rows
///
/// score · 6 scored
///                                    0                   1
///   auprc  0.92 ± 0.14 [0.50, 1.00]            ├───────●─┤  only 6 scores · 332 undefined resamples
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `auroc`, `precision`, `recall`
///
/// # Source
/// Why points of the curve are not joined by lines: Davis & Goadrich 2006, "The relationship between precision-
/// recall and ROC curves".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "auprc")]
pub struct Auprc {
    /// The metadata key of the confidence, a number from 0 to 1: that of the score, or else of the sample.
    #[param(default = CONFIDENCE.to_owned())]
    confidence: Option<String>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for Auprc {
    reads_predictions!();

    fn direction(&self) -> Direction {
        Direction::Higher
    }

    fn resample_cost(&self) -> u64 {
        4
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source =
            PredictionSource::new(Self::NAME, self.confidence_or_default(), self.to_float_or_default());
        let predictions = source.read(scores)?;
        let value = match one_class(&predictions) {
            Some(reason) => Err(reason),
            None => Ranking::new(&sorted(predictions.clone(), None), once)
                .average_precision()
                .ok_or(Undefined::NoScores),
        };
        let estimate = resampled_estimate(Self::NAME, scores, value, |units| {
            let sorted = sorted(predictions, Some(units));
            move |counts: &[u32]| Ranking::new(&sorted, weight_in(counts)).average_precision()
        })?;
        Ok(estimate.into())
    }
}
