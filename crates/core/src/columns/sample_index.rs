//! Which rows belong to the same sample: grouping by id, as text.

use hashbrown::HashTable;

use super::{ScoreColumns, hash_bytes};

/// Rows by sample, samples in order of first appearance, a sample's rows in epoch order.
#[derive(Clone, Debug)]
pub(crate) struct SampleIndex {
    /// The rows of all samples, one sample after the other; `None` when every sample has one row.
    rows: Option<Vec<u32>>,
    /// Where each sample's rows end.
    ends: Vec<u32>,
    samples: usize,
}

impl SampleIndex {
    pub(crate) fn new(columns: &ScoreColumns) -> Self {
        let (sample_of_row, samples) = group_by_id(columns);
        if samples == sample_of_row.len() {
            return SampleIndex { rows: None, ends: Vec::new(), samples };
        }
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
        let mut start = 0;
        for &end in &ends {
            if let Some(group) = rows.get_mut(start..end as usize) {
                let epoch = |row: &u32| columns.epoch(*row as usize);
                if !group.is_sorted_by_key(epoch) {
                    group.sort_by_key(epoch);
                }
            }
            start = end as usize;
        }
        SampleIndex { rows: Some(rows), ends, samples }
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> usize {
        self.samples
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows.as_ref().map_or(self.samples, Vec::len)
    }

    /// Whether some sample has more than one row.
    pub(crate) fn has_repeats(&self) -> bool {
        self.rows.is_some()
    }

    /// A row that repeats the sample and epoch of the row before it.
    pub(crate) fn duplicate(&self, columns: &ScoreColumns) -> Option<usize> {
        let mut duplicate = None;
        if self.has_repeats() {
            self.for_each(|rows| {
                let same = |pair: &&[u32]| match pair {
                    [a, b] => columns.epoch(*a as usize) == columns.epoch(*b as usize),
                    _ => false,
                };
                if duplicate.is_none() {
                    duplicate =
                        rows.windows(2).find(same).and_then(|pair| pair.last()).map(|row| *row as usize);
                }
            });
        }
        duplicate
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
    pub(crate) fn for_each(&self, mut each: impl FnMut(&[u32])) {
        match &self.rows {
            None => (0..self.samples as u32).for_each(|row| each(&[row])),
            Some(rows) => {
                let mut start = 0;
                for &end in &self.ends {
                    each(rows.get(start..end as usize).unwrap_or_default());
                    start = end as usize;
                }
            }
        }
    }
}

/// The sample number of each row, and how many samples there are.
///
/// Logs repeat samples in a regular way: either all epochs of a sample follow each other, or a
/// whole pass over the samples follows the other. So before hashing an id, the sample that would
/// come next in either pattern is compared; a wrong guess costs one comparison.
fn group_by_id(columns: &ScoreColumns) -> (Vec<u32>, usize) {
    let rows = columns.len();
    let mut table: HashTable<u32> = HashTable::with_capacity(rows);
    let mut hashes: Vec<u64> = Vec::with_capacity(rows);
    let mut first_row: Vec<u32> = Vec::with_capacity(rows);
    let mut sample_of_row: Vec<u32> = Vec::with_capacity(rows);
    let mut guess = 0u32;
    for (row, id) in columns.ids.iter().enumerate() {
        let id_of = |sample: u32| {
            first_row
                .get(sample as usize)
                .map_or(&[][..], |first| columns.ids.get(*first as usize).as_bytes())
        };
        let known = (guess as usize) < first_row.len();
        let sample = if known && id_of(guess) == id {
            guess
        } else if known && id_of(guess.wrapping_sub(1)) == id && guess > 0 {
            guess - 1
        } else {
            let hash = hash_bytes(id);
            // Nearly every bucket that matches seven bits of the hash is the right one; comparing
            // the whole hash first spares the walk to a text that differs.
            let found = table.find(hash, |&s| hashes.get(s as usize) == Some(&hash) && id_of(s) == id);
            match found {
                Some(&sample) => sample,
                None => {
                    let sample = first_row.len() as u32;
                    table.insert_unique(hash, sample, |&s| {
                        hashes.get(s as usize).copied().unwrap_or_default()
                    });
                    hashes.push(hash);
                    first_row.push(row as u32);
                    sample
                }
            }
        };
        sample_of_row.push(sample);
        guess = sample + 1;
    }
    let samples = first_row.len();
    (sample_of_row, samples)
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
    fn one_text_may_begin_another() {
        assert_eq!(
            index(&[("a", 1), ("aa", 1), ("", 1), ("aa", 2), ("", 2)]),
            [vec![0], vec![1, 3], vec![2, 4]]
        );
    }
}
