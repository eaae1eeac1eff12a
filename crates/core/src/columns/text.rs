//! A column of strings in two allocations: the sample ids.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::{ScoreColumns, ScoreDetails, ScorerColumn, ValueColumn};

/// Strings laid end to end.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    /// UTF-8, as only whole strings come in.
    bytes: Vec<u8>,
    /// Where each string ends.
    ends: Vec<usize>,
}

/// How many strings a thread takes at once.
const PART: usize = if cfg!(test) { 1 << 3 } else { 1 << 13 };

/// Shorter before longer, then by bytes, so that 9 comes before 10.
pub(super) fn by_length(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl TextColumn {
    /// Appends a string.
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len());
    }

    /// Appends strings that lie end to end, given where each of them ends. They are copied together. An end before the one
    /// before it, behind the last string or within a character is moved to where one can be.
    ///
    /// ```
    /// use errorbar_core::engine::TextColumn;
    /// let mut ids = TextColumn::default();
    /// ids.extend("q1q2q10", [2, 4, 7].into_iter());
    /// assert_eq!((ids.len(), ids.get(2)), (3, "q10"));
    /// ```
    pub fn extend(&mut self, texts: &str, ends: impl Iterator<Item = usize>) {
        let start = self.bytes.len();
        let mut before = 0;
        self.ends.extend(ends.map(|end| {
            before = texts.floor_char_boundary(end.clamp(before, texts.len()));
            start + before
        }));
        self.bytes.extend_from_slice(texts.as_bytes().get(..before).unwrap_or_default());
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all strings out of another column.
    pub(crate) fn append(&mut self, other: &mut TextColumn) {
        let start = self.bytes.len();
        if self.is_empty() && self.bytes.capacity() < other.bytes.capacity() {
            std::mem::swap(self, other);
            return other.clear();
        }
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| start + end));
        other.clear();
    }

    /// Copies some strings of another column.
    pub(super) fn append_rows(&mut self, other: &TextColumn, rows: &[u32]) {
        self.ends.reserve(rows.len());
        for row in rows {
            self.bytes.extend_from_slice(other.bytes_of(*row as usize));
            self.ends.push(self.bytes.len());
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Whether the column is its first `period` rows again and again, to the end.
    pub(super) fn repeats(&self, period: usize) -> bool {
        let is_same = |row: usize| self.bytes_of(row) == self.bytes_of(row - period);
        self.len().is_multiple_of(period)
            && (period..self.len()).into_par_iter().with_min_len(PART).all(is_same)
    }

    /// The first row whose string does not come [behind](by_length) the one before it, and how that one
    /// compares with it.
    pub(super) fn first_not_above(&self) -> Option<(usize, Ordering)> {
        let order = |row: usize| (row, by_length(self.bytes_of(row - 1), self.bytes_of(row)));
        let orders = (1..self.len()).into_par_iter().with_min_len(PART).map(order);
        orders.find_first(|(_, order)| *order != Ordering::Less)
    }

    /// The string of a row; empty beyond the end.
    pub fn get(&self, row: usize) -> &str {
        str::from_utf8(self.bytes_of(row)).unwrap_or_default()
    }

    /// The bytes of a row's string; empty beyond the end.
    #[inline]
    pub fn bytes_of(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(row).and_then(|end| self.bytes.get(start..*end)).unwrap_or_default()
    }

    /// Row by row.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|row| self.bytes_of(row))
    }

    /// What a function makes of the rows of each part of the column, on all threads.
    pub(super) fn map_parts<T: Send>(&self, f: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let part = |part: usize| f(part * PART..self.len().min((part + 1) * PART));
        (0..self.len().div_ceil(PART)).into_par_iter().map(part).collect()
    }

    /// The bytes that the strings hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

// Rows in the order of their keys, whatever order they came in.

impl ScoreColumns {
    /// The same rows in key order: samples by their ids as strings, the epochs of each together and ascending, scorers and
    /// metadata keys by name; with the row that each of them was. None if they are in that order already.
    pub(crate) fn in_key_order(&self) -> Option<(Self, Vec<u32>)> {
        let has_names_in_order = self.scorers.is_sorted_by(|a, b| a.name < b.name)
            && self.metadata.keys().is_sorted_by(|a, b| a < b);
        if has_names_in_order && self.has_rows_in_order() {
            return None;
        }
        let (order, lengths) = self.key_order();
        let mut columns = self.selected(&order);
        columns.sort_names();
        if self.sample_index().duplicate().is_none() {
            columns.set_sample_lengths(lengths.into_iter());
        }
        Some((columns, order))
    }

    fn has_rows_in_order(&self) -> bool {
        let mut before: Option<(&[u8], u32)> = None;
        let mut keys = self.ids.iter().enumerate().map(|(row, id)| (id, self.epoch(row)));
        keys.all(|key| before.replace(key).is_none_or(|before| before <= key))
    }

    /// The rows in the order of their keys, and how many of them are of each sample.
    fn key_order(&self) -> (Vec<u32>, Vec<u32>) {
        let index = self.sample_index();
        let id = |row: u32| self.id_bytes(row as usize);
        let mut samples: Vec<(u32, usize)> = Vec::with_capacity(index.len());
        index.for_each(|rows| {
            if let Some(first) = rows.first() {
                samples.push((*first, samples.len()));
            }
        });
        samples.par_sort_unstable_by(|(a, _), (b, _)| id(*a).cmp(id(*b)));
        let (mut order, mut lengths) = (Vec::with_capacity(self.len()), Vec::with_capacity(samples.len()));
        for (_, sample) in samples {
            index.for_each_of(sample..sample + 1, |rows| {
                order.extend_from_slice(rows);
                lengths.push(rows.len() as u32);
            });
        }
        (order, lengths)
    }

    /// These rows, in this order.
    pub(super) fn selected(&self, rows: &[u32]) -> Self {
        let mut columns = ScoreColumns::default();
        columns.ids.append_rows(&self.ids, rows);
        columns.epochs.extend(rows.iter().map(|row| self.epoch(*row as usize)));
        for (at, row) in rows.iter().map(|row| *row as usize).enumerate() {
            if self.has_integer_id(row) {
                columns.integer_ids.push(at as u32);
            }
            if !self.errored.is_empty() && self.is_errored(row) {
                columns.errored.push(at as u32);
            }
        }
        for (key, column) in &self.metadata {
            columns.metadata_entry(key).append_rows(0, column, rows);
        }
        columns.scorers = self.scorers.iter().map(|scorer| scorer.selected(rows)).collect();
        columns.labels = self.labels().map(|labels| Arc::new(labels.selected(rows)));
        columns
    }

    fn sort_names(&mut self) {
        self.metadata.sort_unstable_keys();
        self.scorers.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(labels) = &mut self.labels {
            Arc::make_mut(labels).sort_names();
        }
    }

    /// Appends the rows of a sample once more, under another id.
    pub(crate) fn repeat_sample(&mut self, rows: Range<usize>, id: &str) {
        self.fill_gaps();
        for row in rows {
            let at = self.len();
            self.ids.push(id);
            self.epochs.push(self.epoch(row));
            self.repeat_metadata(at, row);
            if self.is_errored(row) {
                self.errored.push(at as u32);
            }
            for scorer in &mut self.scorers {
                scorer.values.repeat_row(row);
                if let Some(detail) = scorer.details.get(row).cloned() {
                    scorer.details.set(at, detail);
                }
            }
        }
    }

    /// Gives a row the metadata of one before it.
    pub(crate) fn repeat_metadata(&mut self, row: usize, before: usize) {
        self.metadata.values_mut().for_each(|column| column.repeat_row(row, before));
    }

    /// Makes sure that there are metadata columns of these keys, even if no row has a value of one, and sorts all of them by
    /// key.
    pub(crate) fn add_metadata_keys(&mut self, keys: &[String]) {
        for key in keys {
            self.metadata_entry(key);
        }
        self.metadata.sort_unstable_keys();
    }

    /// Sets what metrics of labels read: the same rows with these scores.
    pub(crate) fn set_labels(&mut self, labels: Vec<ValueColumn>) {
        let mut columns = ScoreColumns { labels: None, ..self.clone() };
        for (scorer, values) in columns.scorers.iter_mut().zip(labels) {
            scorer.values = values;
        }
        self.labels = Some(Arc::new(columns));
    }

    /// Sets which rows are of one sample: each has this number of rows, one sample behind the other.
    pub(crate) fn set_sample_lengths(&mut self, lengths: impl Iterator<Item = u32>) {
        self.fill_gaps();
        self.index = OnceLock::from(Arc::new(super::SampleIndex::contiguous(lengths)));
    }
}

impl ScorerColumn {
    fn selected(&self, rows: &[u32]) -> Self {
        let mut details = ScoreDetails::default();
        for (at, row) in rows.iter().map(|row| *row as usize).enumerate() {
            if let Some(detail) = self.details.get(row) {
                details.set(at, detail.clone());
            }
        }
        ScorerColumn { name: self.name.clone(), values: self.values.selected(rows), details, ..*self }
    }
}

impl ScoreDetails {
    /// The panels of votes among columns in another order, in which each row was one of these.
    pub(crate) fn map_panel_rows(&mut self, row_of: &[u32]) {
        for row in self.panels.iter_mut().flat_map(|panels| &mut panels.rows) {
            if let Some(other) = row_of.get(*row as usize) {
                *row = *other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_come_back() {
        let texts: Vec<String> =
            (0..200).map(|n| "x".repeat([0, 1, 30, 255, 256, 257, 700][n % 7]) + "é").collect();
        let mut whole = TextColumn::default();
        texts.iter().for_each(|text| whole.push(text));
        let mut joined = TextColumn::default();
        for part in texts.chunks(9) {
            let mut other = TextColumn::default();
            part.iter().for_each(|text| other.push(text));
            joined.append(&mut other);
        }
        for column in [&whole, &joined] {
            assert!(column.get(200).is_empty() && column.get(usize::MAX).is_empty());
            assert!((0..200).all(|row| column.get(row) == texts[row]));
            assert!(column.iter().eq(texts.iter().map(|text| text.as_bytes())));
        }
    }

    #[test]
    fn strings_that_come_together_are_those_that_come_one_by_one() {
        // Up to some row they go up, or they never do.
        let texts: Vec<String> =
            (0..400).map(|n| format!("é{}", "x".repeat(n * n % 37) + &n.to_string())).collect();
        let mut sorted = texts.clone();
        sorted.sort_by(|a, b| by_length(a.as_bytes(), b.as_bytes()));
        let mixed: Vec<String> = sorted.iter().take(50).chain(&texts).cloned().collect();
        for texts in [texts, sorted, mixed] {
            let mut pushed = TextColumn::default();
            texts.iter().for_each(|text| pushed.push(text));
            let same = |column: &TextColumn| {
                assert!(column.iter().eq(texts.iter().map(String::as_bytes)));
                assert_eq!((column.len(), column.first_not_above()), (texts.len(), pushed.first_not_above()));
            };
            for size in [1, 7, 400, 450] {
                let mut extended = TextColumn::default();
                for texts in texts.chunks(size) {
                    let ends = texts.iter().scan(0, |end, text| {
                        *end += text.len();
                        Some(*end)
                    });
                    extended.extend(&texts.concat(), ends);
                }
                same(&extended);
                let rows: Vec<u32> = (0..texts.len() as u32).collect();
                let mut copied = TextColumn::default();
                rows.chunks(size).for_each(|rows| copied.append_rows(&extended, rows));
                same(&copied);
                // In another order.
                let mut back = TextColumn::default();
                back.append_rows(&extended, &rows.iter().rev().copied().collect::<Vec<_>>());
                assert!(back.iter().eq(texts.iter().rev().map(String::as_bytes)));
            }
        }
    }

    #[test]
    fn ends_that_cannot_be_are_moved() {
        let mut column = TextColumn::default();
        column.extend("abcdef", [4, 2, 3, 9, 1].into_iter());
        column.extend("aébé", [2, 4, 5, 6].into_iter());
        let found: Vec<&str> = (0..column.len()).map(|row| column.get(row)).collect();
        assert_eq!(found, ["abcd", "", "", "ef", "", "a", "éb", "", "é"]);
    }

    #[test]
    fn the_first_string_that_does_not_go_up_is_known_wherever_the_column_is_cut() {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let cases = [
            (owned(&["8", "9", "10", "abcdefghi", "abcdefghj"]), None),
            (owned(&["a", "b", "b", "a"]), Some((2, Ordering::Equal))),
            (owned(&["", "b", "ab", "b", "b"]), Some((3, Ordering::Greater))),
            (["1", "2", "3", "1"].map(|end| "x".repeat(20) + end).to_vec(), Some((3, Ordering::Greater))),
            (owned(&["abcdefgh1", "abcdefgh2", "bacdefgh1", "abcdefgh3"]), Some((3, Ordering::Greater))),
        ];
        for (texts, wanted) in cases {
            for size in 1..=texts.len() {
                let (mut joined, mut part) = (TextColumn::default(), TextColumn::default());
                for texts in texts.chunks(size) {
                    texts.iter().for_each(|text| part.push(text));
                    joined.append(&mut part);
                }
                assert_eq!(joined.first_not_above(), wanted, "{texts:?} by {size}");
            }
        }
    }

    #[test]
    fn appended_strings_follow() {
        let mut column = TextColumn::default();
        column.push("first");
        assert!(column.get(usize::MAX).is_empty());
        for text in ["a", "bc", ""] {
            let mut other = TextColumn::default();
            other.push(text);
            other.push("z");
            column.append(&mut other);
            assert!(other.is_empty());
        }
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|row| column.get(row)), ["first", "a", "z", "bc", "z", "", "z"]);
    }
}

#[cfg(test)]
mod key_order_tests {
    use crate::{SampleId, Score, ScoreColumns, Value};

    #[test]
    fn rows_are_sorted_by_id_and_epoch_and_names_by_text() {
        let mut columns = ScoreColumns::new(["b", "a"]);
        columns.push_sample(&SampleId::from(10), 2).metadata("y", 1).score("a", Score::new(2)).unwrap();
        columns.push("9", 1).errored().metadata("x", "p").score("b", Score::unscored("no")).unwrap();
        columns.push_sample(&SampleId::from(10), 1).metadata("y", 2).score("a", Score::new("C")).unwrap();
        let (sorted, rows) = columns.in_key_order().unwrap();
        assert_eq!(rows, [2, 0, 1]);
        assert_eq!(sorted.scorer_names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(sorted.metadata_keys().collect::<Vec<_>>(), ["x", "y"]);
        for (at, row) in rows.iter().map(|row| *row as usize).enumerate() {
            assert_eq!(sorted.sample_id(at), columns.sample_id(row));
            assert_eq!(sorted.epoch(at), columns.epoch(row));
            assert_eq!(sorted.is_errored(at), columns.is_errored(row));
            for scorer in ["a", "b"] {
                assert_eq!(sorted.score(at, scorer), columns.score(row, scorer));
            }
            for key in ["x", "y"] {
                assert_eq!(sorted.metadata_row(at).get(key), columns.metadata_row(row).get(key));
            }
        }
        assert!(sorted.in_key_order().is_none());
    }

    #[test]
    fn epochs_of_a_sample_are_sorted_and_stay_one_sample() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in [("a", 2), ("a", 1), ("b", 1)] {
            columns.push(id, epoch);
        }
        let (sorted, rows) = columns.in_key_order().unwrap();
        assert_eq!((rows, sorted.first_rows()), (vec![1, 0, 2], vec![0, 2]));
    }

    #[test]
    fn ids_that_begin_alike_are_in_the_order_of_their_bytes() {
        let ids =
            ["q-\0", "q-", "q-10000000b", "q-1", "q-10000000", "q-10000000a", "q-é", "q-~", "q-10000000\0"];
        let mut columns = ScoreColumns::new(["s"]);
        for id in ids {
            columns.push(id, 1);
        }
        let (sorted, _) = columns.in_key_order().unwrap();
        let mut expected = ids;
        expected.sort_unstable();
        assert_eq!((0..ids.len()).map(|row| sorted.id(row)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_sample_is_repeated_with_all_that_it_has() {
        let mut columns = ScoreColumns::new(["s"]);
        columns.push("q", 1).metadata("k", "x").score("s", Score::new(1)).unwrap();
        columns.push("q", 3).errored().score("s", Score::unscored("refusal")).unwrap();
        columns.repeat_sample(0..2, "r");
        columns.set_sample_lengths([2, 2].into_iter());
        assert_eq!((columns.id(2), columns.epoch(3), columns.errored()), ("r", 3, 2));
        assert_eq!(columns.metadata_row(2), columns.metadata_row(0));
        assert!(columns.metadata_row(3).is_empty());
        let values = columns.metadata_column("k").unwrap().len();
        assert_eq!(values, 3, "what is absent behind the last value takes nothing");
        assert_eq!(columns.score(3, "s"), columns.score(1, "s"));
        assert_eq!(columns.score(2, "s").map(|score| score.value), Some(Value::Int(1)));
        assert_eq!(columns.first_rows(), [0, 2]);
    }
}
