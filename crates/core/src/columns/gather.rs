//! Some rows of a block, or one row made of several: tables whose rows are not those of the columns.

use super::{ColumnBlock, ScoreColumns};

impl ScoreColumns {
    /// Appends some rows of a block, in this order. `metadata_keys` names its metadata columns; its scores are those of
    /// the scorers, in their order, and are taken out of the block.
    ///
    /// ```
    /// use errorbar_core::{ColumnBlock, ScoreColumns, Value};
    /// let mut block = ColumnBlock::new(1, 0);
    /// for (id, score) in [("q1", 1), ("q1", 0), ("q2", 1)] {
    ///     block.ids.push(id);
    ///     block.scores[0].push_int(score);
    /// }
    /// let mut columns = ScoreColumns::new(["match"]);
    /// columns.append_rows([], &mut block, &[0, 2]);
    /// assert_eq!((columns.len(), columns.id(1)), (2, "q2"));
    /// assert_eq!(columns.score(1, "match").map(|score| score.value), Some(Value::Int(1)));
    /// ```
    pub fn append_rows<'a>(
        &mut self,
        metadata_keys: impl IntoIterator<Item = &'a str>,
        block: &mut ColumnBlock,
        rows: &[u32],
    ) {
        let start = self.len() as u32;
        block.level();
        let cells: Vec<(u32, u32)> = rows.iter().copied().zip(start..).collect();
        let is_errored = |from: &u32| block.errored.binary_search(from).is_ok();
        let errored = cells.iter().filter(|(from, _)| is_errored(from)).map(|(_, to)| *to);
        let errored: Vec<u32> = if block.errored.is_empty() { Vec::new() } else { errored.collect() };
        self.mark_errored(errored);
        if !block.details.is_empty() {
            self.take_details(block, cells.iter().copied());
        }
        self.append_samples(metadata_keys, block, rows);
        for scorer in 0..self.scorers.len() {
            self.fill_scores(scorer, block, scorer, &cells);
        }
    }

    /// Appends ids, epochs and metadata of some rows of a block, in this order, without scores.
    pub fn append_samples<'a>(
        &mut self,
        metadata_keys: impl IntoIterator<Item = &'a str>,
        block: &ColumnBlock,
        rows: &[u32],
    ) {
        self.forget_index();
        let start = self.len();
        self.ids.append_rows(&block.ids, rows);
        self.epochs.append_rows(&block.epochs, rows);
        for (key, column) in metadata_keys.into_iter().zip(&block.metadata) {
            self.metadata.entry(key).append_rows(start, column, rows);
        }
        self.fill_gaps();
    }

    /// Moves scores of a column of a block to a scorer, both by their number: from rows of the block to rows that have
    /// none yet.
    pub fn fill_scores(
        &mut self,
        scorer: usize,
        block: &mut ColumnBlock,
        column: usize,
        cells: &[(u32, u32)],
    ) {
        self.fill_gaps();
        if let (Some(scorer), Some(column)) = (self.scorers.get_mut(scorer), block.scores.get_mut(column)) {
            scorer.values.take_cells(column, cells);
        }
    }

    /// Copies what rows of a block have recorded with the scores of a column to the scores of a scorer; call it before
    /// these are moved. Rows without a score have nothing.
    pub fn fill_details(&mut self, scorer: usize, block: &ColumnBlock, column: usize, cells: &[(u32, u32)]) {
        let (Some(scorer), Some(column)) = (self.scorers.get_mut(scorer), block.scores.get(column)) else {
            return;
        };
        if block.details.is_empty() {
            return;
        }
        for &(from, to) in cells.iter().filter(|(from, _)| column.is_scored(*from as usize).is_some()) {
            scorer.details.set(to as usize, block.details.to_detail(from as usize));
        }
    }

    /// Marks the samples of rows as errored; the rows are in order.
    pub fn mark_errored(&mut self, rows: impl IntoIterator<Item = u32>) {
        let start = self.errored.last().copied();
        let before = self.errored.len();
        self.errored.extend(rows);
        if self.errored.get(before).is_some_and(|first| Some(*first) <= start) {
            self.errored.sort_unstable();
            self.errored.dedup();
        }
    }

    /// Copies what is recorded with the scores of a block: of several scores of a row it belongs to the first.
    pub(super) fn take_details(&mut self, block: &ColumnBlock, cells: impl Iterator<Item = (u32, u32)>) {
        for (from, to) in cells {
            let has_score = |column: &super::ValueColumn| column.is_scored(from as usize).is_some();
            let first = block.scores.iter().position(has_score).and_then(|at| self.scorers.get_mut(at));
            if let Some(scorer) = first {
                scorer.details.set(to as usize, block.details.to_detail(from as usize));
            }
        }
    }

    /// Gives every map among the scores of a scorer the keys of all of them, in order of first appearance; a key that a
    /// map lacked is unscored there. False, and nothing changed, if that would take more than `most_bytes`.
    ///
    /// ```
    /// use errorbar_core::{Score, ScoreColumns, Value};
    /// let mut columns = ScoreColumns::new(["judge"]);
    /// columns.push("q1", 1).score("judge", Score::new(Value::map([("style", 1)])))?;
    /// columns.push("q2", 1).score("judge", Score::new(Value::map([("facts", 0)])))?;
    /// assert!(columns.unite_map_keys(1 << 20));
    /// let Some(Value::Map(map)) = columns.score(1, "judge").map(|score| score.value) else { panic!() };
    /// assert_eq!(map.keys().map(|key| &**key).collect::<Vec<_>>(), ["facts", "style"]);
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn unite_map_keys(&mut self, most_bytes: u64) -> bool {
        self.scorers.iter_mut().all(|scorer| scorer.values.unite_keys(most_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables may be split into thousands, each with hundreds of columns.
    #[test]
    fn few_rows_take_little_memory() {
        let mut block = ColumnBlock::new(1, 1);
        for grade in ["C", "I"] {
            block.ids.push(grade);
            block.scores[0].push_text(grade);
            block.metadata[0].push_text(grade);
        }
        let mut columns = ScoreColumns::new(["s"]);
        columns.append_rows(["topic"], &mut block, &[1]);
        assert!(columns.heap_bytes() < 2048, "{}", columns.heap_bytes());
    }
}
