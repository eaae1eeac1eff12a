//! Which rows belong to the same sample: grouping by id, as a string.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use hashbrown::HashTable;
use rayon::prelude::*;

use super::text::{TextColumn, by_length};
use super::{ScoreColumns, hash_bytes};

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
    let epochs: Vec<Option<u32>> =
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

// Grouping rows by id: which rows name the same sample.

/// How the rows are spread over samples, samples numbered in order of first appearance.
#[derive(Debug, PartialEq)]
pub(super) enum Grouping {
    /// Each row is another sample.
    Single { samples: usize },
    /// The same samples again and again, in the same order.
    Passes { samples: usize, passes: usize },
    /// Anything else: the sample number of each row.
    Mixed { sample_of_row: Vec<u32>, samples: usize },
}

/// Groups rows by id.
///
/// Tables and logs are mostly written in order, one pass over the samples after the other, or with all
/// epochs of a sample together. That is settled by comparing neighbours, and whole passes at once;
/// only what is left is hashed.
pub(super) fn group_by_id(ids: &TextColumn) -> Grouping {
    let run = match ids.first_not_above() {
        None => AscendingRun::Whole { sample_of_row: None, samples: ids.len() },
        Some((row, Ordering::Greater)) => AscendingRun::Until(row),
        Some(_) => ascending_run(ids),
    };
    match run {
        AscendingRun::Whole { sample_of_row: None, samples } => Grouping::Single { samples },
        AscendingRun::Whole { sample_of_row: Some(sample_of_row), samples } => {
            Grouping::Mixed { sample_of_row, samples }
        }
        AscendingRun::Until(row) if ids.repeats(row) => {
            Grouping::Passes { samples: row, passes: ids.len() / row }
        }
        AscendingRun::Until(_) | AscendingRun::None => by_hash(ids),
    }
}

/// How far the ids go up.
enum AscendingRun {
    /// To the end; rows of one sample may follow each other.
    Whole { sample_of_row: Option<Vec<u32>>, samples: usize },
    /// Strictly, up to this row.
    Until(usize),
    /// Not in a way that helps.
    None,
}

/// Looks for ids that go up, rows of one sample following each other.
fn ascending_run(ids: &TextColumn) -> AscendingRun {
    let mut sample_of_row: Option<Vec<u32>> = None;
    let mut samples = 0u32;
    let mut before: Option<&[u8]> = None;
    for (row, id) in ids.iter().enumerate() {
        match before.map(|before| by_length(before, id)) {
            None | Some(Ordering::Less) => samples += 1,
            Some(Ordering::Equal) => {
                sample_of_row.get_or_insert_with(|| (0..row as u32).collect());
            }
            Some(Ordering::Greater) => {
                return if sample_of_row.is_none() { AscendingRun::Until(row) } else { AscendingRun::None };
            }
        }
        if let Some(numbers) = &mut sample_of_row {
            numbers.push(samples - 1);
        }
        before = Some(id);
    }
    AscendingRun::Whole { sample_of_row, samples: samples as usize }
}

/// Rows per part of the hashed ids: the table of a part stays in a core's cache.
const PART: usize = 1 << 15;

/// Groups by hash. One table over millions of ids would miss the cache at every row; so the rows are
/// first partitioned by their hash, and each part has its own table, on any thread. Strings are
/// compared afterwards, row by row: looking for one in the middle of a table is what takes longest.
fn by_hash(ids: &TextColumn) -> Grouping {
    let (mut hashed, starts) = partition_by_hash(ids);
    let mut parts = Vec::with_capacity(starts.len());
    let mut rest = hashed.as_mut_slice();
    for bounds in starts.windows(2) {
        let [start, end] = bounds else { continue };
        let (part, behind) = rest.split_at_mut(end - start);
        parts.push(part);
        rest = behind;
    }
    // Each thread has a table for all of its parts.
    let parts_per_thread = parts.len().div_ceil(rayon::current_num_threads());
    let repeats = parts.par_chunks_mut(parts_per_thread.max(1)).map(|parts| {
        let mut table = HashTable::new();
        parts.iter_mut().fold(false, |repeats, part| find_firsts(part, &mut table) | repeats)
    });
    if !repeats.reduce(|| false, |a, b| a | b) {
        return Grouping::Single { samples: ids.len() };
    }
    let mut first_of_row = vec![0; ids.len()];
    for HashedRow { row, hash_or_first: first } in hashed {
        if let Some(slot) = first_of_row.get_mut(row as usize) {
            *slot = first;
        }
    }
    separate_collisions(ids, &mut first_of_row);
    number(first_of_row)
}

/// A row in its part: its hash, and later the first row that has the same.
#[derive(Clone, Copy, Default)]
struct HashedRow {
    row: u32,
    hash_or_first: u32,
}

/// The rows by part, in order within each, and where the parts start and end.
fn partition_by_hash(ids: &TextColumn) -> (Vec<HashedRow>, Vec<usize>) {
    let bits = ids.len().div_ceil(PART).next_power_of_two().trailing_zeros();
    let part = |hash: u32| hash.checked_shr(32 - bits).unwrap_or(0) as usize;
    let hashes = ids.map_parts(|rows| rows.map(|row| short_hash(ids.bytes_of(row))).collect::<Vec<u32>>());
    let mut starts = vec![0usize; (1 << bits) + 1];
    for hash in hashes.iter().flatten() {
        if let Some(count) = starts.get_mut(part(*hash) + 1) {
            *count += 1;
        }
    }
    let mut total = 0;
    for start in &mut starts {
        total += *start;
        *start = total;
    }
    let mut hashed = vec![HashedRow::default(); ids.len()];
    let mut next = starts.clone();
    for (row, hash) in hashes.iter().flatten().enumerate() {
        if let Some(at) = next.get_mut(part(*hash)) {
            if let Some(slot) = hashed.get_mut(*at) {
                *slot = HashedRow { row: row as u32, hash_or_first: *hash };
            }
            *at += 1;
        }
    }
    (hashed, starts)
}

/// Half a hash. Tests have less, so that they see strings that share it.
fn short_hash(text: &[u8]) -> u32 {
    let hash = (hash_bytes(text) >> 32) as u32;
    if cfg!(test) { hash & 0xff00_00ff } else { hash }
}

/// Puts the first row with the same hash in the place of the hash; returns whether it ever is another row.
/// The table is memory to work with.
fn find_firsts(part: &mut [HashedRow], table: &mut HashTable<(u32, u32)>) -> bool {
    // Spread so that the top seven bits, which the table looks at, differ too.
    let spread = |hash: u32| u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut repeats = false;
    table.clear();
    table.reserve(part.len(), |(_, hash)| spread(*hash));
    for HashedRow { row, hash_or_first } in part {
        let hash = *hash_or_first;
        match table.find(spread(hash), |(_, known)| *known == hash) {
            Some((first, _)) => {
                repeats = true;
                *hash_or_first = *first;
            }
            None => {
                *hash_or_first = *row;
                table.insert_unique(spread(hash), (*row, hash), |(_, hash)| spread(*hash));
            }
        }
    }
    repeats
}

/// Rows that share no more than a hash with the first are given their own first row. Rows of one
/// string share their hash, so all of them are found here or none.
fn separate_collisions(ids: &TextColumn, first_of_row: &mut [u32]) {
    let is_stranger = |row: &usize| {
        let first = first_of_row.get(*row).map_or(*row, |first| *first as usize);
        first != *row && ids.bytes_of(first) != ids.bytes_of(*row)
    };
    let strangers =
        ids.map_parts(|rows| rows.filter(is_stranger).map(|row| row as u32).collect::<Vec<u32>>());
    let mut first_of_text: HashMap<&[u8], u32> = HashMap::new();
    for row in strangers.into_iter().flatten() {
        if let Some(slot) = first_of_row.get_mut(row as usize) {
            *slot = *first_of_text.entry(ids.bytes_of(row as usize)).or_insert(row);
        }
    }
}

/// From first rows to numbers in order of first appearance, in place.
fn number(mut first_of_row: Vec<u32>) -> Grouping {
    let mut samples = 0u32;
    for row in 0..first_of_row.len() {
        let first = first_of_row.get(row).map_or(row, |first| *first as usize);
        let sample = if first == row {
            samples += 1;
            samples - 1
        } else {
            // A first row comes before its repeats, so its number stands already.
            first_of_row.get(first).copied().unwrap_or(0)
        };
        if let Some(slot) = first_of_row.get_mut(row) {
            *slot = sample;
        }
    }
    match samples as usize {
        samples if samples == first_of_row.len() => Grouping::Single { samples },
        samples => Grouping::Mixed { sample_of_row: first_of_row, samples },
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

    fn mixed(sample_of_row: &[u32], samples: usize) -> Grouping {
        Grouping::Mixed { sample_of_row: sample_of_row.to_vec(), samples }
    }

    #[test]
    fn passes_are_distinguished_from_what_only_begins_like_one() {
        let passes = group_by_id(&column(&["a", "b", "c", "a", "b", "c", "a", "b", "c"]));
        assert_eq!(passes, Grouping::Passes { samples: 3, passes: 3 });
        // The bytes of both passes are the same, the ids are not.
        assert_eq!(group_by_id(&column(&["a", "bc", "a", "b", "c", "x"])), mixed(&[0, 1, 0, 2, 3, 4], 5));
        assert_eq!(group_by_id(&column(&["a", "b", "a"])), mixed(&[0, 1, 0], 2));
        assert_eq!(group_by_id(&column(&["a", "b"])), Grouping::Single { samples: 2 });
        assert_eq!(group_by_id(&column::<&str>(&[])), Grouping::Single { samples: 0 });
    }

    #[test]
    fn ids_that_go_up_need_no_table() {
        assert_eq!(group_by_id(&column(&["8", "9", "10", "11"])), Grouping::Single { samples: 4 });
        assert_eq!(group_by_id(&column(&["8", "8", "9", "10", "10"])), mixed(&[0, 0, 1, 2, 2], 3));
        // Down once: the ids before it may come again.
        assert_eq!(group_by_id(&column(&["8", "9", "3", "9"])), mixed(&[0, 1, 2, 1], 3));
        assert_eq!(group_by_id(&column(&["8", "8", "3", "8"])), mixed(&[0, 0, 1, 0], 2));
        assert_eq!(group_by_id(&column(&["b", "a", "c"])), Grouping::Single { samples: 3 });
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
        assert_eq!(group_by_id(&column(&ids)), mixed(&expected, numbers.len()));
        // Each once: hashes that some share must not make one sample of them.
        let ids: Vec<String> = (0..PART + 5).rev().map(|row| format!("id {row}")).collect();
        assert_eq!(group_by_id(&column(&ids)), Grouping::Single { samples: ids.len() });
    }
}
