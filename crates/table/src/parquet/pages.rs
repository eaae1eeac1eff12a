//! The pages of a column, checked and made ready for the library to decode.
//!
//! The library hands out every string as a counted reference, which takes three times as long as all the
//! rest of reading a table. So it gets integers instead of strings: a page of strings becomes one of the
//! offsets of its strings, a dictionary of strings one of their numbers. Nulls, dictionaries and runs are decoded
//! by the library as in any column of integers, and a string is copied once, from its page to the column.

use bytes::Bytes;
use errorbar_core::engine::TextColumn;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::column::{column_problem, guarded};
use super::thrift::ThriftReader;
use crate::TableErrorKind;
use crate::input::InputBytes;

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
pub(super) struct PlainTexts<'p> {
    bytes: &'p [u8],
    /// The same bytes as a string, if they are ASCII: short ids are, with their lengths and all, and one check
    /// of a page takes a tenth of the time of a check per string.
    ascii: Option<&'p str>,
}

impl<'p> PlainTexts<'p> {
    pub(super) fn new(bytes: &'p [u8]) -> Self {
        PlainTexts { bytes, ascii: if bytes.is_ascii() { str::from_utf8(bytes).ok() } else { None } }
    }

    /// The same for one string, without a look at the whole page.
    pub(super) fn for_one(bytes: &'p [u8]) -> Self {
        PlainTexts { bytes, ascii: None }
    }

    /// The string at an offset; nothing if it is not UTF-8.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&'p str> {
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
    pub(super) fn get(&self, number: usize) -> Option<&str> {
        let is_valid = number < self.column.len()
            && (self.invalid.is_empty() || self.invalid.binary_search(&number).is_err());
        is_valid.then(|| self.column.get(number))
    }

    pub(super) fn len(&self) -> usize {
        self.column.len()
    }

    /// All of them, if all are UTF-8.
    pub(super) fn all(&self) -> Option<Vec<&str>> {
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
