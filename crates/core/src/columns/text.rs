//! A column of strings in a few allocations: the sample ids.

use std::cmp::Ordering;
use std::ops::Range;

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
    /// All of the last string if it is short, as long as they go up.
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

    /// Appends strings that lie end to end, given where each of them ends. They are copied together. An end before the one
    /// before it, behind the last string or within a character is moved to where one can be.
    ///
    /// ```
    /// use errorbar_core::TextColumn;
    /// let mut ids = TextColumn::default();
    /// ids.extend("q1q2q10", [2, 4, 7].into_iter());
    /// assert_eq!((ids.len(), ids.get(2)), (3, "q10"));
    /// ```
    pub fn extend(&mut self, texts: &str, ends: impl Iterator<Item = usize>) {
        let bytes = |range: Range<usize>| texts.as_bytes().get(range).unwrap_or_default();
        let mut start = 0;
        let mut ends = ends.scan(0, |before, end| {
            *before = texts.floor_char_boundary(end.clamp(*before, texts.len()));
            Some(*before)
        });
        // As long as they go up, each is compared with the one before.
        while self.not_above.is_none() {
            let Some(end) = ends.next() else { return };
            self.push_bytes(bytes(start..end));
            start = end;
        }
        let mut copied = start;
        for end in ends {
            if self.open.bytes.len() + (start - copied) > MOST_BYTES {
                self.open.bytes.extend_from_slice(bytes(copied..start));
                self.close();
                copied = start;
            }
            self.open.starts.push((self.open.bytes.len() + (start - copied)) as u16);
            start = end;
        }
        self.open.bytes.extend_from_slice(bytes(copied..start));
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
            match self.not_above {
                None => self.push_bytes(chunk.get(row - start)),
                Some(_) => self.push_unordered(chunk, row - start),
            }
        }
    }

    /// Appends a string of a chunk to strings that do not go up, so that there is nothing to compare.
    #[inline]
    fn push_unordered(&mut self, chunk: &Chunk, row: usize) {
        if self.open.bytes.len() > MOST_BYTES {
            self.close();
        }
        self.open.starts.push(self.open.bytes.len() as u16);
        let (start, length) = (chunk.start(row), chunk.start(row + 1) - chunk.start(row));
        // What is behind a short string is copied with it and cut off: a number of bytes that is always the same takes no
        // call.
        match chunk.bytes.get(start..).and_then(<[u8]>::first_chunk::<16>) {
            Some(words) if length <= words.len() => {
                let end = self.open.bytes.len() + length;
                self.open.bytes.extend_from_slice(words);
                self.open.bytes.truncate(end);
            }
            _ => self.open.bytes.extend_from_slice(chunk.get(row)),
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
        self.chunks().flat_map(|(chunk, _)| ChunkTexts { chunk, rows: 0..chunk.len() })
    }

    /// What a function makes of the strings of each part of the column and the row that it starts with, on
    /// all threads.
    pub(super) fn map_parts<T: Send>(&self, f: impl Fn(usize, ChunkTexts<'_>) -> T + Sync) -> Vec<T> {
        let chunks: Vec<(&Chunk, usize)> = self.chunks().collect();
        chunks
            .into_par_iter()
            .map(|(chunk, start)| f(start, ChunkTexts { chunk, rows: 0..chunk.len() }))
            .collect()
    }

    /// The bytes that the strings hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        let of_chunk = |chunk: &Chunk| chunk.bytes.capacity() + chunk.starts.capacity() * size_of::<u16>();
        self.chunks().map(|(chunk, _)| of_chunk(chunk)).sum()
    }
}

/// The strings of a chunk, in order.
pub(super) struct ChunkTexts<'a> {
    chunk: &'a Chunk,
    rows: Range<usize>,
}

impl<'a> Iterator for ChunkTexts<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.rows.next().map(|row| self.chunk.get(row))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
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
    fn strings_that_come_together_are_those_that_come_one_by_one() {
        // Up to some row they go up, or they never do, and some are the last ones of their chunk.
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
                assert_eq!(column.full.len(), pushed.full.len());
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
