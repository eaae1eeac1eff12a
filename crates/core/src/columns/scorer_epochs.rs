//! Which epochs a scorer has: another one of the same samples may have been run more often.

use super::{SampleIndex, ScoreColumns, ScorerColumn};

/// The epochs of a scorer among those of all.
#[derive(Debug, Default)]
pub struct ScorerEpochs {
    /// Epochs of other scorers alone, ascending: nothing of this one is missing in them.
    foreign: Vec<u32>,
}

impl ScorerEpochs {
    /// An epoch is not the scorer's if others have an entry in it and this one has none, of any sample. A scorer without
    /// any entry has all epochs.
    pub fn of(columns: &ScoreColumns, scorer: &ScorerColumn) -> Self {
        let (present, _) = scorer.values.count_present();
        if present == 0 || present == columns.len() || columns.scorers.len() < 2 {
            return ScorerEpochs::default();
        }
        let without = columns.epochs_without(columns.distinct_epochs(), scorer);
        let others = columns.scorers.iter().filter(|other| other.name != scorer.name);
        let of_none = others.fold(without.clone(), |without, other| match without.is_empty() {
            true => without,
            false => columns.epochs_without(without, other),
        });
        ScorerEpochs { foreign: without.into_iter().filter(|epoch| !of_none.contains(epoch)).collect() }
    }

    /// Whether an epoch is the scorer's.
    pub(crate) fn contains(&self, epoch: u32) -> bool {
        self.foreign.is_empty() || self.foreign.binary_search(&epoch).is_err()
    }

    /// The number of rows that are not the scorer's.
    pub(crate) fn foreign_rows(&self, columns: &ScoreColumns) -> usize {
        match self.foreign.is_empty() {
            true => 0,
            false => (0..columns.len()).filter(|row| !self.contains(columns.epoch(*row))).count(),
        }
    }

    /// The largest number of epochs of a sample. `index` is that of the columns.
    pub fn most(&self, columns: &ScoreColumns, index: &SampleIndex) -> usize {
        if self.foreign.is_empty() {
            return index.max_rows();
        }
        let mut most = 0;
        index.for_each(|rows| {
            let own = rows.iter().filter(|row| self.contains(columns.epoch(**row as usize))).count();
            most = most.max(own);
        });
        most
    }
}

impl ScoreColumns {
    /// Those of the epochs, ascending, in which a scorer has no entry of any sample.
    fn epochs_without(&self, epochs: Vec<u32>, scorer: &ScorerColumn) -> Vec<u32> {
        let mut is_found = vec![false; epochs.len()];
        let mut left = epochs.len();
        for row in 0..self.len() {
            if left == 0 {
                break;
            }
            let Ok(at) = epochs.binary_search(&self.epoch(row)) else { continue };
            if let Some(found) = is_found.get_mut(at).filter(|found| !**found)
                && scorer.values.is_scored(row).is_some()
            {
                *found = true;
                left -= 1;
            }
        }
        epochs.into_iter().zip(is_found).filter_map(|(epoch, found)| (!found).then_some(epoch)).collect()
    }

    /// The same rows without those of the epochs that a scorer does not have; none if it has all.
    pub(super) fn in_epochs_of(&self, scorer: &ScorerColumn) -> Option<Self> {
        let epochs = ScorerEpochs::of(self, scorer);
        let is_own = |row: &u32| epochs.contains(self.epoch(*row as usize));
        (!epochs.foreign.is_empty())
            .then(|| self.reordered(&(0..self.len() as u32).filter(is_own).collect::<Vec<u32>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    /// Scores of `a` and `b` by epoch; a dot is no entry.
    fn columns(samples: &[(&str, &str)]) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["a", "b"]);
        for (at, (a, b)) in samples.iter().enumerate() {
            for (epoch, (a, b)) in (1..).zip(a.chars().zip(b.chars())) {
                let mut row = columns.push(format!("q{at}"), epoch);
                for (scorer, cell) in [("a", a), ("b", b)] {
                    match cell {
                        '.' => {}
                        '?' => row = row.score(scorer, Score::unscored("refusal")).unwrap(),
                        cell => row = row.score(scorer, Score::new(cell == '1')).unwrap(),
                    }
                }
                let _ = row;
            }
        }
        columns
    }

    fn foreign(columns: &ScoreColumns, scorer: &str) -> Vec<u32> {
        ScorerEpochs::of(columns, columns.scorer(scorer).unwrap()).foreign
    }

    #[test]
    fn an_epoch_of_others_alone_is_not_the_scorers() {
        let once = columns(&[("010", "1.."), ("111", "0..")]);
        assert_eq!(foreign(&once, "b"), [2, 3]);
        assert!(foreign(&once, "a").is_empty());
        // One entry is enough, be it unscored.
        assert_eq!(foreign(&columns(&[("010", "1.."), ("111", "0?.")]), "b"), [3]);
        // An epoch that failed for all is missing of all; a scorer without entries lacks everything.
        assert_eq!(foreign(&columns(&[("01.", "1.."), ("11.", "0..")]), "b"), [2]);
        assert!(foreign(&columns(&[("01", "..")]), "b").is_empty());
    }

    #[test]
    fn one_scorer_alone_has_its_own_epochs() {
        let once = columns(&[("010", "1.."), ("111", "0..")]);
        let alone = once.only_scorer("b", "s").unwrap();
        assert_eq!((alone.len(), alone.sample_index().max_rows()), (2, 1));
        assert_eq!(once.only_scorer("a", "s").unwrap().len(), 6);
    }
}
