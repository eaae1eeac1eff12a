//! Frames: Arrow, out.
//!
//! Any library that reads the Arrow C stream takes a [`Frame`] as it is (`polars.from_arrow`, `pyarrow.table`, a query of
//! DuckDB). Strings are `LargeUtf8`: the offsets of `Utf8` end at 2 GB.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, LargeStringBuilder, ListBuilder,
    UInt64Builder,
};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use errorbar_report::ColumnType;
use pyo3::PyClass;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Map, Value as Json};

/// The base of everything with an Arrow C stream. Libraries of data frames are imported when they are asked for.
#[pyclass(module = "errorbar", frozen, subclass)]
pub(crate) struct ArrowData(Arc<dyn Tabular>);

/// What a frame can be made of.
pub(crate) trait Tabular: Send + Sync {
    /// The frame, made when it is wanted.
    fn frame(&self) -> PyResult<Frame>;
}

impl ArrowData {
    /// What makes an object of Python of a class that is derived from this one, whose rows are those of `data`.
    pub(crate) fn initializer<T>(object: T, data: Arc<dyn Tabular>) -> PyClassInitializer<T>
    where
        T: PyClass<BaseType = Self>,
    {
        PyClassInitializer::from(ArrowData(data)).add_subclass(object)
    }
}

#[pymethods]
impl ArrowData {
    /// The Arrow C stream, for libraries of data frames.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore what is requested.
        drop(requested_schema);
        self.0.frame()?.stream(py)
    }

    /// The rows as a `pandas.DataFrame`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        converted(slf.as_any(), "to_pandas")
    }

    /// The rows as a `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        converted(slf.as_any(), "to_polars")
    }

    /// The rows as a `pyarrow.Table`.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        converted(slf.as_any(), "to_pyarrow")
    }
}

/// What a library of data frames makes of an object with `__arrow_c_stream__`.
fn converted<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("errorbar._frames")?.getattr(function)?.call1((object,))
}

/// A table of columns, as Arrow. `errorbar.Frame` in Python.
#[pyclass(module = "errorbar", frozen, extends = ArrowData, skip_from_py_object)]
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame {
    /// A frame of batches that all have this schema.
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Frame { schema, batches }
    }

    /// The frame as an object of Python.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Py<Self>> {
        let rows = Arc::new(self.clone());
        Py::new(py, ArrowData::initializer(self, rows))
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The Arrow C stream of the frame, in a capsule.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader: Box<dyn RecordBatchReader + Send> =
            Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema)));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }
}

impl Tabular for Frame {
    fn frame(&self) -> PyResult<Frame> {
        Ok(self.clone())
    }
}

#[pymethods]
impl Frame {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.schema.fields().len())
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    fn __repr__(&self) -> String {
        format!("<errorbar.Frame: {} rows, columns {}>", self.rows(), self.columns().join(", "))
    }
}

/// A frame of records that are JSON objects; what one lacks, or has of another type, is null.
pub(crate) fn frame_of_records(
    columns: &[(&str, ColumnType)],
    records: &[Map<String, Json>],
) -> PyResult<Frame> {
    let arrays: Vec<ArrayRef> = columns
        .iter()
        .map(|(name, kind)| column(*kind, records.iter().map(|record| record.get(*name))))
        .collect();
    let fields: Vec<Field> = columns
        .iter()
        .zip(&arrays)
        .map(|((name, _), array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Frame::new(schema, vec![batch]))
}

fn column<'a>(kind: ColumnType, cells: impl Iterator<Item = Option<&'a Json>>) -> ArrayRef {
    match kind {
        // Lists and maps are strings of JSON.
        ColumnType::Text | ColumnType::Json => {
            let mut column = LargeStringBuilder::new();
            for cell in cells {
                match cell {
                    None | Some(Json::Null) => column.append_null(),
                    Some(Json::String(text)) => column.append_value(text),
                    Some(other) => column.append_value(other.to_string()),
                }
            }
            finished(column)
        }
        ColumnType::Float => {
            let mut column = Float64Builder::new();
            cells.for_each(|cell| column.append_option(cell.and_then(Json::as_f64)));
            finished(column)
        }
        ColumnType::Int => {
            let mut column = Int64Builder::new();
            cells.for_each(|cell| column.append_option(cell.and_then(Json::as_i64)));
            finished(column)
        }
        ColumnType::Unsigned => {
            let mut column = UInt64Builder::new();
            cells.for_each(|cell| column.append_option(cell.and_then(Json::as_u64)));
            finished(column)
        }
        ColumnType::Bool => {
            let mut column = BooleanBuilder::new();
            cells.for_each(|cell| column.append_option(cell.and_then(Json::as_bool)));
            finished(column)
        }
        ColumnType::Ints => {
            let item = Field::new("item", DataType::Int64, true);
            let mut column = ListBuilder::new(Int64Builder::new()).with_field(item);
            for cell in cells {
                match cell {
                    Some(Json::Array(items)) => {
                        column.append_value(items.iter().map(Json::as_i64).collect::<Vec<_>>());
                    }
                    Some(Json::Number(one)) => column.append_value([one.as_i64()]),
                    _ => column.append_null(),
                }
            }
            finished(column)
        }
    }
}

fn finished(mut builder: impl ArrayBuilder) -> ArrayRef {
    ArrayBuilder::finish(&mut builder)
}
