//! Grouping rows by id: which rows name the same sample.

use std::cmp::Ordering;

use hashbrown::HashTable;

use super::hash_bytes;
use super::text::{TextColumn, by_length};

/// How the rows are spread over samples, samples numbered in order of first appearance.
#[derive(Debug, PartialEq)]
pub(super) enum Grouping {
    /// Each row is a sample of its own.
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
        None => Run::Whole { sample_of_row: None, samples: ids.len() },
        Some((row, Ordering::Greater)) => Run::Until(row),
        Some(_) => ascending_run(ids),
    };
    match run {
        Run::Whole { sample_of_row: None, samples } => Grouping::Single { samples },
        Run::Whole { sample_of_row: Some(sample_of_row), samples } => {
            Grouping::Mixed { sample_of_row, samples }
        }
        Run::Until(row) if ids.repeats(row) => Grouping::Passes { samples: row, passes: ids.len() / row },
        Run::Until(_) | Run::None => by_hash(ids),
    }
}

/// How far the ids go up.
enum Run {
    /// To the end; rows of one sample may follow each other.
    Whole { sample_of_row: Option<Vec<u32>>, samples: usize },
    /// Strictly, up to this row.
    Until(usize),
    /// Not in a way that helps.
    None,
}

/// Looks for ids that go up, rows of one sample following each other.
fn ascending_run(ids: &TextColumn) -> Run {
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
                return if sample_of_row.is_none() { Run::Until(row) } else { Run::None };
            }
        }
        if let Some(numbers) = &mut sample_of_row {
            numbers.push(samples - 1);
        }
        before = Some(id);
    }
    Run::Whole { sample_of_row, samples: samples as usize }
}

/// Rows per part of the hashed ids: the table of a part stays in a core's cache.
const PART: usize = 1 << 15;

/// Groups by hash. One table over millions of ids would miss the cache at every row; so the rows are
/// first dealt into parts by their hash, and each part has a table of its own.
fn by_hash(ids: &TextColumn) -> Grouping {
    let rows = ids.len();
    let bits = rows.div_ceil(PART).next_power_of_two().trailing_zeros();
    let part = |hash: u64| if bits == 0 { 0 } else { (hash >> (64 - bits)) as usize };

    // Counting sort of (row, hash) by part; rows stay in order within a part.
    let mut starts = vec![0usize; (1 << bits) + 1];
    for id in ids.iter() {
        if let Some(count) = starts.get_mut(part(hash_bytes(id)) + 1) {
            *count += 1;
        }
    }
    let mut total = 0;
    for start in &mut starts {
        total += *start;
        *start = total;
    }
    let mut dealt = vec![(0u32, 0u32); rows];
    let mut next = starts.clone();
    for (row, id) in ids.iter().enumerate() {
        let hash = hash_bytes(id);
        if let Some(at) = next.get_mut(part(hash)) {
            if let Some(slot) = dealt.get_mut(*at) {
                *slot = (row as u32, hash as u32);
            }
            *at += 1;
        }
    }

    // The first row of each id.
    let mut first_of_row: Vec<u32> = (0..rows as u32).collect();
    let mut repeats = false;
    let mut table: HashTable<(u32, u32)> = HashTable::new();
    for bounds in starts.windows(2) {
        let [start, end] = bounds else { continue };
        let of_part = dealt.get(*start..*end).unwrap_or_default();
        table.clear();
        table.reserve(of_part.len(), |(_, hash)| spread(*hash));
        for &(row, hash) in of_part {
            let same = |&(first, of_first): &(u32, u32)| {
                of_first == hash && ids.bytes_of(first as usize) == ids.bytes_of(row as usize)
            };
            match table.find(spread(hash), same) {
                Some(&(first, _)) => {
                    repeats = true;
                    if let Some(slot) = first_of_row.get_mut(row as usize) {
                        *slot = first;
                    }
                }
                None => {
                    table.insert_unique(spread(hash), (row, hash), |(_, hash)| spread(*hash));
                }
            }
        }
    }
    if !repeats {
        return Grouping::Single { samples: rows };
    }
    number(first_of_row)
}

/// The lower half of a hash, spread so that the top seven bits, which the table looks at, differ too.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
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
    Grouping::Mixed { sample_of_row: first_of_row, samples: samples as usize }
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
    fn passes_are_told_from_what_only_begins_like_one() {
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
    }
}
