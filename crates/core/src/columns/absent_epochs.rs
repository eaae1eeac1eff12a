//! Epochs that some samples lack, and epochs that are counted from 0.

use super::ScoreColumns;

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
        let mut absent: Vec<(u32, u32)> = Vec::new();
        self.sample_index().for_each(|rows| {
            let Some(&first) = rows.first() else { return };
            // Both are in the order of epochs.
            let mut own = rows.iter().map(|row| self.epoch(*row as usize)).peekable();
            for &epoch in epochs {
                if own.next_if_eq(&epoch).is_none() {
                    absent.push((first, epoch));
                }
            }
        });
        self.forget_index();
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
