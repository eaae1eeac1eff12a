//! Which labels are taken for which.

use super::{ScoreName, collect, replacing_metrics};
use crate::columns::ScoreColumns;
use crate::error::Result;
use crate::estimate::{Estimate, Undefined};
use crate::metrics::{LabelCounts, Prediction, WITHOUT_ANSWER, label_counts, recall};
use crate::plan::Plan;

/// Predicted labels against true ones.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ConfusionLabel {
    /// As it is written.
    pub name: String,
    /// The share of the answers with this true label that are predicted so.
    pub recall: Estimate,
    /// The share of the answers predicted so that have this true label.
    pub precision: Estimate,
}

impl ConfusionLabel {
    /// A label with its figures.
    pub fn new(name: impl Into<String>, recall: Estimate, precision: Estimate) -> Self {
        ConfusionLabel { name: name.into(), recall, precision }
    }
}

impl Confusion {
    /// Labels with their counts, by true label, then by predicted one.
    pub fn new(
        name: ScoreName,
        labels: Vec<ConfusionLabel>,
        counts: Vec<Vec<u64>>,
        accuracy: Estimate,
    ) -> Self {
        Confusion { name, labels, counts, accuracy }
    }

    /// Whether every predicted label is a verdict, such as 1 or `C`: what is right is no label.
    pub fn is_of_verdicts(&self) -> bool {
        const VERDICTS: [&str; 14] = [
            "0",
            "1",
            "0.0",
            "1.0",
            "0.5",
            "C",
            "I",
            "P",
            "N",
            "True",
            "False",
            "true",
            "false",
            WITHOUT_ANSWER,
        ];
        let mut predicted = self.predicted().peekable();
        predicted.peek().is_some() && predicted.all(|label| VERDICTS.contains(&label.name.as_str()))
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
        let unknown = || Estimate::undefined(Undefined::NotAvailable);
        labels.push(ConfusionLabel::new(format!("{others} other labels"), unknown(), unknown()));
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
                Confusion::new(name, labels.map(label).collect(), counts, accuracy)
            }))
        })
    }
}

#[cfg(test)]
mod tests {
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

    /// Scores are labels only if they are none of the words for right and wrong.
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
