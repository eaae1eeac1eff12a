//! The score of guessing.

use errorbar_core::{EstimateRow, ScoreColumns};

use crate::number::plain;
use crate::svg::Reference;

/// The accuracy to expect of guessing: of picking one of the choices of each sample at random. It is known only where every
/// sample has choices, one of which is right.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChanceLevel {
    /// The mean of 1 / choices over samples.
    pub value: f64,
    /// The number of choices, if all samples have the same: then it is the level of every group, too.
    pub choices: Option<u32>,
}

impl ChanceLevel {
    /// The level of these samples, by the number of choices of each row, 0 for rows without; none if one is unknown.
    pub fn of_rows(columns: &ScoreColumns, choice_counts: &[u32]) -> Option<Self> {
        // A sample counts once, however many epochs it has.
        let counts: Option<Vec<u32>> =
            columns.first_rows().iter().map(|row| choice_counts.get(*row).copied()).collect();
        let counts = counts.filter(|counts| !counts.is_empty() && counts.iter().all(|count| *count > 1))?;
        let first = counts.first().copied();
        let choices = first.filter(|first| counts.iter().all(|count| count == first));
        let value = match choices {
            Some(choices) => 1.0 / f64::from(choices),
            None => counts.iter().map(|count| 1.0 / f64::from(*count)).sum::<f64>() / counts.len() as f64,
        };
        Some(ChanceLevel { value, choices })
    }

    /// The level of a part of the samples: known if it is that of each.
    pub fn of_part(self) -> Option<Self> {
        self.choices.map(|_| self)
    }

    /// The level that all runs have; none if one is unknown, or they differ.
    pub fn common(levels: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut levels = levels.into_iter();
        let first = levels.next().flatten()?;
        levels.all(|level| level == Some(first)).then_some(first)
    }

    /// Whether the level is one of this figure: the share of right choices, by sample.
    pub fn is_of(row: &EstimateRow<'_>) -> bool {
        // The best or the most frequent of several epochs is better than a guess.
        row.of.picks_option && row.field.is_none() && row.is_plain_mean()
    }

    /// `chance 0.25`.
    pub fn label(self) -> String {
        format!("chance {}", plain((self.value * 1e3).round() / 1e3))
    }

    /// What the level is: `guessing one of 4 choices`.
    pub fn meaning(self) -> String {
        match self.choices {
            Some(choices) => format!("guessing one of {choices} choices"),
            None => "guessing one of the choices, the mean over samples".to_owned(),
        }
    }

    /// The line of it.
    pub fn reference(self) -> Reference {
        Reference { value: self.value, label: self.label() }
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::{Plan, Reducers, Registry, Score};

    use super::*;

    /// Two epochs of three samples.
    fn columns() -> ScoreColumns {
        let mut columns = ScoreColumns::new(["choice"]);
        for epoch in 1..=2 {
            for id in ["a", "b", "c"] {
                columns.push(id, epoch);
            }
        }
        columns
    }

    #[test]
    fn a_sample_counts_once_and_an_unknown_one_is_not_guessed() {
        let level = |counts: &[u32]| ChanceLevel::of_rows(&columns(), counts);
        let four = level(&[4; 6]).unwrap();
        assert_eq!((four.value, four.choices), (0.25, Some(4)));
        assert_eq!(
            (four.label(), four.meaning()),
            ("chance 0.25".into(), "guessing one of 4 choices".into())
        );
        // The second epoch is of the same samples: (1/2 + 1/4 + 1/4) / 3.
        let mixed = level(&[2, 4, 4, 2, 4, 4]).unwrap();
        assert!((mixed.value - 1.0 / 3.0).abs() < 1e-15 && mixed.choices.is_none(), "{mixed:?}");
        assert_eq!((mixed.label().as_str(), mixed.of_part()), ("chance 0.333", None));
        assert_eq!(level(&[4, 0, 4, 4, 0, 4]), None, "a sample without choices");
        assert_eq!(level(&[4, 1, 4, 4, 1, 4]), None, "there is nothing to choose");
        assert_eq!(level(&[]), None, "not read");
        assert_eq!(ChanceLevel::of_rows(&ScoreColumns::new(["choice"]), &[]), None, "no samples");
    }

    #[test]
    fn runs_that_differ_have_none_in_common() {
        let level = |value: f64| Some(ChanceLevel { value, choices: None });
        assert_eq!(ChanceLevel::common([level(0.25), level(0.25)]), level(0.25));
        assert_eq!(ChanceLevel::common([level(0.25), level(0.5)]), None);
        assert_eq!(ChanceLevel::common([level(0.25), None]), None);
        assert_eq!(ChanceLevel::common([]), None);
    }

    /// Whether the first figure of these metrics, reduced so, has a level.
    fn has_level(scorer: &str, metric: &str, reducer: Option<&str>) -> bool {
        let registry = Registry::built_in();
        let mut columns = ScoreColumns::new([scorer]);
        columns.set_picks_option("choice");
        for (id, epoch) in [("a", 1), ("a", 2), ("b", 1), ("b", 2)] {
            columns.push(id, epoch).score(scorer, Score::new("C")).unwrap();
        }
        let mut plan = Plan::new();
        plan.task_metrics = Some(registry.metrics(&metric.parse().unwrap()).unwrap());
        if let Some(reducer) = reducer {
            plan.reducers = Reducers::explicit(vec![registry.reducer(&reducer.parse().unwrap()).unwrap()]);
        }
        let results = plan.evaluate(&columns).unwrap().results;
        results.rows().first().is_some_and(ChanceLevel::is_of)
    }

    #[test]
    fn only_the_share_of_right_choices_has_a_level() {
        assert!(has_level("choice", "accuracy", None) && has_level("choice", "mean", Some("mean")));
        assert!(!has_level("match", "accuracy", None), "a scorer of texts");
        assert!(!has_level("choice", "accuracy", Some("max")), "the best of several guesses");
        assert!(!has_level("choice", "stderr", None) && !has_level("choice", "std", None));
        let other = "accuracy(to_float=value_to_float(correct=0.5))";
        assert!(!has_level("choice", other, None), "other numbers than the scores");
    }
}
