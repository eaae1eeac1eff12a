//! `log_loss`: the mean negative logarithm of the probability of what happened.

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
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "log_loss")]
pub struct LogLoss {
    /// The metadata key of the confidence, a number from 0 to 1: that of the score, or else of the sample.
    #[param(default = CONFIDENCE.to_owned())]
    confidence: Option<String>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl LogLoss {
    fn mean(&self, estimation: &Estimation) -> Result<PredictionMean> {
        let source =
            PredictionSource::new(Self::NAME, self.confidence_or_default(), self.to_float_or_default());
        let loss = Loss {
            of: surprise,
            largest: -libm::log(f64::EPSILON),
            note_of_largest: Some("clipped_predictions"),
        };
        PredictionMean::new(source, loss, estimation)
    }
}

/// −ln of the probability of what happened.
fn surprise(prediction: &ConfidentAnswer) -> f64 {
    match prediction.is_right {
        true => -libm::log(prediction.confidence.max(f64::EPSILON)),
        false if prediction.confidence > 1.0 - f64::EPSILON => -libm::log(f64::EPSILON),
        false => -libm::log1p(-prediction.confidence),
    }
}

impl Metric for LogLoss {
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
