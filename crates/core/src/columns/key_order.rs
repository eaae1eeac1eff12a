//! Rows in the order of their keys, whatever order they came in.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::{ScoreColumns, ScoreDetails, ScorerColumn, ValueColumn};

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
        let mut columns = self.reordered(&order);
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
        // Ids often begin alike and differ in the bytes behind; with those in place few are looked for in memory.
        let mut shared = self.id_bytes(0);
        let mut samples: Vec<(u64, u32, u32)> = Vec::with_capacity(index.len());
        index.for_each(|rows| {
            if let Some(first) = rows.first() {
                let same = shared.iter().zip(id(*first)).take_while(|(a, b)| a == b).count();
                shared = shared.get(..same).unwrap_or_default();
                samples.push((0, *first, samples.len() as u32));
            }
        });
        for (start, row, _) in &mut samples {
            let rest = id(*row).get(shared.len()..).unwrap_or_default();
            *start = u64::from_be_bytes(first_bytes(rest));
        }
        samples.par_sort_unstable_by(|(a, one, _), (b, other, _)| {
            a.cmp(b).then_with(|| id(*one).cmp(id(*other)))
        });
        let (mut order, mut lengths) = (Vec::with_capacity(self.len()), Vec::with_capacity(samples.len()));
        for (_, _, sample) in samples {
            let sample = sample as usize;
            index.for_each_of(sample..sample + 1, |rows| {
                order.extend_from_slice(rows);
                lengths.push(rows.len() as u32);
            });
        }
        (order, lengths)
    }

    /// These rows, with scorers and metadata keys by name.
    pub(super) fn reordered(&self, order: &[u32]) -> Self {
        let mut columns = ScoreColumns::default();
        columns.ids.append_rows(&self.ids, order);
        columns.epochs.append_rows(&self.epochs, order);
        for (at, row) in order.iter().map(|row| *row as usize).enumerate() {
            if self.integer_ids.contains(row) {
                columns.integer_ids.add(at);
            }
            if !self.errored.is_empty() && self.is_errored(row) {
                columns.errored.push(at as u32);
            }
        }
        let mut keys: Vec<&str> = self.metadata.keys().collect();
        keys.sort_unstable();
        for key in keys {
            let own = columns.metadata.entry(key);
            if let Some(column) = self.metadata.column(key) {
                own.append_rows(0, column, order);
            }
        }
        let mut scorers: Vec<&ScorerColumn> = self.scorers.iter().collect();
        scorers.sort_by(|a, b| a.name.cmp(&b.name));
        columns.scorers = scorers.into_iter().map(|scorer| scorer.reordered(order)).collect();
        columns.labels = self.labels().map(|labels| Arc::new(labels.reordered(order)));
        columns
    }

    /// Appends the rows of a sample once more, under another id.
    pub(crate) fn repeat_sample(&mut self, rows: Range<usize>, id: &str) {
        self.fill_gaps();
        for row in rows {
            let at = self.len();
            self.ids.push(id);
            self.epochs.push(self.epochs.get(row));
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
        self.metadata.columns_mut().for_each(|column| column.repeat_row(row, before));
    }

    /// Makes sure that there are metadata columns of these keys, even if no row has a value of one, and sorts all of them by
    /// key.
    pub(crate) fn add_metadata_keys(&mut self, keys: &[String]) {
        for key in keys {
            self.metadata.entry(key);
        }
        self.metadata.sort();
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

/// The first bytes of some, with zeros behind if there are fewer: of two that differ, the order is that of the whole.
pub(crate) fn first_bytes<const N: usize>(bytes: &[u8]) -> [u8; N] {
    if let Some(first) = bytes.first_chunk() {
        return *first;
    }
    let mut first = [0; N];
    first.iter_mut().zip(bytes).for_each(|(own, byte)| *own = *byte);
    first
}

impl ScorerColumn {
    fn reordered(&self, order: &[u32]) -> Self {
        let mut details = ScoreDetails::default();
        for (at, row) in order.iter().map(|row| *row as usize).enumerate() {
            if let Some(detail) = self.details.get(row) {
                details.set(at, detail.clone());
            }
        }
        ScorerColumn { name: self.name.clone(), values: self.values.reordered(order), details, ..*self }
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
