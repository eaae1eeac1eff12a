//! Epochs: those that a scorer has (another one of the same samples may have been run more often), those that some samples
//! lack, and those that are counted from 0.

use std::collections::BTreeSet;

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
        let others: Vec<&ScorerColumn> =
            columns.scorers.iter().filter(|other| other.name != scorer.name).collect();
        let (mut own, mut foreign) = (BTreeSet::new(), BTreeSet::new());
        for row in 0..columns.len() {
            let has_entry = |scorer: &ScorerColumn| scorer.values.is_scored(row).is_some();
            if has_entry(scorer) {
                own.insert(columns.epoch(row));
            } else if others.iter().any(|other| has_entry(other)) {
                foreign.insert(columns.epoch(row));
            }
        }
        ScorerEpochs { foreign: foreign.difference(&own).copied().collect() }
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
    /// The same rows without those of the epochs that a scorer does not have; none if it has all.
    pub(super) fn in_epochs_of(&self, scorer: &ScorerColumn) -> Option<Self> {
        let epochs = ScorerEpochs::of(self, scorer);
        let is_own = |row: &u32| epochs.contains(self.epoch(*row as usize));
        (!epochs.foreign.is_empty())
            .then(|| self.selected(&(0..self.len() as u32).filter(is_own).collect::<Vec<u32>>()))
    }
}

impl ScoreColumns {
    /// The epochs that rows have, ascending.
    ///
    /// ```
    /// use errorbar_core::ScoreColumns;
    /// let mut columns = ScoreColumns::new(["match"]);
    /// for (id, epoch) in [("q1", 1), ("q2", 1), ("q1", 2)] {
    ///     columns.push(id, epoch);
    /// }
    /// assert_eq!(columns.distinct_epochs(), [1, 2]);
    /// assert_eq!(columns.absent_epochs_of(&[1, 2]), 1);
    /// columns.add_absent_epochs_of(&[1, 2]);
    /// assert_eq!((columns.len(), columns.id(3), columns.epoch(3)), (4, "q2", 2));
    /// ```
    pub fn distinct_epochs(&self) -> Vec<u32> {
        let mut epochs = self.epochs.clone();
        // Rows of one epoch mostly follow each other.
        epochs.dedup();
        epochs.sort_unstable();
        epochs.dedup();
        epochs
    }

    /// Counts every epoch one higher, the highest one aside: those of a table that starts at 0.
    pub fn shift_epochs(&mut self) {
        self.epochs.iter_mut().for_each(|epoch| *epoch = epoch.saturating_add(1));
    }

    /// How many rows there would be more if every sample had each of these epochs, which are all that rows have, and perhaps
    /// more.
    pub fn absent_epochs_of(&self, epochs: &[u32]) -> u64 {
        match epochs.len() {
            0 | 1 => 0,
            epochs => {
                let expected = (self.sample_index().len() as u64).saturating_mul(epochs as u64);
                expected.saturating_sub(self.len() as u64)
            }
        }
    }

    /// Adds a row without scores for each of these epochs, ascending, that a sample lacks. It has the metadata of the
    /// sample's first row.
    pub fn add_absent_epochs_of(&mut self, epochs: &[u32]) {
        if self.absent_epochs_of(epochs) == 0 {
            return;
        }
        let index = self.sample_index();
        let mut absent: Vec<(u32, u32)> = Vec::new();
        index.for_each(|rows| {
            let Some(&first) = rows.first() else { return };
            // Both are in the order of epochs.
            let mut own = rows.iter().peekable();
            for &epoch in epochs {
                if own.next_if(|row| self.epoch(**row as usize) == epoch).is_none() {
                    absent.push((first, epoch));
                }
            }
        });
        self.forget_index();
        for (first, epoch) in absent {
            let (first, rows) = (first as usize, self.len());
            if self.has_integer_id(first) {
                self.integer_ids.push(rows as u32);
            }
            let id = self.ids.get(first).to_owned();
            self.ids.push(&id);
            self.epochs.push(epoch);
            self.metadata.values_mut().for_each(|column| column.repeat_row(rows, first));
        }
        self.fill_gaps();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SampleId, Score, ScoreColumns};

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

    /// Rows by sample, as they are known, and as they are found anew.
    fn samples(columns: &ScoreColumns) -> [Vec<Vec<u32>>; 2] {
        let mut anew = columns.clone();
        anew.forget_index();
        [columns, &anew].map(|columns| {
            let mut samples = Vec::new();
            columns.sample_index().for_each(|rows| samples.push(rows.to_vec()));
            samples
        })
    }

    #[test]
    fn samples_are_known_with_the_rows_that_come() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in [("b", 2), ("a", 3), ("b", 1), ("c", 2), ("a", 1)] {
            columns.push(id, epoch);
        }
        columns.push_sample(&SampleId::from(4), 4);
        columns.add_absent_epochs_of(&columns.distinct_epochs());
        let [known, anew] = samples(&columns);
        assert_eq!(known, anew);
        assert_eq!(known, [[2, 0, 6, 7], [4, 8, 1, 9], [10, 3, 11, 12], [13, 14, 15, 5]]);
        assert_eq!(columns.sample_id(14), SampleId::from(4));
    }

    #[test]
    fn samples_with_other_epochs_are_found_anew() {
        let of = |rows: &[(&str, u32)]| {
            let mut columns = ScoreColumns::new(["s"]);
            for (id, epoch) in rows {
                columns.push(id, *epoch);
            }
            columns.add_absent_epochs_of(&[1, 2]);
            columns
        };
        let others = of(&[("a", 1), ("a", 3), ("b", 2), ("c", 1)]);
        let [known, anew] = samples(&others);
        assert_eq!(known, anew);
        assert!(known.iter().all(|rows| rows.iter().map(|row| others.epoch(*row as usize)).is_sorted()));
        let twice = of(&[("a", 1), ("a", 1), ("b", 2), ("c", 2), ("d", 2)]);
        assert!(twice.sample_index().duplicate().is_some());
    }
}
