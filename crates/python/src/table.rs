//! Data of Python as tables: Arrow, in.
//!
//! A frame hands over its Arrow C stream: no Python object is made of a value. A mapping of columns is one batch, made of
//! buffers (numpy, `array`) or of lists.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, LargeStringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, LargeListArray, NullArray, PrimitiveArray,
    RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{Field, Schema};
use errorbar_core::IndexMap;
use errorbar_table::{ArrowTable, MemoryTables};
use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::call::Cancelled;
use crate::stream::{arrays, stream_table};

/// A table that a function of the package gets: its name, the data, and about how many rows there are.
pub(crate) type NamedTable<'py> = (String, Bound<'py, PyAny>, Option<usize>);

/// The tables, by name. Those that are read several times keep their batches.
pub(crate) fn memory_tables(
    tables: &[NamedTable<'_>],
    is_kept: bool,
    cancelled: &Cancelled,
) -> PyResult<MemoryTables> {
    let table = |(name, data, rows): &NamedTable<'_>| {
        let mut table = arrow_table(data, cancelled)?;
        if let Some(rows) = rows {
            table = table.expect_rows(*rows);
        }
        Ok((name.clone(), if is_kept { table.kept() } else { table }))
    };
    let tables: Vec<(String, ArrowTable)> = tables.iter().map(table).collect::<PyResult<_>>()?;
    Ok(tables.into_iter().collect())
}

/// The table of a frame or of a mapping of columns.
pub(crate) fn arrow_table(data: &Bound<'_, PyAny>, cancelled: &Cancelled) -> PyResult<ArrowTable> {
    match data.cast::<PyMapping>() {
        Ok(mapping) if !data.hasattr("__arrow_c_stream__")? => {
            Ok(ArrowTable::new(Box::new(columns(mapping)?)))
        }
        _ => stream_table(data, cancelled),
    }
}

/// A mapping of columns as one batch.
fn columns(mapping: &Bound<'_, PyMapping>) -> PyResult<impl RecordBatchReader + Send + use<>> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
    for item in mapping.items()?.iter() {
        let (name, values) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let name = name.str()?.to_string();
        let array = column(&name, &values)?;
        let rows = arrays.first().map_or(array.len(), |first| first.len());
        if array.len() != rows {
            let first = fields.first().map_or("", |field: &Field| field.name().as_str());
            let found = array.len();
            let text = format!("columns differ in length: {first:?} has {rows} rows, {name:?} has {found}");
            return Err(PyValueError::new_err(text));
        }
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    // A mapping without columns has no batch.
    let batches = match arrays.is_empty() {
        true => Vec::new(),
        false => vec![
            RecordBatch::try_new(Arc::clone(&schema), arrays)
                .map_err(|error| PyValueError::new_err(error.to_string()))?,
        ],
    };
    Ok(RecordBatchIterator::new(batches.into_iter().map(Ok), schema))
}

/// A column: Arrow, a buffer, or anything that can be iterated over.
fn column(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if values.hasattr("__arrow_c_array__")? {
        let data = ArrayData::from_pyarrow_bound(values)?;
        return Ok(arrow_array::make_array(data));
    }
    if values.hasattr("__arrow_c_stream__")? && values.hasattr("to_frame")? {
        let frame = values.call_method0("to_frame")?;
        let is_chunked = frame.hasattr("rechunk")?;
        return series(name, &if is_chunked { frame.call_method0("rechunk")? } else { frame });
    }
    if let Some(array) = buffer(values)? {
        return Ok(array);
    }
    let values = match values.hasattr("tolist")? {
        true => values.call_method0("tolist")?,
        false => values.clone(),
    };
    if values.is_instance_of::<PyString>() {
        let text = format!("column {name:?}: expected a list or an array of values, got a string");
        return Err(PyTypeError::new_err(text));
    }
    let items: Vec<Bound<'_, PyAny>> = values.try_iter()?.collect::<PyResult<_>>()?;
    list(name, &items, 0)
}

/// The only column of a frame that was made of a series.
fn series(name: &str, frame: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let reader = arrays(frame)?;
    let invalid = |error: String| PyValueError::new_err(format!("column {name:?}: {error}"));
    let arrays = frame.py().detach(|| reader.collect::<Result<Vec<ArrayRef>, _>>());
    let arrays = arrays.map_err(|error| invalid(error.to_string()))?;
    match arrays.as_slice() {
        [one] => {
            let only = one.as_struct_opt().and_then(|frame| frame.columns().first().cloned());
            only.ok_or_else(|| invalid("it has no values".to_owned()))
        }
        _ => Err(invalid("it has several chunks: give the frame that it is of".to_owned())),
    }
}

/// The values of an object with the buffer protocol, or of a numpy array that has none.
fn buffer(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let Ok(dtype) = values.getattr("dtype") else { return plain_buffer(values) };
    // The buffer of a masked array of numpy has what is masked, too; its list has None there.
    if values.hasattr("mask")? && values.hasattr("fill_value")? {
        return Ok(None);
    }
    match dtype.getattr("kind").and_then(|kind| kind.extract::<String>()).as_deref() {
        Ok("b") => {
            let bytes = values.call_method1("view", ("u1",))?;
            let array = plain_buffer(&bytes)?;
            let bools = |bytes: &PrimitiveArray<UInt8Type>| -> BooleanArray {
                bytes.values().iter().map(|byte| Some(*byte != 0)).collect()
            };
            let bytes = array.as_ref().and_then(|array| array.as_any().downcast_ref());
            Ok(bytes.map(|bytes| Arc::new(bools(bytes)) as ArrayRef))
        }
        Ok("f") if dtype.getattr("itemsize")?.extract::<usize>()? == 2 => {
            plain_buffer(&values.call_method1("astype", ("f4",))?)
        }
        Ok("i" | "u" | "f") => plain_buffer(values),
        _ => Ok(None),
    }
}

fn plain_buffer(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    fn typed<T: ArrowPrimitiveType>(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>>
    where
        T::Native: Element,
    {
        let Ok(buffer) = PyBuffer::<T::Native>::get(values) else { return Ok(None) };
        if buffer.dimensions() != 1 {
            let text = format!("expected one dimension, got {}", buffer.dimensions());
            return Err(PyValueError::new_err(text));
        }
        let array = PrimitiveArray::<T>::from_iter_values(buffer.to_vec(values.py())?);
        Ok(Some(Arc::new(array)))
    }
    let readers = [
        typed::<Float64Type>,
        typed::<Int64Type>,
        typed::<Int32Type>,
        typed::<Float32Type>,
        typed::<UInt8Type>,
        typed::<Int8Type>,
        typed::<Int16Type>,
        typed::<UInt16Type>,
        typed::<UInt32Type>,
        typed::<UInt64Type>,
    ];
    // Bytes are a buffer too, and no column of numbers.
    if values.is_instance_of::<pyo3::types::PyBytes>() || is_foreign(values) {
        return Ok(None);
    }
    for read in readers {
        if let Some(array) = read(values)? {
            return Ok(Some(array));
        }
    }
    Ok(None)
}

/// Whether the numbers of a buffer have the byte order of other machines. The library takes those for this machine's.
fn is_foreign(values: &Bound<'_, PyAny>) -> bool {
    let foreign: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
    let buffer = PyUntypedBuffer::get(values);
    buffer.is_ok_and(|buffer| buffer.format().to_bytes().first().is_some_and(|order| foreign.contains(order)))
}

/// The most levels of lists and maps in a cell of a list; beyond the first two they can only be metadata.
const MAX_DEPTH: u32 = 32;
/// The most items that all lists of a column have together. More of them are a matter for Arrow.
const MAX_NESTED: usize = 1 << 26;

/// What the items of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
}

/// A list as a column. Integers among floats are floats; numbers among strings are strings, as they are in a CSV.
/// `depth` is the number of lists and maps around it.
fn list(name: &str, items: &[Bound<'_, PyAny>], depth: u32) -> PyResult<ArrayRef> {
    // A list that contains itself has no end, and may double at each level.
    if depth > 0 && (depth > MAX_DEPTH || items.len() > MAX_NESTED) {
        let text = format!("column {name:?}: lists or maps with too many levels or items");
        return Err(PyValueError::new_err(text));
    }
    let mut kind: Option<ItemKind> = None;
    let mut plain = Vec::with_capacity(items.len());
    for (row, item) in items.iter().enumerate() {
        // Numbers of numpy are none of Python, but can be made such.
        let is_scalar = item.hasattr("dtype")? && item.hasattr("item")?;
        let item = if is_scalar { item.call_method0("item")? } else { item.clone() };
        let at = || location(name, row, depth);
        if let Some(found) = kind_of(&item)
            .map_err(|found| PyTypeError::new_err(format!("{}: a value of the type {found}", at())))?
        {
            kind = Some(
                kind.map_or(Ok(found), |known| joined(known, found))
                    .map_err(|problem| PyTypeError::new_err(format!("{}: {problem}", at())))?,
            );
        }
        plain.push(item);
    }
    let items = plain.iter().map(|item| (!item.is_none()).then_some(item));
    // What a number or a string cannot be made of, such as an integer beyond all floats.
    let invalid = |row: usize| {
        move |error: PyErr| match Python::attach(|py| error.is_instance_of::<PyException>(py)) {
            true => PyValueError::new_err(format!("{}: {error}", location(name, row, depth))),
            false => error,
        }
    };
    Ok(match kind {
        None => Arc::new(NullArray::new(plain.len())),
        Some(ItemKind::Bool) => {
            let mut column = BooleanBuilder::new();
            for item in items {
                column.append_option(item.map(|item| item.extract::<bool>()).transpose()?);
            }
            Arc::new(column.finish())
        }
        Some(ItemKind::Int) => {
            let mut column = Int64Builder::new();
            for item in items {
                column.append_option(item.map(|item| item.extract::<i64>()).transpose()?);
            }
            Arc::new(column.finish())
        }
        Some(ItemKind::Float) => {
            let mut column = Float64Builder::new();
            for (row, item) in items.enumerate() {
                let number = item.map(|item| item.extract::<f64>()).transpose();
                column.append_option(number.map_err(invalid(row))?);
            }
            Arc::new(column.finish())
        }
        Some(ItemKind::Text) => {
            let mut column = LargeStringBuilder::new();
            for (row, item) in items.enumerate() {
                let text = item.map(|item| Ok(item.str()?.to_str()?.to_owned())).transpose();
                column.append_option(text.map_err(invalid(row))?);
            }
            Arc::new(column.finish())
        }
        Some(ItemKind::List) => lists(name, &plain, depth)?,
        Some(ItemKind::Map) => maps(name, &plain, depth)?,
    })
}

/// Where a value is. Items of lists and maps are numbered through, so that their numbers are those of no row.
fn location(name: &str, row: usize, depth: u32) -> String {
    match depth {
        0 => format!("column {name:?}, row {}", row + 1),
        _ => format!("column {name:?}, in a list or map"),
    }
}

/// The kind of an item; none for None.
fn kind_of(item: &Bound<'_, PyAny>) -> Result<Option<ItemKind>, String> {
    Ok(Some(if item.is_none() {
        return Ok(None);
    } else if item.is_instance_of::<PyBool>() {
        ItemKind::Bool
    } else if item.is_instance_of::<PyInt>() {
        // Beyond 64 bits a number is a float, as in JSON.
        if item.extract::<i64>().is_ok() { ItemKind::Int } else { ItemKind::Float }
    } else if item.is_instance_of::<PyFloat>() {
        ItemKind::Float
    } else if item.is_instance_of::<PyString>() {
        ItemKind::Text
    } else if item.is_instance_of::<PyDict>() {
        ItemKind::Map
    } else if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
        ItemKind::List
    } else {
        return Err(item.get_type().name().map(|name| name.to_string()).unwrap_or_default());
    }))
}

/// What a column is that has items of both kinds.
fn joined(a: ItemKind, b: ItemKind) -> Result<ItemKind, &'static str> {
    use ItemKind::{Bool, Float, Int, List, Map, Text};
    Ok(match (a, b) {
        (a, b) if a == b => a,
        (List | Map, _) | (_, List | Map) => return Err("lists and maps cannot be mixed with other values"),
        (Int | Bool, Float) | (Float, Int | Bool) => Float,
        (Int, Bool) | (Bool, Int) => Int,
        (Text, _) | (_, Text) => Text,
        (a, _) => a,
    })
}

/// Lists as one column of their items.
fn lists(name: &str, lists: &[Bound<'_, PyAny>], depth: u32) -> PyResult<ArrayRef> {
    let (mut items, mut lengths, mut is_valid) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        let own: Vec<Bound<'_, PyAny>> = match list.is_none() {
            true => Vec::new(),
            false => list.try_iter()?.collect::<PyResult<_>>()?,
        };
        lengths.push(own.len());
        is_valid.push(!list.is_none());
        items.extend(own);
    }
    let items = self::list(name, &items, depth + 1)?;
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    let nulls = NullBuffer::from(is_valid);
    let array = LargeListArray::try_new(field, OffsetBuffer::from_lengths(lengths), items, Some(nulls));
    Ok(Arc::new(array.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// None, for a map that has no value of a key.
fn none<'py>(map: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    map.py().None().into_bound(map.py())
}

/// Dictionaries as a structure: a column for each key.
fn maps(name: &str, maps: &[Bound<'_, PyAny>], depth: u32) -> PyResult<ArrayRef> {
    let mut values: IndexMap<String, Vec<Bound<'_, PyAny>>> = IndexMap::new();
    for (row, map) in maps.iter().enumerate().filter(|(_, map)| !map.is_none()) {
        for (key, value) in map.cast::<PyDict>()?.iter() {
            let key = key.str()?.to_string();
            let column = values.entry(key).or_default();
            if column.len() > row {
                let text = format!("column {name:?}, row {}: two keys that are the same as strings", row + 1);
                return Err(PyValueError::new_err(text));
            }
            column.resize_with(row, || none(map));
            column.push(value);
        }
    }
    let mut columns = Vec::new();
    for (key, mut values) in values {
        values.extend(maps.get(values.len()..).unwrap_or_default().iter().map(none));
        let array = list(name, &values, depth + 1)?;
        columns.push((Arc::new(Field::new(key, array.data_type().clone(), true)), array));
    }
    let nulls = NullBuffer::from(maps.iter().map(|map| !map.is_none()).collect::<Vec<bool>>());
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    match fields.is_empty() {
        true => Ok(Arc::new(NullArray::new(maps.len()))),
        false => {
            let array = StructArray::try_new(fields.into(), arrays, Some(nulls));
            Ok(Arc::new(array.map_err(|error| PyValueError::new_err(error.to_string()))?))
        }
    }
}
