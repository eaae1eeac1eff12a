//! Which rows belong to the same sample: grouping by id, as a string.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::text::{TextColumn, by_length};
use super::{ScoreColumns, hash_bytes};

/// Rows by sample, samples in order of first appearance, a sample's rows in epoch order.
#[derive(Clone, Debug)]
pub struct SampleIndex {
    samples: usize,
    /// None if every sample has one row.
    listed: Option<RowLists>,
    duplicate: Option<usize>,
}

/// Lists of rows, one after the other.
#[derive(Clone, Debug, Default)]
pub struct RowLists {
    pub(super) rows: Vec<u32>,
    /// Where each list ends.
    ends: Vec<u32>,
}

impl RowLists {
    pub(crate) fn push(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.rows.extend(rows);
        self.ends.push(self.rows.len() as u32);
    }

    /// A list; empty beyond the last.
    pub(crate) fn get(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.rows.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len()).map(|at| self.get(at))
    }
}

impl SampleIndex {
    /// The rows of each sample.
    pub fn new(columns: &ScoreColumns) -> Self {
        let Some(sample_of_row) = group_by_id(&columns.ids) else {
            return SampleIndex { samples: columns.ids.len(), listed: None, duplicate: None };
        };
        let samples = sample_of_row.iter().max().map_or(0, |last| *last as usize + 1);
        let mut ends = vec![0u32; samples];
        for &sample in &sample_of_row {
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
        SampleIndex { duplicate, ..SampleIndex::listed(rows, ends) }
    }

    /// Samples with these rows, one sample after the other, in epoch order; and where the rows of each end.
    pub fn listed(rows: Vec<u32>, ends: Vec<u32>) -> Self {
        SampleIndex { samples: ends.len(), listed: Some(RowLists { rows, ends }), duplicate: None }
    }

    /// Samples with this number of rows each, in epoch order, one sample behind the other.
    pub fn contiguous(lengths: impl Iterator<Item = u32>) -> Self {
        let mut rows = 0;
        let end = |length: u32| {
            rows += length;
            rows
        };
        let ends: Vec<u32> = lengths.map(end).collect();
        match ends.len() == rows as usize {
            true => SampleIndex { samples: ends.len(), listed: None, duplicate: None },
            false => SampleIndex::listed((0..rows).collect(), ends),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.listed.as_ref().map_or(self.samples, |listed| listed.rows.len())
    }

    /// The largest number of rows of a sample.
    pub fn max_rows(&self) -> usize {
        match &self.listed {
            None => usize::from(self.samples > 0),
            Some(listed) => listed.iter().map(<[u32]>::len).max().unwrap_or(0),
        }
    }

    /// Whether some sample has more than one row.
    pub fn has_repeats(&self) -> bool {
        self.listed.is_some()
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
        order.into_iter().for_each(|(_, sample)| each(self.rows_of(sample, &mut 0)));
    }

    /// The rows of a sample; `only` is a place for one.
    fn rows_of<'a>(&'a self, sample: usize, only: &'a mut u32) -> &'a [u32] {
        match &self.listed {
            None => {
                *only = sample as u32;
                std::slice::from_ref(only)
            }
            Some(listed) => listed.get(sample),
        }
    }

    /// Calls `each` with the rows of every sample, in order.
    pub fn for_each(&self, each: impl FnMut(&[u32])) {
        self.for_each_of(0..self.len(), each);
    }

    /// Calls `each` with the rows of some of the samples, in order.
    pub fn for_each_of(&self, samples: Range<usize>, mut each: impl FnMut(&[u32])) {
        samples.for_each(|sample| each(self.rows_of(sample, &mut 0)));
    }
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

// Grouping rows by id: which rows name the same sample.

/// The sample of each row, samples numbered in order of first appearance; none if each row is another sample.
///
/// Tables and logs are mostly written in order, one pass over the samples after the other, or with all
/// epochs of a sample together. That is settled by comparing neighbours, and whole passes at once;
/// only what is left is hashed.
fn group_by_id(ids: &TextColumn) -> Option<Vec<u32>> {
    let (row, order) = ids.first_not_above()?;
    if order == Ordering::Greater && ids.repeats(row) {
        return Some((0..ids.len() / row).flat_map(|_| 0..row as u32).collect());
    }
    ascending(ids).or_else(|| by_hash(ids))
}

/// The sample of each row where ids go up, rows of one sample following each other.
fn ascending(ids: &TextColumn) -> Option<Vec<u32>> {
    let mut before: Option<&[u8]> = None;
    let mut samples = 0;
    let sample = |id| {
        match before.replace(id).map(|before| by_length(before, id)) {
            None | Some(Ordering::Less) => samples += 1,
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => return None,
        }
        Some(samples - 1)
    };
    ids.iter().map(sample).collect()
}

/// Rows per part of the hashed ids: the table of a part stays in a core's cache.
const PART: usize = 1 << 15;

/// Groups by hash. One table over millions of ids would miss the cache at every row; so the rows are
/// first partitioned by their hash, and each part has its own table, on any thread.
fn by_hash(ids: &TextColumn) -> Option<Vec<u32>> {
    let mut parts = vec![Vec::new(); ids.len().div_ceil(PART).next_power_of_two()];
    let part = |row: usize| hash_bytes(ids.bytes_of(row)) as usize % parts.len();
    let part_of_row = ids.map_parts(|rows| rows.map(part).collect::<Vec<usize>>());
    for (row, part) in part_of_row.into_iter().flatten().enumerate() {
        if let Some(rows) = parts.get_mut(part) {
            rows.push(row as u32);
        }
    }
    let firsts = parts.into_par_iter().map(|rows| {
        let mut known: HashMap<&[u8], u32, RandomState> = HashMap::default();
        known.reserve(rows.len());
        let first = |row: u32| (row, *known.entry(ids.bytes_of(row as usize)).or_insert(row));
        rows.into_iter().map(first).collect::<Vec<(u32, u32)>>()
    });
    let firsts: Vec<Vec<(u32, u32)>> = firsts.collect();
    let mut first_of_row = vec![0; ids.len()];
    for (row, first) in firsts.into_iter().flatten() {
        if let Some(slot) = first_of_row.get_mut(row as usize) {
            *slot = first;
        }
    }
    // From first rows to numbers: a first row comes before its repeats, so its number stands already.
    let mut samples = 0;
    let mut numbers: Vec<u32> = Vec::with_capacity(ids.len());
    for first in first_of_row {
        let number = numbers.get(first as usize).copied().unwrap_or(samples);
        samples = samples.max(number + 1);
        numbers.push(number);
    }
    (samples as usize != ids.len()).then_some(numbers)
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

#[cfg(test)]
mod grouping_tests {
    use super::*;

    fn column<T: AsRef<str>>(ids: &[T]) -> TextColumn {
        let mut column = TextColumn::default();
        ids.iter().for_each(|id| column.push(id.as_ref()));
        column
    }

    fn samples(ids: &[&str]) -> Option<Vec<u32>> {
        group_by_id(&column(ids))
    }

    #[test]
    fn passes_are_distinguished_from_what_only_begins_like_one() {
        let passes = samples(&["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
        assert_eq!(passes, Some(vec![0, 1, 2, 0, 1, 2, 0, 1, 2]));
        // The bytes of both passes are the same, the ids are not.
        assert_eq!(samples(&["a", "bc", "a", "b", "c", "x"]), Some(vec![0, 1, 0, 2, 3, 4]));
        assert_eq!(samples(&["a", "b", "a"]), Some(vec![0, 1, 0]));
        assert_eq!(samples(&["a", "b"]), None);
        assert_eq!(samples(&[]), None);
    }

    #[test]
    fn ids_that_go_up_need_no_table() {
        assert_eq!(samples(&["8", "9", "10", "11"]), None);
        assert_eq!(samples(&["8", "8", "9", "10", "10"]), Some(vec![0, 0, 1, 2, 2]));
        // Down once: the ids before it may come again.
        assert_eq!(samples(&["8", "9", "3", "9"]), Some(vec![0, 1, 2, 1]));
        assert_eq!(samples(&["8", "8", "3", "8"]), Some(vec![0, 0, 1, 0]));
        assert_eq!(samples(&["b", "a", "c"]), None);
    }

    #[test]
    fn many_parts_give_the_same_numbers_as_one_map() {
        // Over three parts' worth of rows in no order, each id two or three times.
        let rows = 3 * PART + 17;
        let ids: Vec<String> = (0..rows).map(|row| format!("id {}", (row * 7919) % (rows * 2 / 5))).collect();
        let mut numbers = std::collections::HashMap::new();
        let expected: Vec<u32> = ids
            .iter()
            .map(|id| {
                let next = numbers.len() as u32;
                *numbers.entry(id).or_insert(next)
            })
            .collect();
        assert_eq!(group_by_id(&column(&ids)), Some(expected));
        // Each once.
        let ids: Vec<String> = (0..PART + 5).rev().map(|row| format!("id {row}")).collect();
        assert_eq!(group_by_id(&column(&ids)), None);
    }
}
