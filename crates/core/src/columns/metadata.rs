//! Sample metadata by key, each distinct value stored once.
//!
//! Groups and clusters have few distinct values, so a row costs four bytes, and the string of a
//! group or the identity of a cluster is worked out once per distinct value, not per row.

use std::hash::{Hash, Hasher};

use indexmap::{Equivalent, IndexMap};
use serde_json::Value as Json;

use crate::interner::Interner;
use crate::metadata::Metadata;

const ABSENT: u32 = u32::MAX;

/// The number of values that are retained for the next rows, however few rows had them, if they are short.
const KEPT: usize = 1 << 14;
const KEPT_BYTES: usize = 1 << 20;

/// One metadata key over all rows.
#[derive(Clone, Debug, Default)]
pub struct MetadataColumn {
    codes: Vec<u32>,
    values: Interner<MetadataValue>,
    /// The memory that the values take beside the tables.
    value_bytes: usize,
    /// Whether there may be values that no row has any more.
    has_kept: bool,
}

impl MetadataColumn {
    /// Appends the value of the next row.
    pub fn push(&mut self, value: &Json) {
        let code = self.intern(value);
        self.codes.push(code);
    }

    /// Appends a string, which is copied only when it is new.
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        let code = self.intern_text(text);
        self.codes.push(code);
    }

    /// Appends a string per code: the one that it has among the strings. Each string is looked for once.
    pub fn extend_coded(&mut self, texts: &[&str], codes: &[u32]) {
        let mut own = std::mem::take(&mut self.codes);
        let of_text = |code: usize| texts.get(code).map_or(ABSENT, |text| self.intern_text(text));
        own.extend(recoded(codes, texts.len(), of_text));
        self.codes = own;
    }

    /// Sets the string of a row, which is copied only when it is new; rows before it that are not there yet lack the key.
    pub fn set_text(&mut self, row: usize, text: &str) {
        let code = self.intern_text(text);
        self.set_code(row, code);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The string of a row, if its value is one.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.get(row)?.as_str()
    }

    fn intern(&mut self, value: &Json) -> u32 {
        self.values.intern_with(&JsonText(value), || {
            self.value_bytes += bytes_within(value);
            MetadataValue(value.clone())
        })
    }

    #[inline]
    fn intern_text(&mut self, text: &str) -> u32 {
        self.values.intern_with(text, || {
            self.value_bytes += text.len();
            MetadataValue(Json::from(text))
        })
    }

    /// Reserves memory for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }

    /// Appends a row whose sample lacks the key.
    pub fn push_absent(&mut self) {
        self.codes.push(ABSENT);
    }

    /// Cuts off what is beyond this number of rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.codes.truncate(rows);
    }

    /// Takes all rows out of another column, to follow row `rows`. The other keeps its values as long as
    /// they are few: the next rows mostly have the same.
    pub(super) fn append(&mut self, rows: usize, other: &mut MetadataColumn) {
        if rows == 0 && !other.has_kept && self.codes.capacity() < other.codes.capacity() {
            *self = std::mem::take(other);
            return;
        }
        let mut codes = std::mem::take(&mut self.codes);
        codes.resize(rows, ABSENT);
        let of_value = |code: usize| other.value(code).map_or(ABSENT, |value| self.intern(value));
        codes.extend(recoded(&other.codes, other.values.len(), of_value));
        self.codes = codes;
        other.clear();
    }

    /// Copies some rows of another column, to follow row `rows`.
    pub(super) fn append_rows(&mut self, rows: usize, other: &MetadataColumn, wanted: &[u32]) {
        let mut codes = std::mem::take(&mut self.codes);
        codes.resize(rows, ABSENT);
        let wanted = wanted.iter().map(|row| other.codes.get(*row as usize).copied().unwrap_or(ABSENT));
        let mut of_value = |code: usize| other.value(code).map_or(ABSENT, |value| self.intern(value));
        // A table of all values does not pay for a few rows.
        if wanted.len() < other.values.len() / 8 {
            codes.extend(wanted.map(|code| of_value(code as usize)));
        } else {
            let wanted: Vec<u32> = wanted.collect();
            codes.extend(recoded(&wanted, other.values.len(), of_value));
        }
        self.codes = codes;
    }

    /// Appends what a row has that is there already, to follow row `rows`.
    pub(super) fn repeat_row(&mut self, rows: usize, row: usize) {
        // What is behind the last value is absent, and takes nothing.
        if let Some(code) = self.codes.get(row).copied().filter(|code| *code != ABSENT) {
            self.codes.resize(rows, ABSENT);
            self.codes.push(code);
        }
    }

    /// Takes all rows out, but keeps the values if they are few.
    pub(super) fn clear(&mut self) {
        let count = self.values.len();
        if count <= KEPT && self.value_bytes <= KEPT_BYTES || count <= self.codes.len() / 2 {
            self.has_kept |= count > 0;
            self.codes.clear();
        } else {
            *self = MetadataColumn::default();
        }
    }

    /// The code of a row's value; `None` where the sample lacks the key.
    #[inline]
    pub fn code(&self, row: usize) -> Option<u32> {
        self.codes.get(row).copied().filter(|code| *code != ABSENT)
    }

    /// The codes of the first `rows` rows, if every one of them has a value.
    pub(crate) fn codes_of_all(&self, rows: usize) -> Option<&[u32]> {
        let codes = self.codes.get(..rows)?;
        // Without an early end the loop runs many rows at a time, and there seldom is an end.
        codes.iter().fold(true, |all, code| all & (*code != ABSENT)).then_some(codes)
    }

    /// The number of distinct values.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The value of a code.
    pub fn value(&self, code: usize) -> Option<&Json> {
        self.values.get(code).map(|MetadataValue(value)| value)
    }

    fn get(&self, row: usize) -> Option<&Json> {
        self.value(self.code(row)? as usize)
    }

    /// Sets the value of a row; rows before it that are not there yet lack the key.
    pub fn set(&mut self, row: usize, value: &Json) {
        let code = self.intern(value);
        self.set_code(row, code);
    }

    fn set_code(&mut self, row: usize, code: u32) {
        if let Some(slot) = self.codes.get_mut(row) {
            *slot = code;
        } else {
            self.codes.resize(row, ABSENT);
            self.codes.push(code);
        }
    }

    /// About how many bytes the values hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        // Short strings take more than their length.
        self.codes.capacity() * 4 + self.values.heap_bytes() + self.value_bytes + self.values.len() * 16
    }
}

/// Codes below `count` in other codes, each looked up once, in the order in which rows have them.
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

/// A value as the interner knows it again. Equality of JSON is blind to the order of keys and the sign of a zero; the string
/// is not. An integer is the same as its string, and far faster to compare: a column of them has no other values.
#[derive(Clone, Debug)]
struct MetadataValue(Json);

/// The same, borrowed.
struct JsonText<'a>(&'a Json);

impl Hash for JsonText<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self.0, self.0.as_i64()) {
            (Json::String(text), _) => text.as_str().hash(state),
            (_, Some(integer)) => integer.hash(state),
            (other, None) => other.to_string().hash(state),
        }
    }
}

impl Hash for MetadataValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        JsonText(&self.0).hash(state);
    }
}

impl Equivalent<MetadataValue> for JsonText<'_> {
    fn equivalent(&self, known: &MetadataValue) -> bool {
        match (self.0, &known.0) {
            (Json::String(a), Json::String(b)) => a == b,
            (Json::String(_), _) | (_, Json::String(_)) => false,
            (a, b) => match (a.as_i64(), b.as_i64()) {
                (None, None) => format!("{a}") == format!("{b}"),
                (a, b) => a == b,
            },
        }
    }
}

impl Equivalent<MetadataValue> for str {
    fn equivalent(&self, known: &MetadataValue) -> bool {
        matches!(&known.0, Json::String(text) if text == self)
    }
}

impl PartialEq for MetadataValue {
    fn eq(&self, other: &Self) -> bool {
        JsonText(&self.0).equivalent(other)
    }
}

impl Eq for MetadataValue {}

/// About how many bytes a value holds on the heap.
fn bytes_within(value: &Json) -> usize {
    let node = size_of::<Json>();
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| node + bytes_within(item)).sum(),
        // A key is a string, with its hash and a place in a table.
        Json::Object(map) => map.iter().map(|(key, value)| 2 * node + key.len() + bytes_within(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
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

    /// Puts the columns into the order of their keys.
    pub(super) fn sort(&mut self) {
        self.columns.sort_unstable_keys();
    }

    /// The column of a key, made if there is none.
    pub(super) fn entry(&mut self, key: &str) -> &mut MetadataColumn {
        self.columns.entry(key.to_owned()).or_default()
    }

    pub(crate) fn column(&self, key: &str) -> Option<&MetadataColumn> {
        self.columns.get(key)
    }

    pub(super) fn columns_mut(&mut self) -> impl Iterator<Item = &mut MetadataColumn> {
        self.columns.values_mut()
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
    fn numbers_are_distinguished_as_their_strings_are() {
        let texts = [
            "0",
            "-0",
            "-0.0",
            "0.0",
            "1",
            "1.0",
            "-1",
            "18446744073709551615",
            "9223372036854775807",
            "\"1\"",
        ];
        let values: Vec<Json> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let mut column = MetadataColumn::default();
        values.iter().chain(&values).for_each(|value| column.push(value));
        let strings: std::collections::HashSet<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(column.distinct(), strings.len());
        for (row, value) in values.iter().chain(&values).enumerate() {
            assert_eq!(column.get(row).map(ToString::to_string), Some(value.to_string()));
        }
    }

    #[test]
    fn strings_are_distinguished_whatever_their_length() {
        // All strings over two letters up to three long, and longer ones that differ in one place.
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
        assert!((0..column.distinct()).all(|code| column.value(code) == slow.value(code)));
    }
}
