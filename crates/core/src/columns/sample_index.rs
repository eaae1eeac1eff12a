//! Which rows belong to the same sample: grouping by id, as text.

use std::ops::Range;

use super::ScoreColumns;
use super::grouping::{Grouping, group_by_id};

/// Rows by sample, samples in order of first appearance, a sample's rows in epoch order.
#[derive(Clone, Debug)]
pub(crate) struct SampleIndex {
    /// The rows of all samples, one sample after the other; `None` when every sample has one row.
    rows: Option<Vec<u32>>,
    /// Where each sample's rows end.
    ends: Vec<u32>,
    samples: usize,
    duplicate: Option<usize>,
}

impl SampleIndex {
    pub(crate) fn new(columns: &ScoreColumns) -> Self {
        match group_by_id(&columns.ids) {
            Grouping::Single { samples } => {
                SampleIndex { rows: None, ends: Vec::new(), samples, duplicate: None }
            }
            Grouping::Passes { samples, passes } => Self::of_passes(columns, samples, passes),
            Grouping::Mixed { sample_of_row, samples } => Self::of_mixed(columns, &sample_of_row, samples),
        }
    }

    /// Whole passes over the samples, one after the other.
    fn of_passes(columns: &ScoreColumns, samples: usize, passes: usize) -> Self {
        let mut rows = Vec::with_capacity(samples * passes);
        for sample in 0..samples {
            rows.extend((0..passes).map(|pass| (pass * samples + sample) as u32));
        }
        let ends = (1..=samples).map(|sample| (sample * passes) as u32).collect();
        let index = SampleIndex { rows: Some(rows), ends, samples, duplicate: None };
        // A pass is an epoch, as a rule, and epochs go up: then nothing is left to sort.
        let epoch_of = |pass: &[u32]| match pass {
            [first, rest @ ..] if rest.iter().all(|epoch| epoch == first) => Some(*first),
            _ => None,
        };
        let epochs: Vec<Option<u32>> = columns.epochs.chunks(samples).map(epoch_of).collect();
        let ascending = |pair: &[Option<u32>]| matches!(pair, [Some(a), Some(b)] if a < b);
        if epochs.windows(2).all(ascending) { index } else { index.by_epoch(columns) }
    }

    fn of_mixed(columns: &ScoreColumns, sample_of_row: &[u32], samples: usize) -> Self {
        let mut ends = vec![0u32; samples];
        for &sample in sample_of_row {
            if let Some(count) = ends.get_mut(sample as usize) {
                *count += 1;
            }
        }
        // Counts become starts; filling the rows in then moves each start to its end.
        let mut start = 0;
        for slot in &mut ends {
            let count = *slot;
            *slot = start;
            start += count;
        }
        let mut rows = vec![0u32; sample_of_row.len()];
        for (row, &sample) in sample_of_row.iter().enumerate() {
            if let Some(end) = ends.get_mut(sample as usize) {
                if let Some(slot) = rows.get_mut(*end as usize) {
                    *slot = row as u32;
                }
                *end += 1;
            }
        }
        SampleIndex { rows: Some(rows), ends, samples, duplicate: None }.by_epoch(columns)
    }

    /// Puts each sample's rows in epoch order and looks for an epoch that occurs twice.
    fn by_epoch(mut self, columns: &ScoreColumns) -> Self {
        let epoch = |row: &u32| columns.epoch(*row as usize);
        let mut start = 0;
        for &end in &self.ends {
            let Some(group) = self.rows.as_mut().and_then(|rows| rows.get_mut(start..end as usize)) else {
                break;
            };
            if !group.is_sorted_by(|a, b| epoch(a) < epoch(b)) {
                group.sort_by_key(epoch);
                let twice = group.windows(2).find(|pair| matches!(pair, [a, b] if epoch(a) == epoch(b)));
                let twice = twice.and_then(|pair| pair.last()).map(|row| *row as usize);
                self.duplicate = self.duplicate.or(twice);
            }
            start = end as usize;
        }
        self
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> usize {
        self.samples
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows.as_ref().map_or(self.samples, Vec::len)
    }

    /// The largest number of rows of a sample.
    pub(crate) fn max_rows(&self) -> usize {
        let of_sample = |(at, end): (usize, &u32)| {
            let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
            (*end - start) as usize
        };
        self.ends.iter().enumerate().map(of_sample).max().unwrap_or(usize::from(self.samples > 0))
    }

    /// Whether some sample has more than one row.
    pub(crate) fn has_repeats(&self) -> bool {
        self.rows.is_some()
    }

    /// A row that repeats the sample and epoch of another.
    pub(crate) fn duplicate(&self) -> Option<usize> {
        self.duplicate
    }

    /// Calls `each` with the rows of every sample that has one present, samples in the order of their
    /// first present row.
    pub(crate) fn for_each_present(&self, present: impl Fn(u32) -> bool, mut each: impl FnMut(&[u32])) {
        let Some(rows) = &self.rows else { return self.for_each(each) };
        let mut order: Vec<(u32, usize, usize)> = Vec::with_capacity(self.samples);
        let mut start = 0;
        for &end in &self.ends {
            let group = rows.get(start..end as usize).unwrap_or_default();
            if let Some(first) = group.iter().copied().filter(|row| present(*row)).min() {
                order.push((first, start, end as usize));
            }
            start = end as usize;
        }
        order.sort_unstable();
        for (_, start, end) in order {
            each(rows.get(start..end).unwrap_or_default());
        }
    }

    /// Calls `each` with the rows of every sample, in order.
    pub(crate) fn for_each(&self, each: impl FnMut(&[u32])) {
        self.for_each_of(0..self.samples, each);
    }

    /// Calls `each` with the rows of some of the samples, in order.
    pub(crate) fn for_each_of(&self, samples: Range<usize>, mut each: impl FnMut(&[u32])) {
        match &self.rows {
            None => samples.for_each(|row| each(&[row as u32])),
            Some(rows) => {
                let before = samples.start.checked_sub(1).and_then(|before| self.ends.get(before));
                let mut start = before.map_or(0, |end| *end as usize);
                for &end in self.ends.get(samples).unwrap_or_default() {
                    each(rows.get(start..end as usize).unwrap_or_default());
                    start = end as usize;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Score, Value};

    fn index(rows: &[(&str, u32)]) -> Vec<Vec<u32>> {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in rows {
            columns.push(*id, *epoch).score("s", Score::new(Value::Int(1))).unwrap();
        }
        let mut groups = Vec::new();
        SampleIndex::new(&columns).for_each(|rows| groups.push(rows.to_vec()));
        groups
    }

    #[test]
    fn samples_by_first_appearance_rows_by_epoch() {
        let passes = index(&[("a", 1), ("b", 1), ("c", 1), ("a", 2), ("b", 2), ("c", 2)]);
        assert_eq!(passes, [[0, 3], [1, 4], [2, 5]]);
        let runs = index(&[("b", 1), ("b", 2), ("a", 1), ("a", 2)]);
        assert_eq!(runs, [[0, 1], [2, 3]]);
        let shuffled = index(&[("a", 3), ("b", 1), ("a", 1), ("c", 1), ("a", 2)]);
        assert_eq!(shuffled, [vec![2, 4, 0], vec![1], vec![3]]);
        assert_eq!(index(&[("a", 1), ("b", 1)]), [[0], [1]]);
        assert!(index(&[]).is_empty());
    }

    #[test]
    fn passes_in_another_order_of_epochs() {
        let rows = [("a", 2), ("b", 1), ("a", 1), ("b", 2)];
        assert_eq!(index(&rows), [[2, 0], [1, 3]]);
    }

    #[test]
    fn an_epoch_that_occurs_twice_is_found() {
        let twice = |rows: &[(&str, u32)]| {
            let mut columns = ScoreColumns::new(["s"]);
            rows.iter().for_each(|(id, epoch)| {
                columns.push(*id, *epoch);
            });
            SampleIndex::new(&columns).duplicate()
        };
        assert_eq!(twice(&[("a", 1), ("b", 1), ("a", 1)]), Some(2));
        assert_eq!(twice(&[("a", 1), ("b", 1), ("a", 2), ("b", 1)]), Some(3));
        assert_eq!(twice(&[("a", 1), ("b", 1), ("a", 2), ("b", 2)]), None);
        assert_eq!(twice(&[("a", 2), ("a", 1), ("a", 2)]), Some(2));
    }

    #[test]
    fn one_text_may_begin_another() {
        assert_eq!(
            index(&[("a", 1), ("aa", 1), ("", 1), ("aa", 2), ("", 2)]),
            [vec![0], vec![1, 3], vec![2, 4]]
        );
    }
}
