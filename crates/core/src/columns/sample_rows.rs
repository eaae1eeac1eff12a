//! Rows that are pushed to a block one by one, with all that a log records of a score.

use super::{ColumnBlock, ScoreDetail};
use crate::sample_id::SampleId;
use crate::score::Score;

impl ColumnBlock {
    /// Appends a row of a sample whose id is an integer or a string. Metadata and scores of a row that is not complete
    /// yet are set at its number, which is that of the rows less one.
    ///
    /// ```
    /// use errorbar_core::{ColumnBlock, SampleId, Score, ScoreColumns};
    /// let mut block = ColumnBlock::new(1, 0);
    /// block.push_sample(&SampleId::from(7), 2);
    /// assert!(block.set_score(0, Score::new("C").answer("42")));
    /// let mut columns = ScoreColumns::new(["match"]);
    /// columns.append([], &mut block);
    /// assert_eq!((columns.sample_id(0), columns.epoch(0)), (SampleId::from(7), 2));
    /// assert_eq!(columns.score(0, "match"), Some(Score::new("C").answer("42")));
    /// ```
    pub fn push_sample(&mut self, id: &SampleId, epoch: u32) {
        let row = self.len();
        match id {
            SampleId::Str(id) => self.ids.push(id),
            SampleId::Int(id) => {
                self.integer_ids.push(row as u32);
                self.ids.push(&id.to_string());
            }
        }
        self.epochs.push(epoch);
    }

    /// Gives the last row its score by a scorer, by its number. False if it has one, or if there is no such scorer.
    pub fn set_score(&mut self, scorer: usize, score: Score) -> bool {
        let Some(row) = self.len().checked_sub(1) else { return false };
        let Some(values) = self.scores.get_mut(scorer).filter(|values| values.len() <= row) else {
            return false;
        };
        let (value, detail) = ScoreDetail::of_score(score);
        values.pad(row);
        values.push(Some(value));
        if !detail.is_empty() {
            self.recorded.push((scorer as u32, row as u32, detail));
        }
        true
    }
}
