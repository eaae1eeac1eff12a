//! A column of texts in one allocation: the sample ids.

use std::cmp::Ordering;

/// Texts laid end to end, with the place where each one ends.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    text: String,
    /// Where the texts end; only the lower half of the number, as columns of four gigabytes are rare.
    ends: Vec<u32>,
    /// The rows in which the lower half starts again, as often as it does.
    wraps: Vec<usize>,
    /// Where the last text starts.
    last: usize,
    /// The first row whose text does not come [behind](by_length) the one before it, and how that one
    /// compares with it. Found while the texts are at hand, because later it takes a walk through all.
    not_above: Option<(usize, Ordering)>,
}

/// Shorter before longer, then by bytes, so that 9 comes before 10.
#[inline]
pub(super) fn by_length(a: &[u8], b: &[u8]) -> Ordering {
    // Most ids are short, and two words that may overlap are all of them.
    let words = |text: &[u8]| match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) if text.len() <= 16 => {
            Some((u64::from_be_bytes(*first), u64::from_be_bytes(*last)))
        }
        _ => None,
    };
    a.len().cmp(&b.len()).then_with(|| match (words(a), words(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.cmp(b),
    })
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
        self.compare(text);
        let before = self.text.len();
        self.last = before;
        self.text.push_str(text);
        if before >> LOW_BITS != self.text.len() >> LOW_BITS {
            self.wrap(before);
        }
        self.ends.push(low(self.text.len()));
    }

    /// Remembers that the lower half starts again in the next row.
    #[cold]
    fn wrap(&mut self, before: usize) {
        let wraps = (self.text.len() >> LOW_BITS) - (before >> LOW_BITS);
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
        let length = self.text.len();
        if length >> LOW_BITS == (length + other.text.len()) >> LOW_BITS {
            if !other.is_empty() {
                self.compare(other.get(0));
                let rows = self.len();
                self.not_above = self.not_above.or(other.not_above.map(|(row, order)| (rows + row, order)));
                self.last = length + other.last;
            }
            let start = low(length);
            self.text.push_str(&other.text);
            self.ends.extend(other.ends.iter().map(|end| start + end));
        } else {
            (0..other.len()).for_each(|row| self.push(other.get(row)));
        }
        other.clear();
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.wraps.clear();
        (self.last, self.not_above) = (0, None);
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
        let bytes = self.text.as_bytes();
        ends_repeat && bytes.get(length..) == bytes.get(..bytes.len() - length)
    }

    /// The first row whose text does not come [behind](by_length) the one before it, and how that one
    /// compares with it.
    pub(super) fn first_not_above(&self) -> Option<(usize, Ordering)> {
        self.not_above
    }

    /// Looks whether the next text comes behind the last one.
    #[inline]
    fn compare(&mut self, next: &str) {
        if self.not_above.is_none() && !self.ends.is_empty() {
            let last = self.text.as_bytes().get(self.last..).unwrap_or_default();
            let order = by_length(last, next.as_bytes());
            if order != Ordering::Less {
                self.not_above = Some((self.ends.len(), order));
            }
        }
    }

    /// Makes room for so many more texts of so many bytes together.
    pub(super) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.ends.reserve(texts);
        self.text.reserve(bytes);
    }

    /// The bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
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
        self.text.get(start..end).unwrap_or_default()
    }

    /// Row by row, faster than asking for each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = self.text.as_bytes();
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
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
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
