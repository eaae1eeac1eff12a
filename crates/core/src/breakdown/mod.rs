//! What estimates are made of, for those who want to see more than a number: the scores behind a mean, the epochs of
//! each sample, chances over several attempts, bins of confidence, labels against labels.
//!
//! Everything here is a count, or an [`Estimate`](crate::Estimate) with the error and the interval of the plan; the
//! figures are those that the plan itself gives for the same question, because they come from the same engine.

mod epochs;

use std::cell::RefCell;

pub use epochs::{EpochSpread, EpochStrip, PassCurve, PassPoint, SampleSpread, StripColumn};

use crate::columns::{ScoreColumns, ValueColumn};
use crate::error::Result;
use crate::error_plan::ErrorMethod;
use crate::estimate::{Estimate, Undefined};
use crate::evaluation::{EstimateRow, Results, Role};
use crate::inputs::Wants;
use crate::metric::{Metric, Metrics};
use crate::metrics::{Bin, Ece, LabelCounts, Prediction, WITHOUT_ANSWER, accuracy, label_counts, recall};
use crate::plan::Plan;
use crate::results::VisitedBlock;
use crate::scores::Scores;

/// Which scores a breakdown is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreName {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The metric whose numbers they are.
    pub metric: String,
}

impl ScoreName {
    fn of(block: &VisitedBlock<'_>, metric: &dyn Metric) -> Self {
        ScoreName {
            scorer: block.scorer.to_owned(),
            reducer: block.reducer.map(str::to_owned),
            field: block.field.map(str::to_owned),
            metric: metric.spec().log_name().into_owned(),
        }
    }
}

/// Whether a metric is one figure over all samples that lies among the scores.
fn is_location(metric: &dyn Metric) -> bool {
    metric.role() == Role::Location && metric.group_key().is_none()
}

/// The numbers that the first location of some scores is the mean of, one for each score.
fn numbers<'b>(block: &'b VisitedBlock<'_>) -> Option<(&'b dyn Metric, Result<Vec<f64>>)> {
    let locations = block.metrics.iter().map(|metric| metric.as_ref()).filter(|metric| is_location(*metric));
    let numbers = locations.filter_map(|metric| Some((metric, metric.sample_numbers(block.scores)?)));
    numbers.into_iter().find(|(_, numbers)| match numbers {
        Ok(numbers) => numbers.len() == block.scores.len(),
        Err(_) => true,
    })
}

/// The row of a location over all samples.
fn row_of<'r>(results: &'r Results, name: &ScoreName) -> Option<EstimateRow<'r>> {
    let is_of = |row: &EstimateRow<'_>| {
        let is_same = row.scorer == name.scorer
            && row.reducer == name.reducer.as_deref()
            && row.field == name.field.as_deref();
        let is_whole = row.group_key.is_none() && row.key.is_none() && row.index.is_none();
        is_same && is_whole && row.result.spec.log_name() == name.metric
    };
    results.rows().into_iter().find(is_of)
}

/// What is made of each block of scores that a plan evaluates.
fn collect<T>(
    plan: &Plan,
    columns: &ScoreColumns,
    of_block: impl Fn(&VisitedBlock<'_>) -> Option<Result<T>>,
) -> Result<Vec<T>> {
    let found: RefCell<Vec<Result<T>>> = RefCell::default();
    plan.visit_scores(columns, &|block| found.borrow_mut().extend(of_block(block)))?;
    found.into_inner().into_iter().collect()
}

/// The plan with other metrics, their errors clustered as those of its own are: figures of the same answers side by side
/// have the same error.
fn replacing_metrics(plan: &Plan, metrics: Metrics) -> Plan {
    let key = plan.own_metrics().find_map(|metric| metric.cluster().map(str::to_owned));
    let mut plan = plan.clone().metrics(metrics);
    let errors = &mut plan.errors;
    if errors.cluster.is_empty() && errors.method != Some(ErrorMethod::Iid) {
        errors.cluster.extend(key);
    }
    plan
}

/// Whether a metric is a location over all samples, or the error or the interval of one.
fn is_about_location(metric: &dyn Metric) -> bool {
    let is_wanted = matches!(metric.role(), Role::Location | Role::ErrorOf | Role::IntervalOf);
    is_wanted && metric.group_key().is_none() && metric.wants() != Wants::Unreduced
}

/// How accurate answers of about the same confidence are.
#[derive(Clone, Debug, PartialEq)]
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
                Ok(CalibrationCurve { name, bins, error, n: block.scores.len() as u64 })
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
        let mut set = scores.derive(positions.into_iter(), ValueColumn::from_floats(&outcomes));
        // Which bin an absent answer would be in is unknown.
        set.absent = Vec::new();
        // The range of the plan is that of the scores; these are right or wrong.
        set.estimation.errors.range = None;
        let accuracy = accuracy().compute(&set.scores())?.into_estimate();
        let Bin { lower, upper, .. } = *bin;
        curve.push(CalibrationBin { lower, upper, confidence: bin.confidence(), accuracy });
    }
    Ok(curve)
}

/// Predicted labels against true ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Confusion {
    /// Which scores.
    pub name: ScoreName,
    /// The labels, in the order of their strings.
    pub labels: Vec<ConfusionLabel>,
    /// By true label, then by predicted one: the number of answers.
    pub counts: Vec<Vec<u64>>,
    /// The share of answers whose label is the true one.
    pub accuracy: Estimate,
}

/// A label.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfusionLabel {
    /// As it is written.
    pub name: String,
    /// The share of the answers with this true label that are predicted so.
    pub recall: Estimate,
    /// The share of the answers predicted so that have this true label.
    pub precision: Estimate,
}

impl Confusion {
    /// Whether every predicted label is a verdict, such as 1 or `C`: what is right is no label.
    pub fn is_of_verdicts(&self) -> bool {
        let is_verdict = |label: &ConfusionLabel| {
            let verdicts =
                ["0", "1", "0.0", "1.0", "0.5", "C", "I", "P", "N", "True", "False", "true", "false"];
            label.name == WITHOUT_ANSWER || verdicts.contains(&label.name.as_str())
        };
        let mut predicted = self.predicted().peekable();
        predicted.peek().is_some() && predicted.all(is_verdict)
    }

    /// Whether a predicted label is also a true one.
    pub fn has_common_labels(&self) -> bool {
        let is_true = |label: &ConfusionLabel| {
            let at = self.labels.iter().position(|other| other.name == label.name);
            at.and_then(|at| self.counts.get(at)).is_some_and(|row| row.iter().any(|count| *count > 0))
        };
        self.predicted().any(is_true)
    }

    /// The labels that are predicted.
    fn predicted(&self) -> impl Iterator<Item = &ConfusionLabel> {
        let is_predicted =
            |at: usize| self.counts.iter().any(|row| row.get(at).is_some_and(|count| *count > 0));
        self.labels.iter().enumerate().filter(move |(at, _)| is_predicted(*at)).map(|(_, label)| label)
    }

    /// The labels that most answers have or are predicted, all others together under one name; as it is if there are no
    /// more labels than that.
    #[must_use]
    pub fn with_most(self, most: usize) -> Self {
        if self.labels.len() <= most.max(2) {
            return self;
        }
        let at = |row: usize, column: usize| self.counts.get(row).and_then(|of| of.get(column)).copied();
        let size = |label: usize| -> u64 {
            let all = 0..self.labels.len();
            all.map(|other| at(label, other).unwrap_or(0) + at(other, label).unwrap_or(0)).sum()
        };
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        order.sort_by_key(|label| std::cmp::Reverse(size(*label)));
        let mut kept: Vec<usize> = order.into_iter().take(most.max(2) - 1).collect();
        kept.sort_unstable();
        let place = |label: usize| kept.binary_search(&label).unwrap_or(kept.len());
        let mut counts = vec![vec![0; kept.len() + 1]; kept.len() + 1];
        for (row, of_row) in self.counts.iter().enumerate() {
            for (column, count) in of_row.iter().enumerate() {
                if let Some(slot) = counts.get_mut(place(row)).and_then(|of| of.get_mut(place(column))) {
                    *slot += count;
                }
            }
        }
        let others = self.labels.len() - kept.len();
        let mut labels: Vec<ConfusionLabel> =
            kept.iter().filter_map(|label| self.labels.get(*label).cloned()).collect();
        let unknown = Estimate::undefined(Undefined::NotAvailable);
        let name = format!("{others} other labels");
        labels.push(ConfusionLabel { name, recall: unknown.clone(), precision: unknown });
        Confusion { labels, counts, ..self }
    }
}

impl Plan {
    /// Predicted labels against those under `target`, a metadata key or another scorer, for each scorer; the plan must
    /// have been read with a metric of labels, or the targets are not there.
    ///
    /// # Errors
    /// Of the first scorer that has an answer without a label.
    pub fn confusions(
        &self,
        columns: &ScoreColumns,
        target: &str,
        prediction: Prediction,
    ) -> Result<Vec<Confusion>> {
        let mut plan = replacing_metrics(self, crate::metrics![recall(target).prediction(prediction)]);
        plan.scorer_reducers.clear();
        collect(&plan, columns, |block| {
            let name = ScoreName::of(block, block.metrics.first()?.as_ref());
            Some(label_counts(block.scores, target, prediction).map(|labels| {
                let LabelCounts { names, counts, recall, precision, accuracy } = labels;
                let labels = names.into_iter().zip(recall.into_iter().zip(precision));
                let label = |(name, (recall, precision))| ConfusionLabel { name, recall, precision };
                Confusion { name, labels: labels.map(label).collect(), counts, accuracy }
            }))
        })
    }
}

/// How often each score occurs, and the mean of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Which scores.
    pub name: ScoreName,
    /// Each score that occurs, ascending, with the number of samples that have it; of epochs if those are not reduced.
    pub counts: Vec<(f64, u64)>,
    /// The number of samples without a score.
    pub absent: u64,
    /// The mean, with its error and interval.
    pub estimate: Estimate,
}

/// The samples with a score between two ends; the upper end belongs to the next bin, but to the last one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionBin {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The number of samples.
    pub count: u64,
}

impl Distribution {
    /// These scores, and their mean.
    pub fn new(name: ScoreName, mut scores: Vec<f64>, absent: u64, estimate: Estimate) -> Self {
        scores.retain(|score| score.is_finite());
        scores.sort_unstable_by(f64::total_cmp);
        let mut counts: Vec<(f64, u64)> = Vec::new();
        for score in scores {
            match counts.last_mut() {
                Some((last, count)) if *last == score => *count += 1,
                // −0 is 0.
                _ => counts.push((score + 0.0, 1)),
            }
        }
        Distribution { name, counts, absent, estimate }
    }

    /// The number of scores.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Bins of equal width over a range, scores beyond it in the first or last one.
    pub fn bins(&self, count: usize, (low, high): (f64, f64)) -> Vec<DistributionBin> {
        let edge = |at: usize| low + (high - low) * (at as f64 / count.max(1) as f64);
        let empty = |at: usize| DistributionBin { lower: edge(at), upper: edge(at + 1), count: 0 };
        let mut bins: Vec<DistributionBin> = (0..count).map(empty).collect();
        for (score, number) in &self.counts {
            let at = bins.partition_point(|bin| bin.upper <= *score).min(count.saturating_sub(1));
            if let Some(bin) = bins.get_mut(at) {
                bin.count += number;
            }
        }
        bins
    }
}

impl Plan {
    /// How the scores that the locations of the plan are means of are distributed: one for each scorer, reducer and key
    /// with such a metric. `results` are those of the plan over the same scores.
    ///
    /// ```
    /// use errorbar_core::{Plan, Score, ScoreColumns};
    ///
    /// let mut columns = ScoreColumns::new(["match"]);
    /// for (id, score) in [("q1", 1.0), ("q2", 0.5), ("q3", 1.0)] {
    ///     columns.push(id, 1).score("match", Score::new(score))?;
    /// }
    /// let plan = Plan::new();
    /// let results = plan.evaluate(&columns)?.results;
    /// let distribution = &plan.distributions(&columns, &results)?[0];
    /// assert_eq!(distribution.counts, [(0.5, 1), (1.0, 2)]);
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As in [`Plan::evaluate`]; scores that are no numbers.
    pub fn distributions(&self, columns: &ScoreColumns, results: &Results) -> Result<Vec<Distribution>> {
        collect(self, columns, |block| {
            let (metric, numbers) = numbers(block)?;
            let name = ScoreName::of(block, metric);
            let mean = row_of(results, &name).map(|row| row.estimate.into_owned());
            let mean = mean.unwrap_or_else(|| Estimate::undefined(Undefined::NoScores));
            let absent = block.scores.absent() as u64;
            Some(numbers.map(|numbers| Distribution::new(name, numbers, absent, mean)))
        })
    }
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

#[cfg(test)]
mod confusion_tests {
    use super::*;
    use crate::metrics::{Average, precision};
    use crate::{Score, metrics};

    fn columns(pairs: &[(&str, &str)]) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for (at, (truth, predicted)) in pairs.iter().enumerate() {
            let row = columns.push(at.to_string(), 1).metadata("target", *truth);
            row.score("s", Score::new(*predicted)).unwrap();
        }
        columns
    }

    #[test]
    fn counts_and_figures_are_those_of_the_metrics() {
        let columns = columns(&[("a", "a"), ("a", "b"), ("b", "b"), ("b", "b"), ("c", "a"), ("c", "c")]);
        let found = Plan::new().confusions(&columns, "target", Prediction::Value).unwrap().remove(0);
        assert_eq!(found.counts, [[1, 1, 0], [0, 2, 0], [1, 0, 1]]);
        let names: Vec<&str> = found.labels.iter().map(|label| label.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let metrics = metrics![
            recall("target").average(Average::None),
            precision("target").average(Average::None),
            recall("target").average(Average::Micro)
        ];
        let results = Plan::new().metrics(metrics).evaluate(&columns).unwrap().results;
        let rows = results.rows();
        for (at, label) in found.labels.iter().enumerate() {
            assert_eq!(*rows[at].estimate, label.recall, "{}", label.name);
            assert_eq!(*rows[at + 3].estimate, label.precision, "{}", label.name);
        }
        assert_eq!(*rows[6].estimate, found.accuracy);
    }

    /// The accuracy above a matrix is that of the results, and so is its error.
    #[test]
    fn errors_are_clustered_as_those_of_the_plan_are() {
        let mut columns = ScoreColumns::new(["s"]);
        for id in 0..24_u32 {
            let truth = if id / 4 % 3 == 0 { "b" } else { "a" };
            let row = columns.push(id.to_string(), 1).metadata("target", truth);
            row.metadata("c", format!("c{}", id / 4)).score("s", Score::new("a")).unwrap();
        }
        let accuracy = |plan: &Plan| {
            plan.confusions(&columns, "target", Prediction::Value).unwrap().remove(0).accuracy.error
        };
        let named =
            Plan::new().metrics(metrics![crate::metrics::mean(), crate::metrics::stderr().cluster("c")]);
        let asked = Plan::new().errors(crate::ErrorPlan::default().cluster("c"));
        assert_eq!(accuracy(&named), accuracy(&asked));
        assert_ne!(accuracy(&named), accuracy(&Plan::new()));
    }

    #[test]
    fn an_absent_answer_is_a_label_of_its_own() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, answer) in [("1", Some("a")), ("2", Some("")), ("3", None)] {
            let score = Score::new(0);
            let score = answer.map_or(score.clone(), |answer| score.answer(answer));
            columns.push(id, 1).metadata("target", "a").score("s", score).unwrap();
        }
        let found = Plan::new().confusions(&columns, "target", Prediction::Answer).unwrap().remove(0);
        let names: Vec<&str> = found.labels.iter().map(|label| label.name.as_str()).collect();
        assert_eq!((names, found.counts), (vec!["(no answer)", "a"], vec![vec![0, 0], vec![2, 1]]));
    }

    /// Scores are labels unless they are words for right and wrong.
    #[test]
    fn verdicts_are_told_from_labels() {
        let of = |pairs: &[(&str, &str)]| {
            Plan::new().confusions(&columns(pairs), "target", Prediction::Value).unwrap().remove(0)
        };
        let verdicts = of(&[("A", "1"), ("B", "0"), ("1", "1")]);
        assert!(verdicts.is_of_verdicts() && verdicts.has_common_labels());
        let labels = of(&[("A", "1"), ("B", "A")]);
        assert!(!labels.is_of_verdicts() && labels.has_common_labels());
        assert!(!of(&[("cat", "dog")]).has_common_labels());
    }

    #[test]
    fn rare_labels_are_counted_together() {
        let columns = columns(&[("a", "a"), ("a", "b"), ("b", "b"), ("x", "y"), ("z", "a")]);
        let found = Plan::new().confusions(&columns, "target", Prediction::Value).unwrap().remove(0);
        let found = found.with_most(3);
        assert_eq!(found.counts, [[1, 1, 0], [0, 1, 0], [1, 0, 1]]);
        assert_eq!(found.labels[2].name, "3 other labels");
        assert!(found.labels[2].recall.value.is_err(), "no figure of what is no label");
    }
}

#[cfg(test)]
mod distribution_tests {
    use super::*;
    use crate::Score;

    fn distribution(scores: &[f64]) -> Distribution {
        let mean = Estimate::undefined(Undefined::NoScores);
        Distribution::new(ScoreName::default(), scores.to_vec(), 0, mean)
    }

    #[test]
    fn every_score_is_in_one_bin() {
        let counts = |scores: &[f64], count, range| {
            let bins = distribution(scores).bins(count, range);
            bins.iter().map(|bin| bin.count).collect::<Vec<_>>()
        };
        assert_eq!(counts(&[0.0, 0.1, 0.2, 0.5, 1.0], 5, (0.0, 1.0)), [2, 1, 1, 0, 1], "0.2 begins a bin");
        assert_eq!(counts(&[-7.0, 0.5, 9.0], 2, (0.0, 1.0)), [1, 2], "beyond the range");
        assert_eq!(counts(&[], 3, (0.0, 1.0)), [0, 0, 0]);
    }

    #[test]
    fn scores_are_counted_as_they_are_reduced() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch, grade) in [("a", 1, "C"), ("a", 2, "I"), ("b", 1, "C"), ("b", 2, "C")] {
            columns.push(id, epoch).score("s", Score::new(grade)).unwrap();
        }
        columns.push("c", 1).score("s", Score::unscored("refusal")).unwrap();
        let plan = Plan::new();
        let results = plan.evaluate(&columns).unwrap().results;
        let found = plan.distributions(&columns, &results).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].counts, [(0.5, 1), (1.0, 1)]);
        assert_eq!((found[0].absent, found[0].total()), (1, 2));
        assert_eq!(found[0].estimate, results.estimate("accuracy").unwrap(), "the row that `score` shows");
    }

    #[test]
    fn the_sign_of_zero_is_no_other_score() {
        assert_eq!(distribution(&[0.0, -0.0, f64::NAN]).counts, [(0.0, 2)]);
    }
}
