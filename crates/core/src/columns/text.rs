//! A column of strings in two allocations: the sample ids.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

/// Strings laid end to end.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    /// UTF-8, as only whole strings come in.
    bytes: Vec<u8>,
    /// Where each string ends.
    ends: Vec<usize>,
    /// The first row whose string does not come [behind](by_length) the one before it, and how that one
    /// compares with it. Found while the strings are at hand, because later it takes a walk through all.
    not_above: Option<(usize, Ordering)>,
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
        self.push_bytes(text.as_bytes());
    }

    #[inline]
    fn push_bytes(&mut self, text: &[u8]) {
        self.compare(text);
        self.bytes.extend_from_slice(text);
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
        let (rows, start) = (self.len(), self.bytes.len());
        let mut before = 0;
        self.ends.extend(ends.map(|end| {
            before = texts.floor_char_boundary(end.clamp(before, texts.len()));
            start + before
        }));
        self.bytes.extend_from_slice(texts.as_bytes().get(..before).unwrap_or_default());
        self.compare_from(rows);
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
        let (rows, start) = (self.len(), self.bytes.len());
        if rows == 0 && self.bytes.capacity() < other.bytes.capacity() {
            std::mem::swap(self, other);
            return other.clear();
        }
        if !other.is_empty() {
            self.compare(other.bytes_of(0));
        }
        self.not_above = self.not_above.or(other.not_above.map(|(row, order)| (rows + row, order)));
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| start + end));
        other.clear();
    }

    /// Copies some strings of another column.
    pub(super) fn append_rows(&mut self, other: &TextColumn, rows: &[u32]) {
        let before = self.len();
        self.ends.reserve(rows.len());
        for row in rows {
            self.bytes.extend_from_slice(other.bytes_of(*row as usize));
            self.ends.push(self.bytes.len());
        }
        self.compare_from(before);
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.not_above = None;
    }

    /// Whether the column is its first `period` rows again and again, to the end.
    pub(crate) fn repeats(&self, period: usize) -> bool {
        let Some(length) = period.checked_sub(1).and_then(|last| self.ends.get(last)).copied() else {
            return false;
        };
        let mut passes = self.ends.chunks_exact(period).zip(self.bytes.chunks(length.max(1)));
        let (ends, bytes) = passes.next().unwrap_or_default();
        let is_same = |(pass, (of_pass, text)): (usize, (&[usize], &[u8]))| {
            let start = (pass + 1) * length;
            text == bytes && of_pass.iter().zip(ends).all(|(own, first)| *own == start + first)
        };
        self.len().is_multiple_of(period)
            && self.bytes.len() == length * (self.len() / period)
            && passes.enumerate().all(is_same)
    }

    /// The first row whose string does not come [behind](by_length) the one before it, and how that one
    /// compares with it.
    pub(super) fn first_not_above(&self) -> Option<(usize, Ordering)> {
        self.not_above
    }

    /// Looks whether the next string comes behind the last one.
    #[inline]
    fn compare(&mut self, next: &[u8]) {
        if let (None, Some(last)) = (self.not_above, self.len().checked_sub(1)) {
            let order = by_length(self.bytes_of(last), next);
            self.not_above = (order != Ordering::Less).then_some((last + 1, order));
        }
    }

    /// Looks whether the strings from a row on come behind the ones before them.
    fn compare_from(&mut self, row: usize) {
        if self.not_above.is_none() {
            let order = |row: usize| (row, by_length(self.bytes_of(row - 1), self.bytes_of(row)));
            self.not_above = (row.max(1)..self.len()).map(order).find(|(_, order)| *order != Ordering::Less);
        }
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
