//! Confidence against accuracy, bin by bin.

use super::{ScoreName, collect, replacing_metrics};
use crate::columns::{ScoreColumns, ValueColumn};
use crate::error::Result;
use crate::estimate::Estimate;
use crate::metric::Metric;
use crate::metrics::{Ece, accuracy};
use crate::plan::Plan;
use crate::scores::Scores;

/// How accurate answers of about the same confidence are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CalibrationCurve {
    /// Which scores.
    pub name: ScoreName,
    /// The bins that are not empty, confidence ascending.
    pub bins: Vec<CalibrationBin>,
    /// The mean distance between confidence and accuracy.
    pub error: Estimate,
    /// The number of answers.
    pub n: u64,
}

/// Answers of about the same confidence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CalibrationBin {
    /// The lower end of their confidence, which belongs to the bin below; but 0 is in the first bin.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// Their mean confidence.
    pub confidence: f64,
    /// The share of them that are right, with the error and the interval of the plan.
    pub accuracy: Estimate,
}

impl CalibrationBin {
    /// The answers between two confidences.
    pub fn new((lower, upper): (f64, f64), confidence: f64, accuracy: Estimate) -> Self {
        CalibrationBin { lower, upper, confidence, accuracy }
    }
}

impl CalibrationCurve {
    /// A curve with its bins and the mean distance.
    pub fn new(name: ScoreName, bins: Vec<CalibrationBin>, error: Estimate, n: u64) -> Self {
        CalibrationCurve { name, bins, error, n }
    }
}

impl Plan {
    /// The calibration of each scorer, in the bins of a metric; the plan must have been read with that metric, or the
    /// confidences are not there.
    ///
    /// ```
    /// use errorbar_core::metrics::ece;
    /// use errorbar_core::{Plan, Score, ScoreColumns};
    ///
    /// let mut columns = ScoreColumns::new(["match"]);
    /// for (id, confidence, grade) in [("q1", 0.9, "C"), ("q2", 0.9, "C"), ("q3", 0.3, "I")] {
    ///     columns.push(id, 1).metadata("confidence", confidence).score("match", Score::new(grade))?;
    /// }
    /// let curve = &Plan::new().calibration(&columns, &ece())?[0];
    /// assert_eq!(curve.bins[1].accuracy.number(), Some(1.0));
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the first scorer whose scores have no confidence, or are neither right nor wrong.
    pub fn calibration(&self, columns: &ScoreColumns, metric: &Ece) -> Result<Vec<CalibrationCurve>> {
        let mut plan = replacing_metrics(self, crate::metrics![metric.clone()]);
        plan.scorer_reducers.clear();
        collect(&plan, columns, |block| {
            let of_block = block.metrics.first()?;
            let curve = || {
                let bins = reliability(metric, block.scores)?;
                let error = of_block.compute(block.scores)?.into_estimate();
                let name = ScoreName::of(block, of_block.as_ref());
                Ok(CalibrationCurve::new(name, bins, error, block.scores.len() as u64))
            };
            Some(curve())
        })
    }
}

/// The bins of a metric that are not empty, each with the accuracy of its answers as the plan estimates it.
fn reliability(metric: &Ece, scores: &Scores<'_>) -> Result<Vec<CalibrationBin>> {
    let (predictions, all) = metric.bins_of(scores)?;
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
        let accuracy = accuracy().compute(&set.scores())?.into_estimate();
        curve.push(CalibrationBin::new((bin.lower, bin.upper), bin.confidence(), accuracy));
    }
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::ece;
    use crate::{ErrorPlan, Score, metrics};

    #[test]
    fn the_accuracy_of_a_bin_is_that_of_its_answers_alone() {
        let (mut columns, mut of_bin) = (ScoreColumns::new(["s"]), ScoreColumns::new(["s"]));
        for id in 0..40_u32 {
            let confidence = f64::from(id % 10) / 10.0 + 0.05;
            let grade = if id * 7 % 10 < id % 10 { "C" } else { "I" };
            let cluster = format!("c{}", id / 4);
            for (to, is_wanted) in [(&mut columns, true), (&mut of_bin, id % 10 == 7)] {
                if is_wanted {
                    let row = to.push(id.to_string(), 1).metadata("confidence", confidence);
                    row.metadata("c", cluster.as_str()).score("s", Score::new(grade)).unwrap();
                }
            }
        }
        let plan = Plan::new().errors(ErrorPlan::default().cluster("c"));
        let curve = plan.calibration(&columns, &ece()).unwrap().remove(0);
        assert_eq!((curve.bins.len(), curve.n), (10, 40));
        let bin = &curve.bins[7];
        assert!((bin.confidence - 0.75).abs() < 1e-12 && (bin.lower, bin.upper) == (0.7, 0.8));
        let alone = plan.clone().metrics(metrics![accuracy()]).evaluate(&of_bin).unwrap().results;
        let alone = alone.estimate("accuracy").unwrap();
        assert_eq!((&bin.accuracy.value, bin.accuracy.n), (&alone.value, 4));
        assert_eq!((&bin.accuracy.error, &bin.accuracy.interval), (&alone.error, &alone.interval));
        let whole = plan.metrics(metrics![ece()]).evaluate(&columns).unwrap().results;
        assert_eq!(curve.error.value, whole.estimate("ece").unwrap().value);
    }

    #[test]
    fn scores_without_confidence_are_an_error() {
        let mut columns = ScoreColumns::new(["s"]);
        columns.push("a", 1).score("s", Score::new("C")).unwrap();
        let error = Plan::new().calibration(&columns, &ece()).unwrap_err();
        assert!(matches!(error, crate::Error::MissingConfidence { .. }), "{error}");
    }
}
