//! Scores as columns: one row per sample and epoch, one value column per scorer.
//!
//! The engine never holds a heap of boxed scores. A row costs its id, four bytes of epoch, two to
//! nine bytes per scorer and four per metadata key, and the metrics run over plain arrays.

mod block;
mod epochs;
mod metadata;
mod sample_index;
mod tagged;
mod text;
mod values;

pub use block::{ColumnBlock, DetailColumns, LabelColumns};
pub use epochs::ScorerEpochs;
pub use metadata::MetadataColumn;
pub use metadata::Panel;
pub(crate) use metadata::{ScoreDetail, ScoreDetails, merge_details};
pub use sample_index::{RowLists, SampleIndex};
pub use text::TextColumn;
pub(crate) use values::Floats;
pub use values::{DistinctScores, Recoded, RecodedKinds, ValueColumn};

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock, OnceLock};

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::inputs::MetadataKeys;
use crate::metadata::Metadata;
use crate::naming::unique_names;
use crate::python_text::json_text;
use crate::score::SampleId;
use crate::score::Score;

/// Seeded per process, so that ids in a hostile log cannot be chosen to collide. Nothing depends
/// on the order of hashes: every table here only maps to numbers given in order of appearance.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    static STATE: LazyLock<foldhash::fast::RandomState> = LazyLock::new(foldhash::fast::RandomState::default);
    STATE.hash_one(bytes)
}

/// The scores of an evaluation, as columns.
///
/// ```
/// use errorbar_core::{Score, ScoreColumns};
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).metadata("category", "physics").score("match", Score::new("C"))?;
/// columns.push("q2", 1).metadata("category", "biology").score("match", Score::new("I"))?;
/// assert_eq!(columns.len(), 2);
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScoreColumns {
    ids: TextColumn,
    /// The rows whose id is an integer, in order: tables have none.
    integer_ids: Vec<u32>,
    epochs: Vec<u32>,
    metadata: IndexMap<String, MetadataColumn>,
    scorers: Vec<ScorerColumn>,
    /// The rows whose sample errored, in order.
    errored: Vec<u32>,
    /// Which rows are of one sample, computed on first use: readers and results both need it.
    index: OnceLock<Arc<SampleIndex>>,
    /// The same rows with scores as they were written, if these have been given another meaning since.
    labels: Option<Arc<ScoreColumns>>,
}

/// The scores of one scorer.
#[derive(Clone, Debug, Default)]
pub struct ScorerColumn {
    pub(crate) name: String,
    pub(crate) picks_option: bool,
    pub(crate) values: ValueColumn,
    pub(crate) details: ScoreDetails,
}

impl ScorerColumn {
    /// The name of the scorer.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it compares the option that was picked among several with the right one.
    pub fn picks_option(&self) -> bool {
        self.picks_option
    }

    /// Its scores, one for each row.
    pub fn values(&self) -> &ValueColumn {
        &self.values
    }
}

impl ScoreColumns {
    /// Columns for these scorers, without rows. Two of one name become `name` and `name1`.
    pub fn new(scorers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = scorers.into_iter().map(Into::into).collect();
        let scorer = |name: String| ScorerColumn { name, ..ScorerColumn::default() };
        let scorers = unique_names(names.iter().map(String::as_str)).into_iter().map(scorer).collect();
        ScoreColumns { scorers, ..Self::default() }
    }

    /// Appends a row. Scores not given to it stay missing.
    pub fn push(&mut self, id: impl AsRef<str>, epoch: u32) -> RowWriter<'_> {
        self.fill_gaps();
        self.forget_index();
        self.ids.push(id.as_ref());
        self.epochs.push(epoch);
        let row = self.len() - 1;
        RowWriter { columns: self, row }
    }

    /// Appends a row of a sample whose id is an integer or a string. Ids are compared as strings, and the
    /// [reductions](crate::Reduction::iter) have them as they came.
    pub fn push_sample(&mut self, id: &SampleId, epoch: u32) -> RowWriter<'_> {
        match id {
            SampleId::Str(id) => self.push(id, epoch),
            SampleId::Int(id) => {
                self.integer_ids.push(self.len() as u32);
                self.push(id.to_string(), epoch)
            }
        }
    }

    /// A row that is there already, to be filled; `None` beyond the end.
    pub fn row_mut(&mut self, row: usize) -> Option<RowWriter<'_>> {
        (row < self.len()).then_some(RowWriter { columns: self, row })
    }

    /// Says that a scorer compares the option that was picked among several with the right one.
    pub fn set_picks_option(&mut self, scorer: &str) {
        let found = self.scorers.iter_mut().find(|column| column.name == scorer);
        found.into_iter().for_each(|column| column.picks_option = true);
    }

    /// Adds a scorer, unless there is one of this name. Rows that are there lack its score.
    pub fn add_scorer(&mut self, name: &str) {
        if self.scorer(name).is_none() {
            self.scorers.push(ScorerColumn { name: name.to_owned(), ..ScorerColumn::default() });
        }
    }

    /// Rows whose scores were not given count as missing.
    fn fill_gaps(&mut self) {
        let rows = self.epochs.len();
        self.scorers.iter_mut().for_each(|scorer| scorer.values.resize(rows));
    }

    /// Which rows are of one sample.
    pub fn sample_index(&self) -> Arc<SampleIndex> {
        if let Some(index) = self.index.get() {
            return Arc::clone(index);
        }
        // Not within the cell: threads that help are given other work meanwhile, which may ask for this too.
        let index = Arc::new(SampleIndex::new(self));
        Arc::clone(self.index.get_or_init(|| index))
    }

    /// Rows have come, so what is known of them is out of date.
    fn forget_index(&mut self) {
        self.index.take();
    }

    /// The first row of each sample, in order of first appearance.
    ///
    /// ```
    /// use errorbar_core::ScoreColumns;
    /// let mut columns = ScoreColumns::new(["match"]);
    /// for (id, epoch) in [("q1", 1), ("q2", 1), ("q1", 2)] {
    ///     columns.push(id, epoch);
    /// }
    /// assert_eq!(columns.first_rows(), [0, 1]);
    /// ```
    pub fn first_rows(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        self.sample_index().for_each(|of_sample| rows.extend(of_sample.first().map(|row| *row as usize)));
        rows
    }

    /// The first row that repeats the sample and epoch of an earlier one, and that one.
    pub fn repeated_row(&self) -> Option<(usize, usize)> {
        self.sample_index().duplicate()?;
        let mut first_rows = HashMap::new();
        (0..self.len()).find_map(|row| {
            let first = *first_rows.entry((self.id(row), self.epoch(row))).or_insert(row);
            (first != row).then_some((row, first))
        })
    }

    /// What is wrong with a row that repeats the sample and epoch of another.
    pub(crate) fn duplicate_error(&self, row: usize) -> Error {
        let (sample, epoch) = (self.id(row).to_owned(), self.epoch(row));
        let is_mixed = (0..self.len()).any(|other| {
            self.has_integer_id(other) != self.has_integer_id(row)
                && self.epoch(other) == epoch
                && self.id(other) == sample
        });
        if is_mixed { Error::MixedIds { sample, epoch } } else { Error::DuplicateEpoch { sample, epoch } }
    }

    /// The number of rows: samples times epochs.
    pub fn len(&self) -> usize {
        self.epochs.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.epochs.is_empty()
    }

    /// Whether a score of some scorer has an answer that is not empty.
    pub fn has_answers(&self) -> bool {
        let has_answer =
            |detail: &ScoreDetail| detail.answer.as_ref().is_some_and(|answer| !answer.is_empty());
        let has = |scorer: &ScorerColumn| {
            (0..self.len()).any(|row| scorer.details.get(row).is_some_and(has_answer))
        };
        self.scorers.iter().any(has)
    }

    /// The id of a row's sample; empty beyond the end.
    pub fn id(&self, row: usize) -> &str {
        self.ids.get(row)
    }

    /// The bytes of the id of a row's sample; empty beyond the end.
    #[inline]
    pub fn id_bytes(&self, row: usize) -> &[u8] {
        self.ids.bytes_of(row)
    }

    /// The id of a row's sample, an integer if it came as one.
    pub fn sample_id(&self, row: usize) -> SampleId {
        let id = self.id(row);
        let integer = self.has_integer_id(row).then(|| id.parse().ok()).flatten();
        integer.map_or_else(|| SampleId::from(id), SampleId::Int)
    }

    fn has_integer_id(&self, row: usize) -> bool {
        self.integer_ids.binary_search(&(row as u32)).is_ok()
    }

    /// The epoch of a row; 0 beyond the end.
    pub fn epoch(&self, row: usize) -> u32 {
        self.epochs.get(row).copied().unwrap_or(0)
    }

    /// The score of a row by this scorer, if it has one.
    pub fn score(&self, row: usize, scorer: &str) -> Option<Score> {
        let column = self.scorer(scorer)?;
        let value = column.values.to_value(row)?;
        Some(column.details.to_detail(row, Some(column)).with_value(value))
    }

    /// The names of the scorers.
    pub fn scorer_names(&self) -> impl Iterator<Item = &str> {
        self.scorers.iter().map(|s| s.name.as_str())
    }

    /// The same rows with the scores of one scorer alone, under another name: two scorers of the same samples can be
    /// compared like two sides of one scorer. Rows of epochs that only other scorers have are left out. `None` if there is
    /// no such scorer.
    ///
    /// ```
    /// use errorbar_core::{Score, ScoreColumns};
    /// let mut columns = ScoreColumns::new(["judge", "human"]);
    /// columns.push("q1", 1).score("judge", Score::new(1))?.score("human", Score::new(0))?;
    /// let judge = columns.only_scorer("judge", "score").unwrap();
    /// assert_eq!(judge.scorer_names().collect::<Vec<_>>(), ["score"]);
    /// assert_eq!(judge.score(0, "score"), Some(Score::new(1)));
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn only_scorer(&self, scorer: &str, name: &str) -> Option<Self> {
        match self.in_epochs_of(self.scorer(scorer)?) {
            Some(own) => own.with_only(scorer, name),
            None => self.with_only(scorer, name),
        }
    }

    fn with_only(&self, scorer: &str, name: &str) -> Option<Self> {
        let scorer_name = scorer.to_owned();
        let scorer = ScorerColumn { name: name.to_owned(), ..self.scorer(scorer)?.clone() };
        let (ids, integer_ids) = (self.ids.clone(), self.integer_ids.clone());
        let (epochs, metadata) = (self.epochs.clone(), self.metadata.clone());
        let (errored, index) = (self.errored.clone(), self.index.clone());
        let labels = self.labels().and_then(|labels| labels.with_only(&scorer_name, name)).map(Arc::new);
        let scorers = vec![scorer];
        Some(ScoreColumns { ids, integer_ids, epochs, metadata, scorers, errored, index, labels })
    }

    /// The rows of each value of a metadata key, by its text as [groups](crate::Group) have it, in order of first
    /// appearance; rows without a value are in none.
    ///
    /// ```
    /// use errorbar_core::{Score, ScoreColumns};
    /// let mut columns = ScoreColumns::new(["match"]);
    /// columns.push("q1", 1).metadata("language", "de").score("match", Score::new("C"))?;
    /// columns.push("q2", 1).metadata("language", "en").score("match", Score::new("I"))?;
    /// assert_eq!(columns.split_by("language")["en"].id(0), "q2");
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn split_by(&self, key: &str) -> IndexMap<String, Self> {
        let mut rows: IndexMap<String, Vec<u32>> = IndexMap::new();
        let Some(column) = self.metadata.get(key) else { return IndexMap::new() };
        for row in 0..self.len() {
            if let Some(value) = column.get(row).filter(|value| !value.is_null()) {
                rows.entry(json_text(value)).or_default().push(row as u32);
            }
        }
        rows.into_iter().map(|(value, rows)| (value, self.selected(&rows))).collect()
    }

    /// The metadata keys that some row has.
    pub fn metadata_keys(&self) -> impl Iterator<Item = &str> {
        self.metadata.keys().map(String::as_str)
    }

    /// Leaves out the metadata under other keys.
    pub fn keep_metadata(&mut self, keys: &MetadataKeys) {
        self.metadata.retain(|key, _| keys.contains(key));
    }

    /// The number of different values of a metadata key; 0 if no row has it.
    pub fn distinct_values(&self, key: &str) -> usize {
        self.metadata.get(key).map_or(0, MetadataColumn::distinct)
    }

    /// The number of rows whose sample errored.
    pub fn errored(&self) -> usize {
        self.errored.len()
    }

    /// Whether the sample of a row errored.
    pub fn is_errored(&self, row: usize) -> bool {
        u32::try_from(row).is_ok_and(|row| self.errored.binary_search(&row).is_ok())
    }

    /// The column of a scorer.
    pub fn scorer(&self, name: &str) -> Option<&ScorerColumn> {
        self.scorers.iter().find(|s| s.name == name)
    }

    /// The column of a metadata key.
    pub fn metadata_column(&self, key: &str) -> Option<&MetadataColumn> {
        self.metadata.get(key)
    }

    /// The column of a metadata key, made if there is none.
    fn metadata_entry(&mut self, key: &str) -> &mut MetadataColumn {
        self.metadata.entry(key.to_owned()).or_default()
    }

    /// The metadata of a row.
    pub fn metadata_row(&self, row: usize) -> Metadata {
        let pairs = self.metadata.iter().filter_map(|(key, c)| Some((key.clone(), c.get(row)?.clone())));
        pairs.collect()
    }

    /// About how many bytes the columns hold on the heap, what scorers have recorded as metadata aside.
    pub fn heap_bytes(&self) -> usize {
        let scorers = self.scorers.iter().map(|s| s.values.heap_bytes() + s.details.heap_bytes());
        let rows = self.ids.heap_bytes()
            + self.integer_ids.capacity() * 4
            + self.epochs.capacity() * 4
            + self.errored.capacity() * 4;
        let metadata = self.metadata.values().map(MetadataColumn::heap_bytes);
        rows + metadata.chain(scorers).sum::<usize>()
    }
}

/// A row to be filled, mostly the one that was appended last.
#[derive(Debug)]
pub struct RowWriter<'a> {
    columns: &'a mut ScoreColumns,
    row: usize,
}

impl RowWriter<'_> {
    /// Adds one entry of sample metadata.
    pub fn metadata(self, key: &str, value: impl Into<Json>) -> Self {
        self.metadata_all([(key, &value.into())])
    }

    /// Adds several entries of sample metadata.
    pub fn metadata_all<'b>(self, entries: impl IntoIterator<Item = (&'b str, &'b Json)>) -> Self {
        for (key, value) in entries {
            // Most rows have keys that there are.
            match self.columns.metadata.get_mut(key) {
                Some(column) => column.set(self.row, value),
                None => self.columns.metadata_entry(key).set(self.row, value),
            }
        }
        self
    }

    /// Marks the sample as errored. Scores that it carries all the same still count.
    pub fn errored(self) -> Self {
        self.columns.mark_errored([self.row as u32]);
        self
    }

    /// Gives the row's score by this scorer; a second one for the same scorer is refused.
    pub fn score(self, scorer: &str, score: Score) -> Result<Self> {
        let (row, epoch) = (self.row, self.columns.epoch(self.row));
        let ScoreColumns { scorers, ids, .. } = &mut *self.columns;
        let sample = ids.get(row);
        let Some(column) = scorers.iter_mut().find(|column| column.name == scorer) else {
            return Err(Error::custom(format!(
                "sample {sample:?} (epoch {epoch}) has a score by `{scorer}`, which is not among the scorers declared"
            )));
        };
        let (value, detail) = score.into_parts();
        if !column.values.fill(row, value) {
            return Err(Error::custom(format!(
                "sample {sample:?} (epoch {epoch}) has two scores by `{scorer}`; keep one, or number the epochs"
            )));
        }
        column.details.set(row, detail);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LeafRef;
    use crate::{Value, ValueRef};

    #[test]
    fn rows_keep_their_scores_apart() {
        let mut columns = ScoreColumns::new(["a", "b"]);
        columns.push("1", 1).score("b", Score::new(1)).unwrap();
        columns.push("2", 1).metadata("k", 5).score("a", Score::new(2).answer("x")).unwrap();
        columns.push("3", 1);
        let a = columns.scorer("a").unwrap();
        let b = columns.scorer("b").unwrap();
        assert_eq!(a.values.get(0), None);
        assert_eq!(a.values.get(1), Some(ValueRef::Leaf(LeafRef::Int(2))));
        assert_eq!(b.values.get(0), Some(ValueRef::Leaf(LeafRef::Int(1))));
        assert_eq!(b.values.get(1), None);
        assert_eq!(a.details.get(1).unwrap().answer.as_deref(), Some("x"));
        assert!(a.details.get(0).is_none() && b.details.is_empty());
        assert_eq!(columns.metadata_row(1).get("k"), Some(&Json::from(5)));
        assert!(columns.metadata_row(0).is_empty());
    }

    #[test]
    fn a_row_has_one_score_per_scorer() {
        let mut columns = ScoreColumns::new(["a"]);
        let row = columns.push("q", 3).score("a", Score::new(1)).unwrap();
        let twice = row.score("a", Score::new(0)).unwrap_err();
        assert!(twice.to_string().starts_with("sample \"q\" (epoch 3) has two scores by `a`"));
        assert!(columns.push("r", 1).score("z", Score::new(1)).is_err());
    }

    #[test]
    fn rows_can_be_filled_later_and_scorers_added() {
        let mut columns = ScoreColumns::new(["a"]);
        columns.push("1", 1).errored().errored();
        columns.push("2", 1).score("a", Score::new(2)).unwrap();
        columns.add_scorer("a");
        columns.add_scorer("b");
        columns.row_mut(1).unwrap().errored().score("b", Score::new("x").answer("why")).unwrap();
        columns.row_mut(0).unwrap().errored().metadata("k", 1).score("a", Score::new(1)).unwrap();
        assert!(columns.row_mut(0).unwrap().score("a", Score::new(5)).is_err());
        assert!(columns.row_mut(2).is_none());
        columns.push("3", 1);
        let values = |scorer| [0, 1, 2].map(|row| columns.score(row, scorer).map(|s| s.value));
        assert_eq!(values("a"), [Some(Value::Int(1)), Some(Value::Int(2)), None]);
        assert_eq!(values("b"), [None, Some(Value::from("x")), None]);
        assert_eq!(columns.score(1, "b").unwrap().answer.as_deref(), Some("why"));
        assert_eq!(columns.errored(), 2);
        assert_eq!(columns.scorer_names().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn the_first_repeat_is_named_with_the_row_that_it_repeats() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in [("b", 1), ("a", 1), ("a", 2)] {
            columns.push(id, epoch);
        }
        assert_eq!(columns.repeated_row(), None);
        for (id, epoch) in [("c", 1), ("a", 2), ("b", 1)] {
            columns.push(id, epoch);
        }
        assert_eq!(columns.repeated_row(), Some((4, 2)), "what was known before is forgotten");
    }
}

#[cfg(test)]
mod typed_ids_tests {
    use crate::engine::ColumnBlock;
    use crate::{SampleId, ScoreColumns};

    #[test]
    fn ids_come_back_as_they_were_given() {
        let ids: Vec<SampleId> = (0..200)
            .map(|at: i64| match at % 3 {
                0 => SampleId::from(at - 100),
                1 => SampleId::from(format!("{at}")),
                _ => SampleId::from("q"),
            })
            .chain([i64::MIN, i64::MAX].map(SampleId::from))
            .collect();
        let mut columns = ScoreColumns::new(["s"]);
        for (at, id) in ids.iter().enumerate() {
            columns.push_sample(id, at as u32 + 1);
        }
        let mut block = ColumnBlock::new(1, 0);
        block.ids.push("7");
        columns.append([], &mut block);
        columns.push("8", 1);
        let found: Vec<SampleId> = (0..columns.len()).map(|row| columns.sample_id(row)).collect();
        assert_eq!(found[..ids.len()], ids);
        assert_eq!(found[ids.len()..], [SampleId::from("7"), SampleId::from("8")]);
        assert_eq!(columns.id(0), "-100");
    }
}
