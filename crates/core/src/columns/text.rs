//! A column of texts in one allocation: the sample ids.

use std::cmp::Ordering;

/// Texts laid end to end, with the place where each one ends.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    /// UTF-8, as only whole texts come in.
    bytes: Vec<u8>,
    /// Where the texts end; only the lower half of the number, as columns of four gigabytes are rare.
    ends: Vec<u32>,
    /// The rows in which the lower half starts again, as often as it does.
    wraps: Vec<usize>,
    /// Where the last text starts, and all of it if it is short.
    last: usize,
    last_words: Option<Words>,
    /// The first row whose text does not come [behind](by_length) the one before it, and how that one
    /// compares with it. Found while the texts are at hand, because later it takes a walk through all.
    not_above: Option<(usize, Ordering)>,
}

/// Shorter before longer, then by bytes, so that 9 comes before 10.
pub(super) fn by_length(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// A text of 8 to 16 bytes, as most ids are: its length, and its first and its last eight bytes, which may
/// overlap. They compare like the texts [by length](by_length), and are copied without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Words {
    length: usize,
    first: u64,
    last: u64,
}

impl Words {
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) if text.len() <= 16 => Some(Words {
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

/// The bits of the lower half. Tests have few, so that they see halves start again.
const LOW_BITS: u32 = if cfg!(test) { 8 } else { 32 };

fn low(place: usize) -> u32 {
    (place & ((1 << LOW_BITS) - 1)) as u32
}

impl TextColumn {
    /// Appends a text.
    #[inline]
    pub fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let words = Words::of(text);
        self.compare(text, words);
        let before = self.bytes.len();
        (self.last, self.last_words) = (before, words);
        match words {
            Some(words) => words.append_to(&mut self.bytes),
            None => self.bytes.extend_from_slice(text),
        }
        if before >> LOW_BITS != self.bytes.len() >> LOW_BITS {
            self.wrap(before);
        }
        self.ends.push(low(self.bytes.len()));
    }

    /// Remembers that the lower half starts again in the next row.
    #[cold]
    fn wrap(&mut self, before: usize) {
        let wraps = (self.bytes.len() >> LOW_BITS) - (before >> LOW_BITS);
        self.wraps.extend(std::iter::repeat_n(self.ends.len(), wraps));
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Takes all texts out of another column.
    pub(crate) fn append(&mut self, other: &mut TextColumn) {
        if self.is_empty() && self.ends.capacity() < other.ends.capacity() {
            return std::mem::swap(self, other);
        }
        let length = self.bytes.len();
        if length >> LOW_BITS == (length + other.bytes.len()) >> LOW_BITS {
            if !other.is_empty() {
                let first = other.get(0).as_bytes();
                self.compare(first, Words::of(first));
                let rows = self.len();
                self.not_above = self.not_above.or(other.not_above.map(|(row, order)| (rows + row, order)));
                (self.last, self.last_words) = (length + other.last, other.last_words);
            }
            let start = low(length);
            self.bytes.extend_from_slice(&other.bytes);
            self.ends.extend(other.ends.iter().map(|end| start + end));
        } else {
            (0..other.len()).for_each(|row| self.push(other.get(row)));
        }
        other.clear();
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.wraps.clear();
        (self.last, self.last_words, self.not_above) = (0, None, None);
    }

    /// Whether the column is its first `period` rows again and again, to the end.
    pub(crate) fn repeats(&self, period: usize) -> bool {
        let Some((first, rest)) = self.ends.split_at_checked(period) else { return false };
        let (Some(&length), true) = (first.last(), self.wraps.is_empty()) else { return false };
        let length = length as usize;
        let ends_repeat = rest.chunks(period).enumerate().all(|(pass, ends)| {
            let offset = low((pass + 1) * length);
            let repeats = |(end, of_first): (&u32, &u32)| *end == offset.wrapping_add(*of_first);
            // Without an early end the loop runs many rows at a time.
            ends.len() == period && ends.iter().zip(first).fold(true, |all, pair| all & repeats(pair))
        });
        let bytes = &self.bytes;
        ends_repeat && bytes.get(length..) == bytes.get(..bytes.len() - length)
    }

    /// The first row whose text does not come [behind](by_length) the one before it, and how that one
    /// compares with it.
    pub(super) fn first_not_above(&self) -> Option<(usize, Ordering)> {
        self.not_above
    }

    /// Looks whether the next text comes behind the last one.
    #[inline]
    fn compare(&mut self, next: &[u8], words: Option<Words>) {
        if self.not_above.is_none() && !self.ends.is_empty() {
            let order = match (self.last_words, words) {
                (Some(last), Some(next)) => last.cmp(&next),
                _ => by_length(self.bytes.get(self.last..).unwrap_or_default(), next),
            };
            if order != Ordering::Less {
                self.not_above = Some((self.ends.len(), order));
            }
        }
    }

    /// Makes room for so many more texts of so many bytes together.
    pub(super) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.ends.reserve(texts);
        self.bytes.reserve(bytes);
    }

    /// The bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Where a row ends.
    #[inline]
    fn end(&self, row: usize) -> Option<usize> {
        let end = *self.ends.get(row)? as usize;
        if self.wraps.is_empty() {
            return Some(end);
        }
        Some((self.wraps.partition_point(|wrap| *wrap <= row) << LOW_BITS) + end)
    }

    /// The text of a row; empty beyond the end.
    pub fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).and_then(|before| self.end(before)).unwrap_or(0);
        let end = self.end(row).unwrap_or(start);
        self.bytes.get(start..end).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// Row by row, faster than asking for each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = &self.bytes;
        let mut start = 0;
        let mut wraps = self.wraps.iter().peekable();
        let mut base = 0;
        self.ends.iter().enumerate().map(move |(row, &end)| {
            while wraps.next_if(|wrap| **wrap <= row).is_some() {
                base += 1 << LOW_BITS;
            }
            let end = base + end as usize;
            let piece = bytes.get(start..end).unwrap_or_default();
            start = end;
            piece
        })
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
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
            assert!(column.wraps.len() > 100 && column.get(200).is_empty());
            assert!((0..200).all(|row| column.get(row) == texts[row]));
            assert!(column.iter().eq(texts.iter().map(|text| text.as_bytes())));
        }
    }

    #[test]
    fn the_first_text_that_does_not_go_up_is_known_wherever_the_column_is_cut() {
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
    fn appended_texts_follow() {
        let mut column = TextColumn::default();
        column.push("first");
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
