//! A column of values of any type, and the typed column that it becomes.
//!
//! Metadata and scores have whatever type a task gives them, and the type of a column is that of all its values. So
//! values are held as they come, nine bytes each beside the text, and the type is decided at the end, by the rules that
//! frames of the reference follow (`conformance/check_frames.py` compares them).

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use errorbar_core::python_text::float_repr;

use super::Dialect;
use super::node::Node;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// The record has no such field.
    Missing,
    /// The field is null.
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`.
    Big(u64),
    Float(f64),
    Text(&'a str),
    /// Microseconds since 1970 in UTC.
    Time(i64),
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Missing,
    Null,
    Nan,
    Bool,
    Int,
    Big,
    Float,
    Text,
    Time,
}

/// The values of a column.
#[derive(Debug, Default)]
pub(super) struct Cells {
    kinds: Vec<Kind>,
    /// A number as its bits; of a string where it ends in the text.
    words: Vec<u64>,
    text: Vec<u8>,
    present: u64,
}

impl Cells {
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// How many values were pushed, missing ones not counted.
    pub(super) fn present(&self) -> u64 {
        self.present
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.kinds.len() * 9 + self.text.len()) as u64
    }

    pub(super) fn push(&mut self, cell: &Cell<'_>) {
        let (kind, word) = match *cell {
            Cell::Missing => (Kind::Missing, 0),
            Cell::Null => (Kind::Null, 0),
            Cell::Bool(value) => (Kind::Bool, u64::from(value)),
            Cell::Int(value) => (Kind::Int, value.cast_unsigned()),
            Cell::Big(value) => (Kind::Big, value),
            Cell::Float(value) if value.is_nan() => (Kind::Nan, 0),
            Cell::Float(value) => (Kind::Float, value.to_bits()),
            Cell::Time(value) => (Kind::Time, value.cast_unsigned()),
            Cell::Text(text) => {
                self.text.extend_from_slice(text.as_bytes());
                (Kind::Text, self.text.len() as u64)
            }
        };
        self.present += u64::from(kind != Kind::Missing);
        self.kinds.push(kind);
        self.words.push(word);
    }

    /// Takes the last value back.
    pub(super) fn pop(&mut self) {
        let kind = self.kinds.pop();
        self.words.pop();
        self.present -= u64::from(kind.is_some_and(|kind| kind != Kind::Missing));
        if kind == Some(Kind::Text) {
            let mut before = self.kinds.iter().zip(&self.words).rev();
            let end = before.find(|(kind, _)| **kind == Kind::Text).map_or(0, |(_, end)| *end as usize);
            self.text.truncate(end);
        }
    }

    /// Adds missing values up to this length.
    pub(super) fn pad(&mut self, len: usize) {
        if len > self.len() {
            self.kinds.resize(len, Kind::Missing);
            self.words.resize(len, 0);
        }
    }

    /// Adds the values of another column.
    pub(super) fn append(&mut self, other: &Cells) {
        let base = self.text.len() as u64;
        self.kinds.extend_from_slice(&other.kinds);
        let shifted = other.kinds.iter().zip(&other.words);
        self.words.extend(shifted.map(|(kind, word)| word + if *kind == Kind::Text { base } else { 0 }));
        self.text.extend_from_slice(&other.text);
        self.present += other.present;
    }

    /// The values that are to be kept.
    pub(super) fn filtered(&self, keep: &[bool]) -> Cells {
        let mut kept = Cells::default();
        for (cell, _) in self.iter().zip(keep).filter(|(_, keep)| **keep) {
            kept.push(&cell);
        }
        kept
    }

    fn iter(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut start = 0;
        self.kinds.iter().zip(&self.words).map(move |(kind, word)| match kind {
            Kind::Missing => Cell::Missing,
            Kind::Null => Cell::Null,
            Kind::Nan => Cell::Float(f64::NAN),
            Kind::Bool => Cell::Bool(*word != 0),
            Kind::Int => Cell::Int(word.cast_signed()),
            Kind::Big => Cell::Big(*word),
            Kind::Float => Cell::Float(f64::from_bits(*word)),
            Kind::Time => Cell::Time(word.cast_signed()),
            Kind::Text => {
                let end = *word as usize;
                let text = self.text.get(start..end).unwrap_or_default();
                start = end;
                // Only whole strings were added.
                Cell::Text(str::from_utf8(text).unwrap_or_default())
            }
        })
    }

    fn has(&self, kinds: &[Kind]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(kind))
    }

    /// The typed column.
    pub(super) fn into_array(self, dialect: Dialect) -> ArrayRef {
        let (texts, bools) = (self.has(&[Kind::Text]), self.has(&[Kind::Bool]));
        let numbers = self.has(&[Kind::Int, Kind::Big, Kind::Float]);
        if self.has(&[Kind::Time]) {
            return self.times();
        }
        match (texts, bools, numbers) {
            (false, false, false) => self.nothing(dialect),
            (true, false, false) => self.texts(),
            (false, true, false) => self.bools(),
            (false, false, true) => self.numbers(),
            _ => self.as_texts(dialect).texts(),
        }
    }

    /// Which values are there.
    fn validity(&self) -> Option<NullBuffer> {
        let is_there = |kind: &Kind| !matches!(kind, Kind::Missing | Kind::Null | Kind::Nan);
        let validity: NullBuffer = self.kinds.iter().map(is_there).collect::<BooleanBuffer>().into();
        Some(validity).filter(|validity| validity.null_count() > 0)
    }

    fn nothing(self, dialect: Dialect) -> ArrayRef {
        let len = self.len();
        if self.has(&[Kind::Nan]) || (dialect == Dialect::Inspect && self.has(&[Kind::Missing])) {
            return Arc::new(Float64Array::new_null(len));
        }
        match dialect {
            Dialect::Inspect => Arc::new(StringArray::new_null(len)),
            Dialect::Plain => Arc::new(LargeStringArray::new_null(len)),
        }
    }

    fn texts(self) -> ArrayRef {
        let validity = self.validity();
        let mut offsets = Vec::with_capacity(self.len() + 1);
        let mut end = 0;
        offsets.push(end);
        for (kind, word) in self.kinds.iter().zip(&self.words) {
            if *kind == Kind::Text {
                end = word.cast_signed();
            }
            offsets.push(end);
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        match LargeStringArray::try_new(offsets, Buffer::from_vec(self.text), validity) {
            Ok(array) => Arc::new(array),
            // Only whole strings were added, one after the other.
            Err(_) => Arc::new(LargeStringArray::new_null(self.kinds.len())),
        }
    }

    fn bools(self) -> ArrayRef {
        let values: BooleanBuffer = self.words.iter().map(|word| *word != 0).collect();
        Arc::new(BooleanArray::new(values, self.validity()))
    }

    fn times(self) -> ArrayRef {
        let validity = self.validity();
        let values: ScalarBuffer<i64> = self.words.into_iter().map(u64::cast_signed).collect();
        Arc::new(TimestampMicrosecondArray::new(values, validity).with_timezone("UTC"))
    }

    fn numbers(self) -> ArrayRef {
        let validity = self.validity();
        let is_negative = |(kind, word): (&Kind, &u64)| *kind == Kind::Int && word.cast_signed() < 0;
        let mixed = self.has(&[Kind::Big]) && self.kinds.iter().zip(&self.words).any(is_negative);
        if validity.is_none() && !self.has(&[Kind::Float]) && !mixed {
            return match self.has(&[Kind::Big]) {
                true => Arc::new(UInt64Array::new(self.words.into(), None)),
                false => {
                    let values: ScalarBuffer<i64> = self.words.into_iter().map(u64::cast_signed).collect();
                    Arc::new(Int64Array::new(values, None))
                }
            };
        }
        let value = |(kind, word): (&Kind, &u64)| match kind {
            Kind::Int => word.cast_signed() as f64,
            Kind::Big => *word as f64,
            _ => f64::from_bits(*word),
        };
        let values: ScalarBuffer<f64> = self.kinds.iter().zip(&self.words).map(value).collect();
        Arc::new(Float64Array::new(values, validity))
    }

    /// All values as strings, because they are of several types.
    fn as_texts(&self, dialect: Dialect) -> Cells {
        let mut texts = Cells::default();
        for cell in self.iter() {
            let text = match cell {
                Cell::Bool(value) => if value { "True" } else { "False" }.to_owned(),
                Cell::Int(value) => value.to_string(),
                Cell::Big(value) => value.to_string(),
                Cell::Text(text) => text.to_owned(),
                Cell::Null | Cell::Time(_) => {
                    texts.push(&Cell::Null);
                    continue;
                }
                Cell::Float(value) if !value.is_nan() => float_repr(value),
                Cell::Missing | Cell::Float(_) if dialect == Dialect::Plain => {
                    texts.push(&Cell::Null);
                    continue;
                }
                // The reference has a float in place of what is missing, and its text here.
                Cell::Missing | Cell::Float(_) => "nan".to_owned(),
            };
            texts.push(&Cell::Text(&text));
        }
        texts
    }
}

impl Cells {
    /// Pushes a value of a log: lists and maps as JSON.
    pub(super) fn push_node(&mut self, node: &Node) {
        match node {
            Node::Null => self.push(&Cell::Null),
            Node::Bool(value) => self.push(&Cell::Bool(*value)),
            Node::Int(value) => self.push(&Cell::Int(*value)),
            Node::Long(digits) => match digits.parse() {
                Ok(value) => self.push(&Cell::Big(value)),
                Err(_) => self.push(&Cell::Float(digits.parse().unwrap_or(f64::NAN))),
            },
            Node::Float(value) => self.push(&Cell::Float(*value)),
            Node::Text(text) => self.push(&Cell::Text(text)),
            Node::List(_) | Node::Map(_) => self.push(&Cell::Text(&node.json_text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_schema::DataType;

    use super::*;

    /// The type and the values of a column, as text.
    fn column(cells: &[Cell<'_>], dialect: Dialect) -> String {
        let mut column = Cells::default();
        cells.iter().for_each(|cell| column.push(cell));
        let array = column.into_array(dialect);
        let value = |at: usize| match array.data_type() {
            _ if array.is_null(at) => "null".to_owned(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(at).to_owned(),
            DataType::Boolean => array.as_boolean().value(at).to_string(),
            DataType::Int64 => {
                format!("{:?}", array.as_any().downcast_ref::<Int64Array>().unwrap().value(at))
            }
            DataType::UInt64 => {
                format!("{:?}", array.as_any().downcast_ref::<UInt64Array>().unwrap().value(at))
            }
            _ => format!("{:?}", array.as_any().downcast_ref::<Float64Array>().unwrap().value(at)),
        };
        let values: Vec<String> = (0..array.len()).map(value).collect();
        format!("{} {}", array.data_type(), values.join(" "))
    }

    const NAN: Cell<'static> = Cell::Float(f64::NAN);
    use Cell::{Big, Bool, Float, Int, Missing, Null, Text};

    // The types are those that the reference answers.
    #[test]
    fn the_type_of_a_column_is_that_of_its_values() {
        #[rustfmt::skip] // a table
        let table: &[(&[Cell<'_>], &str)] = &[
            (&[Int(1), Int(-2)], "Int64 1 -2"),
            (&[Int(1), Null], "Float64 1.0 null"),
            (&[Missing, Int(1)], "Float64 null 1.0"),
            (&[Int(1), Float(2.5), NAN], "Float64 1.0 2.5 null"),
            (&[Big(1 << 63), Int(1)], "UInt64 9223372036854775808 1"),
            (&[Big(1 << 63), Int(-1)], "Float64 9.223372036854776e18 -1.0"),
            (&[Float(f64::INFINITY)], "Float64 inf"),
            (&[NAN, Null], "Float64 null null"),
            (&[Missing, Null], "Float64 null null"),
            (&[Null, Null], "Utf8 null null"),
            (&[Bool(true), Null, Missing, NAN], "Boolean true null null null"),
            (&[Text("a"), Null, Missing, NAN, Text("")], "LargeUtf8 a null null null "),
            (&[Bool(true), Int(2)], "LargeUtf8 True 2"),
            (&[Text("a"), Int(1), Null, Missing, NAN, Float(1e16)], "LargeUtf8 a 1 null nan nan 1e+16"),
        ];
        for (cells, expected) in table {
            assert_eq!(column(cells, Dialect::Inspect), *expected, "{cells:?}");
        }
    }

    #[test]
    fn what_is_missing_is_null_in_a_plain_frame() {
        let cells = [Text("a"), Int(1), Null, Missing, NAN];
        assert_eq!(column(&cells, Dialect::Plain), "LargeUtf8 a 1 null null null");
        assert_eq!(column(&[Null, Null], Dialect::Plain), "LargeUtf8 null null");
        assert_eq!(column(&[Null, Missing], Dialect::Plain), "LargeUtf8 null null");
    }

    #[test]
    fn columns_are_joined_filtered_and_corrected() {
        let mut one = Cells::default();
        one.push(&Text("ab"));
        one.pad(2);
        one.push(&Text("gone"));
        one.pop();
        one.push(&Text("c"));
        let mut other = Cells::default();
        [Text("d"), Null, Text("ef")].iter().for_each(|cell| other.push(cell));
        one.append(&other);
        assert_eq!((one.len(), one.present()), (6, 5));
        let cells: Vec<Cell<'_>> = one.iter().collect();
        assert_eq!(cells, [Text("ab"), Missing, Text("c"), Text("d"), Null, Text("ef")]);
        let kept = one.filtered(&[false, true, false, true, true, true]);
        assert_eq!(kept.iter().collect::<Vec<_>>(), [Missing, Text("d"), Null, Text("ef")]);
    }
}
