//! Rows that are put together into one frame: columns by name, in the order of a frame.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch, RecordBatchOptions,
    StringArray, TimestampMicrosecondArray, UInt64Array,
};
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
    columns: IndexMap<String, Column>,
    /// The place of the column that was set last.
    place: usize,
    /// What identifies each row.
    keys: Vec<String>,
}

/// A column, which may be shorter than others: what it lacks is missing.
#[derive(Debug, Default)]
struct Column {
    /// Where it stands among the columns of a frame.
    place: usize,
    cells: Vec<Cell>,
}

impl FramePart {
    /// Sets a value of the row that is being made. One that is set already is replaced. Every row sets the same columns in
    /// the same order, which is that of the frame.
    pub(super) fn set(&mut self, name: &str, cell: Cell) {
        self.place += 2;
        self.set_at(name, self.place, cell);
    }

    /// Sets a value to what is in the log; none is null.
    pub(super) fn set_node(&mut self, name: &str, node: Option<&Node>) {
        self.set(name, node.map_or(Cell::Null, Cell::from));
    }

    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, Cell::Text(text.into()));
    }

    /// The same of a column that not every row has: those that stand between two others are in the order of their names,
    /// and those whose names have several lines stand behind all others.
    pub(super) fn set_own(&mut self, name: &str, node: Option<&Node>) {
        let has_lines = name.strip_suffix('\n').unwrap_or(name).contains('\n');
        let place = if has_lines { usize::MAX } else { self.place + 1 };
        self.set_at(name, place, node.map_or(Cell::Null, Cell::from));
    }

    fn set_at(&mut self, name: &str, place: usize, cell: Cell) {
        let column = match self.columns.get_mut(name) {
            Some(column) => column,
            None => self.columns.entry(name.to_owned()).or_insert(Column { place, cells: Vec::new() }),
        };
        column.cells.resize(self.keys.len(), Cell::Missing);
        column.cells.push(cell);
    }

    /// Ends a row that this identifies.
    pub(super) fn end_row(&mut self, key: impl Into<String>) {
        self.keys.push(key.into());
        self.place = 0;
    }

    /// The memory that it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        let cells = self.columns.values().flat_map(|column| &column.cells);
        let bytes = cells.map(|cell| size_of::<Cell>() + cell.as_text().map_or(0, str::len)).sum::<usize>();
        (bytes + self.keys.iter().map(String::len).sum::<usize>()) as u64
    }

    /// Removes the rows that are not to be kept.
    fn retain(&mut self, keep: &[bool]) {
        for column in self.columns.values_mut() {
            column.cells.resize(keep.len(), Cell::Missing);
            let mut keep = keep.iter();
            column.cells.retain(|_| keep.next() == Some(&true));
        }
        let mut keep = keep.iter();
        self.keys.retain(|_| keep.next() == Some(&true));
    }
}

/// A frame that is being made. Of several rows with the same key the first one counts.
#[derive(Debug, Default)]
pub(super) struct FrameBuilder {
    columns: IndexMap<String, Column>,
    rows: usize,
    /// How many cells are not missing.
    values: u64,
    keys: HashSet<String>,
}

impl FrameBuilder {
    /// Adds rows.
    ///
    /// # Errors
    /// Nearly all cells would be empty.
    pub(super) fn append(&mut self, mut part: FramePart) -> Result<()> {
        let keep: Vec<bool> = part.keys.iter().map(|key| self.keys.insert(key.clone())).collect();
        if keep.contains(&false) {
            part.retain(&keep);
        }
        for (name, Column { place, cells }) in part.columns {
            let column = self.columns.entry(name).or_insert(Column { place, cells: Vec::new() });
            column.cells.resize(self.rows, Cell::Missing);
            self.values += cells.iter().filter(|cell| **cell != Cell::Missing).count() as u64;
            column.cells.extend(cells);
        }
        self.rows += part.keys.len();
        let (columns, rows) = (self.columns.len(), self.rows);
        let cells = rows as u64 * columns as u64;
        if cells > MANY_CELLS && cells / CELLS_PER_VALUE > self.values {
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
                .sort_by(|name, one, other_name, other| (one.place, name).cmp(&(other.place, other_name)));
            for (name, mut column) in self.columns {
                column.cells.resize(self.rows, Cell::Missing);
                columns.push((name, array_of(&column.cells, dialect)));
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
// values are held as they come, and the type is decided at the end, by the rules that frames of the reference follow
// (`conformance/check_frames.py` compares them).

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// The record has no such field.
    Missing,
    /// The field is null.
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`.
    Big(u64),
    Float(f64),
    Text(Box<str>),
    /// Microseconds since 1970 in UTC.
    Time(i64),
}

/// A value of a log: lists and maps as JSON.
impl From<&Node> for Cell {
    fn from(node: &Node) -> Self {
        match node {
            Node::Null => Cell::Null,
            Node::Bool(value) => Cell::Bool(*value),
            Node::Int(value) => Cell::Int(*value),
            Node::Long(digits) => match digits.parse() {
                Ok(value) => Cell::Big(value),
                Err(_) => Cell::Float(digits.parse().unwrap_or(f64::NAN)),
            },
            Node::Float(value) => Cell::Float(*value),
            Node::Text(text) => Cell::Text(text.as_str().into()),
            Node::List(_) | Node::Map(_) => Cell::Text(node.json_text().into()),
        }
    }
}

impl Cell {
    fn is_nan(&self) -> bool {
        matches!(self, Cell::Float(value) if value.is_nan())
    }

    fn as_text(&self) -> Option<&str> {
        if let Cell::Text(text) = self { Some(text) } else { None }
    }

    fn as_int(&self) -> Option<i64> {
        if let Cell::Int(value) | Cell::Time(value) = self { Some(*value) } else { None }
    }

    fn as_float(&self) -> Option<f64> {
        match self {
            Cell::Int(value) => Some(*value as f64),
            Cell::Big(value) => Some(*value as f64),
            Cell::Float(value) => Some(*value).filter(|value| !value.is_nan()),
            _ => None,
        }
    }

    /// The value as a string, because those of its column are of several types.
    fn to_text(&self, dialect: Dialect) -> Option<String> {
        match self {
            Cell::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
            Cell::Int(value) => Some(value.to_string()),
            Cell::Big(value) => Some(value.to_string()),
            Cell::Text(text) => Some(text.to_string()),
            Cell::Float(value) if !value.is_nan() => Some(float_repr(*value)),
            // The reference has a float in place of what is missing, and its text here.
            Cell::Missing | Cell::Float(_) => (dialect == Dialect::Inspect).then(|| "nan".to_owned()),
            Cell::Null | Cell::Time(_) => None,
        }
    }
}

/// The typed column.
fn array_of(cells: &[Cell], dialect: Dialect) -> ArrayRef {
    let has = |is: fn(&Cell) -> bool| cells.iter().any(is);
    if has(|cell| matches!(cell, Cell::Time(_))) {
        let times: TimestampMicrosecondArray = cells.iter().map(Cell::as_int).collect();
        return Arc::new(times.with_timezone("UTC"));
    }
    let texts = has(|cell| matches!(cell, Cell::Text(_)));
    let bools = has(|cell| matches!(cell, Cell::Bool(_)));
    match (texts, bools, has(|cell| cell.as_float().is_some())) {
        (false, false, false) => {
            let is_of_floats = has(Cell::is_nan)
                || (dialect == Dialect::Inspect && has(|cell| matches!(cell, Cell::Missing)));
            match dialect {
                _ if is_of_floats => Arc::new(Float64Array::new_null(cells.len())),
                Dialect::Inspect => Arc::new(StringArray::new_null(cells.len())),
                Dialect::Plain => Arc::new(LargeStringArray::new_null(cells.len())),
            }
        }
        (true, false, false) => Arc::new(cells.iter().map(Cell::as_text).collect::<LargeStringArray>()),
        (false, true, false) => {
            let value = |cell: &Cell| if let Cell::Bool(value) = cell { Some(*value) } else { None };
            Arc::new(cells.iter().map(value).collect::<BooleanArray>())
        }
        (false, false, true) => numbers(cells),
        _ => Arc::new(cells.iter().map(|cell| cell.to_text(dialect)).collect::<LargeStringArray>()),
    }
}

/// A column of numbers: of integers, if all of them fit into one type and none is missing.
fn numbers(cells: &[Cell]) -> ArrayRef {
    let natural = |cell: &Cell| match cell {
        Cell::Int(value) => u64::try_from(*value).ok(),
        Cell::Big(value) => Some(*value),
        _ => None,
    };
    if let Some(integers) = cells.iter().map(Cell::as_int).collect::<Option<Vec<i64>>>() {
        return Arc::new(Int64Array::from(integers));
    }
    match cells.iter().map(natural).collect::<Option<Vec<u64>>>() {
        Some(integers) => Arc::new(UInt64Array::from(integers)),
        None => Arc::new(cells.iter().map(Cell::as_float).collect::<Float64Array>()),
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
                part.set("a", Cell::Text("gone".into()));
                part.set("a", Cell::Int(value * 10));
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
                part.set(&format!("metadata_{round}_{at}"), Cell::Int(1));
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
    fn column(cells: &[Cell], dialect: Dialect) -> String {
        let array = array_of(cells, dialect);
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

    const NAN: Cell = Cell::Float(f64::NAN);
    use Cell::{Big, Bool, Float, Int, Missing, Null};

    fn text(text: &str) -> Cell {
        Cell::Text(text.into())
    }

    // The types are those that the reference answers.
    #[test]
    fn the_type_of_a_column_is_that_of_its_values() {
        #[rustfmt::skip] // a table
        let table: &[(&[Cell], &str)] = &[
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
            (&[text("a"), Null, Missing, NAN, text("")], "LargeUtf8 a null null null "),
            (&[Bool(true), Int(2)], "LargeUtf8 True 2"),
            (&[text("a"), Int(1), Null, Missing, NAN, Float(1e16)], "LargeUtf8 a 1 null nan nan 1e+16"),
        ];
        for (cells, expected) in table {
            assert_eq!(column(cells, Dialect::Inspect), *expected, "{cells:?}");
        }
    }

    #[test]
    fn what_is_missing_is_null_in_a_plain_frame() {
        let cells = [text("a"), Int(1), Null, Missing, NAN];
        assert_eq!(column(&cells, Dialect::Plain), "LargeUtf8 a 1 null null null");
        assert_eq!(column(&[Null, Null], Dialect::Plain), "LargeUtf8 null null");
        assert_eq!(column(&[Null, Missing], Dialect::Plain), "LargeUtf8 null null");
    }

    #[test]
    fn columns_are_joined_filtered_and_corrected() {
        let mut one = FramePart::default();
        one.set("a", text("ab"));
        one.end_row("0");
        one.end_row("1");
        one.set("a", text("gone"));
        one.place = 0;
        one.set("a", text("c"));
        one.end_row("2");
        let mut other = FramePart::default();
        for (key, cell) in [("3", text("d")), ("1", text("not this")), ("4", Null), ("5", text("ef"))] {
            other.set("a", cell);
            other.end_row(key);
        }
        let mut frame = FrameBuilder::default();
        [one, other].into_iter().for_each(|part| frame.append(part).unwrap());
        assert_eq!((frame.rows, frame.values), (6, 5));
        assert_eq!(frame.columns["a"].cells, [text("ab"), Missing, text("c"), text("d"), Null, text("ef")]);
    }
}
