//! The cells of one column of one row group, decoded by the library some thousand at a time.

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::Bytes;
use errorbar_core::engine::TextColumn;
use parquet::basic::{ConvertedType, Encoding, LogicalType, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use parquet::errors::{ParquetError, Result as LibraryResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type as SchemaType};

use super::headers::{PageBudget, ThriftReader};
use crate::TableErrorKind;
use crate::input::InputBytes;
use crate::typed::{TypedCell, TypedCells, ValueKind, narrowed};

/// How many cells are decoded at once: a page of a few bytes can have millions.
const BATCH: u64 = 1 << 16;
/// The same for strings that the library decodes.
const TEXT_BATCH: u64 = 1 << 12;
/// How many bytes the strings that are decoded at once may have.
const BATCH_BYTES: u64 = 64 << 20;

/// Decodes the pages of a column, a batch of cells at a time.
pub(super) struct ColumnDecoder<'a> {
    name: &'a str,
    budget: &'a PageBudget,
    batch: usize,
    pages: Sender<Page>,
    decode: BatchDecoder,
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
    /// The values of the batch, one for each cell that is not null, and their number.
    values: BatchValues,
    present: usize,
}

/// Decodes this number of cells; returns how many there were, how many of them have a value, and these. Levels go to the list.
type BatchDecoder = Box<dyn FnMut(usize, &mut Vec<i16>) -> LibraryResult<(usize, usize, BatchValues)> + Send>;

/// The values of a batch, as their column has them.
enum BatchValues {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Wides(Vec<i128>),
    Floats(Vec<f64>),
    Texts(Vec<ByteArray>),
    /// Offsets of strings in their page, or their numbers in the dictionary.
    Offsets(Vec<i32>),
}

impl BatchValues {
    /// Integers of 64 bits.
    fn ints(values: &mut Vec<i64>, kind: ValueKind, unit: f64) -> Self {
        match kind {
            ValueKind::Decimal => BatchValues::decimals(values.iter().map(|int| *int as f64), unit),
            // The bits of an unsigned integer are those of a signed one.
            ValueKind::Unsigned if values.iter().any(|int| *int < 0) => {
                BatchValues::Wides(values.iter().map(|bits| bits.cast_unsigned().into()).collect())
            }
            _ => BatchValues::Ints(take(values)),
        }
    }

    fn decimals(values: impl Iterator<Item = f64>, unit: f64) -> Self {
        BatchValues::Floats(values.map(|int| int / unit).collect())
    }
}

/// What decodes pages of a type of the library, which `values` takes out of the list.
fn decoder<T: DataType>(
    column: ColumnDescPtr,
    pages: Receiver<Page>,
    values: impl Fn(&mut Vec<T::T>) -> BatchValues + Send + 'static,
) -> BatchDecoder {
    let mut reader = ColumnReaderImpl::<T>::new(column, Box::new(SentPages(pages)));
    let mut decoded = Vec::new();
    Box::new(move |count, levels| {
        decoded.clear();
        let (cells, present, _) = reader.read_records(count, Some(levels), None, &mut decoded)?;
        Ok((cells, present, values(&mut decoded)))
    })
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
        // What decimals are divided by.
        let unit = 10f64.powi(chunk.column_descr().type_scale());
        let (pages, sent) = channel();
        let batch = match chunk.column_type() {
            // Each string may be as long as the page, because it has its beginning in common with the one before.
            Type::BYTE_ARRAY if chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY) => {
                (BATCH_BYTES / largest_page.max(1)).clamp(1, TEXT_BATCH)
            }
            Type::BYTE_ARRAY if !has_offsets(chunk) => TEXT_BATCH,
            _ => BATCH,
        };
        let decode = guarded(|| {
            Ok(match chunk.column_type() {
                Type::BOOLEAN => decoder::<BoolType>(column, sent, |values| BatchValues::Bools(take(values))),
                Type::INT32 => decoder::<Int32Type>(column, sent, move |values| {
                    let int = |int: &i32| match kind {
                        ValueKind::Unsigned => int.cast_unsigned().into(),
                        _ => i64::from(*int),
                    };
                    BatchValues::ints(&mut values.iter().map(int).collect(), kind, unit)
                }),
                Type::INT64 => {
                    decoder::<Int64Type>(column, sent, move |values| BatchValues::ints(values, kind, unit))
                }
                Type::FLOAT => decoder::<FloatType>(column, sent, |values| {
                    BatchValues::Floats(values.iter().map(|float| f64::from(*float)).collect())
                }),
                Type::DOUBLE => {
                    decoder::<DoubleType>(column, sent, |values| BatchValues::Floats(take(values)))
                }
                // Of no other columns with such values is the kind known.
                Type::FIXED_LEN_BYTE_ARRAY => decoder::<FixedLenByteArrayType>(column, sent, move |values| {
                    let ints = values.iter().map(|bytes| integer(bytes.data()));
                    match kind {
                        ValueKind::Decimal => BatchValues::decimals(ints.map(|int| int as f64), unit),
                        _ => BatchValues::Wides(ints.collect()),
                    }
                }),
                Type::BYTE_ARRAY if has_offsets(chunk) => {
                    decoder::<Int32Type>(offset_column(&column)?, sent, |values| {
                        BatchValues::Offsets(take(values))
                    })
                }
                Type::BYTE_ARRAY => {
                    decoder::<ByteArrayType>(column, sent, |values| BatchValues::Texts(take(values)))
                }
                other => return Err(ParquetError::General(format!("the type {other} is not read"))),
            })
        });
        Ok(ColumnDecoder {
            name,
            budget,
            batch: batch as usize,
            pages,
            decode: decode.map_err(|problem| column_problem(name, problem))?,
            dictionary: DictionaryTexts::default(),
            plain: None,
            left: 0,
            values_left: None,
            defined,
            levels: Vec::new(),
            cells: 0,
            values: BatchValues::Bools(Vec::new()),
            present: 0,
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
        let (cells, present, values) =
            guarded(|| (self.decode)(count, levels)).map_err(|problem| self.problem(problem))?;
        if cells != count {
            return Err(self.problem("a page ends too early".to_owned()));
        }
        if let BatchValues::Texts(texts) = &values {
            // Delta encodings make more bytes of strings than the page has.
            self.budget.decompress(texts.iter().map(|text| text.len() as u64).sum())?;
        }
        self.left -= cells;
        self.values_left = self.values_left.map(|left| left.saturating_sub(present));
        (self.cells, self.present, self.values) = (cells, present, values);
        if self.left == 0 && self.values_left.is_some_and(|left| left > 0) {
            return Err(self.problem("a page has more bytes than its cells take".to_owned()));
        }
        Ok(true)
    }

    /// Gives values to `each`, and nulls where the levels mark them.
    #[inline(always)]
    fn give<'v>(
        &self,
        mut values: impl Iterator<Item = Option<TypedCell<'v>>>,
        row: &mut usize,
        mut each: impl FnMut(TypedCell<'v>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind> {
        let mut each = |cell: Option<TypedCell<'v>>| {
            each(cell.ok_or_else(|| TableErrorKind::not_utf8(Some(self.name)))?)?;
            *row += 1;
            Ok(())
        };
        if self.has_no_nulls() {
            return values.try_for_each(each);
        }
        self.levels.iter().try_for_each(|level| match *level < self.defined {
            true => each(Some(TypedCell::Null)),
            // The library has counted the values, so there is one for each cell that is not null.
            false => values.next().map_or(Ok(()), &mut each),
        })
    }

    fn has_no_nulls(&self) -> bool {
        self.present == self.cells
    }

    fn problem(&self, problem: String) -> TableErrorKind {
        column_problem(self.name, problem)
    }
}

impl TypedCells for ColumnDecoder<'_> {
    #[inline]
    fn for_each(
        &self,
        row: &mut usize,
        each: impl FnMut(TypedCell<'_>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind> {
        match (&self.values, &self.plain) {
            (BatchValues::Bools(bools), _) => {
                self.give(bools.iter().map(|bool| Some(TypedCell::Bool(*bool))), row, each)
            }
            (BatchValues::Ints(ints), _) => {
                self.give(ints.iter().map(|int| Some(TypedCell::Int(*int))), row, each)
            }
            (BatchValues::Wides(ints), _) => {
                self.give(ints.iter().map(|int| Some(TypedCell::integer(*int))), row, each)
            }
            (BatchValues::Floats(floats), _) => {
                self.give(floats.iter().map(|float| Some(TypedCell::Float(*float))), row, each)
            }
            (BatchValues::Texts(texts), _) => {
                let texts = texts.iter().map(|text| str::from_utf8(text.data()).ok().map(TypedCell::Text));
                self.give(texts, row, each)
            }
            (BatchValues::Offsets(offsets), Some(texts)) => {
                let texts = PlainTexts::new(texts);
                self.give(offsets.iter().map(|at| texts.get(*at as usize).map(TypedCell::Text)), row, each)
            }
            (BatchValues::Offsets(numbers), None) => {
                let texts = numbers.iter().map(|number| self.dictionary.get(*number as usize));
                self.give(texts.map(|text| text.map(TypedCell::Text)), row, each)
            }
        }
    }

    fn narrowed<T>(&self, most: i64, narrow: impl Fn(i64) -> T) -> Option<Vec<T>> {
        match &self.values {
            BatchValues::Ints(ints) if self.has_no_nulls() => narrowed(ints.iter().copied(), most, narrow),
            _ => None,
        }
    }

    fn coded(&self) -> Option<(Vec<&str>, Vec<u32>)> {
        match &self.values {
            BatchValues::Offsets(numbers)
                if self.plain.is_none()
                    && self.has_no_nulls()
                    && numbers.len() >= self.dictionary.len() / 8 =>
            {
                let numbers = numbers.iter().map(|number| number.cast_unsigned()).collect();
                Some((self.dictionary.all()?, numbers))
            }
            _ => None,
        }
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
    TableErrorKind::Parquet { column: Some(column.to_owned()), problem }
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

/// Whether the strings of a column are in the encodings for which the library gets integers.
pub(super) fn has_offsets(chunk: &ColumnChunkMetaData) -> bool {
    let is_known = |encoding: Encoding| {
        matches!(
            encoding,
            Encoding::PLAIN | Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY | Encoding::RLE
        )
    };
    chunk.column_type() == Type::BYTE_ARRAY && chunk.encodings().all(is_known)
}

/// The pages of a column of a row group, one after the other.
pub(super) struct PageSource<'a> {
    name: &'a str,
    pages: SerializedPageReader<InputBytes>,
    physical: Type,
    /// Whether cells can be null.
    optional: bool,
    has_offsets: bool,
}

/// A page for the library to decode.
pub(super) struct DecodablePage {
    pub(super) page: Page,
    /// What its integers stand for, if the column holds strings.
    pub(super) texts: PageTexts,
    /// The number of its values without nulls, if known from its size.
    pub(super) values: Option<usize>,
}

/// The strings of a page.
pub(super) enum PageTexts {
    None,
    /// Integers are offsets into these bytes, where the length of a string stands, and then the string.
    Plain(Bytes),
    Dictionary(DictionaryTexts),
}

impl<'a> PageSource<'a> {
    pub(super) fn new(
        name: &'a str,
        pages: SerializedPageReader<InputBytes>,
        chunk: &ColumnChunkMetaData,
    ) -> Self {
        let optional = chunk.column_descr().max_def_level() > 0;
        PageSource { name, pages, physical: chunk.column_type(), optional, has_offsets: has_offsets(chunk) }
    }

    pub(super) fn next(&mut self) -> Result<Option<DecodablePage>, TableErrorKind> {
        let page = guarded(|| self.pages.get_next_page());
        let page = page.map_err(|problem| column_problem(self.name, problem))?;
        page.map(|page| self.prepare(page)).transpose()
    }

    fn prepare(&self, mut page: Page) -> Result<DecodablePage, TableErrorKind> {
        let problem = |problem: &str| column_problem(self.name, problem.to_owned());
        let too_short = || problem("a page ends too early");
        let encoding = page.encoding();
        let (buffer, levels, count) = match &mut page {
            Page::DictionaryPage { buf, num_values, .. } if self.has_offsets => {
                let texts = DictionaryTexts::read(buf, *num_values).ok_or_else(too_short)?;
                *buf = (0..*num_values).flat_map(u32::to_le_bytes).collect::<Vec<u8>>().into();
                return Ok(DecodablePage { page, texts: PageTexts::Dictionary(texts), values: None });
            }
            Page::DictionaryPage { .. } => {
                return Ok(DecodablePage { page, texts: PageTexts::None, values: None });
            }
            // Pages of the first version count their levels in front.
            Page::DataPage { buf, num_values, .. } => {
                let levels = match (self.optional, buf.first_chunk()) {
                    (true, Some(length)) => 4 + u64::from(u32::from_le_bytes(*length)),
                    (true, None) => return Err(too_short()),
                    (false, _) => 0,
                };
                (buf, levels, *num_values)
            }
            Page::DataPageV2 { buf, num_values, def_levels_byte_len, rep_levels_byte_len, .. } => {
                (buf, u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len), *num_values)
            }
        };
        let (before, values) =
            usize::try_from(levels).ok().and_then(|at| buffer.split_at_checked(at)).ok_or_else(too_short)?;
        let width = match self.physical {
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            _ => 1,
        };
        let mut texts = PageTexts::None;
        let mut number = None;
        match encoding {
            Encoding::PLAIN if self.has_offsets => {
                texts = PageTexts::Plain(buffer.slice_ref(values));
                let mut offsets = before.to_vec();
                write_offsets(values, &mut offsets).ok_or_else(too_short)?;
                number = Some((offsets.len() - before.len()) / size_of::<u32>());
                *buffer = offsets.into();
            }
            // Values of another size than they are read with would leave some.
            Encoding::PLAIN if width > 1 && !values.len().is_multiple_of(width) => return Err(too_short()),
            Encoding::PLAIN if width > 1 => number = Some(values.len() / width),
            Encoding::DELTA_LENGTH_BYTE_ARRAY if !claims_at_most(values, count, 1) => {
                return Err(problem("a page claims more strings than it has"));
            }
            // How much each string has in common with the one before, and how long the rest is.
            Encoding::DELTA_BYTE_ARRAY if !claims_at_most(values, count, 2) => {
                return Err(problem("a page claims more strings than it has"));
            }
            _ => {}
        }
        Ok(DecodablePage { page, texts, values: number })
    }
}

/// Appends the offset of each string, as the library reads integers.
fn write_offsets(texts: &[u8], offsets: &mut Vec<u8>) -> Option<()> {
    let mut at = 0;
    while at < texts.len() {
        offsets.extend_from_slice(&u32::try_from(at).ok()?.to_le_bytes());
        at = end_of_text(texts, at)?;
    }
    Some(())
}

/// Where the string behind the length at this offset ends, if it is all there.
#[inline]
fn end_of_text(texts: &[u8], at: usize) -> Option<usize> {
    let length = u32::from_le_bytes(*texts.get(at..)?.first_chunk()?) as usize;
    let end = at.checked_add(size_of::<u32>())?.checked_add(length)?;
    (end <= texts.len()).then_some(end)
}

/// The strings of a page, each behind its length.
struct PlainTexts<'p> {
    bytes: &'p [u8],
    /// The same bytes as a string, if they are ASCII: short ids are, with their lengths and all, and one check
    /// of a page takes a tenth of the time of a check per string.
    ascii: Option<&'p str>,
}

impl<'p> PlainTexts<'p> {
    fn new(bytes: &'p [u8]) -> Self {
        PlainTexts { bytes, ascii: if bytes.is_ascii() { str::from_utf8(bytes).ok() } else { None } }
    }

    /// The string at an offset; nothing if it is not UTF-8.
    #[inline]
    fn get(&self, at: usize) -> Option<&'p str> {
        let range = at + size_of::<u32>()..end_of_text(self.bytes, at)?;
        match self.ascii {
            Some(ascii) => ascii.get(range),
            None => str::from_utf8(self.bytes.get(range)?).ok(),
        }
    }
}

/// The strings of a dictionary, and which of them are not UTF-8.
#[derive(Default)]
pub(super) struct DictionaryTexts {
    column: TextColumn,
    invalid: Vec<usize>,
}

impl DictionaryTexts {
    /// Nothing if there are fewer. What is not UTF-8 is reported in the row that has it.
    fn read(page: &[u8], count: u32) -> Option<Self> {
        let (plain, mut texts) = (PlainTexts::new(page), DictionaryTexts::default());
        let mut at = 0;
        for number in 0..count as usize {
            let text = plain.get(at);
            at = end_of_text(page, at)?;
            if text.is_none() {
                texts.invalid.push(number);
            }
            texts.column.push(text.unwrap_or_default());
        }
        Some(texts)
    }

    #[inline]
    fn get(&self, number: usize) -> Option<&str> {
        let is_valid = number < self.column.len()
            && (self.invalid.is_empty() || self.invalid.binary_search(&number).is_err());
        is_valid.then(|| self.column.get(number))
    }

    fn len(&self) -> usize {
        self.column.len()
    }

    /// All of them, if all are UTF-8.
    fn all(&self) -> Option<Vec<&str>> {
        self.invalid.is_empty().then(|| (0..self.len()).map(|number| self.column.get(number)).collect())
    }
}

/// Whether none of the lists of lengths that stand before delta-encoded strings claims to be longer than this.
/// The library allocates memory for that many before it looks further; ten bytes can claim billions.
fn claims_at_most(values: &[u8], count: u32, lists: usize) -> bool {
    let mut thrift = ThriftReader::new(values);
    // A page of nulls may have no lengths at all.
    values.is_empty()
        || (0..lists).all(|list| {
            let claimed = claimed_length(&mut thrift, list + 1 < lists);
            claimed.is_some_and(|claimed| claimed <= u64::from(count))
        })
}

/// How many integers a delta-encoded list claims to have. `to_the_end` skips the list.
fn claimed_length(thrift: &mut ThriftReader<'_>, to_the_end: bool) -> Option<u64> {
    let (block, parts, count) = (thrift.varint()?, thrift.varint()?, thrift.varint()?);
    thrift.varint()?;
    if !to_the_end {
        return Some(count);
    }
    let part = block.checked_div(parts).filter(|part| *part > 0)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        thrift.varint()?;
        let mut widths = thrift.clone();
        thrift.skip_bytes(parts)?;
        for _ in 0..parts {
            let width = u64::from(widths.byte()?);
            if left > 0 {
                thrift.skip_bytes(width.checked_mul(part)? / 8)?;
            }
            left = left.saturating_sub(part);
        }
    }
    Some(count)
}

/// What a column holds; the words for it if it cannot be read.
pub(super) fn kind_of(column: &ColumnDescriptor) -> Result<ValueKind, String> {
    use ConvertedType as As;
    if column.max_rep_level() > 0 {
        return Err("lists or maps".to_owned());
    }
    let of_type = |name: &str| Err(format!("values of the type {name}"));
    // The library gives columns of each logical type the older name, too, if there is one: nanoseconds have none.
    if let Some(LogicalType::Time { .. } | LogicalType::Timestamp { .. }) = column.logical_type_ref() {
        return Err("times".to_owned());
    }
    match (column.physical_type(), column.converted_type()) {
        (physical, As::DECIMAL) => decimal(physical, column),
        (_, As::DATE) => Err("dates".to_owned()),
        (_, As::TIME_MILLIS | As::TIME_MICROS | As::TIMESTAMP_MILLIS | As::TIMESTAMP_MICROS)
        | (Type::INT96, _) => Err("times".to_owned()),
        (_, As::UINT_8 | As::UINT_16 | As::UINT_32 | As::UINT_64) => Ok(ValueKind::Unsigned),
        (_, As::JSON) => Ok(ValueKind::Json),
        (_, As::BSON) => of_type("BSON"),
        (Type::BOOLEAN, _) => Ok(ValueKind::Bool),
        (Type::INT32 | Type::INT64, _) => Ok(ValueKind::Int),
        (Type::FLOAT | Type::DOUBLE, _) => Ok(ValueKind::Float),
        (Type::BYTE_ARRAY, _) => Ok(ValueKind::Text),
        (Type::FIXED_LEN_BYTE_ARRAY, _) => of_type("FIXED_LEN_BYTE_ARRAY"),
    }
}

/// The longest decimal that is read, in bytes.
const LONGEST_DECIMAL: i32 = 16;

fn decimal(physical: Type, column: &ColumnDescriptor) -> Result<ValueKind, String> {
    let is_read = match physical {
        Type::INT32 | Type::INT64 => true,
        Type::FIXED_LEN_BYTE_ARRAY => (1..=LONGEST_DECIMAL).contains(&column.type_length()),
        _ => false,
    };
    match (is_read, column.type_scale()) {
        (true, 0) => Ok(ValueKind::Int),
        (true, _) => Ok(ValueKind::Decimal),
        (false, _) => Err("decimals of more than 38 digits".to_owned()),
    }
}
