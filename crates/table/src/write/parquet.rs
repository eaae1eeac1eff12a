//! Rows as Parquet: a group of rows at a time, each column compressed by itself.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use errorbar_core::Value;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, Type};
use serde_json::Value as Json;

use super::parquet_pages::ChecksummedPages;
use super::{ColumnKind, ExportCell, RowSink, WriteError, WrittenColumn};

/// A row group is written when it has this many rows, or this many bytes.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 32 << 20;

/// Columns of strings, numbers and booleans, all of which may be null.
pub(super) struct ParquetSink<'a> {
    file: SerializedFileWriter<&'a mut (dyn Write + Send)>,
    cells: Vec<ColumnBuffer>,
    rows: usize,
    bytes: usize,
    group_bytes: usize,
}

/// The cells of one column that are not yet written.
struct ColumnBuffer {
    /// 1 where there is a value, 0 for null.
    present: Vec<i16>,
    values: BufferedValues,
}

enum BufferedValues {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl<'a> ParquetSink<'a> {
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        columns: &[WrittenColumn],
    ) -> Result<Self, WriteError> {
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("samples").with_fields(fields).build().map_err(refused)?;
        let level = ZstdLevel::try_new(3).map_err(refused)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(concat!("errorbar ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(refused)?;
        let cells = columns.iter().map(ColumnBuffer::of).collect();
        Ok(ParquetSink { file, cells, rows: 0, bytes: 0, group_bytes: GROUP_BYTES })
    }

    fn write_group(&mut self) -> Result<(), WriteError> {
        if self.rows == 0 {
            return Ok(());
        }
        let properties = Arc::clone(self.file.properties());
        let descriptors = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group().map_err(refused)?;
        for (cells, descriptor) in self.cells.iter_mut().zip(descriptors) {
            let properties = Arc::clone(&properties);
            let mut bytes = Vec::new();
            let close = cells.write(&mut bytes, descriptor, properties).map_err(refused)?;
            group.append_column(&Bytes::from(bytes), close).map_err(refused)?;
        }
        group.close().map_err(refused)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl RowSink for ParquetSink<'_> {
    fn row(&mut self, cells: &[ExportCell<'_>]) -> Result<(), WriteError> {
        for (cell, column) in cells.iter().zip(&mut self.cells) {
            self.bytes += column.push(*cell).ok_or(WriteError::CellKind)?;
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= self.group_bytes { self.write_group() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        self.write_group()?;
        self.file.finish().map_err(refused)?;
        Ok(self.file.inner_mut().flush()?)
    }
}

impl ColumnBuffer {
    fn of(column: &WrittenColumn) -> Self {
        let values = match column.kind {
            ColumnKind::Bool => BufferedValues::Bool(Vec::new()),
            ColumnKind::Int32 => BufferedValues::Int32(Vec::new()),
            ColumnKind::Int64 => BufferedValues::Int64(Vec::new()),
            ColumnKind::Float => BufferedValues::Double(Vec::new()),
            ColumnKind::Text => BufferedValues::Text(Vec::new()),
        };
        ColumnBuffer { present: Vec::new(), values }
    }

    /// Adds a cell, and returns about how much memory it takes; nothing if the column was made for another kind.
    fn push(&mut self, cell: ExportCell<'_>) -> Option<usize> {
        let is_null = matches!(cell, ExportCell::Missing | ExportCell::Null | ExportCell::Json(Json::Null));
        self.present.push(i16::from(!is_null));
        if is_null {
            return Some(size_of::<i16>());
        }
        match (&mut self.values, cell) {
            (BufferedValues::Int32(values), ExportCell::Epoch(epoch)) => values.push(epoch.try_into().ok()?),
            (BufferedValues::Double(values), cell) => values.push(float(cell)?),
            (BufferedValues::Int64(values), ExportCell::Json(json)) => values.push(json.as_i64()?),
            (BufferedValues::Int64(values), ExportCell::Count(count)) => values.push(count.try_into().ok()?),
            (BufferedValues::Bool(values), ExportCell::Json(json)) => values.push(json.as_bool()?),
            (BufferedValues::Text(values), cell) => {
                let text = cell.text().unwrap_or_default().into_owned();
                let bytes = size_of::<ByteArray>() + text.len();
                values.push(ByteArray::from(text.into_bytes()));
                return Some(bytes);
            }
            _ => return None,
        }
        Some(size_of::<f64>())
    }

    /// Writes the cells as pages, and forgets them.
    fn write(
        &mut self,
        bytes: &mut Vec<u8>,
        descriptor: ColumnDescPtr,
        properties: WriterPropertiesPtr,
    ) -> Result<ColumnCloseResult, ParquetError> {
        let pages = Box::new(ChecksummedPages { bytes });
        let writer = get_column_writer(descriptor, properties, pages);
        let present = Some(self.present.as_slice());
        let close = match &mut self.values {
            BufferedValues::Bool(values) => write::<BoolType>(writer, values, present),
            BufferedValues::Int32(values) => write::<Int32Type>(writer, values, present),
            BufferedValues::Int64(values) => write::<Int64Type>(writer, values, present),
            BufferedValues::Double(values) => write::<DoubleType>(writer, values, present),
            BufferedValues::Text(values) => write::<ByteArrayType>(writer, values, present),
        }?;
        self.present.clear();
        Ok(close)
    }
}

fn write<T: DataType>(
    writer: ColumnWriter<'_>,
    values: &mut Vec<T::T>,
    present: Option<&[i16]>,
) -> Result<ColumnCloseResult, ParquetError> {
    let mut writer = get_typed_column_writer::<T>(writer);
    writer.write_batch(values, present, None)?;
    values.clear();
    writer.close()
}

/// A number as a float; unscored is not a number.
fn float(cell: ExportCell<'_>) -> Option<f64> {
    match cell {
        ExportCell::Score(Value::Unscored) => Some(f64::NAN),
        ExportCell::Score(Value::Int(int)) => Some(*int as f64),
        ExportCell::Score(Value::Float(float)) => Some(*float),
        ExportCell::Json(Json::Number(number)) => number.as_f64(),
        ExportCell::Number(number) => Some(number),
        _ => None,
    }
}

fn field(column: &WrittenColumn) -> Result<Arc<Type>, WriteError> {
    let (physical, is_text) = match ColumnBuffer::of(column).values {
        BufferedValues::Bool(_) => (Physical::BOOLEAN, false),
        BufferedValues::Int32(_) => (Physical::INT32, false),
        BufferedValues::Int64(_) => (Physical::INT64, false),
        BufferedValues::Double(_) => (Physical::DOUBLE, false),
        BufferedValues::Text(_) => (Physical::BYTE_ARRAY, true),
    };
    let mut field =
        Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    if is_text {
        field = field.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8);
    }
    field.build().map(Arc::new).map_err(refused)
}

/// The error of the disk within, where it is one.
fn refused(error: ParquetError) -> WriteError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => (*error).into(),
            Err(other) => WriteError::Parquet(other.to_string()),
        },
        other => WriteError::Parquet(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn groups_of_rows_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let answer = "x".repeat(1000);
        let columns =
            [("epoch", ColumnKind::Int32), ("value", ColumnKind::Float), ("answer", ColumnKind::Text)];
        let columns = columns.map(|(name, kind)| WrittenColumn { name: name.to_owned(), kind });
        let out_path = folder.path().join("a.parquet");
        let mut out = std::fs::File::create(&out_path).unwrap();
        let mut sink = Box::new(ParquetSink::new(&mut out, &columns).unwrap());
        sink.group_bytes = 30_000;
        for _ in 0..80 {
            let value = Value::Int(1);
            sink.row(&[ExportCell::Epoch(1), ExportCell::Score(&value), ExportCell::Text(&answer)]).unwrap();
            assert!(sink.bytes < sink.group_bytes);
        }
        sink.finish().unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&out_path).unwrap()).unwrap();
        let groups = reader.metadata().row_groups();
        assert!((3..=4).contains(&groups.len()), "80 kB in groups of 30: {}", groups.len());
        assert_eq!(groups.iter().map(|group| group.num_rows()).sum::<i64>(), 80);
        assert_eq!(reader.get_row_iter(None).unwrap().count(), 80);
    }
}
