//! Grouping rows by id: which rows name the same sample.

use std::cmp::Ordering;
use std::collections::HashMap;

use hashbrown::HashTable;
use rayon::prelude::*;

use super::hash_bytes;
use super::text::{TextColumn, by_length};

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
