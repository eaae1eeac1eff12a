//! The cells of one column of one row group, some thousand at a time.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::basic::Encoding;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::checked::CheckedPages;
use super::headers::PageBudget;
use super::types::ValueKind;
use crate::table::TableErrorKind;

/// How many cells are decoded at once.
const BATCH: usize = 4096;
/// How many bytes the texts that are decoded at once may have.
const BATCH_BYTES: u64 = 64 << 20;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ParquetCell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'a str),
}

/// The cells of a column, in order.
pub(super) struct CellReader<'a> {
    name: &'a str,
    kind: ValueKind,
    reader: ColumnReader,
    /// How many cells are decoded at once.
    batch: usize,
    work: &'a PageBudget,
    /// The level at which a value is there; 0 where no value can lack.
    defined: i16,
    levels: Vec<i16>,
    values: DecodedValues,
    /// How many cells are decoded, and how many of those are told.
    decoded: usize,
    told: usize,
    /// Which value is the next; nulls have none.
    value: usize,
}

/// Decoded values of the one type that the column has.
#[derive(Debug, Default)]
struct DecodedValues {
    bools: Vec<bool>,
    ints: Vec<i32>,
    longs: Vec<i64>,
    floats: Vec<f32>,
    doubles: Vec<f64>,
    texts: Vec<ByteArray>,
}

impl<'a> CellReader<'a> {
    pub(super) fn new(
        pages: SerializedPageReader<File>,
        chunk: &ColumnChunkMetaData,
        name: &'a str,
        kind: ValueKind,
        largest_page: u64,
        work: &'a PageBudget,
    ) -> std::result::Result<Self, TableErrorKind> {
        let defined = chunk.column_descr().max_def_level();
        let pages = Box::new(CheckedPages::new(pages, defined > 0));
        let reader = guarded(|| Ok(get_column_reader(chunk.column_descr_ptr(), pages)))
            .map_err(|problem| column_problem(name, problem))?;
        // Each text may be as long as the page, because it has its beginning in common with the one before.
        let shares_beginnings = chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY);
        let batch = match shares_beginnings {
            true => usize::try_from(BATCH_BYTES / largest_page.max(1)).unwrap_or(BATCH).clamp(1, BATCH),
            false => BATCH,
        };
        Ok(CellReader {
            name,
            kind,
            reader,
            batch,
            work,
            defined,
            levels: Vec::new(),
            values: DecodedValues::default(),
            decoded: 0,
            told: 0,
            value: 0,
        })
    }

    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    pub(super) fn kind(&self) -> ValueKind {
        self.kind
    }

    /// The next cell; nothing at the end of the row group.
    pub(super) fn next(&mut self) -> std::result::Result<Option<ParquetCell<'_>>, TableErrorKind> {
        if self.told == self.decoded {
            guarded(|| self.decode()).map_err(|problem| column_problem(self.name, problem))?;
            if self.decoded == 0 {
                return Ok(None);
            }
            // Delta encodings make more bytes of texts than the page has.
            self.work.decompress(self.values.texts.iter().map(|text| text.len() as u64).sum())?;
        }
        let is_null = self.defined > 0 && self.levels.get(self.told).is_none_or(|l| *l < self.defined);
        self.told += 1;
        if is_null {
            return Ok(Some(ParquetCell::Null));
        }
        let at = self.value;
        self.value += 1;
        let unsigned = self.kind == ValueKind::Unsigned;
        let values = &self.values;
        let cell = match &self.reader {
            ColumnReader::BoolColumnReader(_) => values.bools.get(at).map(|b| ParquetCell::Bool(*b)),
            ColumnReader::Int32ColumnReader(_) if unsigned => {
                values.ints.get(at).map(|i| ParquetCell::Unsigned(u64::from(i.cast_unsigned())))
            }
            ColumnReader::Int32ColumnReader(_) => {
                values.ints.get(at).map(|i| ParquetCell::Int(i64::from(*i)))
            }
            ColumnReader::Int64ColumnReader(_) if unsigned => {
                values.longs.get(at).map(|i| ParquetCell::Unsigned(i.cast_unsigned()))
            }
            ColumnReader::Int64ColumnReader(_) => values.longs.get(at).map(|i| ParquetCell::Int(*i)),
            ColumnReader::FloatColumnReader(_) => {
                values.floats.get(at).map(|f| ParquetCell::Float(f64::from(*f)))
            }
            ColumnReader::DoubleColumnReader(_) => values.doubles.get(at).map(|f| ParquetCell::Float(*f)),
            ColumnReader::ByteArrayColumnReader(_) => match values.texts.get(at) {
                Some(text) => Some(ParquetCell::Text(
                    str::from_utf8(text.data())
                        .map_err(|_| TableErrorKind::InvalidUtf8 { column: Some(self.name.to_owned()) })?,
                )),
                None => None,
            },
            _ => None,
        };
        // The decoder has counted the values, so there is one for each cell that is not null.
        cell.map(Some).ok_or_else(|| column_problem(self.name, "it has too few values".to_owned()))
    }

    fn decode(&mut self) -> Result<()> {
        (self.told, self.value) = (0, 0);
        let (batch, levels, values) = (self.batch, &mut self.levels, &mut self.values);
        levels.clear();
        self.decoded = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => decode(reader, batch, levels, &mut values.bools)?,
            ColumnReader::Int32ColumnReader(reader) => decode(reader, batch, levels, &mut values.ints)?,
            ColumnReader::Int64ColumnReader(reader) => decode(reader, batch, levels, &mut values.longs)?,
            ColumnReader::FloatColumnReader(reader) => decode(reader, batch, levels, &mut values.floats)?,
            ColumnReader::DoubleColumnReader(reader) => decode(reader, batch, levels, &mut values.doubles)?,
            ColumnReader::ByteArrayColumnReader(reader) => decode(reader, batch, levels, &mut values.texts)?,
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => 0,
        };
        Ok(())
    }
}

fn decode<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    batch: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<usize> {
    values.clear();
    let (rows, _, _) = reader.read_records(batch, Some(levels), None, values)?;
    Ok(rows)
}

/// The problem of a column as a whole.
pub(super) fn column_problem(column: &str, problem: String) -> TableErrorKind {
    TableErrorKind::ParquetColumn { column: column.to_owned(), problem }
}

/// Runs the library's code, and says on one line what went wrong.
///
/// It panics on some damaged files, such as those with sizes that overflow in its delta decoders
/// (`tests/tables_hostile.rs` finds some). What it was at work on is given up, so no half-changed value is
/// ever looked at.
pub(super) fn guarded<T>(run: impl FnOnce() -> Result<T>) -> std::result::Result<T, String> {
    caught(|| run().map_err(|error| message(&error)))?
}

/// Runs code that calls the library; a panic within becomes a problem with the library's own words.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        format!("the Parquet reader failed on it: {}", one_line(text))
    })
}

fn message(error: &ParquetError) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    one_line(text)
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
