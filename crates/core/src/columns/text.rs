//! A column of strings in a few allocations: the sample ids.

use std::cmp::Ordering;

use rayon::prelude::*;

/// Strings laid end to end.
///
/// They lie in chunks. What threads have read is taken over chunk by chunk, not string by string.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    /// The chunks that are full, each with the number of rows up to its end.
    full: Vec<(Chunk, usize)>,
    /// The one that strings are pushed to.
    open: Chunk,
    /// All of the last string if it is short.
    last_words: Option<ShortId>,
    /// The first row whose string does not come [behind](by_length) the one before it, and how that one
    /// compares with it. Found while the strings are at hand, because later it takes a walk through all.
    not_above: Option<(usize, Ordering)>,
}

/// Strings laid end to end, with the place where each one starts.
#[derive(Clone, Debug, Default)]
struct Chunk {
    /// UTF-8, as only whole strings come in.
    bytes: Vec<u8>,
    starts: Vec<u16>,
}

/// A chunk is full if the next string would start behind this. Tests have little, so that they see many.
const MOST_BYTES: usize = if cfg!(test) { 1 << 9 } else { u16::MAX as usize };
/// Fewer strings than these are copied rather than stored as a separate chunk.
const FEW_TEXTS: usize = if cfg!(test) { 3 } else { 1 << 10 };

impl Chunk {
    #[inline]
    fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where a row starts; behind the last one, where that ends.
    #[inline]
    fn start(&self, row: usize) -> usize {
        self.starts.get(row).map_or(self.bytes.len(), |start| *start as usize)
    }

    #[inline]
    fn get(&self, row: usize) -> &[u8] {
        self.bytes.get(self.start(row)..self.start(row.saturating_add(1))).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// Whether `count` rows from one on are those of another chunk.
    fn has_same(&self, row: usize, other: &Chunk, other_row: usize, count: usize) -> bool {
        let range = |chunk: &Chunk, row: usize| chunk.start(row)..chunk.start(row + count);
        let (own, others) = (range(self, row), range(other, other_row));
        let distance = (own.start as u16).wrapping_sub(others.start as u16);
        let pairs = self.starts.iter().skip(row).zip(other.starts.iter().skip(other_row)).take(count);
        // Without an early end the loop runs many rows at a time.
        pairs.fold(true, |all, (own, other)| all & (own.wrapping_sub(*other) == distance))
            && self.bytes.get(own) == other.bytes.get(others)
    }
}

/// Shorter before longer, then by bytes, so that 9 comes before 10.
pub(super) fn by_length(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// A string of 8 to 16 bytes, as most ids are: its length, and its first and its last eight bytes, which may
/// overlap. They compare like the strings [by length](by_length), and are copied without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ShortId {
    length: usize,
    first: u64,
    last: u64,
}

impl ShortId {
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) if text.len() <= 16 => Some(ShortId {
                length: text.len(),
                first: u64::from_be_bytes(*first),
                last: u64::from_be_bytes(*last),
            }),
            _ => None,
        }
    }

    #[inline]
    fn append_to(&self, bytes: &mut Vec<u8>) {
        let end = bytes.len() + self.length;
        bytes.extend_from_slice(&self.first.to_be_bytes());
        bytes.truncate(end - 8);
        bytes.extend_from_slice(&self.last.to_be_bytes());
    }
}

impl TextColumn {
    /// Appends a string.
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    /// Appends a string, given its bytes.
    #[inline]
    fn push_bytes(&mut self, text: &[u8]) {
        let words = ShortId::of(text);
        self.compare(text, words);
        self.last_words = words;
        if self.open.bytes.len() > MOST_BYTES {
            self.close();
        }
        self.open.starts.push(self.open.bytes.len() as u16);
        match words {
            Some(words) => words.append_to(&mut self.open.bytes),
            None => self.open.bytes.extend_from_slice(text),
        }
    }

    /// Begins a new chunk. The full one is a copy that is no larger than it needs to be; the memory in
    /// which it grew, which is in the caches, stays for the next.
    #[cold]
    fn close(&mut self) {
        let rows = self.len();
        if self.open.len() > 0 {
            self.full.push((self.open.clone(), rows));
            self.open.clear();
        }
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.full.last().map_or(0, |(_, rows)| *rows) + self.open.len()
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all strings out of another column.
    pub(crate) fn append(&mut self, other: &mut TextColumn) {
        let (rows, count) = (self.len(), other.len());
        if count < FEW_TEXTS {
            other.iter().for_each(|text| self.push_bytes(text));
            return other.clear();
        }
        let first = other.bytes_of(0);
        self.compare(first, ShortId::of(first));
        self.not_above = self.not_above.or(other.not_above.map(|(row, order)| (rows + row, order)));
        self.last_words = other.last_words;
        self.close();
        other.close();
        self.full.extend(other.full.drain(..).map(|(chunk, end)| (chunk, rows + end)));
        other.clear();
    }

    /// Copies some strings of another column, which are fewer than a chunk as a rule. A search for the chunk of each would
    /// take as long as the copy, and mostly it is that of the one before.
    pub(super) fn append_rows(&mut self, other: &TextColumn, rows: &[u32]) {
        let (mut chunk, mut start) = (&other.open, usize::MAX);
        for row in rows.iter().map(|row| *row as usize) {
            if row.checked_sub(start).is_none_or(|at| at >= chunk.len()) {
                let (found, at) = other.locate(row);
                (chunk, start) = (found, row - at);
            }
            self.push_bytes(chunk.get(row - start));
        }
    }

    pub(super) fn clear(&mut self) {
        self.full.clear();
        self.open.clear();
        (self.last_words, self.not_above) = (None, None);
    }

    /// The chunks, each with the row that it starts with.
    fn chunks(&self) -> impl Iterator<Item = (&Chunk, usize)> {
        let starts = std::iter::once(0).chain(self.full.iter().map(|(_, end)| *end));
        self.full.iter().map(|(chunk, _)| chunk).chain([&self.open]).zip(starts)
    }

    /// The chunk of a row, and which of its rows that is.
    #[inline]
    fn locate(&self, row: usize) -> (&Chunk, usize) {
        let at = self.full.partition_point(|(_, end)| *end <= row);
        let start = at.checked_sub(1).and_then(|before| self.full.get(before)).map_or(0, |(_, end)| *end);
        (self.full.get(at).map_or(&self.open, |(chunk, _)| chunk), row - start)
    }

    /// Whether the column is its first `period` rows again and again, to the end.
    pub(crate) fn repeats(&self, period: usize) -> bool {
        if period == 0 || !self.len().is_multiple_of(period) {
            return false;
        }
        // Each row is to be the one a period before it, as far as both are in one chunk each.
        let mut parts = Vec::new();
        let mut row = period;
        while row < self.len() {
            let ((chunk, at), (before, at_before)) = (self.locate(row), self.locate(row - period));
            let count = (chunk.len() - at).min(before.len() - at_before);
            parts.push((chunk, at, before, at_before, count));
            row += count;
        }
        parts
            .into_par_iter()
            .all(|(chunk, at, before, at_before, count)| chunk.has_same(at, before, at_before, count))
    }

    /// The first row whose string does not come [behind](by_length) the one before it, and how that one
    /// compares with it.
    pub(super) fn first_not_above(&self) -> Option<(usize, Ordering)> {
        self.not_above
    }

    /// Looks whether the next string comes behind the last one.
    #[inline]
    fn compare(&mut self, next: &[u8], words: Option<ShortId>) {
        if self.not_above.is_none() {
            let order = match (self.last_words, words) {
                (Some(last), Some(next)) => last.cmp(&next),
                _ => match self.len().checked_sub(1) {
                    Some(last) => by_length(self.bytes_of(last), next),
                    None => Ordering::Less,
                },
            };
            if order != Ordering::Less {
                self.not_above = Some((self.len(), order));
            }
        }
    }

    /// The string of a row; empty beyond the end.
    pub fn get(&self, row: usize) -> &str {
        str::from_utf8(self.bytes_of(row)).unwrap_or_default()
    }

    /// The bytes of a row's string; empty beyond the end.
    #[inline]
    pub fn bytes_of(&self, row: usize) -> &[u8] {
        let (chunk, row) = self.locate(row);
        chunk.get(row)
    }

    /// Row by row, faster than a lookup of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks().flat_map(|(chunk, _)| (0..chunk.len()).map(|row| chunk.get(row)))
    }

    /// What a function makes of the strings of each part of the column and the row that it starts with, on
    /// all threads.
    pub(super) fn map_parts<T: Send>(
        &self,
        f: impl Fn(usize, &mut dyn Iterator<Item = &[u8]>) -> T + Sync,
    ) -> Vec<T> {
        let chunks: Vec<(&Chunk, usize)> = self.chunks().collect();
        chunks
            .into_par_iter()
            .map(|(chunk, start)| f(start, &mut (0..chunk.len()).map(|row| chunk.get(row))))
            .collect()
    }

    /// The bytes that the strings hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        let of_chunk = |chunk: &Chunk| chunk.bytes.capacity() + chunk.starts.capacity() * size_of::<u16>();
        self.chunks().map(|(chunk, _)| of_chunk(chunk)).sum()
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
            assert!(
                column.full.len() > 20 && column.get(200).is_empty() && column.get(usize::MAX).is_empty()
            );
            assert!((0..200).all(|row| column.get(row) == texts[row]));
            assert!(column.iter().eq(texts.iter().map(|text| text.as_bytes())));
        }
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
