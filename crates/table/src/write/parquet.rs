//! Rows as Parquet: a group of rows at a time, each column compressed by itself.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use errorbar_core::Value;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::Value as Json;

use super::parquet_pages::ChecksummedPages;
use super::{ColumnKind, ExportCell, RowSink, WriteError, WrittenColumn};

/// A row group is written when it has this many rows, or this many bytes.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 32 << 20;

/// Columns of strings, numbers and booleans, all of which may be null.
pub(super) struct ParquetSink<'a> {
    file: SerializedFileWriter<&'a mut (dyn Write + Send)>,
    cells: Vec<Box<dyn ColumnBuffer>>,
    rows: usize,
    bytes: usize,
    group_bytes: usize,
}

/// The cells of one column that are not yet written.
trait ColumnBuffer {
    /// Adds a cell, and returns about how much memory it takes; nothing if the column was made for another kind.
    fn push(&mut self, cell: ExportCell<'_>) -> Option<usize>;

    /// Writes the cells as pages, and forgets them.
    fn write(&mut self, writer: ColumnWriter<'_>) -> Result<ColumnCloseResult, ParquetError>;
}

/// Cells of a type of the library.
struct TypedBuffer<T: DataType> {
    /// 1 where there is a value, 0 for null.
    present: Vec<i16>,
    values: Vec<T::T>,
    /// The value of a cell, and about how much memory it takes.
    value: fn(ExportCell<'_>) -> Option<(T::T, usize)>,
}

impl<T: DataType> ColumnBuffer for TypedBuffer<T> {
    fn push(&mut self, cell: ExportCell<'_>) -> Option<usize> {
        let is_null = matches!(cell, ExportCell::Missing | ExportCell::Null | ExportCell::Json(Json::Null));
        self.present.push(i16::from(!is_null));
        if is_null {
            return Some(size_of::<i16>());
        }
        let (value, bytes) = (self.value)(cell)?;
        self.values.push(value);
        Some(bytes)
    }

    fn write(&mut self, writer: ColumnWriter<'_>) -> Result<ColumnCloseResult, ParquetError> {
        let mut writer = get_typed_column_writer::<T>(writer);
        writer.write_batch(&self.values, Some(&self.present), None)?;
        self.values.clear();
        self.present.clear();
        writer.close()
    }
}

/// What holds the cells of a column of a kind, and its type in the file.
fn buffer(kind: ColumnKind) -> (Physical, Box<dyn ColumnBuffer>) {
    const NUMBER: usize = size_of::<f64>();
    fn of<T: DataType>(
        value: fn(ExportCell<'_>) -> Option<(T::T, usize)>,
    ) -> (Physical, Box<dyn ColumnBuffer>) {
        (
            T::get_physical_type(),
            Box::new(TypedBuffer::<T> { present: Vec::new(), values: Vec::new(), value }),
        )
    }
    match kind {
        ColumnKind::Bool => of::<BoolType>(|cell| match cell {
            ExportCell::Json(json) => Some((json.as_bool()?, NUMBER)),
            _ => None,
        }),
        ColumnKind::Int32 => of::<Int32Type>(|cell| match cell {
            ExportCell::Epoch(epoch) => Some((epoch.try_into().ok()?, NUMBER)),
            _ => None,
        }),
        ColumnKind::Int64 => of::<Int64Type>(|cell| match cell {
            ExportCell::Json(json) => Some((json.as_i64()?, NUMBER)),
            ExportCell::Count(count) => Some((count.try_into().ok()?, NUMBER)),
            _ => None,
        }),
        ColumnKind::Float => of::<DoubleType>(|cell| Some((float(cell)?, NUMBER))),
        ColumnKind::Text => of::<ByteArrayType>(|cell| {
            let text = cell.text().unwrap_or_default().into_owned();
            let bytes = size_of::<ByteArray>() + text.len();
            Some((ByteArray::from(text.into_bytes()), bytes))
        }),
    }
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
        let cells = columns.iter().map(|column| buffer(column.kind).1).collect();
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
            let mut bytes = Vec::new();
            let pages = Box::new(ChecksummedPages { bytes: &mut bytes });
            let writer = get_column_writer(descriptor, Arc::clone(&properties), pages);
            let close = cells.write(writer).map_err(refused)?;
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
    let (physical, _) = buffer(column.kind);
    let mut field =
        Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    if column.kind == ColumnKind::Text {
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
