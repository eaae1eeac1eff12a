//! The points of a reliability diagram, as estimates.

use super::{bins, once, sorted};
use crate::breakdown::CalibrationBin;
use crate::columns::ValueColumn;
use crate::error::Result;
use crate::estimate::{Estimate, Undefined};
use crate::metric::Metric;
use crate::metrics::accuracy::accuracy;
use crate::metrics::ece::Ece;
use crate::scores::Scores;

/// The bins of a metric that are not empty, each with the accuracy of its answers as the plan estimates it.
pub(crate) fn reliability(metric: &Ece, scores: &Scores<'_>) -> Result<Vec<CalibrationBin>> {
    let (source, count, scheme) = metric.binning();
    let predictions = source.read(scores)?;
    let all = bins(&sorted(predictions.clone(), None), once, count, scheme);
    let mut curve = Vec::new();
    for (at, bin) in all.iter().enumerate().filter(|(_, bin)| bin.n > 0) {
        let is_in = |confidence: f64| confidence <= bin.upper && (confidence > bin.lower || at == 0);
        let (positions, outcomes): (Vec<usize>, Vec<f64>) = predictions
            .iter()
            .enumerate()
            .filter(|(_, prediction)| is_in(prediction.confidence))
            .map(|(at, prediction)| (at, prediction.outcome()))
            .unzip();
        let mut set = scores.derive(positions.into_iter(), ValueColumn::from_floats(outcomes));
        // Which bin an absent answer would be in is unknown.
        set.absent = Vec::new();
        // The range of the plan is that of the scores; these are right or wrong.
        set.estimation.errors.range = None;
        let accuracy = accuracy().compute(&set.scores())?.estimate().cloned();
        let accuracy = accuracy.unwrap_or_else(|| Estimate::undefined(Undefined::NoScores));
        curve.push(CalibrationBin::new((bin.lower, bin.upper), bin.confidence(), accuracy));
    }
    Ok(curve)
}
