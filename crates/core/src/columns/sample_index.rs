//! Which rows belong to the same sample: grouping by id, as a string.

use std::ops::Range;

use super::ScoreColumns;
use super::grouping::{Grouping, group_by_id};

/// Rows by sample, samples in order of first appearance, a sample's rows in epoch order.
#[derive(Clone, Debug)]
pub struct SampleIndex {
    layout: SampleRows,
    duplicate: Option<usize>,
}

/// How the rows are distributed over the samples.
#[derive(Clone, Debug)]
enum SampleRows {
    /// Every sample has one row.
    Single { samples: usize },
    /// The same samples again and again, in the same order, in later epochs.
    Passes { samples: usize, passes: usize },
    /// The rows of all samples, one sample after the other, and where each sample's rows end.
    Listed { rows: Vec<u32>, ends: Vec<u32> },
}

impl SampleIndex {
    /// The rows of each sample.
    pub fn new(columns: &ScoreColumns) -> Self {
        let layout = match group_by_id(&columns.ids) {
            Grouping::Single { samples } => SampleRows::Single { samples },
            Grouping::Passes { samples, passes } if epochs_go_up(columns, samples) => {
                SampleRows::Passes { samples, passes }
            }
            Grouping::Passes { samples, passes } => {
                let sample_of_row: Vec<u32> = (0..passes).flat_map(|_| 0..samples as u32).collect();
                return Self::of_mixed(columns, &sample_of_row, samples);
            }
            Grouping::Mixed { sample_of_row, samples } => {
                return Self::of_mixed(columns, &sample_of_row, samples);
            }
        };
        SampleIndex { layout, duplicate: None }
    }

    /// Samples with these rows, one sample after the other, in epoch order; and where the rows of each end.
    pub fn listed(rows: Vec<u32>, ends: Vec<u32>) -> Self {
        SampleIndex { layout: SampleRows::Listed { rows, ends }, duplicate: None }
    }

    /// Samples with this number of rows each, in epoch order, one sample behind the other.
    pub fn contiguous(lengths: impl Iterator<Item = u32>) -> Self {
        let mut rows = 0;
        let end = |length: u32| {
            rows += length;
            rows
        };
        let ends: Vec<u32> = lengths.map(end).collect();
        let layout = match ends.len() == rows as usize {
            true => SampleRows::Single { samples: ends.len() },
            false => SampleRows::Listed { rows: (0..rows).collect(), ends },
        };
        SampleIndex { layout, duplicate: None }
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
        let duplicate = sort_by_epoch(columns, &mut rows, &ends);
        SampleIndex { layout: SampleRows::Listed { rows, ends }, duplicate }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        match &self.layout {
            SampleRows::Single { samples } | SampleRows::Passes { samples, .. } => *samples,
            SampleRows::Listed { ends, .. } => ends.len(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.layout {
            SampleRows::Single { samples } => *samples,
            SampleRows::Passes { samples, passes } => samples * passes,
            SampleRows::Listed { rows, .. } => rows.len(),
        }
    }

    /// The largest number of rows of a sample.
    pub fn max_rows(&self) -> usize {
        match &self.layout {
            SampleRows::Single { samples } => usize::from(*samples > 0),
            SampleRows::Passes { passes, .. } => *passes,
            SampleRows::Listed { ends, .. } => {
                let starts = std::iter::once(&0).chain(ends);
                starts.zip(ends).map(|(start, end)| (end - start) as usize).max().unwrap_or(0)
            }
        }
    }

    /// Whether some sample has more than one row.
    pub fn has_repeats(&self) -> bool {
        !matches!(self.layout, SampleRows::Single { .. })
    }

    /// A row that repeats the sample and epoch of another.
    pub fn duplicate(&self) -> Option<usize> {
        self.duplicate
    }

    /// Calls `each` with the rows of every sample that has one present, samples in the order of their
    /// first present row.
    pub fn for_each_present(&self, present: impl Fn(u32) -> bool, mut each: impl FnMut(&[u32])) {
        if !self.has_repeats() {
            return self.for_each(each);
        }
        let mut order: Vec<(u32, usize)> = Vec::with_capacity(self.len());
        let mut sample = 0;
        self.for_each(|rows| {
            if let Some(first) = rows.iter().copied().filter(|row| present(*row)).min() {
                order.push((first, sample));
            }
            sample += 1;
        });
        order.sort_unstable();
        let mut buffer = Vec::new();
        for (_, sample) in order {
            each(self.rows_of(sample, &mut buffer));
        }
    }

    /// The rows of a sample; the buffer is memory to work with.
    fn rows_of<'a>(&'a self, sample: usize, buffer: &'a mut Vec<u32>) -> &'a [u32] {
        let count = match &self.layout {
            SampleRows::Listed { rows, ends } => {
                let start = sample.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let end = ends.get(sample).copied().unwrap_or(start);
                return rows.get(start as usize..end as usize).unwrap_or_default();
            }
            SampleRows::Single { .. } => 1,
            SampleRows::Passes { passes, .. } => *passes,
        };
        buffer.clear();
        buffer.extend((0..count).map(|pass| (pass * self.len() + sample) as u32));
        buffer
    }

    /// Calls `each` with the rows of every sample, in order.
    pub fn for_each(&self, each: impl FnMut(&[u32])) {
        self.for_each_of(0..self.len(), each);
    }

    /// Calls `each` with the rows of some of the samples, in order.
    pub fn for_each_of(&self, samples: Range<usize>, mut each: impl FnMut(&[u32])) {
        let mut buffer = Vec::new();
        samples.for_each(|sample| each(self.rows_of(sample, &mut buffer)));
    }
}

/// Whether each pass over the samples is an epoch and epochs go up, as they do as a rule: then nothing is
/// left to sort.
fn epochs_go_up(columns: &ScoreColumns, samples: usize) -> bool {
    let passes = (0..columns.len()).step_by(samples.max(1));
    let epochs: Vec<Option<u64>> =
        passes.map(|start| columns.epochs.same_in(start..start + samples)).collect();
    epochs.iter().all(Option::is_some) && epochs.is_sorted_by(|a, b| a < b)
}

/// Puts each sample's rows in epoch order and looks for a row whose epoch its sample has twice.
fn sort_by_epoch(columns: &ScoreColumns, rows: &mut [u32], ends: &[u32]) -> Option<usize> {
    let epoch = |row: &u32| columns.epoch(*row as usize);
    let mut duplicate = None;
    let mut start = 0;
    for &end in ends {
        let Some(group) = rows.get_mut(start..end as usize) else { break };
        if !group.is_sorted_by(|a, b| epoch(a) < epoch(b)) {
            group.sort_by_key(epoch);
            let twice = group.windows(2).find(|pair| matches!(pair, [a, b] if epoch(a) == epoch(b)));
            let twice = twice.and_then(|pair| pair.last()).map(|row| *row as usize);
            duplicate = duplicate.or(twice);
        }
        start = end as usize;
    }
    duplicate
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
    fn one_string_may_begin_another() {
        assert_eq!(
            index(&[("a", 1), ("aa", 1), ("", 1), ("aa", 2), ("", 2)]),
            [vec![0], vec![1, 3], vec![2, 4]]
        );
    }
}
