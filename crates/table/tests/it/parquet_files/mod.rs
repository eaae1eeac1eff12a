//! Parquet files for tests, made with the library's own writer.
#![allow(dead_code, reason = "each test takes what it needs")]

// The library writes no checksums of pages; the exporter does.
#[path = "../../../src/write/parquet_pages.rs"]
mod parquet_pages;

use std::sync::Arc;

use parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut,
};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The cells of a column; the schema defines which can be null.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    Bools(Vec<Option<bool>>),
    Ints(Vec<Option<i32>>),
    Longs(Vec<Option<i64>>),
    Floats(Vec<Option<f32>>),
    Doubles(Vec<Option<f64>>),
    Texts(Vec<Option<Vec<u8>>>),
    Fixed(Vec<Vec<u8>>),
    /// This number of empty lists.
    Lists(usize),
}

impl Cells {
    pub(crate) fn texts(texts: &[&str]) -> Self {
        Cells::Texts(texts.iter().map(|text| Some(text.as_bytes().to_vec())).collect())
    }

    pub(crate) fn longs(longs: &[i64]) -> Self {
        Cells::Longs(longs.iter().copied().map(Some).collect())
    }

    pub(crate) fn doubles(doubles: &[f64]) -> Self {
        Cells::Doubles(doubles.iter().copied().map(Some).collect())
    }

    fn len(&self) -> usize {
        match self {
            Cells::Bools(cells) => cells.len(),
            Cells::Ints(cells) => cells.len(),
            Cells::Longs(cells) => cells.len(),
            Cells::Floats(cells) => cells.len(),
            Cells::Doubles(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
            Cells::Fixed(cells) => cells.len(),
            Cells::Lists(length) => *length,
        }
    }

    fn part(&self, start: usize, end: usize) -> Cells {
        match self {
            Cells::Bools(cells) => Cells::Bools(cells[start..end].to_vec()),
            Cells::Ints(cells) => Cells::Ints(cells[start..end].to_vec()),
            Cells::Longs(cells) => Cells::Longs(cells[start..end].to_vec()),
            Cells::Floats(cells) => Cells::Floats(cells[start..end].to_vec()),
            Cells::Doubles(cells) => Cells::Doubles(cells[start..end].to_vec()),
            Cells::Texts(cells) => Cells::Texts(cells[start..end].to_vec()),
            Cells::Fixed(cells) => Cells::Fixed(cells[start..end].to_vec()),
            Cells::Lists(_) => Cells::Lists(end - start),
        }
    }
}

/// A file with these columns, in row groups of this number of rows.
pub(crate) fn write(fields: &str, columns: &[Cells], group: usize, properties: WriterProperties) -> Vec<u8> {
    write_with(fields, columns, group, properties, false)
}

/// The same with checksums of pages, if they are wanted.
pub(crate) fn write_with(
    fields: &str,
    columns: &[Cells],
    group: usize,
    properties: WriterProperties,
    checksums: bool,
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message table {{ {fields} }}")).unwrap());
    let properties: WriterPropertiesPtr = Arc::new(properties);
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let rows = columns[0].len();
    let mut start = 0;
    while start < rows {
        let end = rows.min(start + group);
        let descriptors = writer.schema_descr().columns().to_vec();
        let properties = Arc::clone(writer.properties());
        let mut row_group = writer.next_row_group().unwrap();
        for (column, descriptor) in columns.iter().zip(descriptors) {
            if !checksums {
                let mut to = row_group.next_column().unwrap().unwrap();
                put_cells(to.untyped(), column.part(start, end));
                to.close().unwrap();
                continue;
            }
            let mut pages = Vec::new();
            let to = Box::new(parquet_pages::ChecksummedPages { bytes: &mut pages });
            let mut to = get_column_writer(descriptor, Arc::clone(&properties), to);
            put_cells(&mut to, column.part(start, end));
            let close = close_column(to);
            row_group.append_column(&bytes::Bytes::from(pages), close).unwrap();
        }
        row_group.close().unwrap();
        start = end;
    }
    writer.close().unwrap();
    bytes
}

fn close_column(to: ColumnWriter<'_>) -> ColumnCloseResult {
    match to {
        ColumnWriter::BoolColumnWriter(to) => to.close(),
        ColumnWriter::Int32ColumnWriter(to) => to.close(),
        ColumnWriter::Int64ColumnWriter(to) => to.close(),
        ColumnWriter::FloatColumnWriter(to) => to.close(),
        ColumnWriter::DoubleColumnWriter(to) => to.close(),
        ColumnWriter::ByteArrayColumnWriter(to) => to.close(),
        ColumnWriter::FixedLenByteArrayColumnWriter(to) => to.close(),
        ColumnWriter::Int96ColumnWriter(to) => to.close(),
    }
    .unwrap()
}

fn put_cells(to: &mut ColumnWriter<'_>, cells: Cells) {
    match cells {
        Cells::Bools(cells) => put::<BoolType>(to, cells),
        Cells::Ints(cells) => put::<Int32Type>(to, cells),
        Cells::Longs(cells) => put::<Int64Type>(to, cells),
        Cells::Floats(cells) => put::<FloatType>(to, cells),
        Cells::Doubles(cells) => put::<DoubleType>(to, cells),
        Cells::Texts(cells) => {
            put::<ByteArrayType>(to, cells.into_iter().map(|cell| cell.map(ByteArray::from)).collect());
        }
        Cells::Fixed(cells) => {
            let bytes = cells.into_iter().map(|cell| Some(FixedLenByteArray::from(cell))).collect();
            put::<FixedLenByteArrayType>(to, bytes);
        }
        Cells::Lists(length) => {
            let levels = vec![0; length];
            let to = get_typed_column_writer_mut::<ByteArrayType>(to);
            to.write_batch(&[], Some(&levels), Some(&levels)).unwrap();
        }
    }
}

fn put<T: DataType>(to: &mut ColumnWriter<'_>, cells: Vec<Option<T::T>>) {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    get_typed_column_writer_mut::<T>(to).write_batch(&values, Some(&levels), None).unwrap();
}

/// A file as pandas would write it: one row group, Snappy.
pub(crate) fn simple(fields: &str, columns: &[Cells]) -> Vec<u8> {
    let compression = parquet::basic::Compression::SNAPPY;
    write(fields, columns, usize::MAX, WriterProperties::builder().set_compression(compression).build())
}
