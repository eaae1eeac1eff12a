//! Rows that are put together into one frame: columns by name, in the order of a frame.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch, RecordBatchOptions,
    StringArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use errorbar_core::python_text::float_repr;
use indexmap::IndexMap;

use super::Dialect;
use super::node::Node;
use crate::eval::error::{LogErrorKind, Result};

/// Frames below this number of cells are never refused.
const MANY_CELLS: u64 = 1 << 24;
/// How many cells there may be for each value in a larger one.
const CELLS_PER_VALUE: u64 = 100;

/// Some rows of a frame.
#[derive(Debug, Default)]
pub(super) struct FramePart {
    columns: IndexMap<String, Cells>,
    /// The place of the column that was set last.
    place: usize,
    /// What identifies each row.
    keys: Vec<String>,
}

impl FramePart {
    fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Sets a value of the row that is being made. One that is set already is replaced. Every row sets the same columns in
    /// the same order, which is that of the frame.
    pub(super) fn set(&mut self, name: &str, cell: &Cell<'_>) {
        self.place += 2;
        self.push(name, self.place, |cells| cells.push(cell));
    }

    /// Sets a value to what is in the log; none is null.
    pub(super) fn set_node(&mut self, name: &str, node: Option<&Node>) {
        self.place += 2;
        self.push(name, self.place, |cells| cells.push_node(node.unwrap_or(&Node::Null)));
    }

    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, &Cell::Text(text));
    }

    /// The same of a column that not every row has: those that stand between two others are in the order of their names,
    /// and those whose names have several lines stand behind all others.
    pub(super) fn set_own(&mut self, name: &str, node: Option<&Node>) {
        let has_lines = name.strip_suffix('\n').unwrap_or(name).contains('\n');
        let place = if has_lines { usize::MAX } else { self.place + 1 };
        self.push(name, place, |cells| cells.push_node(node.unwrap_or(&Node::Null)));
    }

    fn push(&mut self, name: &str, place: usize, push: impl FnOnce(&mut Cells)) {
        let rows = self.keys.len();
        let cells = match self.columns.get_mut(name) {
            Some(cells) => cells,
            None => self.columns.entry(name.to_owned()).or_insert(Cells { place, ..Cells::default() }),
        };
        cells.pad(rows);
        if cells.len() > rows {
            cells.pop();
        }
        push(cells);
    }

    /// Ends a row that this identifies.
    pub(super) fn end_row(&mut self, key: impl Into<String>) {
        self.keys.push(key.into());
        self.place = 0;
    }

    /// The memory that it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        let keys: u64 = self.keys.iter().map(|key| key.len() as u64).sum();
        self.columns.values().map(Cells::bytes).sum::<u64>() + keys
    }

    /// The rows that are to be kept.
    fn filtered(mut self, keep: &[bool]) -> FramePart {
        let rows = self.rows();
        let mut kept = FramePart::default();
        for (name, cells) in &mut self.columns {
            cells.pad(rows);
            kept.columns.insert(name.clone(), cells.filtered(keep));
        }
        kept.keys = self.keys.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(key, _)| key).collect();
        kept
    }
}

/// A frame that is being made. Of several rows with the same key the first one counts.
#[derive(Debug, Default)]
pub(super) struct FrameBuilder {
    columns: IndexMap<String, Cells>,
    rows: usize,
    keys: HashSet<String>,
}

impl FrameBuilder {
    /// Adds rows.
    ///
    /// # Errors
    /// Nearly all cells would be empty.
    pub(super) fn append(&mut self, part: FramePart) -> Result<()> {
        let keep: Vec<bool> = part.keys.iter().map(|key| self.keys.insert(key.clone())).collect();
        let part = if keep.contains(&false) { part.filtered(&keep) } else { part };
        for (name, cells) in &part.columns {
            let column = self.columns.entry(name.clone());
            let column = column.or_insert(Cells { place: cells.place, ..Cells::default() });
            column.pad(self.rows);
            column.append(cells);
        }
        self.rows += part.rows();
        let cells = self.rows as u64 * self.columns.len() as u64;
        let values: u64 = self.columns.values().map(Cells::present).sum();
        if cells > MANY_CELLS && cells / CELLS_PER_VALUE > values {
            let (columns, rows) = (self.columns.len(), self.rows);
            return Err(LogErrorKind::SparseFrame { columns, rows }.into());
        }
        Ok(())
    }

    /// The frame. One without rows has the columns of a row of which nothing is known.
    pub(super) fn finish(mut self, unknown: FramePart, dialect: Dialect) -> Result<RecordBatch> {
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        if self.rows == 0 {
            let nothing = || Arc::new(LargeStringArray::new_null(0)) as ArrayRef;
            columns.extend(unknown.columns.into_keys().map(|name| (name, nothing())));
        } else {
            self.columns
                .sort_by(|name, cells, other, of_other| (cells.place, name).cmp(&(of_other.place, other)));
            for (name, mut cells) in self.columns {
                cells.pad(self.rows);
                columns.push((name, cells.into_array(dialect)));
            }
        }
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        batch.map_err(|error| LogErrorKind::Frame(error.to_string()).into())
    }
}

// A column of values of any type, and the typed column that it becomes.
//
// Metadata and scores have whatever type a task gives them, and the type of a column is that of all its values. So
// values are held as they come, nine bytes each beside the text, and the type is decided at the end, by the rules that
// frames of the reference follow (`conformance/check_frames.py` compares them).

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
struct Cells {
    /// Where it stands among the columns of a frame.
    place: usize,
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
    fn pad(&mut self, len: usize) {
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
    fn filtered(&self, keep: &[bool]) -> Cells {
        let mut kept = Cells { place: self.place, ..Cells::default() };
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
    fn into_array(self, dialect: Dialect) -> ArrayRef {
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
    fn push_node(&mut self, node: &Node) {
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
    use super::*;

    #[test]
    fn columns_are_in_the_order_of_a_row() {
        let mut part = FramePart::default();
        for own in [&["b", "a\nb", "é"][..], &["a\n"]] {
            part.set_text("id", "1");
            own.iter().for_each(|name| part.set_own(&format!("meta_{name}"), None));
            part.set_text("z", "");
            part.set_own("score_b", None);
            part.end_row(own.len().to_string());
        }
        let mut builder = FrameBuilder::default();
        builder.append(part).unwrap();
        let frame = builder.finish(FramePart::default(), Dialect::Plain).unwrap();
        let names: Vec<&String> = frame.schema_ref().fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, ["id", "meta_a\n", "meta_b", "meta_é", "z", "score_b", "meta_a\nb"]);
    }

    #[test]
    fn the_first_of_several_rows_counts_and_a_value_can_be_replaced() {
        let mut builder = FrameBuilder::default();
        for values in [[1, 2], [3, 1]] {
            let mut part = FramePart::default();
            for value in values {
                part.set("a", &Cell::Text("gone"));
                part.set("a", &Cell::Int(value * 10));
                if value == 2 {
                    part.set_own("b", Some(&Node::Text("two".to_owned())));
                }
                part.end_row(value.to_string());
            }
            builder.append(part).unwrap();
        }
        let frame = builder.finish(FramePart::default(), Dialect::Plain).unwrap();
        let names: Vec<&String> = frame.schema_ref().fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(format!("{:?}", frame.column(0)), "PrimitiveArray<Int64>\n[\n  10,\n  20,\n  30,\n]");
        assert_eq!(frame.column(1).null_count(), 2);
    }

    #[test]
    fn a_frame_of_empty_cells_is_refused() {
        let mut builder = FrameBuilder::default();
        let refused = (0..200).find_map(|round| {
            let mut part = FramePart::default();
            for at in 0..100 {
                part.set(&format!("metadata_{round}_{at}"), &Cell::Int(1));
                part.end_row(format!("{round} {at}"));
            }
            builder.append(part).err()
        });
        let error = refused.unwrap().to_string();
        assert!(error.contains("columns") && error.contains("metadata"), "{error}");
    }

    #[test]
    fn a_frame_without_rows_has_its_fixed_columns() {
        let mut unknown = FramePart::default();
        ["id", "log"].into_iter().for_each(|name| unknown.set_text(name, ""));
        let frame = FrameBuilder::default().finish(unknown, Dialect::Plain).unwrap();
        assert_eq!((frame.num_rows(), frame.num_columns()), (0, 2));
    }
}

#[cfg(test)]
mod cells_tests {
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
