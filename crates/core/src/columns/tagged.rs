//! Values of any kind by row: a tag and a number each.

use std::sync::Arc;

use rayon::prelude::*;

use crate::naming::Interner;
use crate::value::{Leaf, LeafRef, Value, ValueRef};

/// Values of any kind.
#[derive(Clone, Debug, Default)]
pub(super) struct TaggedValues {
    pub(super) tags: Vec<Tag>,
    /// A boolean, a number (see [`float_payload`]), or where the string or the structure is.
    pub(super) payloads: Payloads,
    /// How many rows have each tag, so that they are not scanned.
    pub(super) counts: [usize; TAGS],
    /// Each distinct string once: grades repeat.
    pub(super) texts: Interner<Arc<str>>,
    pub(super) text_bytes: usize,
    pub(super) nested: Vec<Value>,
    /// What the items of lists and maps take.
    pub(super) nested_bytes: usize,
}

/// An entry of a map: key and value, the hash, a place in the table, and the key on the heap.
pub(super) const MAP_ENTRY_BYTES: usize = 112;

/// What a string takes beside its bytes: two counters, rounded up.
const TEXT_BYTES: usize = 24;

/// What stands for a float: its bits, but 0 to 255 for the floats 0.0 to 255.0, so that a column of 0.0 and 1.0 takes a byte
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

/// About how many bytes the items of a list or map take; a scalar has none.
fn item_bytes(value: &Value) -> usize {
    match value {
        Value::List(items) => items.len().saturating_mul(size_of::<Leaf>()),
        Value::Map(map) => map.len().saturating_mul(MAP_ENTRY_BYTES),
        _ => 0,
    }
}

/// What the value of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
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
const TAGS: usize = Tag::Nested as usize + 1;

impl TaggedValues {
    /// Takes all rows out, but keeps the strings if they are few.
    pub(super) fn clear(&mut self) {
        if self.texts.len() > self.tags.len() / 2 {
            (self.texts, self.text_bytes) = Default::default();
        }
        self.tags.clear();
        self.payloads.clear();
        self.nested.clear();
        self.nested_bytes = 0;
        self.counts = [0; TAGS];
    }

    /// What stands for a value in the columns.
    #[inline]
    pub(super) fn encode(&mut self, value: Option<Value>) -> (Tag, u64) {
        match value {
            None => (Tag::Missing, 0),
            Some(Value::Unscored) => (Tag::Unscored, 0),
            Some(Value::Float(f)) if f.is_nan() => (Tag::Unscored, 0),
            Some(Value::Bool(b)) => (Tag::Bool, u64::from(b)),
            Some(Value::Int(i)) => (Tag::Int, i.cast_unsigned()),
            Some(Value::Float(f)) => (Tag::Float, float_payload(f)),
            Some(Value::Str(s)) => (Tag::Text, self.text_code(&s, || Arc::clone(&s))),
            Some(nested @ (Value::List(_) | Value::Map(_))) => {
                if self.nested.is_empty() {
                    // One nested value is seldom alone.
                    self.nested.reserve(self.tags.capacity());
                }
                (Tag::Nested, self.add_nested(nested))
            }
        }
    }

    /// Adds a list or map; where it is.
    pub(super) fn add_nested(&mut self, value: Value) -> u64 {
        self.nested_bytes = self.nested_bytes.saturating_add(item_bytes(&value));
        self.nested.push(value);
        (self.nested.len() - 1) as u64
    }

    /// The code of a string, which is made only if it is new.
    #[inline]
    pub(super) fn text_code(&mut self, text: &str, make: impl FnOnce() -> Arc<str>) -> u64 {
        u64::from(self.texts.intern_with(text, || {
            self.text_bytes += text.len() + TEXT_BYTES;
            make()
        }))
    }

    pub(super) fn text(&self, code: u64) -> Option<&Arc<str>> {
        self.texts.get(code as usize)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let nested = self.nested.capacity() * size_of::<Value>() + self.nested_bytes;
        let texts = self.texts.heap_bytes() + self.text_bytes;
        self.tags.capacity() + self.payloads.heap_bytes() + texts + nested
    }

    #[inline]
    pub(super) fn push(&mut self, tag: Tag, payload: u64) {
        self.tags.push(tag);
        self.payloads.push(payload);
        self.add_count(tag, 1);
    }

    #[inline]
    pub(super) fn add_count(&mut self, tag: Tag, rows: isize) {
        if let Some(count) = self.counts.get_mut(tag as usize) {
            *count = count.saturating_add_signed(rows);
        }
    }

    pub(super) fn count(&self, tag: Tag) -> usize {
        self.counts.get(tag as usize).copied().unwrap_or(0)
    }

    /// Puts another value into a row.
    pub(super) fn replace(&mut self, row: usize, (tag, payload): (Tag, u64)) {
        let Some(of_row) = self.tags.get_mut(row) else { return };
        let before = std::mem::replace(of_row, tag);
        self.payloads.set(row, payload);
        self.add_count(before, -1);
        self.add_count(tag, 1);
    }

    /// The value of another column's row as one of this column. `known` has the codes of the other's strings here, for
    /// those that were met; without room for them each is looked up.
    pub(super) fn adopt(
        &mut self,
        other: &TaggedValues,
        row: usize,
        known: &mut [Option<u64>],
        nested: impl FnOnce(usize) -> Option<Value>,
    ) -> (Tag, u64) {
        match (other.tags.get(row).copied(), other.payloads.get(row)) {
            (Some(Tag::Text), Some(payload)) => {
                let Some(text) = other.text(payload) else { return (Tag::Missing, 0) };
                let mut code = || self.text_code(text, || Arc::clone(text));
                let code = match known.get_mut(payload as usize) {
                    Some(known) => *known.get_or_insert_with(code),
                    None => code(),
                };
                (Tag::Text, code)
            }
            (Some(Tag::Nested), Some(payload)) => self.encode(nested(payload as usize)),
            (Some(tag), Some(payload)) => (tag, payload),
            _ => (Tag::Missing, 0),
        }
    }

    pub(super) fn only(&self, tag: Tag) -> bool {
        self.count(tag) == self.tags.len()
    }

    /// The numbers, if all rows have one of these tags and all are small and whole.
    pub(super) fn small_numbers(&self, tags: &[Tag]) -> Option<&[u8]> {
        let rows: usize = tags.iter().map(|tag| self.count(*tag)).sum();
        self.payloads.bytes().filter(|_| rows == self.tags.len())
    }

    pub(super) fn get(&self, row: usize) -> Option<ValueRef<'_>> {
        let payload = self.payloads.get(row)?;
        let leaf = match self.tags.get(row)? {
            Tag::Missing => return None,
            Tag::Unscored => LeafRef::Unscored,
            Tag::Null => LeafRef::Null,
            Tag::Bool => LeafRef::Bool(payload != 0),
            Tag::Int => LeafRef::Int(payload.cast_signed()),
            Tag::Float => LeafRef::Float(payload_float(payload)),
            Tag::Text => LeafRef::Str(self.text(payload)?),
            Tag::Nested => return self.nested.get(payload as usize).map(Value::view),
        };
        Some(ValueRef::Leaf(leaf))
    }

    pub(super) fn to_value(&self, row: usize) -> Option<Value> {
        match self.tags.get(row)? {
            Tag::Text => Some(Value::Str(Arc::clone(self.text(self.payloads.get(row)?)?))),
            _ => self.get(row).map(ValueRef::to_value),
        }
    }
}

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
