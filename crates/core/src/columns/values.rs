//! A column of score values: two bytes a score for grades and small numbers, nine for others, eight for
//! plain floats.
//!
//! Strings are stored once in a pool (grades repeat), lists and maps in a side table; the column
//! itself holds a tag and a number per row. A boxed `Value` per row would cost four times
//! as much and a cache miss each.

mod recode;

use std::sync::Arc;

pub use recode::{DistinctScores, Recoded, RecodedKinds};

use super::tagged::Payloads;
use super::tagged::{MAP_ENTRY_BYTES, Tag, TaggedValues, float_payload, payload_float};
use crate::value::{Conversion, Leaf, LeafKey, LeafRef, Value, ValueRef};

/// The values of one scorer, row by row.
#[derive(Clone, Debug)]
pub struct ValueColumn(Repr);

#[derive(Clone, Debug)]
enum Repr {
    /// Reduced scores are mostly this; not-a-number stands for unscored.
    Floats(Vec<f64>, FloatKinds),
    Tagged(Box<TaggedValues>),
}

/// What is known of all floats of a column, so that they are not scanned again.
#[derive(Clone, Copy, Debug, Default)]
struct FloatKinds {
    unscored: usize,
    infinite: bool,
}

/// What distinguishes the scalars of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ScalarKey {
    tag: u64,
    payload: u64,
}

/// All rows of a column through a conversion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floats {
    /// One number per row; not-a-number where the row is missing or unscored.
    pub(crate) values: Vec<f64>,
    /// Rows whose value had no meaning as a number and counts 0.
    pub(crate) unconvertible: Vec<u32>,
}

/// A list or map out of those of a column, which does not need it any more.
fn take(nested: &mut [Value], at: usize) -> Option<Value> {
    nested.get_mut(at).map(|value| std::mem::replace(value, Value::Unscored))
}

impl Floats {
    fn of(values: Vec<f64>) -> Self {
        Floats { values, unconvertible: Vec::new() }
    }
}

impl Default for ValueColumn {
    fn default() -> Self {
        ValueColumn(Repr::Tagged(Box::default()))
    }
}

impl ValueColumn {
    /// An empty column with capacity for this number of rows.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let (tags, payloads) = (Vec::with_capacity(rows), Payloads::with_capacity(rows));
        ValueColumn(Repr::Tagged(Box::new(TaggedValues { tags, payloads, ..TaggedValues::default() })))
    }

    /// A column of plain floats; not-a-number is unscored.
    pub fn from_floats(floats: Vec<f64>) -> Self {
        let kinds =
            |(unscored, infinite), f: &f64| (unscored + usize::from(f.is_nan()), infinite | f.is_infinite());
        let (unscored, infinite) = floats.iter().fold((0, false), kinds);
        ValueColumn(Repr::Floats(floats, FloatKinds { unscored, infinite }))
    }

    /// A column of floats that are small and whole.
    /// Whether this is a column of floats that are all finite.
    pub(crate) fn is_finite(&self) -> bool {
        matches!(&self.0, Repr::Floats(_, FloatKinds { unscored: 0, infinite: false }))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Floats(floats, _) => floats.len(),
            Repr::Tagged(tagged) => tagged.tags.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a value, or a gap where the sample has no entry for the scorer.
    #[inline]
    pub fn push(&mut self, value: Option<Value>) {
        let tagged = self.make_tagged();
        let (tag, payload) = tagged.encode(value);
        tagged.push(tag, payload);
    }

    /// Appends an integer.
    #[inline]
    pub fn push_int(&mut self, int: i64) {
        self.make_tagged().push(Tag::Int, int.cast_unsigned());
    }

    /// Appends integers that are in a byte each already.
    pub fn extend_bytes(&mut self, ints: &[u8]) {
        let tagged = self.make_tagged();
        tagged.payloads.extend_bytes(ints);
        tagged.tags.resize(tagged.payloads.len(), Tag::Int);
        tagged.add_count(Tag::Int, ints.len().cast_signed());
    }

    /// Appends a float; not-a-number is unscored.
    #[inline]
    pub fn push_float(&mut self, float: f64) {
        let (tag, payload) =
            if float.is_nan() { (Tag::Unscored, 0) } else { (Tag::Float, float_payload(float)) };
        self.make_tagged().push(tag, payload);
    }

    /// Appends a string, which is copied only when it is new.
    pub fn push_text(&mut self, text: &str) {
        let tagged = self.make_tagged();
        let code = tagged.text_code(text, || text.into());
        tagged.push(Tag::Text, code);
    }

    /// Gives a row that is a gap its value; gaps come up before it if the column is shorter. What is not
    /// a gap stays, and the answer is false.
    pub fn fill(&mut self, row: usize, value: Value) -> bool {
        self.resize(self.len().max(row + 1));
        let tagged = self.make_tagged();
        if tagged.tags.get(row) != Some(&Tag::Missing) {
            return false;
        }
        let cell = tagged.encode(Some(value));
        tagged.replace(row, cell);
        true
    }

    /// Adds gaps up to this number of rows, where there are fewer.
    pub fn pad(&mut self, rows: usize) {
        if self.len() < rows {
            self.resize(rows);
        }
    }

    /// Sets the number of rows: gaps are added, or rows cut off.
    pub(super) fn resize(&mut self, rows: usize) {
        if rows == self.len() {
            return;
        }
        let tagged = self.make_tagged();
        for at in rows..tagged.tags.len() {
            if let Some(tag) = tagged.tags.get(at).copied() {
                tagged.add_count(tag, -1);
            }
        }
        let gaps = rows.saturating_sub(tagged.tags.len());
        tagged.tags.resize(rows, Tag::Missing);
        tagged.payloads.resize(rows);
        tagged.add_count(Tag::Missing, gaps.cast_signed());
    }

    /// Takes all rows out of another column, which keeps its strings as long as they are few: the next rows
    /// mostly have the same.
    pub(super) fn append(&mut self, other: &mut ValueColumn) {
        if self.is_empty() && self.capacity() < other.capacity() {
            std::mem::swap(self, other);
            return;
        }
        let (own, other) = (self.make_tagged(), other.make_tagged());
        if other.count(Tag::Text) + other.count(Tag::Nested) > 0 {
            let mut nested = std::mem::take(&mut other.nested);
            let mut known = vec![None; other.texts.len()];
            for row in 0..other.tags.len() {
                let (tag, payload) = own.adopt(other, row, &mut known, |at| take(&mut nested, at));
                own.push(tag, payload);
            }
        } else {
            own.tags.extend_from_slice(&other.tags);
            own.payloads.append(&other.payloads);
            own.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += *other);
        }
        other.clear();
    }

    /// Takes some scores out of another column: from its row to the own one, which is a gap so far. Gaps stay gaps.
    pub(super) fn take_cells(&mut self, other: &mut ValueColumn, cells: &[(u32, u32)]) {
        let (own, other) = (self.make_tagged(), other.make_tagged());
        // A table of all strings does not pay for a few rows.
        let remembers = cells.len() >= other.texts.len() / 8;
        let mut known = vec![None; if remembers { other.texts.len() } else { 0 }];
        let mut nested = std::mem::take(&mut other.nested);
        for &(from, to) in cells {
            let cell = own.adopt(other, from as usize, &mut known, |at| take(&mut nested, at));
            if cell.0 != Tag::Missing {
                own.replace(to as usize, cell);
            }
        }
        other.nested = nested;
    }

    /// Appends what a row holds.
    pub(super) fn repeat_row(&mut self, row: usize) {
        let tagged = self.make_tagged();
        match (tagged.tags.get(row).copied(), tagged.payloads.get(row)) {
            (Some(tag), Some(payload)) if tag != Tag::Nested => tagged.push(tag, payload),
            _ => self.push(self.to_value(row)),
        }
    }

    /// These rows, in this order.
    pub(super) fn reordered(&self, order: &[u32]) -> Self {
        let mut column = ValueColumn::with_capacity(order.len());
        let Repr::Tagged(other) = &self.0 else {
            order.iter().for_each(|row| column.push(self.to_value(*row as usize)));
            return column;
        };
        let own = column.make_tagged();
        let mut known = vec![None; other.texts.len()];
        for row in order {
            let nested = |at: usize| other.nested.get(at).cloned();
            let (tag, payload) = own.adopt(other, *row as usize, &mut known, nested);
            own.push(tag, payload);
        }
        column
    }

    /// Gives every map of the column the keys of all, in order of first appearance; a key that a map lacked is unscored
    /// there. False, and nothing changed, if the keys that are added would take more than this many bytes.
    pub(super) fn unite_keys(&mut self, most_bytes: u64) -> bool {
        let Repr::Tagged(tagged) = &mut self.0 else { return true };
        let mut keys: indexmap::IndexSet<Arc<str>> = indexmap::IndexSet::new();
        let (mut maps, mut entries) = (0_u64, 0_u64);
        for value in &tagged.nested {
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
        for value in tagged.nested.iter_mut().filter(|_| added > 0) {
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
        tagged.nested_bytes = tagged.nested_bytes.saturating_add(bytes as usize);
        true
    }

    pub(super) fn clear(&mut self) {
        self.make_tagged().clear();
    }

    /// Reserves memory for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        let tagged = self.make_tagged();
        tagged.tags.reserve(rows);
        tagged.payloads.reserve(rows);
    }

    fn capacity(&self) -> usize {
        match &self.0 {
            Repr::Floats(floats, _) => floats.capacity(),
            Repr::Tagged(tagged) => tagged.tags.capacity(),
        }
    }

    /// Appends a scalar; unlike at the root of a score, a null stays a null.
    pub(crate) fn push_leaf(&mut self, leaf: Leaf) {
        if leaf == Leaf::Null {
            let tagged = self.make_tagged();
            tagged.push(Tag::Null, 0);
        } else {
            self.push(Some(Value::from(leaf)));
        }
    }

    #[inline]
    fn make_tagged(&mut self) -> &mut TaggedValues {
        if !matches!(&self.0, Repr::Tagged(_)) {
            let mut column = ValueColumn::with_capacity(self.capacity());
            (0..self.len()).for_each(|row| column.push(self.to_value(row)));
            *self = column;
        }
        match &mut self.0 {
            Repr::Tagged(tagged) => tagged,
            Repr::Floats(..) => unreachable!("made tagged above"),
        }
    }

    /// The value of a row; `None` where it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<ValueRef<'_>> {
        match &self.0 {
            Repr::Floats(floats, _) => floats.get(row).map(|f| ValueRef::Leaf(LeafRef::float(*f))),
            Repr::Tagged(tagged) => tagged.get(row),
        }
    }

    /// The value of a row, owned. Strings share the pool's allocation.
    pub(crate) fn to_value(&self, row: usize) -> Option<Value> {
        match &self.0 {
            Repr::Floats(floats, _) => floats.get(row).map(|f| Value::from(*f)),
            Repr::Tagged(tagged) => tagged.to_value(row),
        }
    }

    /// The scalar of a row, owned; `None` where it is missing, a list or a map.
    pub(crate) fn to_leaf(&self, row: usize) -> Option<Leaf> {
        if let Repr::Tagged(tagged) = &self.0
            && tagged.tags.get(row) == Some(&Tag::Text)
        {
            return tagged.text(tagged.payloads.get(row)?).cloned().map(Leaf::Str);
        }
        match self.get(row)? {
            ValueRef::Leaf(leaf) => Some(leaf.to_leaf()),
            ValueRef::List(_) | ValueRef::Map(_) => None,
        }
    }

    /// Whether a row is scored; `None` where it is missing.
    #[inline]
    pub fn is_scored(&self, row: usize) -> Option<bool> {
        match &self.0 {
            Repr::Floats(floats, _) => floats.get(row).map(|f| !f.is_nan()),
            Repr::Tagged(tagged) => match tagged.tags.get(row)? {
                Tag::Missing => None,
                tag => Some(*tag != Tag::Unscored),
            },
        }
    }

    /// What a row holds, as numbers: rows of this column whose numbers are equal hold the same.
    #[inline]
    pub(crate) fn look(&self, row: usize) -> (u8, u64) {
        let of_float = |float: f64| (Tag::Float as u8, float.to_bits());
        let missing = (Tag::Missing as u8, 0);
        match &self.0 {
            Repr::Floats(floats, _) => floats.get(row).map_or(missing, |float| of_float(*float)),
            Repr::Tagged(tagged) => match (tagged.tags.get(row), tagged.payloads.get(row)) {
                (Some(tag), Some(payload)) => (*tag as u8, payload),
                _ => missing,
            },
        }
    }

    /// A key for the scored scalar of a row: rows of this column hold the same scalar, number types
    /// compared across, exactly if their keys are equal.
    pub(crate) fn scalar_key(&self, row: usize) -> ScalarKey {
        let key = |tag: Tag, payload: u64| ScalarKey { tag: tag as u64, payload };
        let of_float = |f: f64| match LeafKey::new(LeafRef::float(f)) {
            Some(LeafKey::Int(i)) => key(Tag::Int, i.cast_unsigned()),
            _ => key(Tag::Float, f.to_bits()),
        };
        match &self.0 {
            Repr::Floats(floats, _) => floats.get(row).map_or(ScalarKey::default(), |f| of_float(*f)),
            Repr::Tagged(tagged) => match (tagged.tags.get(row), tagged.payloads.get(row)) {
                (Some(Tag::Bool), Some(payload)) => key(Tag::Int, payload),
                (Some(Tag::Float), Some(payload)) => of_float(payload_float(payload)),
                // Each string is in the pool once, so its code decides.
                (Some(tag), Some(payload)) => key(*tag, payload),
                _ => ScalarKey::default(),
            },
        }
    }

    /// Whether every row is there and scored.
    pub(crate) fn is_all_scored(&self) -> bool {
        match &self.0 {
            Repr::Floats(_, kinds) => kinds.unscored == 0,
            Repr::Tagged(tagged) => tagged.count(Tag::Missing) + tagged.count(Tag::Unscored) == 0,
        }
    }

    /// How many rows have a value, and how many of those are unscored.
    pub(crate) fn count_present(&self) -> (usize, usize) {
        match &self.0 {
            Repr::Floats(floats, kinds) => (floats.len(), kinds.unscored),
            Repr::Tagged(tagged) => {
                (tagged.tags.len() - tagged.count(Tag::Missing), tagged.count(Tag::Unscored))
            }
        }
    }

    /// Whether some row is a gap.
    pub(crate) fn has_missing(&self) -> bool {
        match &self.0 {
            Repr::Floats(..) => false,
            Repr::Tagged(tagged) => tagged.count(Tag::Missing) > 0,
        }
    }

    /// Whether no row holds a list or a map: then the fast paths apply.
    pub(crate) fn is_flat(&self) -> bool {
        match &self.0 {
            Repr::Floats(..) => true,
            Repr::Tagged(tagged) => tagged.nested.is_empty(),
        }
    }

    /// Every row converted. Each distinct string is converted once.
    pub(crate) fn convert(&self, conversion: &Conversion) -> Floats {
        if let Some(numbers) = self.numbers(conversion) {
            return Floats::of(numbers.to_vec());
        }
        let tagged = match &self.0 {
            Repr::Tagged(tagged) if conversion.keeps_numbers() => Some(tagged),
            _ => None,
        };
        let texts = tagged.into_iter().flat_map(|tagged| tagged.texts.iter());
        let pool: Vec<_> = texts.map(|text| conversion.convert_leaf(LeafRef::Str(text))).collect();
        if let Some(tagged) = tagged {
            // Grades only, or numbers of one kind only, are the common cases, and then the tags need no look.
            if tagged.only(Tag::Text) && pool.iter().all(|converted| converted.convertible) {
                let value = |code: u64| pool.get(code as usize).map_or(f64::NAN, |converted| converted.value);
                return Floats::of(tagged.payloads.map(value));
            }
            if tagged.small_numbers(&[Tag::Bool, Tag::Int, Tag::Float]).is_some() {
                return Floats::of(tagged.payloads.map(|number| number as f64));
            }
            if tagged.only(Tag::Float) {
                return Floats::of(tagged.payloads.map(payload_float));
            }
        }
        let known = |row: usize| {
            let tagged = tagged.filter(|tagged| tagged.tags.get(row) == Some(&Tag::Text))?;
            pool.get(tagged.payloads.get(row)? as usize).copied()
        };
        let mut floats = Floats::default();
        for row in 0..self.len() {
            let value = self.get(row).filter(|value| !value.is_unscored());
            let converted = value.map(|value| known(row).unwrap_or_else(|| conversion.convert(value)));
            if converted.is_some_and(|converted| !converted.convertible) {
                floats.unconvertible.push(row as u32);
            }
            floats.values.push(converted.map_or(f64::NAN, |converted| converted.value));
        }
        floats
    }

    /// The rows as numbers, where they are that already and the conversion changes none.
    pub(crate) fn numbers(&self, conversion: &Conversion) -> Option<&[f64]> {
        match &self.0 {
            _ if !conversion.keeps_numbers() => None,
            Repr::Floats(floats, _) => Some(floats),
            Repr::Tagged(_) => None,
        }
    }

    /// About how many bytes the values hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Floats(floats, _) => floats.capacity() * 8,
            Repr::Tagged(tagged) => tagged.heap_bytes(),
        }
    }
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
        let mut column = ValueColumn::from_floats(vec![1.0, f64::NAN]);
        column.push(Some(Value::from("P")));
        assert_eq!(column.to_value(0), Some(Value::Float(1.0)));
        assert_eq!(column.to_value(1), Some(Value::Unscored));
        assert_eq!(column.convert(&Conversion::default()).values[2], 0.5);
    }
}
