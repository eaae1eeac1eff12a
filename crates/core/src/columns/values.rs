//! A column of score values: two bytes a score for grades and small numbers, nine for others.
//!
//! Strings are stored once in a pool (grades repeat), lists and maps in a side table; the column
//! itself holds a tag and a number per row. A boxed `Value` per row would cost four times
//! as much and a cache miss each.

mod recode;

use std::sync::Arc;

pub use recode::{DistinctScores, Recoded, RecodedKinds};

use super::tagged::{Payloads, TAGS, Tag, float_payload, payload_float};
use crate::naming::Interner;
use crate::value::{Conversion, Leaf, LeafKey, LeafRef, Value, ValueRef};

/// The values of one scorer, row by row.
#[derive(Clone, Debug, Default)]
pub struct ValueColumn {
    tags: Vec<Tag>,
    /// A boolean, a number (see [`float_payload`]), or where the string or the structure is.
    payloads: Payloads,
    /// How many rows have each tag, so that they are not scanned.
    counts: [usize; TAGS],
    /// Each distinct string once: grades repeat.
    texts: Interner<Arc<str>>,
    text_bytes: usize,
    nested: Vec<Value>,
    /// What the items of lists and maps take.
    nested_bytes: usize,
}

/// The encoded value of a row: equal cells of a column hold equal values.
pub(crate) type Cell = (Tag, u64);

const GAP: Cell = (Tag::Missing, 0);

/// An entry of a map: key and value, the hash, a place in the table, and the key on the heap.
pub(super) const MAP_ENTRY_BYTES: usize = 112;

/// What a string takes beside its bytes: two counters, rounded up.
const TEXT_BYTES: usize = 24;

/// All rows of a column through a conversion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floats {
    /// One number per row; not-a-number where the row is missing or unscored.
    pub(crate) values: Vec<f64>,
    /// Rows whose value had no meaning as a number and counts 0.
    pub(crate) unconvertible: Vec<u32>,
}

/// About how many bytes the items of a list or map take; a scalar has none.
fn item_bytes(value: &Value) -> usize {
    match value {
        Value::List(items) => items.len().saturating_mul(size_of::<Leaf>()),
        Value::Map(map) => map.len().saturating_mul(MAP_ENTRY_BYTES),
        _ => 0,
    }
}

/// A list or map out of those of a column, which does not need it any more.
fn take(nested: &mut [Value], at: usize) -> Option<Value> {
    nested.get_mut(at).map(|value| std::mem::replace(value, Value::Unscored))
}

impl ValueColumn {
    /// An empty column with capacity for this number of rows.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let (tags, payloads) = (Vec::with_capacity(rows), Payloads::with_capacity(rows));
        ValueColumn { tags, payloads, ..ValueColumn::default() }
    }

    /// A column of floats; not-a-number is unscored.
    pub fn from_floats(floats: &[f64]) -> Self {
        let mut column = ValueColumn::with_capacity(floats.len());
        floats.iter().for_each(|float| column.push_float(*float));
        column
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Encodes a value.
    #[inline]
    fn encode(&mut self, value: Option<Value>) -> Cell {
        match value {
            None => GAP,
            Some(Value::Unscored) => (Tag::Unscored, 0),
            Some(Value::Bool(b)) => (Tag::Bool, u64::from(b)),
            Some(Value::Int(i)) => (Tag::Int, i.cast_unsigned()),
            Some(Value::Float(f)) => float_cell(f),
            Some(Value::Str(s)) => (Tag::Text, self.text_code(&s, || Arc::clone(&s))),
            Some(nested @ (Value::List(_) | Value::Map(_))) => {
                if self.nested.is_empty() {
                    // One nested value is seldom alone.
                    self.nested.reserve(self.tags.capacity());
                }
                self.nested_bytes = self.nested_bytes.saturating_add(item_bytes(&nested));
                self.nested.push(nested);
                (Tag::Nested, (self.nested.len() - 1) as u64)
            }
        }
    }

    /// The code of a string, which is made only if it is new.
    #[inline]
    fn text_code(&mut self, text: &str, make: impl FnOnce() -> Arc<str>) -> u64 {
        u64::from(self.texts.intern_with(text, || {
            self.text_bytes += text.len() + TEXT_BYTES;
            make()
        }))
    }

    fn text(&self, code: u64) -> Option<&Arc<str>> {
        self.texts.get(code as usize)
    }

    #[inline]
    fn push_cell(&mut self, (tag, payload): Cell) {
        self.tags.push(tag);
        self.payloads.push(payload);
        self.add_count(tag, 1);
    }

    #[inline]
    fn add_count(&mut self, tag: Tag, rows: isize) {
        if let Some(count) = self.counts.get_mut(tag as usize) {
            *count = count.saturating_add_signed(rows);
        }
    }

    fn count(&self, tag: Tag) -> usize {
        self.counts.get(tag as usize).copied().unwrap_or(0)
    }

    /// Puts another value into a row.
    fn replace(&mut self, row: usize, (tag, payload): Cell) {
        let Some(of_row) = self.tags.get_mut(row) else { return };
        let before = std::mem::replace(of_row, tag);
        self.payloads.set(row, payload);
        self.add_count(before, -1);
        self.add_count(tag, 1);
    }

    /// The value of another column's row as one of this column. `known` has the codes of the other's strings here, for
    /// those that were met; without room for them each is looked up.
    fn adopt(
        &mut self,
        other: &ValueColumn,
        row: usize,
        known: &mut [Option<u64>],
        nested: impl FnOnce(usize) -> Option<Value>,
    ) -> Cell {
        match other.cell(row) {
            (Tag::Text, payload) => {
                let Some(text) = other.text(payload) else { return GAP };
                let mut code = || self.text_code(text, || Arc::clone(text));
                let code = match known.get_mut(payload as usize) {
                    Some(known) => *known.get_or_insert_with(code),
                    None => code(),
                };
                (Tag::Text, code)
            }
            (Tag::Nested, payload) => self.encode(nested(payload as usize)),
            cell => cell,
        }
    }

    /// Appends a value, or a gap where the sample has no entry for the scorer.
    #[inline]
    pub fn push(&mut self, value: Option<Value>) {
        let cell = self.encode(value);
        self.push_cell(cell);
    }

    /// Appends an integer.
    #[inline]
    pub fn push_int(&mut self, int: i64) {
        self.push_cell((Tag::Int, int.cast_unsigned()));
    }

    /// Appends integers that are in a byte each already.
    pub fn extend_bytes(&mut self, ints: &[u8]) {
        self.payloads.extend_bytes(ints);
        self.tags.resize(self.payloads.len(), Tag::Int);
        self.add_count(Tag::Int, ints.len().cast_signed());
    }

    /// Appends a float; not-a-number is unscored.
    #[inline]
    pub fn push_float(&mut self, float: f64) {
        self.push_cell(float_cell(float));
    }

    /// Appends a string, which is copied only when it is new.
    pub fn push_text(&mut self, text: &str) {
        let code = self.text_code(text, || text.into());
        self.push_cell((Tag::Text, code));
    }

    /// Gives a row that is a gap its value; gaps come up before it if the column is shorter. What is not
    /// a gap stays, and the answer is false.
    pub fn fill(&mut self, row: usize, value: Value) -> bool {
        self.pad(row + 1);
        if self.tags.get(row) != Some(&Tag::Missing) {
            return false;
        }
        let cell = self.encode(Some(value));
        self.replace(row, cell);
        true
    }

    /// Adds gaps up to this number of rows, where there are fewer.
    pub fn pad(&mut self, rows: usize) {
        self.resize(rows.max(self.len()));
    }

    /// Sets the number of rows: gaps are added, or rows cut off.
    pub(super) fn resize(&mut self, rows: usize) {
        for at in rows..self.tags.len() {
            if let Some(tag) = self.tags.get(at).copied() {
                self.add_count(tag, -1);
            }
        }
        let gaps = rows.saturating_sub(self.tags.len());
        self.tags.resize(rows, Tag::Missing);
        self.payloads.resize(rows);
        self.add_count(Tag::Missing, gaps.cast_signed());
    }

    /// Takes all rows out of another column, which keeps its strings as long as they are few: the next rows
    /// mostly have the same.
    pub(super) fn append(&mut self, other: &mut ValueColumn) {
        if self.is_empty() && self.tags.capacity() < other.tags.capacity() {
            std::mem::swap(self, other);
            return;
        }
        if other.count(Tag::Text) + other.count(Tag::Nested) > 0 {
            let mut nested = std::mem::take(&mut other.nested);
            self.adopt_rows(other, 0..other.len(), |at| take(&mut nested, at));
        } else {
            self.tags.extend_from_slice(&other.tags);
            self.payloads.append(&other.payloads);
            self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += *other);
        }
        other.clear();
    }

    /// Takes some scores out of another column: from its row to the own one, which is a gap so far. Gaps stay gaps.
    pub(super) fn take_cells(&mut self, other: &mut ValueColumn, cells: &[(u32, u32)]) {
        // A table of all strings does not pay for a few rows.
        let remembers = cells.len() >= other.texts.len() / 8;
        let mut known = vec![None; if remembers { other.texts.len() } else { 0 }];
        let mut nested = std::mem::take(&mut other.nested);
        for &(from, to) in cells {
            let cell = self.adopt(other, from as usize, &mut known, |at| take(&mut nested, at));
            if cell.0 != Tag::Missing {
                self.replace(to as usize, cell);
            }
        }
        other.nested = nested;
    }

    /// Appends what a row holds.
    pub(super) fn repeat_row(&mut self, row: usize) {
        match self.cell(row) {
            (Tag::Nested, _) => self.push(self.to_value(row)),
            cell => self.push_cell(cell),
        }
    }

    /// These rows, in this order.
    pub(super) fn selected(&self, rows: &[u32]) -> Self {
        let mut column = ValueColumn::with_capacity(rows.len());
        let rows = rows.iter().map(|row| *row as usize);
        column.adopt_rows(self, rows, |at| self.nested.get(at).cloned());
        column
    }

    /// Appends rows of another column.
    fn adopt_rows(
        &mut self,
        other: &ValueColumn,
        rows: impl Iterator<Item = usize>,
        mut nested: impl FnMut(usize) -> Option<Value>,
    ) {
        let mut known = vec![None; other.texts.len()];
        for row in rows {
            let cell = self.adopt(other, row, &mut known, &mut nested);
            self.push_cell(cell);
        }
    }

    /// Gives every map of the column the keys of all, in order of first appearance; a key that a map lacked is unscored
    /// there. False, and nothing changed, if the keys that are added would take more than this many bytes.
    pub(super) fn unite_keys(&mut self, most_bytes: u64) -> bool {
        let mut keys: indexmap::IndexSet<Arc<str>> = indexmap::IndexSet::new();
        let (mut maps, mut entries) = (0_u64, 0_u64);
        for value in &self.nested {
            if let Value::Map(map) = value {
                (maps, entries) = (maps + 1, entries + map.len() as u64);
                for key in map.keys() {
                    if !keys.contains(key) {
                        keys.insert(Arc::clone(key));
                    }
                }
            }
        }
        let added = maps.saturating_mul(keys.len() as u64).saturating_sub(entries);
        let bytes = added.saturating_mul(MAP_ENTRY_BYTES as u64);
        if bytes > most_bytes {
            return false;
        }
        for value in self.nested.iter_mut().filter(|_| added > 0) {
            if let Value::Map(map) = value
                && map.len() < keys.len()
            {
                for key in &keys {
                    if !map.contains_key(key) {
                        map.insert(Arc::clone(key), Leaf::Unscored);
                    }
                }
            }
        }
        self.nested_bytes = self.nested_bytes.saturating_add(bytes as usize);
        true
    }

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

    /// Reserves memory for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.tags.reserve(rows);
        self.payloads.reserve(rows);
    }

    /// Appends a scalar; unlike at the root of a score, a null stays a null.
    pub(crate) fn push_leaf(&mut self, leaf: Leaf) {
        match leaf {
            Leaf::Null => self.push_cell((Tag::Null, 0)),
            leaf => self.push(Some(Value::from(leaf))),
        }
    }

    /// The encoded value of a row.
    #[inline]
    pub(crate) fn cell(&self, row: usize) -> Cell {
        self.tags.get(row).copied().zip(self.payloads.get(row)).unwrap_or(GAP)
    }

    /// The value of a row; `None` where it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<ValueRef<'_>> {
        let (tag, payload) = self.cell(row);
        let leaf = match tag {
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

    /// The value of a row, owned. Strings share the pool's allocation.
    pub(crate) fn to_value(&self, row: usize) -> Option<Value> {
        match self.cell(row) {
            (Tag::Text, code) => self.text(code).map(|text| Value::Str(Arc::clone(text))),
            _ => self.get(row).map(ValueRef::to_value),
        }
    }

    /// The scalar of a row, owned; `None` where it is missing, a list or a map.
    pub(crate) fn to_leaf(&self, row: usize) -> Option<Leaf> {
        match (self.cell(row), self.get(row)?) {
            ((Tag::Text, code), _) => self.text(code).cloned().map(Leaf::Str),
            (_, ValueRef::Leaf(leaf)) => Some(leaf.to_leaf()),
            (_, ValueRef::List(_) | ValueRef::Map(_)) => None,
        }
    }

    /// Whether a row is scored; `None` where it is missing.
    #[inline]
    pub fn is_scored(&self, row: usize) -> Option<bool> {
        match self.tags.get(row)? {
            Tag::Missing => None,
            tag => Some(*tag != Tag::Unscored),
        }
    }

    /// A key for the scored scalar of a row: rows of this column hold the same scalar, number types
    /// compared across, exactly if their keys are equal.
    pub(crate) fn scalar_key(&self, row: usize) -> Cell {
        match self.cell(row) {
            (Tag::Bool, payload) => (Tag::Int, payload),
            (Tag::Float, payload) => match LeafKey::new(LeafRef::float(payload_float(payload))) {
                Some(LeafKey::Int(int)) => (Tag::Int, int.cast_unsigned()),
                _ => (Tag::Float, payload),
            },
            // Each string is in the pool once, so its code decides.
            cell => cell,
        }
    }

    /// Whether every row is there and scored.
    pub(crate) fn is_all_scored(&self) -> bool {
        self.count(Tag::Missing) + self.count(Tag::Unscored) == 0
    }

    /// How many rows have a value, and how many of those are unscored.
    pub(crate) fn count_present(&self) -> (usize, usize) {
        (self.len() - self.count(Tag::Missing), self.count(Tag::Unscored))
    }

    /// Whether some row is a gap.
    pub(crate) fn has_missing(&self) -> bool {
        self.count(Tag::Missing) > 0
    }

    /// Whether no row holds a list or a map: then the fast paths apply.
    pub(crate) fn is_flat(&self) -> bool {
        self.nested.is_empty()
    }

    /// Every row converted. Each distinct string is converted once.
    pub(crate) fn convert(&self, conversion: &Conversion) -> Floats {
        let keeps_numbers = conversion.keeps_numbers();
        let pool: Vec<_> = match keeps_numbers {
            true => self.texts.iter().map(|text| conversion.convert_leaf(LeafRef::Str(text))).collect(),
            false => Vec::new(),
        };
        let of_text = |code: u64| pool.get(code as usize).copied();
        // Grades only, or numbers of one kind only, are the common cases, and then the tags need no look.
        let only = |tags: &[Tag]| {
            keeps_numbers && tags.iter().map(|tag| self.count(*tag)).sum::<usize>() == self.len()
        };
        let plain = if only(&[Tag::Text]) && pool.iter().all(|converted| converted.convertible) {
            Some(self.payloads.map(|code| of_text(code).map_or(f64::NAN, |converted| converted.value)))
        } else if only(&[Tag::Bool, Tag::Int, Tag::Float]) && self.payloads.are_bytes() {
            Some(self.payloads.map(|number| number as f64))
        } else if only(&[Tag::Float]) {
            Some(self.payloads.map(payload_float))
        } else {
            None
        };
        if let Some(values) = plain {
            return Floats { values, unconvertible: Vec::new() };
        }
        let mut floats = Floats::default();
        for row in 0..self.len() {
            let known = match self.cell(row) {
                (Tag::Text, code) => of_text(code),
                _ => None,
            };
            let value = self.get(row).filter(|value| !value.is_unscored());
            let converted = value.map(|value| known.unwrap_or_else(|| conversion.convert(value)));
            if converted.is_some_and(|converted| !converted.convertible) {
                floats.unconvertible.push(row as u32);
            }
            floats.values.push(converted.map_or(f64::NAN, |converted| converted.value));
        }
        floats
    }

    /// About how many bytes the values hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        let nested = self.nested.capacity() * size_of::<Value>() + self.nested_bytes;
        let texts = self.texts.heap_bytes() + self.text_bytes;
        self.tags.capacity() + self.payloads.heap_bytes() + texts + nested
    }
}

/// Encodes a float.
#[inline]
fn float_cell(float: f64) -> Cell {
    if float.is_nan() { (Tag::Unscored, 0) } else { (Tag::Float, float_payload(float)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let values = [
            Some(Value::from("C")),
            None,
            Some(Value::Unscored),
            Some(Value::from(true)),
            Some(Value::from(-7)),
            Some(Value::from(0.25)),
            Some(Value::list(["C", "I"])),
            Some(Value::from("C")),
            Some(Value::map([("a", 1)])),
        ];
        let mut column = ValueColumn::default();
        values.iter().cloned().for_each(|v| column.push(v));
        for (row, value) in values.iter().enumerate() {
            assert_eq!(&column.to_value(row), value);
        }
        assert_eq!(column.to_value(99), None);
        assert!(!column.is_flat());
        let floats = column.convert(&Conversion::default());
        assert_eq!(floats.values[0], 1.0);
        assert!(floats.values[1].is_nan() && floats.values[2].is_nan());
        assert_eq!(floats.values[3..6], [1.0, -7.0, 0.25]);
        assert_eq!(floats.unconvertible, [6, 8]);
    }

    #[test]
    fn a_float_column_takes_other_values_later() {
        let mut column = ValueColumn::from_floats(&[1.0, f64::NAN]);
        column.push(Some(Value::from("P")));
        assert_eq!(column.to_value(0), Some(Value::Float(1.0)));
        assert_eq!(column.to_value(1), Some(Value::Unscored));
        assert_eq!(column.convert(&Conversion::default()).values[2], 0.5);
    }
}
