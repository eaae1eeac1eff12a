//! Sample metadata by key, each distinct value kept once.
//!
//! Groups and clusters have few distinct values, so a row costs four bytes, and the text of a
//! group or the identity of a cluster is worked out once per distinct value, not per row.

use hashbrown::HashTable;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::hash_bytes;
use crate::metadata::Metadata;

const ABSENT: u32 = u32::MAX;

/// So many values are kept for the next rows, however few the rows are that had them, if they are short.
const KEPT: usize = 1 << 14;
const KEPT_BYTES: usize = 1 << 20;

/// One metadata key over all rows.
#[derive(Clone, Debug, Default)]
pub struct MetadataColumn {
    codes: Vec<u32>,
    distinct: DistinctValues,
    /// Short texts that were pushed of late, so that most need no hash and no look at the values.
    recent: ShortTextCache,
    /// Whether there may be values that no row has any more.
    has_kept: bool,
    /// The codes that the values had in the column that they were last appended to. Only a hint: it may be
    /// another column this time.
    hints: Vec<u32>,
}

impl MetadataColumn {
    /// Appends the value of the next row.
    pub fn push(&mut self, value: &Json) {
        self.codes.push(self.distinct.intern(value));
    }

    /// Appends a text, which is copied only when it is new.
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        let code = self.recent.code(text, &mut self.distinct);
        self.codes.push(code);
    }

    /// Appends a text per code: the one that it has among the texts. Each text is looked for once.
    pub fn extend_coded(&mut self, texts: &[&str], codes: &[u32]) {
        let distinct = &mut self.distinct;
        let of_text =
            |code: usize| texts.get(code).copied().map_or(ABSENT, |text| distinct.intern_text(text));
        self.codes.extend(recoded(codes, texts.len(), of_text));
    }

    /// Makes room for so many more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }

    /// Appends a row whose sample lacks the key.
    pub fn push_absent(&mut self) {
        self.codes.push(ABSENT);
    }

    /// Samples that lack the key, up to so many rows.
    pub(super) fn resize(&mut self, rows: usize) {
        self.codes.resize(rows, ABSENT);
    }

    /// Takes all rows out of another column, to follow row `rows`. The other keeps its values as long as
    /// they are few: the next rows mostly have the same.
    pub(super) fn append(&mut self, rows: usize, other: &mut MetadataColumn) {
        if rows == 0 && !other.has_kept && self.codes.capacity() < other.codes.capacity() {
            *self = std::mem::take(other);
            return;
        }
        self.codes.resize(rows, ABSENT);
        let (distinct, values) = (&mut self.distinct, &other.distinct.values);
        other.hints.resize(values.len(), ABSENT);
        let of_value = |code: usize| {
            let (Some(value), Some(hint)) = (values.get(code), other.hints.get_mut(code)) else {
                return ABSENT;
            };
            if !distinct.values.get(*hint as usize).is_some_and(|known| is_same(known, value)) {
                *hint = distinct.intern(value);
            }
            *hint
        };
        self.codes.extend(recoded(&other.codes, values.len(), of_value));
        other.clear();
    }

    /// Takes all rows out, but keeps the values if they are few.
    pub(super) fn clear(&mut self) {
        let DistinctValues { values, bytes, .. } = &self.distinct;
        let are_few = values.len() <= KEPT && *bytes <= KEPT_BYTES || values.len() <= self.codes.len() / 2;
        if !are_few {
            self.distinct = DistinctValues::default();
            self.hints.clear();
            self.recent = ShortTextCache::default();
            self.has_kept = false;
        } else {
            self.has_kept |= !self.distinct.values.is_empty();
        }
        self.codes.clear();
    }

    /// The code of a row's value; `None` where the sample lacks the key.
    #[inline]
    pub(crate) fn code(&self, row: usize) -> Option<u32> {
        self.codes.get(row).copied().filter(|code| *code != ABSENT)
    }

    /// The codes of the first so many rows, if every one of them has a value.
    pub(crate) fn codes_of_all(&self, rows: usize) -> Option<&[u32]> {
        let codes = self.codes.get(..rows)?;
        // Without an early end the loop runs many rows at a time, and there seldom is an end.
        codes.iter().fold(true, |all, code| all & (*code != ABSENT)).then_some(codes)
    }

    /// The distinct values, by code.
    pub(crate) fn values(&self) -> &[Json] {
        &self.distinct.values
    }

    fn get(&self, row: usize) -> Option<&Json> {
        self.values().get(self.code(row)? as usize)
    }

    fn set(&mut self, row: usize, value: &Json) {
        let code = self.distinct.intern(value);
        if let Some(slot) = self.codes.get_mut(row) {
            *slot = code;
        } else {
            self.codes.resize(row, ABSENT);
            self.codes.push(code);
        }
    }

    /// About how many bytes the values hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.codes.capacity() * 4 + self.distinct.heap_bytes()
    }
}

/// Codes below `count` in other codes, each asked for once, in the order in which rows have them.
fn recoded(
    codes: &[u32],
    count: usize,
    mut other: impl FnMut(usize) -> u32,
) -> impl ExactSizeIterator<Item = u32> {
    let mut known = vec![ABSENT; count];
    codes.iter().map(move |&code| match known.get_mut(code as usize) {
        Some(own) => {
            if *own == ABSENT {
                *own = other(code as usize);
            }
            *own
        }
        None => ABSENT,
    })
}

/// Each distinct value once, numbered in order of appearance.
#[derive(Clone, Debug, Default)]
struct DistinctValues {
    values: Vec<Json>,
    /// How much memory they take beside the list of them.
    bytes: usize,
    table: HashTable<u32>,
}

impl DistinctValues {
    fn heap_bytes(&self) -> usize {
        // Short texts take more than their length.
        let lists = self.values.capacity() * size_of::<Json>() + self.table.capacity() * 5;
        lists + self.bytes + self.values.len() * 16
    }

    fn intern_text(&mut self, text: &str) -> u32 {
        let values = &self.values;
        let same =
            |&code: &u32| matches!(values.get(code as usize), Some(Json::String(known)) if known == text);
        match self.table.find(hash_bytes(text.as_bytes()), same) {
            Some(code) => *code,
            None => self.intern(&Json::from(text)),
        }
    }

    fn intern(&mut self, value: &Json) -> u32 {
        let hash = hash_json(value);
        let values = &self.values;
        let same = |&code: &u32| values.get(code as usize).is_some_and(|known| is_same(known, value));
        if let Some(code) = self.table.find(hash, same) {
            return *code;
        }
        let code = u32::try_from(self.values.len()).unwrap_or(ABSENT);
        self.values.push(value.clone());
        self.bytes += bytes_within(value);
        let values = &self.values;
        self.table.insert_unique(hash, code, |&code| values.get(code as usize).map_or(0, hash_json));
        code
    }
}

/// About how many bytes a value holds on the heap.
fn bytes_within(value: &Json) -> usize {
    let node = size_of::<Json>();
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| node + bytes_within(item)).sum(),
        // A key is a text, with its hash and a place in a table.
        Json::Object(map) => map.iter().map(|(key, value)| 2 * node + key.len() + bytes_within(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

/// All of a text of up to 16 bytes: its length, and two words that cover it and may overlap. Building it
/// takes two loads, where a hash and a look at the text it leads to take ten times as long.
#[derive(Clone, Copy, Debug, Default)]
struct ShortText {
    low: u64,
    high: u64,
    length: u32,
    /// The code that it has, once it is known.
    code: u32,
}

impl ShortText {
    /// Nothing for an empty text and a longer one.
    #[inline]
    fn new(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (low, high) = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
        } else if let [first, .., last] = bytes {
            let middle = bytes.get(1).copied().unwrap_or_default();
            (u64::from(*first) << 8 | u64::from(middle), u64::from(*last))
        } else {
            (u64::from(*bytes.first()?), 0)
        };
        (bytes.len() <= 16).then_some(ShortText { low, high, length: bytes.len() as u32, code: ABSENT })
    }

    #[inline]
    fn is(&self, other: &ShortText) -> bool {
        // Without a branch for each part: which of them differ is as good as random.
        ((self.low ^ other.low) | (self.high ^ other.high) | u64::from(self.length ^ other.length)) == 0
    }
}

/// The codes of short texts, each in one of two slots that it leads to; a newer one takes a slot over.
#[derive(Clone, Debug, Default)]
struct ShortTextCache(Vec<[ShortText; 2]>);

impl ShortTextCache {
    const BITS: u32 = 13;

    #[inline]
    fn slot(text: &ShortText) -> usize {
        let folded = text.low ^ text.high.rotate_left(29) ^ u64::from(text.length);
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::BITS)) as usize
    }

    /// The code of a text, which is taken in if it is new.
    #[inline]
    fn code(&mut self, text: &str, distinct: &mut DistinctValues) -> u32 {
        let short = ShortText::new(text);
        if let Some(code) = short.as_ref().and_then(|short| self.get(short)) {
            return code;
        }
        let code = distinct.intern_text(text);
        if let Some(short) = short {
            self.set(short, code);
        }
        code
    }

    #[inline]
    fn get(&self, text: &ShortText) -> Option<u32> {
        let [first, second] = self.0.get(Self::slot(text))?;
        if first.is(text) { Some(first.code) } else { second.is(text).then_some(second.code) }
    }

    fn set(&mut self, text: ShortText, code: u32) {
        self.0.resize(1 << Self::BITS, Default::default());
        if let Some([first, second]) = self.0.get_mut(Self::slot(&text)) {
            *second = *first;
            *first = ShortText { code, ..text };
        }
    }
}

/// Equality of JSON is blind to the order of keys and the sign of a zero; the text is not.
fn is_same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::String(a), Json::String(b)) => a == b,
        (Json::String(_), _) | (_, Json::String(_)) => false,
        (a, b) => format!("{a}") == format!("{b}"),
    }
}

fn hash_json(value: &Json) -> u64 {
    match value {
        Json::String(text) => hash_bytes(text.as_bytes()),
        other => hash_bytes(other.to_string().as_bytes()),
    }
}

/// The metadata of all rows: a column per key.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetadataColumns {
    columns: IndexMap<String, MetadataColumn>,
}

impl MetadataColumns {
    pub(crate) fn set<'a>(&mut self, row: usize, pairs: impl IntoIterator<Item = (&'a str, &'a Json)>) {
        for (key, value) in pairs {
            if let Some(column) = self.columns.get_mut(key) {
                column.set(row, value);
            } else {
                let mut column = MetadataColumn::default();
                column.set(row, value);
                self.columns.insert(key.to_owned(), column);
            }
        }
    }

    /// The column of a key, made if there is none.
    pub(super) fn entry(&mut self, key: &str) -> &mut MetadataColumn {
        self.columns.entry(key.to_owned()).or_default()
    }

    pub(crate) fn column(&self, key: &str) -> Option<&MetadataColumn> {
        self.columns.get(key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    pub(crate) fn row(&self, row: usize) -> Metadata {
        let pairs = self.columns.iter().filter_map(|(key, c)| Some((key.clone(), c.get(row)?.clone())));
        pairs.collect()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.columns.values().map(MetadataColumn::heap_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart_whatever_their_length() {
        // All texts over two letters up to three long, and longer ones that differ in one place.
        let mut texts: Vec<String> = vec![String::new()];
        for _ in 0..3 {
            let longer = texts.iter().flat_map(|t| ["a", "b"].map(|c| format!("{t}{c}"))).collect::<Vec<_>>();
            texts.extend(longer);
        }
        for length in 4..=20 {
            for place in 0..length {
                let mut text = "x".repeat(length);
                text.replace_range(place..=place, "y");
                texts.push(text);
            }
        }
        let (mut column, mut slow) = (MetadataColumn::default(), MetadataColumn::default());
        for text in texts.iter().chain(&texts) {
            column.push_text(text);
            slow.push(&Json::from(text.as_str()));
        }
        assert_eq!(column.codes, slow.codes);
        assert_eq!(column.values(), slow.values());
    }
}
