//! Epochs that some samples lack, and epochs that are counted from 0.

use std::sync::{Arc, OnceLock};

use super::{SampleIndex, ScoreColumns};

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
    /// assert_eq!(columns.absent_epochs(), 1);
    /// columns.add_absent_epochs();
    /// assert_eq!((columns.len(), columns.id(3), columns.epoch(3)), (4, "q2", 2));
    /// ```
    pub fn distinct_epochs(&self) -> Vec<u32> {
        self.epochs.distinct()
    }

    /// Counts every epoch one higher: those of a table that starts at 0.
    pub fn shift_epochs(&mut self) {
        self.epochs.shift();
    }

    /// How many rows there would be more if every sample had every epoch that some sample has.
    pub fn absent_epochs(&self) -> u64 {
        self.absent_epochs_of(&self.distinct_epochs())
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

    /// Adds a row without scores for each epoch that a sample lacks and another has. It has the metadata of the
    /// sample's first row.
    pub fn add_absent_epochs(&mut self) {
        self.add_absent_epochs_of(&self.distinct_epochs());
    }

    /// The same for each of these epochs, ascending, that a sample lacks.
    pub fn add_absent_epochs_of(&mut self, epochs: &[u32]) {
        if self.absent_epochs_of(epochs) == 0 {
            return;
        }
        let index = self.sample_index();
        let mut absent: Vec<(u32, u32)> = Vec::new();
        // The rows of all samples with those that come, so that they are not looked for again.
        let mut listed = Vec::with_capacity(index.len() * epochs.len());
        let mut ends = Vec::with_capacity(index.len());
        let (mut next, mut has_others) = (self.len() as u32, false);
        index.for_each(|rows| {
            let Some(&first) = rows.first() else { return };
            // Both are in the order of epochs.
            let mut own = rows.iter().copied().peekable();
            for &epoch in epochs {
                let row = own.next_if(|row| self.epoch(*row as usize) == epoch);
                listed.push(row.unwrap_or(next));
                if row.is_none() {
                    absent.push((first, epoch));
                    next += 1;
                }
            }
            ends.push(listed.len() as u32);
            // An epoch that the sample has twice, or that is not among these.
            has_others |= own.peek().is_some();
        });
        let listed = (!has_others).then(|| Arc::new(SampleIndex::listed(listed, ends)));
        self.index = listed.map_or_else(OnceLock::new, OnceLock::from);
        for (first, epoch) in absent {
            let (first, rows) = (first as usize, self.len());
            if self.integer_ids.contains(first) {
                self.integer_ids.add(rows);
            }
            let id = self.ids.get(first).to_owned();
            self.ids.push(&id);
            self.epochs.push(epoch);
            self.metadata.columns_mut().for_each(|column| column.repeat_row(rows, first));
        }
        self.fill_gaps();
    }
}

#[cfg(test)]
mod tests {
    use crate::{SampleId, ScoreColumns};

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
        columns.add_absent_epochs();
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
