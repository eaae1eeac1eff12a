//! `brier`: the mean squared error of confidences.

use super::calibration::{
    CONFIDENCE, ConfidentAnswer, Loss, PredictionMean, PredictionSource, reads_predictions,
};
use crate::error::Result;
use crate::error_plan::Estimation;
use crate::evaluation::{Direction, MetricValue, Role};
use crate::metric::{Metric, MetricState, compute_by_state};
use crate::registry::Params;
use crate::scores::Scores;
use crate::value::Conversion;

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
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "brier")]
pub struct Brier {
    /// The metadata key of the confidence, a number from 0 to 1: that of the score, or else of the sample.
    #[param(default = CONFIDENCE.to_owned())]
    confidence: Option<String>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Brier {
    fn mean(&self, estimation: &Estimation) -> Result<PredictionMean> {
        let source =
            PredictionSource::new(Self::NAME, self.confidence_or_default(), self.to_float_or_default());
        let loss = Loss { of: squared_error, largest: 1.0, note_of_largest: None };
        PredictionMean::new(source, loss, estimation)
    }
}

fn squared_error(prediction: &ConfidentAnswer) -> f64 {
    let error = prediction.confidence - prediction.outcome();
    error * error
}

impl Metric for Brier {
    reads_predictions!();

    fn role(&self) -> Role {
        Role::Location
    }

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    fn resample_cost(&self) -> u64 {
        2
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute_by_state(self.mean(scores.estimation())?, scores)
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        Some(Box::new(self.mean(estimation).ok()?))
    }
}
