//! Rows in blocks, column by column: how a table is read on many threads.

use super::{MetadataColumn, ScoreColumns, ScoreDetail, TextColumn, ValueColumn};
use crate::score::SampleId;
use crate::score::Score;

/// Some rows, column by column, to be appended to [`ScoreColumns`] at once.
///
/// Rows can be pushed to the columns themselves, one by one; but a table of a million rows is read in
/// pieces on many threads, and each thread fills its own block. Columns that are shorter than `ids` are
/// filled up: with epoch 1, with scores that are missing, with metadata that is absent. Longer ones are cut
/// off.
///
/// A block need not go into the columns as it is. [`ScoreColumns::append_rows`] takes some of its rows, and
/// [`ScoreColumns::append_samples`] with [`ScoreColumns::fill_scores`] makes one row of several, each with
/// the score of one scorer. `labels` is what such rows are sorted by.
///
/// ```
/// use errorbar_core::{ScoreColumns, Value};
/// use errorbar_core::engine::ColumnBlock;
/// let mut block = ColumnBlock::new(1, 1);
/// for (id, grade) in [("q1", "C"), ("q2", "I")] {
///     block.ids.push(id);
///     block.metadata[0].push_text("physics");
///     block.scores[0].push_text(grade);
/// }
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.append(["topic"], &mut block);
/// assert_eq!((columns.len(), columns.id(1), columns.epoch(1)), (2, "q2", 1));
/// assert_eq!(columns.score(1, "match").map(|score| score.value), Some(Value::from("I")));
/// assert!(block.ids.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ColumnBlock {
    /// The ids of the samples; their number is that of the rows.
    pub ids: TextColumn,
    /// The epochs.
    pub epochs: Vec<u32>,
    /// A column per metadata key, in the order in which the keys are named to [`ScoreColumns::append`].
    pub metadata: Vec<MetadataColumn>,
    /// A column per scorer, in the order of the columns that the block is for.
    pub scores: Vec<ValueColumn>,
    /// The rows whose sample errored, in order.
    pub errored: Vec<u32>,
    /// What is recorded with the scores.
    pub details: DetailColumns,
    /// What rows are sorted by on their way into columns.
    pub labels: LabelColumns,
    /// The rows whose id is an integer.
    pub(super) integer_ids: Vec<u32>,
    /// What is recorded with single scores: the scorer, the row, and what it is.
    pub(super) recorded: Vec<(u32, u32, ScoreDetail)>,
}

/// What is recorded with the score of each row besides its value, as strings; absent where nothing is. Of a row
/// with several scores it belongs to the first.
#[derive(Clone, Debug, Default)]
pub struct DetailColumns {
    /// The answer that was scored.
    pub answers: MetadataColumn,
    /// Why the score is what it is.
    pub explanations: MetadataColumn,
    /// Why there is no score.
    pub reasons: MetadataColumn,
}

/// What distinguishes rows that go into different columns, as strings, each of which is stored once. The columns
/// themselves never hold them.
#[derive(Clone, Debug, Default)]
pub struct LabelColumns {
    /// Who gave the score, where scorers have their own rows.
    pub scorers: MetadataColumn,
    /// The part of a table, such as the log, where rows of several are mixed.
    pub parts: MetadataColumn,
    /// The task of that part.
    pub tasks: MetadataColumn,
    /// The model of that part.
    pub models: MetadataColumn,
    /// The hash bucket of the sample, where rows are distributed by it.
    pub buckets: Vec<u16>,
}

impl DetailColumns {
    fn columns(&self) -> [&MetadataColumn; 3] {
        [&self.answers, &self.explanations, &self.reasons]
    }

    fn columns_mut(&mut self) -> [&mut MetadataColumn; 3] {
        [&mut self.answers, &mut self.explanations, &mut self.reasons]
    }

    /// Whether nothing is recorded with any score.
    pub(super) fn is_empty(&self) -> bool {
        self.columns().iter().all(|column| column.is_empty())
    }

    pub(super) fn to_detail(&self, row: usize) -> ScoreDetail {
        let text = |column: &MetadataColumn| column.text(row).map(str::to_owned);
        ScoreDetail {
            answer: text(&self.answers),
            explanation: text(&self.explanations),
            reason: text(&self.reasons),
            ..ScoreDetail::no_detail()
        }
    }

    fn heap_bytes(&self) -> usize {
        self.columns().iter().map(|column| column.heap_bytes()).sum()
    }
}

impl LabelColumns {
    fn columns_mut(&mut self) -> [&mut MetadataColumn; 4] {
        [&mut self.scorers, &mut self.parts, &mut self.tasks, &mut self.models]
    }
}

impl ColumnBlock {
    /// An empty block for this number of scorers and metadata keys.
    pub fn new(scorers: usize, metadata_keys: usize) -> Self {
        ColumnBlock {
            metadata: vec![MetadataColumn::default(); metadata_keys],
            scores: vec![ValueColumn::default(); scorers],
            ..ColumnBlock::default()
        }
    }

    /// Makes it one for at least this number of scorers and metadata keys.
    pub fn widen(&mut self, scorers: usize, metadata_keys: usize) {
        self.scores.resize_with(scorers.max(self.scores.len()), ValueColumn::default);
        self.metadata.resize_with(metadata_keys.max(self.metadata.len()), MetadataColumn::default);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Takes all rows out; the memory stays for others.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.epochs.clear();
        self.metadata.iter_mut().for_each(MetadataColumn::clear);
        self.scores.iter_mut().for_each(ValueColumn::clear);
        self.errored.clear();
        self.integer_ids.clear();
        self.recorded.clear();
        self.clear_labels();
    }

    /// Takes out what is not moved into columns.
    fn clear_labels(&mut self) {
        self.details.columns_mut().into_iter().for_each(MetadataColumn::clear);
        self.labels.columns_mut().into_iter().for_each(MetadataColumn::clear);
        self.labels.buckets.clear();
    }

    /// About how many bytes the rows hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        let LabelColumns { scorers, parts, tasks, models, buckets } = &self.labels;
        self.ids.heap_bytes()
            + self.epochs.capacity() * 4
            + self.metadata.iter().map(MetadataColumn::heap_bytes).sum::<usize>()
            + self.scores.iter().map(ValueColumn::heap_bytes).sum::<usize>()
            + self.errored.capacity() * 4
            + buckets.capacity() * 2
            + self.details.heap_bytes()
            + [scorers, parts, tasks, models].iter().map(|column| column.heap_bytes()).sum::<usize>()
    }

    /// Makes all columns as long as the ids are.
    pub(super) fn level(&mut self) {
        let rows = self.ids.len();
        self.epochs.resize(rows, 1);
        self.errored.retain(|row| (*row as usize) < rows);
        self.metadata.iter_mut().for_each(|column| column.truncate(rows));
        self.scores.iter_mut().for_each(|column| column.resize(rows));
    }
}

impl ScoreColumns {
    /// Reserves memory for more rows, with metadata of these keys.
    pub fn reserve<'a>(&mut self, rows: usize, metadata_keys: impl IntoIterator<Item = &'a str>) {
        self.epochs.reserve(rows);
        metadata_keys.into_iter().for_each(|key| self.metadata_entry(key).reserve(rows));
        self.scorers.iter_mut().for_each(|scorer| scorer.values.reserve(rows));
    }

    /// Appends the rows of a block, which is empty afterwards and keeps its memory for the next rows.
    /// `metadata_keys` names its metadata columns; its scores are those of the scorers, in their order.
    pub fn append<'a>(&mut self, metadata_keys: impl IntoIterator<Item = &'a str>, block: &mut ColumnBlock) {
        self.fill_gaps();
        self.forget_index();
        block.level();
        let rows = self.len();
        self.mark_errored(block.errored.drain(..).map(|row| rows as u32 + row));
        self.integer_ids.extend(block.integer_ids.drain(..).map(|row| rows as u32 + row));
        for (scorer, row, detail) in block.recorded.drain(..) {
            if let Some(scorer) = self.scorers.get_mut(scorer as usize) {
                scorer.details.set(rows + row as usize, detail);
            }
        }
        if !block.details.is_empty() {
            self.take_details(block, (0..block.len()).map(|row| (row as u32, (rows + row) as u32)));
        }
        self.ids.append(&mut block.ids);
        self.epochs.append(&mut block.epochs);
        for (key, column) in metadata_keys.into_iter().zip(&mut block.metadata) {
            let own = self.metadata_entry(key);
            // What is absent from the end on needs no memory.
            if !column.is_empty() {
                own.append(rows, column);
            }
        }
        for (scorer, column) in self.scorers.iter_mut().zip(&mut block.scores) {
            scorer.values.append(column);
        }
        self.fill_gaps();
        block.clear_labels();
    }
}

impl ColumnBlock {
    /// Appends a row of a sample whose id is an integer or a string. Metadata and scores of a row that is not complete
    /// yet are set at its number, which is that of the rows less one.
    ///
    /// ```
    /// use errorbar_core::{SampleId, Score, ScoreColumns};
    /// use errorbar_core::engine::ColumnBlock;
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
        let (value, detail) = score.into_parts();
        values.pad(row);
        values.push(Some(value));
        if !detail.has_no_detail() {
            self.recorded.push((scorer as u32, row as u32, detail));
        }
        true
    }
}

impl ScoreColumns {
    /// Appends some rows of a block, in this order. `metadata_keys` names its metadata columns; its scores are those of
    /// the scorers, in their order, and are taken out of the block.
    ///
    /// ```
    /// use errorbar_core::{ScoreColumns, Value};
    /// use errorbar_core::engine::ColumnBlock;
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
        let epoch = |row: &u32| block.epochs.get(*row as usize).copied().unwrap_or(1);
        self.epochs.extend(rows.iter().map(epoch));
        for (key, column) in metadata_keys.into_iter().zip(&block.metadata) {
            self.metadata_entry(key).append_rows(start, column, rows);
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
    use crate::{Score, Value};
    use serde_json::{Value as Json, json};

    fn distinct_values(column: Option<&MetadataColumn>) -> Vec<Json> {
        let column = column.unwrap();
        (0..column.distinct()).map(|code| column.value(code).unwrap().clone()).collect()
    }

    /// The same rows pushed one by one and in blocks of any size.
    #[test]
    fn blocks_give_what_single_rows_give() {
        let values = [
            Some(Value::from("C")),
            None,
            Some(Value::from(0.5)),
            Some(Value::list([1, 2])),
            Some(Value::from("I")),
            Some(Value::Unscored),
            Some(Value::from(true)),
            Some(Value::map([("a", 1)])),
            Some(Value::from("C")),
            Some(Value::from(7)),
        ];
        let topics = [Some(json!("x")), None, Some(json!("y")), Some(Json::Null), Some(json!({"n": 1}))];
        let topic = |row: usize| topics[row % topics.len()].clone();
        let mut pushed = ScoreColumns::new(["s"]);
        for (row, value) in values.iter().enumerate() {
            let mut line = pushed.push(format!("id{row}"), 1 + row as u32 % 2);
            if let Some(topic) = topic(row) {
                line = line.metadata("topic", topic);
            }
            if let Some(value) = value {
                line.score("s", Score::new(value.clone())).unwrap();
            }
        }
        for size in 1..=values.len() {
            let mut columns = ScoreColumns::new(["s"]);
            let mut block = ColumnBlock::new(1, 1);
            for start in (0..values.len()).step_by(size) {
                for (row, value) in values.iter().enumerate().skip(start).take(size) {
                    block.ids.push(&format!("id{row}"));
                    block.epochs.push(1 + row as u32 % 2);
                    match topic(row) {
                        Some(Json::String(text)) => block.metadata[0].push_text(&text),
                        Some(other) => block.metadata[0].push(&other),
                        None => block.metadata[0].push_absent(),
                    }
                    match value {
                        Some(Value::Str(text)) => block.scores[0].push_text(text),
                        other => block.scores[0].push(other.clone()),
                    }
                }
                columns.append(["topic"], &mut block);
            }
            assert_eq!(columns.len(), pushed.len());
            let (ours, theirs) = (columns.scorer("s").unwrap(), pushed.scorer("s").unwrap());
            for row in 0..columns.len() {
                assert_eq!(columns.id(row), pushed.id(row));
                assert_eq!(columns.epoch(row), pushed.epoch(row));
                assert_eq!(
                    columns.metadata_row(row),
                    pushed.metadata_row(row),
                    "row {row}, blocks of {size}"
                );
                assert_eq!(columns.score(row, "s"), pushed.score(row, "s"), "row {row}, blocks of {size}");
            }
            assert_eq!(ours.values.count_present(), theirs.values.count_present());
            let (ours, theirs) = (columns.metadata_column("topic"), pushed.metadata_column("topic"));
            assert_eq!(distinct_values(ours), distinct_values(theirs), "values in order of appearance");
        }
    }

    #[test]
    fn what_was_cleared_is_gone() {
        let mut block = ColumnBlock::new(1, 1);
        for (id, value) in [("a", Value::from("C")), ("b", Value::list([1]))] {
            block.ids.push(id);
            block.epochs.push(5);
            block.metadata[0].push_text(id);
            block.scores[0].push(Some(value));
        }
        block.clear();
        block.ids.push("c");
        block.metadata[0].push_text("c");
        block.scores[0].push(Some(Value::list([2])));
        let mut columns = ScoreColumns::new(["s"]);
        columns.append(["k"], &mut block);
        assert_eq!((columns.len(), columns.id(0), columns.epoch(0)), (1, "c", 1));
        assert_eq!(columns.score(0, "s").map(|s| s.value), Some(Value::list([2])));
        assert_eq!(distinct_values(columns.metadata_column("k")), [json!("c")]);
    }

    #[test]
    fn many_values_at_once_are_what_single_ones_are() {
        let texts = ["x", "y", "z"];
        let codes = [2, 0, 2, 2, 0];
        let ints = [1, 0, -1, 300, 2];
        let (mut bulk, mut single) = (ColumnBlock::new(1, 1), ColumnBlock::new(1, 1));
        for (code, int) in codes.iter().zip(ints) {
            bulk.ids.push("q");
            single.ids.push("q");
            single.metadata[0].push_text(texts[*code as usize]);
            single.scores[0].push_int(int);
        }
        bulk.metadata[0].extend_coded(&texts, &codes);
        bulk.scores[0].extend_bytes(&[1, 0]);
        [-1, 300, 2].into_iter().for_each(|int| bulk.scores[0].push_int(int));
        for reserved in [0, 100] {
            let joined = [bulk.clone(), single.clone()].map(|mut block| {
                let mut columns = ScoreColumns::new(["s"]);
                columns.reserve(reserved, ["k"]);
                columns.append(["k"], &mut block);
                columns
            });
            let values = joined.each_ref().map(|c| distinct_values(c.metadata_column("k")));
            assert_eq!(
                values[0],
                [json!("z"), json!("x")],
                "in order of appearance, and only what rows have"
            );
            assert_eq!(values[0], values[1]);
            for row in 0..codes.len() {
                let [bulk, single] = joined.each_ref().map(|c| (c.metadata_row(row), c.score(row, "s")));
                assert_eq!(bulk, single, "row {row}");
            }
        }
    }

    #[test]
    fn short_columns_are_filled_up() {
        let mut columns = ScoreColumns::new(["a", "b"]);
        columns.push("q0", 3);
        let mut block = ColumnBlock::new(2, 1);
        block.ids.push("q1");
        block.ids.push("q2");
        block.scores[1].push(Some(Value::from(1)));
        columns.append(["k"], &mut block);
        columns.push("q3", 1).metadata("k", 5).score("a", Score::new(2)).unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| columns.epoch(row)), [3, 1, 1, 1]);
        let found = |scorer| [0, 1, 2, 3].map(|row| columns.score(row, scorer).map(|s| s.value));
        assert_eq!(found("a"), [None, None, None, Some(Value::Int(2))]);
        assert_eq!(found("b"), [None, Some(Value::Int(1)), None, None]);
        assert_eq!(columns.metadata_row(3).get("k"), Some(&json!(5)));
        assert!(columns.metadata_row(1).is_empty());
    }

    #[test]
    fn long_columns_are_cut_off() {
        let mut columns = ScoreColumns::new(["a"]);
        let mut block = ColumnBlock::new(1, 1);
        for (rows, id) in [(3, "q1"), (1, "q2")] {
            block.ids.push(id);
            for row in 0..rows {
                block.epochs.push(row + 1);
                block.metadata[0].push_text(id);
                block.scores[0].push_int(i64::from(row));
            }
            columns.append(["k"], &mut block);
        }
        assert_eq!((columns.len(), columns.id(1), columns.epoch(1)), (2, "q2", 1));
        assert_eq!(
            [0, 1].map(|row| columns.score(row, "a").map(|s| s.value)),
            [Some(Value::Int(0)), Some(Value::Int(0))]
        );
        assert_eq!(columns.metadata_row(1).get("k"), Some(&json!("q2")));
        assert_eq!(columns.scorer("a").unwrap().values.count_present(), (2, 0));
    }

    #[test]
    fn values_that_an_earlier_block_had_do_not_come_back() {
        // The block keeps its strings to know them again, but columns learn only of those that rows have.
        let mut block = ColumnBlock::new(1, 1);
        let mut first = ScoreColumns::new(["s"]);
        // The first rows are taken over as they are; what follows is copied, and leaves strings behind.
        for _ in 0..2 {
            for text in ["x", "x", "x", "x"] {
                block.ids.push("q");
                block.metadata[0].push_text(text);
                block.scores[0].push_text(text);
            }
            first.append(["k"], &mut block);
        }
        let mut second = ScoreColumns::new(["s"]);
        block.ids.push("q");
        block.metadata[0].push_text("y");
        block.scores[0].push_text("y");
        second.append(["k"], &mut block);
        assert_eq!(distinct_values(second.metadata_column("k")), [json!("y")]);
        assert_eq!(second.score(0, "s").map(|s| s.value), Some(Value::from("y")));
    }
}

#[cfg(test)]
mod gather_tests {
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
