//! Eight bytes per row, or one byte where that is enough.
//!
//! Most scores are 0 and 1 or one of a few grades, and epochs are few. A million of them in a byte each are
//! read, copied and summed in the caches, and the system hands out an eighth of the memory.

use std::ops::Range;

use rayon::prelude::*;

/// From how many rows on it takes more time to convert them than to ask other threads for help.
const MANY: usize = 1 << 17;

/// Numbers by row, in a byte each as long as they fit.
#[derive(Clone, Debug)]
pub(super) enum Payloads {
    Bytes(Vec<u8>),
    Words(Vec<u64>),
}

impl Default for Payloads {
    fn default() -> Self {
        Payloads::Bytes(Vec::new())
    }
}

impl Payloads {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Payloads::Bytes(Vec::with_capacity(rows))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Payloads::Bytes(bytes) => bytes.len(),
            Payloads::Words(words) => words.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<u64> {
        match self {
            Payloads::Bytes(bytes) => bytes.get(row).map(|byte| u64::from(*byte)),
            Payloads::Words(words) => words.get(row).copied(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, payload: u64) {
        match (&mut *self, u8::try_from(payload)) {
            (Payloads::Bytes(bytes), Ok(byte)) => bytes.push(byte),
            _ => self.words().push(payload),
        }
    }

    /// Appends numbers, in bytes up to the first that needs more.
    pub(super) fn extend(&mut self, payloads: impl IntoIterator<Item = u64>) {
        let mut payloads = payloads.into_iter();
        if let Payloads::Bytes(bytes) = self {
            let mut large = None;
            bytes.extend(payloads.by_ref().map_while(|payload| match u8::try_from(payload) {
                Ok(byte) => Some(byte),
                Err(_) => {
                    large = Some(payload);
                    None
                }
            }));
            let Some(large) = large else { return };
            self.words().push(large);
        }
        self.words().extend(payloads);
    }

    /// Appends numbers that are in a byte each already.
    pub(super) fn extend_bytes(&mut self, numbers: &[u8]) {
        match self {
            Payloads::Bytes(bytes) => bytes.extend_from_slice(numbers),
            Payloads::Words(words) => words.extend(numbers.iter().map(|byte| u64::from(*byte))),
        }
    }

    /// Appends the numbers of another.
    pub(super) fn append(&mut self, other: &Payloads) {
        match other {
            Payloads::Bytes(other) => self.extend_bytes(other),
            Payloads::Words(other) => self.words().extend_from_slice(other),
        }
    }

    pub(super) fn set(&mut self, row: usize, payload: u64) {
        match (&mut *self, u8::try_from(payload)) {
            (Payloads::Bytes(bytes), Ok(byte)) => {
                if let Some(slot) = bytes.get_mut(row) {
                    *slot = byte;
                }
            }
            _ => {
                if let Some(slot) = self.words().get_mut(row) {
                    *slot = payload;
                }
            }
        }
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        match self {
            Payloads::Bytes(bytes) => bytes.truncate(rows),
            Payloads::Words(words) => words.truncate(rows),
        }
    }

    /// Adds zeros, up to this number of rows.
    pub(super) fn resize(&mut self, rows: usize) {
        match self {
            Payloads::Bytes(bytes) => bytes.resize(rows, 0),
            Payloads::Words(words) => words.resize(rows, 0),
        }
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        match self {
            Payloads::Bytes(bytes) => bytes.reserve(rows),
            Payloads::Words(words) => words.reserve(rows),
        }
    }

    /// Takes all out; what comes next may fit a byte each again.
    pub(super) fn clear(&mut self) {
        match self {
            Payloads::Bytes(bytes) => bytes.clear(),
            Payloads::Words(_) => *self = Payloads::default(),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Payloads::Bytes(bytes) => bytes.capacity(),
            Payloads::Words(words) => words.capacity() * size_of::<u64>(),
        }
    }

    /// All of them through a function. Most of the time goes into memory that is touched for the first time,
    /// which threads share.
    pub(super) fn map<T: Send>(&self, f: impl Fn(u64) -> T + Sync) -> Vec<T> {
        match self {
            Payloads::Bytes(bytes) if bytes.len() < MANY => {
                bytes.iter().map(|byte| f(u64::from(*byte))).collect()
            }
            Payloads::Words(words) if words.len() < MANY => words.iter().map(|word| f(*word)).collect(),
            Payloads::Bytes(bytes) => {
                bytes.par_iter().with_min_len(MANY / 4).map(|byte| f(u64::from(*byte))).collect()
            }
            Payloads::Words(words) => words.par_iter().with_min_len(MANY / 4).map(|word| f(*word)).collect(),
        }
    }

    /// The number that all of some rows have, if it is one and the same.
    pub(super) fn same_in(&self, rows: Range<usize>) -> Option<u64> {
        fn same<T: Copy + PartialEq>(rows: &[T]) -> Option<T> {
            let first = *rows.first()?;
            // Without an early end the loop runs many rows at a time.
            rows.iter().fold(true, |all, row| all & (*row == first)).then_some(first)
        }
        match self {
            Payloads::Bytes(bytes) => same(bytes.get(rows)?).map(u64::from),
            Payloads::Words(words) => same(words.get(rows)?),
        }
    }

    /// The numbers, if they are in a byte each.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Payloads::Bytes(bytes) => Some(bytes),
            Payloads::Words(_) => None,
        }
    }

    /// The numbers in eight bytes each, from now on.
    fn words(&mut self) -> &mut Vec<u64> {
        if let Payloads::Bytes(bytes) = self {
            let mut words = Vec::with_capacity(bytes.capacity());
            words.extend(bytes.iter().map(|byte| u64::from(*byte)));
            *self = Payloads::Words(words);
        }
        match self {
            Payloads::Words(words) => words,
            Payloads::Bytes(_) => unreachable!("made words above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(payloads: &Payloads) -> Vec<u64> {
        (0..payloads.len()).map_while(|row| payloads.get(row)).collect()
    }

    #[test]
    fn whatever_their_size_and_wherever_they_grow_the_numbers_come_back() {
        let numbers = [0, 7, 255, 256, u64::MAX, 3];
        for cut in 0..=numbers.len() {
            let (first, second) = numbers.split_at(cut);
            let (mut pushed, mut extended) = (Payloads::default(), Payloads::default());
            first.iter().for_each(|n| pushed.push(*n));
            extended.extend(second.iter().copied());
            let mut appended = pushed.clone();
            appended.append(&extended);
            pushed.extend(second.iter().copied());
            assert_eq!((all(&pushed), all(&appended)), (numbers.to_vec(), numbers.to_vec()));
            assert_eq!(pushed.map(|n| n), numbers);
        }
        let mut few = Payloads::default();
        few.extend([1, 2]);
        few.resize(4);
        few.set(0, 9);
        assert!(matches!(few, Payloads::Bytes(_)));
        few.set(3, 1000);
        assert_eq!(all(&few), [9, 2, 0, 1000]);
        few.clear();
        assert!(matches!(few, Payloads::Bytes(_)));
        few.set(0, 5);
        assert_eq!((few.len(), few.get(0)), (0, None));
    }
}
