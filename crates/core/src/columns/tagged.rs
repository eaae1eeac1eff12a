//! How a value is encoded in a column: a tag and a number.

use rayon::prelude::*;

/// The payload of a float: its bits, but 0 to 255 for the floats 0.0 to 255.0, so that a column of 0.0 and 1.0 takes a byte
/// a row. The floats with the bits 1 to 255, all below 1e-321, have the bits that are free then.
#[inline]
pub(super) fn float_payload(float: f64) -> u64 {
    swap_small(float.to_bits())
}

/// The float that a payload stands for.
#[inline]
pub(super) fn payload_float(payload: u64) -> f64 {
    f64::from_bits(swap_small(payload))
}

/// Exchanges the bits of 1.0 to 255.0 with 1 to 255; its own inverse.
#[inline]
fn swap_small(word: u64) -> u64 {
    if word <= 255 {
        return (word as f64).to_bits();
    }
    let byte = f64::from_bits(word) as u8;
    if f64::from(byte).to_bits() == word { u64::from(byte) } else { word }
}

/// What the value of a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Tag {
    #[default]
    Missing,
    Unscored,
    /// A null inside a map, when the map is taken apart by key.
    Null,
    Bool,
    Int,
    Float,
    Text,
    Nested,
}

/// How many tags there are.
pub(super) const TAGS: usize = Tag::Nested as usize + 1;

// Eight bytes per row, or one byte where that is enough.
//
// Most scores are 0 and 1 or one of a few grades, and epochs are few. A million of them in a byte each are
// read, copied and summed in the caches, and the system hands out an eighth of the memory.

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

    /// Whether all numbers are in a byte each.
    pub(super) fn are_bytes(&self) -> bool {
        matches!(self, Payloads::Bytes(_))
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
    use proptest::prelude::*;

    use super::*;

    fn is_kept(float: f64) -> bool {
        payload_float(float_payload(float)).to_bits() == float.to_bits()
    }

    #[test]
    fn small_whole_floats_are_bytes() {
        for byte in 0..=255u8 {
            assert_eq!(float_payload(f64::from(byte)), u64::from(byte));
            assert!(is_kept(f64::from(byte)) && is_kept(f64::from_bits(u64::from(byte))));
        }
        for float in [-0.0, 0.5, -1.0, 256.0, 255.00000000000003, 1e300, f64::INFINITY, f64::from_bits(256)] {
            assert!(float_payload(float) > 255 && is_kept(float), "{float}");
        }
    }

    proptest! {
        #[test]
        fn every_float_is_kept(bits: u64, small in 0..1000u64) {
            prop_assert!(is_kept(f64::from_bits(bits)) && is_kept(f64::from_bits(small)));
        }
    }
}

#[cfg(test)]
mod payloads_tests {
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
            second.iter().for_each(|n| extended.push(*n));
            let mut appended = pushed.clone();
            appended.append(&extended);
            second.iter().for_each(|n| pushed.push(*n));
            assert_eq!((all(&pushed), all(&appended)), (numbers.to_vec(), numbers.to_vec()));
            assert_eq!(pushed.map(|n| n), numbers);
        }
        let mut few = Payloads::default();
        [1, 2].into_iter().for_each(|n| few.push(n));
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
