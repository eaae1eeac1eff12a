//! How the scores of samples are distributed.

use super::{ScoreName, collect, numbers, row_of};
use crate::columns::ScoreColumns;
use crate::error::Result;
use crate::estimate::{Estimate, Undefined};
use crate::evaluation::Results;
use crate::plan::Plan;

/// How often each score occurs, and the mean of all.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
