//! The cells of one column of one row group, decoded by the library some thousand at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result as LibraryResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type as SchemaType};

use super::headers::PageBudget;
use super::pages::{DecodablePage, DictionaryTexts, PageTexts, PlainTexts, has_offsets};
use crate::TableErrorKind;
use crate::typed::{TypedCell, ValueKind};

/// How many cells are decoded at once: a page of a few bytes can have millions.
const BATCH: u64 = 1 << 16;
/// The same for strings that the library decodes.
const TEXT_BATCH: u64 = 1 << 12;
/// How many bytes the strings that are decoded at once may have.
const BATCH_BYTES: u64 = 64 << 20;

/// Decodes the pages of a column, a batch of cells at a time.
pub(super) struct ColumnDecoder<'a> {
    name: &'a str,
    kind: ValueKind,
    /// What decimals are divided by.
    unit: f64,
    budget: &'a PageBudget,
    batch: usize,
    pages: Sender<Page>,
    decoder: TypedDecoder,
    dictionary: DictionaryTexts,
    /// The strings of the page, if they are in it and not in the dictionary.
    plain: Option<Bytes>,
    /// How many cells of the page are not decoded yet.
    left: usize,
    /// The number of values of the page that are not decoded yet, if known from its size.
    values_left: Option<usize>,
    /// The level at which a value is there; 0 where no value can be absent.
    defined: i16,
    /// The levels of the batch, and its length.
    levels: Vec<i16>,
    cells: usize,
    /// How many cells of the batch have a value.
    values: usize,
}

/// A decoder of the library with the values of the batch.
enum TypedDecoder {
    Bools(Decoder<BoolType>),
    Ints(Decoder<Int32Type>),
    Longs(Decoder<Int64Type>),
    Floats(Decoder<FloatType>),
    Doubles(Decoder<DoubleType>),
    Decimals(Decoder<FixedLenByteArrayType>),
    Texts(Decoder<ByteArrayType>),
    /// Offsets of strings in their page, or their numbers in the dictionary.
    Offsets(Decoder<Int32Type>),
}

struct Decoder<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

impl<T: DataType> Decoder<T> {
    fn new(column: ColumnDescPtr, pages: Receiver<Page>) -> Self {
        Decoder { reader: ColumnReaderImpl::new(column, Box::new(SentPages(pages))), values: Vec::new() }
    }

    /// Decodes this number of cells; returns how many there were and how many of them have a value.
    fn decode(&mut self, count: usize, levels: &mut Vec<i16>) -> LibraryResult<(usize, usize)> {
        self.values.clear();
        let (cells, values, _) = self.reader.read_records(count, Some(levels), None, &mut self.values)?;
        Ok((cells, values))
    }
}

impl<'a> ColumnDecoder<'a> {
    pub(super) fn new(
        chunk: &ColumnChunkMetaData,
        name: &'a str,
        kind: ValueKind,
        largest_page: u64,
        budget: &'a PageBudget,
    ) -> Result<Self, TableErrorKind> {
        let (column, defined) = (chunk.column_descr_ptr(), chunk.column_descr().max_def_level());
        let (pages, sent) = channel();
        let batch = match chunk.column_type() {
            // Each string may be as long as the page, because it has its beginning in common with the one before.
            Type::BYTE_ARRAY if chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY) => {
                (BATCH_BYTES / largest_page.max(1)).clamp(1, TEXT_BATCH)
            }
            Type::BYTE_ARRAY if !has_offsets(chunk) => TEXT_BATCH,
            _ => BATCH,
        };
        let decoder = guarded(|| {
            Ok(match chunk.column_type() {
                Type::BOOLEAN => TypedDecoder::Bools(Decoder::new(column, sent)),
                Type::INT32 => TypedDecoder::Ints(Decoder::new(column, sent)),
                Type::INT64 => TypedDecoder::Longs(Decoder::new(column, sent)),
                Type::FLOAT => TypedDecoder::Floats(Decoder::new(column, sent)),
                Type::DOUBLE => TypedDecoder::Doubles(Decoder::new(column, sent)),
                // Of no other columns with such values is the kind known.
                Type::FIXED_LEN_BYTE_ARRAY => TypedDecoder::Decimals(Decoder::new(column, sent)),
                Type::BYTE_ARRAY if has_offsets(chunk) => {
                    TypedDecoder::Offsets(Decoder::new(offset_column(&column)?, sent))
                }
                Type::BYTE_ARRAY => TypedDecoder::Texts(Decoder::new(column, sent)),
                other => return Err(ParquetError::General(format!("the type {other} is not read"))),
            })
        });
        Ok(ColumnDecoder {
            name,
            kind,
            unit: 10f64.powi(chunk.column_descr().type_scale()),
            budget,
            batch: batch as usize,
            pages,
            decoder: decoder.map_err(|problem| column_problem(name, problem))?,
            dictionary: DictionaryTexts::default(),
            plain: None,
            left: 0,
            values_left: None,
            defined,
            levels: Vec::new(),
            cells: 0,
            values: 0,
        })
    }

    /// Takes the next page, after the cells of the one before.
    pub(super) fn set_page(&mut self, page: DecodablePage) {
        let DecodablePage { page, texts, values } = page;
        (self.left, self.values_left) =
            if page.is_data_page() { (page.num_values() as usize, values) } else { (0, None) };
        match texts {
            PageTexts::Dictionary(texts) => self.dictionary = texts,
            PageTexts::Plain(texts) => self.plain = Some(texts),
            PageTexts::None => self.plain = None,
        }
        // The decoder holds the other end for as long as this one.
        let _ = self.pages.send(page);
    }

    /// Decodes the next cells of the page; false at its end.
    pub(super) fn decode(&mut self) -> Result<bool, TableErrorKind> {
        let (count, levels) = (self.left.min(self.batch), &mut self.levels);
        self.cells = 0;
        if count == 0 {
            self.plain = None;
            return Ok(false);
        }
        levels.clear();
        let decoded = guarded(|| match &mut self.decoder {
            TypedDecoder::Bools(decoder) => decoder.decode(count, levels),
            TypedDecoder::Ints(decoder) | TypedDecoder::Offsets(decoder) => decoder.decode(count, levels),
            TypedDecoder::Longs(decoder) => decoder.decode(count, levels),
            TypedDecoder::Floats(decoder) => decoder.decode(count, levels),
            TypedDecoder::Doubles(decoder) => decoder.decode(count, levels),
            TypedDecoder::Decimals(decoder) => decoder.decode(count, levels),
            TypedDecoder::Texts(decoder) => decoder.decode(count, levels),
        });
        let (cells, values) = decoded.map_err(|problem| self.problem(problem))?;
        if cells != count {
            return Err(self.problem("a page ends too early".to_owned()));
        }
        if let TypedDecoder::Texts(decoder) = &self.decoder {
            // Delta encodings make more bytes of strings than the page has.
            self.budget.decompress(decoder.values.iter().map(|text| text.len() as u64).sum())?;
        }
        self.left -= cells;
        (self.cells, self.values) = (cells, values);
        self.values_left = self.values_left.map(|left| left.saturating_sub(values));
        if self.left == 0 && self.values_left.is_some_and(|left| left > 0) {
            return Err(self.problem("a page has more bytes than its cells take".to_owned()));
        }
        Ok(true)
    }

    /// Gives the cells of the batch to `each`, and counts them in `row`.
    #[inline]
    pub(super) fn for_each(
        &self,
        row: &mut usize,
        mut each: impl FnMut(TypedCell<'_>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind> {
        let each = |cell: TypedCell<'_>| {
            each(cell)?;
            *row += 1;
            Ok(())
        };
        let signed = !matches!(self.kind, ValueKind::Unsigned | ValueKind::Decimal);
        match (&self.decoder, &self.plain) {
            (TypedDecoder::Ints(ints), _) if signed => {
                self.give(ints.values.iter().map(|int| Ok(TypedCell::Int(i64::from(*int)))), each)
            }
            (TypedDecoder::Longs(ints), _) if signed => {
                self.give(ints.values.iter().map(|int| Ok(TypedCell::Int(*int))), each)
            }
            (TypedDecoder::Doubles(floats), _) => {
                self.give(floats.values.iter().map(|float| Ok(TypedCell::Float(*float))), each)
            }
            (TypedDecoder::Offsets(offsets), Some(texts)) => {
                let texts = PlainTexts::new(texts);
                self.give(offsets.values.iter().map(|at| self.text(texts.get(*at as usize))), each)
            }
            // Other types are not worth a separate loop.
            _ => self.give((0..).map(|at| self.value(at)), each),
        }
    }

    /// Gives values to `each`, and nulls where the levels mark them.
    #[inline(always)]
    fn give<'v>(
        &self,
        mut values: impl Iterator<Item = Result<TypedCell<'v>, TableErrorKind>>,
        mut each: impl FnMut(TypedCell<'v>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind> {
        if self.values == self.cells {
            return values.take(self.cells).try_for_each(|value| each(value?));
        }
        for level in &self.levels {
            let value = if *level < self.defined { None } else { values.next() };
            each(value.transpose()?.unwrap_or(TypedCell::Null))?;
        }
        Ok(())
    }

    /// A value of the batch, by its number among those that are not null.
    #[inline]
    fn value(&self, at: usize) -> Result<TypedCell<'_>, TableErrorKind> {
        // The bits of an unsigned integer are those of a signed one.
        let int = |int: i64, bits: u64| match self.kind {
            ValueKind::Unsigned => TypedCell::Unsigned(bits),
            ValueKind::Decimal => TypedCell::Float(int as f64 / self.unit),
            _ => TypedCell::Int(int),
        };
        let cell = match &self.decoder {
            TypedDecoder::Bools(bools) => bools.values.get(at).map(|bool| TypedCell::Bool(*bool)),
            TypedDecoder::Ints(ints) => {
                ints.values.get(at).map(|bits| int(i64::from(*bits), u64::from(bits.cast_unsigned())))
            }
            TypedDecoder::Longs(ints) => ints.values.get(at).map(|bits| int(*bits, bits.cast_unsigned())),
            TypedDecoder::Floats(floats) => {
                floats.values.get(at).map(|float| TypedCell::Float(f64::from(*float)))
            }
            TypedDecoder::Doubles(floats) => floats.values.get(at).map(|float| TypedCell::Float(*float)),
            TypedDecoder::Decimals(decimals) => decimals.values.get(at).map(|bytes| {
                let int = integer(bytes.data());
                match self.kind {
                    ValueKind::Decimal => TypedCell::Float(int as f64 / self.unit),
                    _ => TypedCell::integer(int),
                }
            }),
            TypedDecoder::Texts(texts) => match texts.values.get(at) {
                Some(text) => return self.text(str::from_utf8(text.data()).ok()),
                None => None,
            },
            TypedDecoder::Offsets(offsets) => match (offsets.values.get(at), &self.plain) {
                (Some(at), Some(texts)) => return self.text(PlainTexts::for_one(texts).get(*at as usize)),
                (Some(number), None) => return self.text(self.dictionary.get(*number as usize)),
                (None, _) => None,
            },
        };
        // The library has counted the values, so there is one for each cell that is not null.
        cell.ok_or_else(|| self.problem("it has too few values".to_owned()))
    }

    #[inline]
    fn text<'t>(&self, text: Option<&'t str>) -> Result<TypedCell<'t>, TableErrorKind> {
        let invalid = || TableErrorKind::InvalidUtf8(Some(self.name.to_owned()));
        text.map(TypedCell::Text).ok_or_else(invalid)
    }

    /// The integers of the batch, if each fits a byte and none is null: scores and epochs mostly are.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        /// Without an early end, so that many are looked at in a step.
        fn narrow(ints: impl Iterator<Item = i64> + Clone) -> Option<Vec<u8>> {
            let bits = ints.clone().fold(0, |bits, int| bits | int);
            u8::try_from(bits).is_ok().then(|| ints.map(|int| int as u8).collect())
        }
        match &self.decoder {
            _ if self.values != self.cells || self.kind == ValueKind::Decimal => None,
            TypedDecoder::Ints(ints) => narrow(ints.values.iter().map(|int| i64::from(*int))),
            TypedDecoder::Longs(ints) => narrow(ints.values.iter().copied()),
            _ => None,
        }
    }

    /// The dictionary and the number of each cell's string in it, if that is how the batch is encoded, without nulls.
    pub(super) fn numbers(&self) -> Option<(&DictionaryTexts, &[i32])> {
        match &self.decoder {
            TypedDecoder::Offsets(numbers) if self.plain.is_none() && self.values == self.cells => {
                Some((&self.dictionary, &numbers.values))
            }
            _ => None,
        }
    }

    fn problem(&self, problem: String) -> TableErrorKind {
        column_problem(self.name, problem)
    }
}

/// A signed integer, as decimals have it: of any number of bytes, the highest first.
fn integer(bytes: &[u8]) -> i128 {
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let start = if is_negative { -1 } else { 0 };
    bytes.iter().fold(start, |int: i128, byte| int << 8 | i128::from(*byte))
}

/// A column of integers that has the levels of a column of strings.
fn offset_column(column: &ColumnDescPtr) -> LibraryResult<ColumnDescPtr> {
    let primitive = SchemaType::primitive_type_builder(column.name(), Type::INT32)
        .with_repetition(column.self_type().get_basic_info().repetition())
        .build()?;
    let levels = (column.max_def_level(), column.max_rep_level());
    Ok(Arc::new(ColumnDescriptor::new(Arc::new(primitive), levels.0, levels.1, column.path().clone())))
}

/// Hands pages on to the library.
struct SentPages(Receiver<Page>);

impl PageReader for SentPages {
    fn get_next_page(&mut self) -> LibraryResult<Option<Page>> {
        Ok(self.0.try_recv().ok())
    }

    fn peek_next_page(&mut self) -> LibraryResult<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> LibraryResult<()> {
        Ok(())
    }
}

impl Iterator for SentPages {
    type Item = LibraryResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// The problem of a column as a whole.
pub(super) fn column_problem(column: &str, problem: String) -> TableErrorKind {
    TableErrorKind::ParquetColumn { column: column.to_owned(), problem }
}

/// Runs the library's code; its error is one line.
///
/// It panics on some damaged files, such as those with sizes that overflow in its delta decoders
/// (`tests/tables_hostile.rs` finds some). What it was at work on is given up, so no half-changed value is
/// ever looked at.
pub(super) fn guarded<T>(run: impl FnOnce() -> LibraryResult<T>) -> Result<T, String> {
    caught(|| run().map_err(|error| message(&error)))?
}

/// Runs code that calls the library; a panic within becomes an error with the library's own words.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
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
