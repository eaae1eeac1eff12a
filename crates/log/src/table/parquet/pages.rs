//! Columns in the encodings that nearly all files have, page by page and without a copy per cell.
//!
//! The library hands out every text as a counted reference, which takes three times as long as all the
//! rest of reading a table. So plain and dictionary-encoded pages are decoded here, straight into the
//! columns of the result; the library does the rest: it finds and decompresses the pages, and columns in
//! other encodings are its own ([`CellReader`](super::column::Cells)).

use errorbar_core::TextColumn;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;

use super::column::{ParquetCell, column_problem, guarded};
use super::memory_use::ColumnMemory;
use super::rle::{self, RleDecoder};
use crate::table::TableErrorKind;

/// Takes the cells of a column, in order.
pub(super) trait CellSink: Send {
    /// How many bytes it holds.
    fn held(&self) -> u64;

    fn take(&mut self, cell: ParquetCell<'_>) -> Result<(), TableErrorKind>;

    /// Takes the cells of all codes at once, if it has a fast way to, and if all is well with them: each
    /// code points to an entry of the dictionary. False if nothing was taken.
    fn take_coded(&mut self, _dictionary: &Dictionary, _codes: &[u32]) -> bool {
        false
    }
}

/// How many cells are decoded at once: a page of a few bytes can have millions.
const BATCH: usize = 1 << 16;

/// Whether a column is in the encodings that are read here.
pub(super) fn is_simple(chunk: &ColumnChunkMetaData) -> bool {
    let known = |encoding: Encoding| {
        matches!(
            encoding,
            Encoding::PLAIN | Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY | Encoding::RLE
        )
    };
    chunk.column_type() != Type::BOOLEAN && chunk.encodings().all(known)
}

/// A column of a row group.
pub(super) struct ColumnPages<'a> {
    pub(super) name: &'a str,
    pub(super) physical: Type,
    pub(super) unsigned: bool,
    /// Whether cells can be null.
    pub(super) optional: bool,
    /// How many rows there are at most.
    pub(super) rows: usize,
    /// Whether the next page is read while one is decoded.
    pub(super) read_ahead: bool,
    /// What is held of this column.
    pub(super) held: ColumnMemory<'a>,
}

impl ColumnPages<'_> {
    /// Gives all cells to the sink, counting them in `row`.
    pub(super) fn read(
        &self,
        pages: &mut dyn PageReader,
        row: &mut usize,
        sink: &mut impl CellSink,
    ) -> Result<(), TableErrorKind> {
        let mut decoding = ColumnState::default();
        let mut next = self.next(pages)?;
        while let Some(page) = next {
            if !self.read_ahead {
                self.take(&page, &mut decoding, row, sink)?;
                next = self.next(pages)?;
                continue;
            }
            // The next page is decompressed meanwhile, if a thread has nothing else to do.
            let (taken, ahead) =
                rayon::join(|| self.take(&page, &mut decoding, row, sink), || self.next(pages));
            taken?;
            next = ahead?;
        }
        Ok(())
    }

    fn next(&self, pages: &mut dyn PageReader) -> Result<Option<Page>, TableErrorKind> {
        guarded(|| pages.get_next_page()).map_err(|problem| self.problem(problem))
    }

    fn take(
        &self,
        page: &Page,
        decoding: &mut ColumnState,
        row: &mut usize,
        sink: &mut impl CellSink,
    ) -> Result<(), TableErrorKind> {
        let data = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                decoding.dictionary = self.dictionary(buf, *num_values as usize)?;
                return Ok(());
            }
            Page::DataPage { buf, num_values, encoding, .. } => {
                let (levels, values) = self.split(buf)?;
                DataPage { levels, values, count: *num_values as usize, encoding: *encoding }
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let (repetition, rest) = self.cut(buf, *rep_levels_byte_len as usize)?;
                if !repetition.is_empty() {
                    return Err(self.problem("it has lists".to_owned()));
                }
                let (levels, values) = self.cut(rest, *def_levels_byte_len as usize)?;
                DataPage { levels, values, count: *num_values as usize, encoding: *encoding }
            }
        };
        // A page cannot have more cells than are left, so what it claims bounds what is decoded.
        if data.count > self.rows.saturating_sub(*row) {
            return Err(self.problem(format!("it has more than {} rows in its row group", self.rows)));
        }
        self.page(&data, decoding, row, sink)
    }

    fn problem(&self, problem: String) -> TableErrorKind {
        column_problem(self.name, problem)
    }

    fn too_short(&self) -> TableErrorKind {
        self.problem("a page ends too early".to_owned())
    }

    /// The levels and the values of a page of the first version, which counts its levels in front.
    fn split<'p>(&self, page: &'p [u8]) -> Result<(&'p [u8], &'p [u8]), TableErrorKind> {
        if !self.optional {
            return Ok((&[], page));
        }
        let (length, rest) = page.split_first_chunk().ok_or_else(|| self.too_short())?;
        self.cut(rest, u32::from_le_bytes(*length) as usize)
    }

    fn cut<'p>(&self, bytes: &'p [u8], at: usize) -> Result<(&'p [u8], &'p [u8]), TableErrorKind> {
        bytes.split_at_checked(at).ok_or_else(|| self.too_short())
    }

    fn dictionary(&self, page: &[u8], count: usize) -> Result<Dictionary, TableErrorKind> {
        let dictionary = match self.physical {
            Type::INT32 => ints32(page, count, self.unsigned).map(|ints| Dictionary::Ints(ints.collect())),
            Type::INT64 => ints64(page, count, self.unsigned).map(|ints| Dictionary::Ints(ints.collect())),
            Type::FLOAT => floats(page, count).map(|floats| Dictionary::Floats(floats.collect())),
            Type::DOUBLE => doubles(page, count).map(|doubles| Dictionary::Floats(doubles.collect())),
            _ => Some(Dictionary::Texts(self.texts(page, count)?)),
        };
        dictionary.ok_or_else(|| self.too_short())
    }

    /// The texts of a dictionary. What is not UTF-8 is nothing, and reported in the row that has it.
    fn texts(&self, page: &[u8], count: usize) -> Result<DictionaryTexts, TableErrorKind> {
        let mut plain = PlainTexts::new(page);
        let mut texts = DictionaryTexts::default();
        for at in 0..count {
            let text = plain.next().ok_or_else(|| self.too_short())?;
            if text.is_none() {
                texts.invalid.push(at);
            }
            texts.column.push(text.unwrap_or_default());
        }
        Ok(texts)
    }

    fn not_utf8(&self) -> TableErrorKind {
        TableErrorKind::InvalidUtf8 { column: Some(self.name.to_owned()) }
    }

    fn page(
        &self,
        data: &DataPage<'_>,
        decoding: &mut ColumnState,
        row: &mut usize,
        sink: &mut impl CellSink,
    ) -> Result<(), TableErrorKind> {
        let ColumnState { dictionary, levels, codes } = decoding;
        let has_levels = self.optional && !rle::is_run_of_ones(data.levels, data.count);
        let mut level_decoder = RleDecoder::new(if has_levels { data.levels } else { &[] }, 1);
        let mut values = PageValues::new(data, self)?;
        let mut left = data.count;
        while left > 0 {
            let count = left.min(BATCH);
            left -= count;
            levels.clear();
            let mut present = count;
            if has_levels {
                let read = level_decoder.as_mut().and_then(|decoder| decoder.read(count, levels));
                read.ok_or_else(|| self.too_short())?;
                present = levels.iter().map(|level| *level as usize).sum();
            }
            let mut cells = CellFeed {
                pages: self,
                levels: levels.iter(),
                has_levels: present != count,
                row: &mut *row,
                sink: &mut *sink,
            };
            match &mut values {
                PageValues::Plain(bytes) => self.plain(bytes, present, &mut cells)?,
                PageValues::Texts(texts) => cells.give_texts(texts, present)?,
                PageValues::Coded(packed) => {
                    codes.clear();
                    // A page of nulls may have no values at all.
                    if present > 0 {
                        let read = packed.as_mut().and_then(|packed| packed.read(present, codes));
                        read.ok_or_else(|| self.too_short())?;
                    }
                    self.coded(dictionary, codes, &mut cells)?;
                }
            }
            self.held.grow(sink.held())?;
        }
        // Values of another size than they are read with would leave some.
        match values {
            PageValues::Plain([]) | PageValues::Coded(_) => Ok(()),
            PageValues::Texts(texts) if texts.is_at_end() => Ok(()),
            PageValues::Plain(_) | PageValues::Texts(_) => {
                Err(self.problem("a page has more bytes than its cells take".to_owned()))
            }
        }
    }

    /// Numbers one after the other.
    fn plain(
        &self,
        bytes: &mut &[u8],
        count: usize,
        cells: &mut CellFeed<'_, impl CellSink>,
    ) -> Result<(), TableErrorKind> {
        let width = match self.physical {
            Type::INT32 | Type::FLOAT => 4,
            _ => 8,
        };
        let (now, rest) = self.cut(bytes, count.saturating_mul(width))?;
        *bytes = rest;
        let too_short = || self.too_short();
        match self.physical {
            Type::INT32 => {
                let ints = ints32(now, count, self.unsigned).ok_or_else(too_short)?;
                cells.give(ints.map(|int| self.int(int)))
            }
            Type::INT64 => {
                let ints = ints64(now, count, self.unsigned).ok_or_else(too_short)?;
                cells.give(ints.map(|int| self.int(int)))
            }
            Type::FLOAT => cells.give(floats(now, count).ok_or_else(too_short)?.map(ParquetCell::Float)),
            _ => cells.give(doubles(now, count).ok_or_else(too_short)?.map(ParquetCell::Float)),
        }
    }

    /// Cells that point to entries of the dictionary.
    fn coded(
        &self,
        dictionary: &Dictionary,
        codes: &[u32],
        cells: &mut CellFeed<'_, impl CellSink>,
    ) -> Result<(), TableErrorKind> {
        let all_known = codes.iter().fold(0, |most, code| most.max(*code)) < dictionary.len();
        // All at once looks at the whole dictionary, which does not pay for a few cells.
        let are_many = codes.len() >= dictionary.len() as usize / 8;
        if all_known && are_many && !cells.has_levels && cells.sink.take_coded(dictionary, codes) {
            *cells.row += codes.len();
            return Ok(());
        }
        let beyond = |_| self.problem("a cell points beyond the dictionary".to_owned());
        match dictionary {
            Dictionary::None if codes.is_empty() => cells.nulls(),
            Dictionary::None => Err(self.problem("its dictionary is missing".to_owned())),
            Dictionary::Ints(ints) => {
                cells.look_up(codes, beyond, |at| ints.get(at).map(|int| self.int(*int)))
            }
            Dictionary::Floats(floats) => {
                cells.look_up(codes, beyond, |at| floats.get(at).map(|f| ParquetCell::Float(*f)))
            }
            Dictionary::Texts(texts) => {
                let problem = |at| if at < texts.column.len() { self.not_utf8() } else { beyond(at) };
                cells.look_up(codes, problem, |at| texts.get(at).map(ParquetCell::Text))
            }
        }
    }

    #[inline]
    fn int<'c>(&self, int: i64) -> ParquetCell<'c> {
        if self.unsigned { ParquetCell::Unsigned(int.cast_unsigned()) } else { ParquetCell::Int(int) }
    }
}

/// What stays from page to page: the dictionary, and memory to work with.
#[derive(Default)]
struct ColumnState {
    dictionary: Dictionary,
    levels: Vec<u32>,
    codes: Vec<u32>,
}

/// What a data page holds.
struct DataPage<'p> {
    levels: &'p [u8],
    values: &'p [u8],
    /// How many cells there are, nulls included.
    count: usize,
    encoding: Encoding,
}

/// The values of a data page, as far as they are not yet given.
enum PageValues<'p> {
    Plain(&'p [u8]),
    Texts(PlainTexts<'p>),
    /// Nothing if there is not even a width.
    Coded(Option<RleDecoder<'p>>),
}

impl<'p> PageValues<'p> {
    fn new(data: &DataPage<'p>, pages: &ColumnPages<'_>) -> Result<Self, TableErrorKind> {
        match (data.encoding, pages.physical) {
            (Encoding::PLAIN, Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE) => {
                Ok(PageValues::Plain(data.values))
            }
            (Encoding::PLAIN, _) => Ok(PageValues::Texts(PlainTexts::new(data.values))),
            (Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY, _) => Ok(PageValues::Coded(
                data.values
                    .split_first()
                    .and_then(|(width, packed)| RleDecoder::new(packed, u32::from(*width))),
            )),
            (other, _) => {
                let problem = format!("a page has the encoding {other}, which the file does not name");
                Err(pages.problem(problem))
            }
        }
    }
}

/// The values that cells of the pages after it point to.
#[derive(Default)]
pub(super) enum Dictionary {
    #[default]
    None,
    /// Also those without a sign, as their bits.
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Texts(DictionaryTexts),
}

/// The texts of a dictionary, and which of them are not UTF-8.
#[derive(Default)]
pub(super) struct DictionaryTexts {
    column: TextColumn,
    invalid: Vec<usize>,
}

impl DictionaryTexts {
    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        let is_valid =
            at < self.column.len() && (self.invalid.is_empty() || self.invalid.binary_search(&at).is_err());
        is_valid.then(|| self.column.get(at))
    }

    /// All of them, if all are UTF-8.
    pub(super) fn all(&self) -> Option<Vec<&str>> {
        self.invalid.is_empty().then(|| (0..self.column.len()).map(|at| self.column.get(at)).collect())
    }
}

impl Dictionary {
    fn len(&self) -> u32 {
        let entries = match self {
            Dictionary::None => 0,
            Dictionary::Ints(ints) => ints.len(),
            Dictionary::Floats(floats) => floats.len(),
            Dictionary::Texts(texts) => texts.column.len(),
        };
        u32::try_from(entries).unwrap_or(u32::MAX)
    }
}

/// Gives values to the sink, and nulls where the levels say so.
struct CellFeed<'f, S> {
    pages: &'f ColumnPages<'f>,
    levels: std::slice::Iter<'f, u32>,
    has_levels: bool,
    row: &'f mut usize,
    sink: &'f mut S,
}

impl<S: CellSink> CellFeed<'_, S> {
    #[inline(always)]
    fn cell(&mut self, cell: ParquetCell<'_>) -> Result<(), TableErrorKind> {
        if self.has_levels {
            self.nulls()?;
        }
        self.sink.take(cell)?;
        *self.row += 1;
        Ok(())
    }

    /// The nulls up to the next value.
    fn nulls(&mut self) -> Result<(), TableErrorKind> {
        while self.levels.next() == Some(&0) {
            self.sink.take(ParquetCell::Null)?;
            *self.row += 1;
        }
        Ok(())
    }

    fn give<'v>(&mut self, cells: impl Iterator<Item = ParquetCell<'v>>) -> Result<(), TableErrorKind> {
        for cell in cells {
            self.cell(cell)?;
        }
        self.nulls()
    }

    fn give_texts(&mut self, texts: &mut PlainTexts<'_>, count: usize) -> Result<(), TableErrorKind> {
        for _ in 0..count {
            let text = texts.next().ok_or_else(|| self.pages.too_short())?;
            self.cell(ParquetCell::Text(text.ok_or_else(|| self.pages.not_utf8())?))?;
        }
        self.nulls()
    }

    fn look_up<'v>(
        &mut self,
        codes: &[u32],
        problem: impl Fn(usize) -> TableErrorKind,
        value: impl Fn(usize) -> Option<ParquetCell<'v>>,
    ) -> Result<(), TableErrorKind> {
        for &code in codes {
            self.cell(value(code as usize).ok_or_else(|| problem(code as usize))?)?;
        }
        self.nulls()
    }
}

/// Texts one after the other, each with its length in front.
struct PlainTexts<'p> {
    bytes: &'p [u8],
    /// The same bytes as text, where that is certain from the start.
    ascii: Option<&'p str>,
    at: usize,
}

impl<'p> PlainTexts<'p> {
    fn new(bytes: &'p [u8]) -> Self {
        // Short ids in plain letters are ASCII with their lengths and all, and checked at once.
        let ascii = if bytes.is_ascii() { str::from_utf8(bytes).ok() } else { None };
        PlainTexts { bytes, ascii, at: 0 }
    }

    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next text: nothing if the bytes end too early, and nothing in it if it is not UTF-8.
    #[inline]
    fn next(&mut self) -> Option<Option<&'p str>> {
        let length = u32::from_le_bytes(*self.bytes.get(self.at..)?.first_chunk()?) as usize;
        let start = self.at + 4;
        let end = start.checked_add(length)?;
        let text = self.bytes.get(start..end)?;
        self.at = end;
        Some(match self.ascii {
            Some(ascii) => ascii.get(start..end),
            None => str::from_utf8(text).ok(),
        })
    }
}

fn ints32(bytes: &[u8], count: usize, unsigned: bool) -> Option<impl Iterator<Item = i64>> {
    let ints = bytes.as_chunks().0.get(..count)?;
    Some(ints.iter().map(move |int| {
        let int = i32::from_le_bytes(*int);
        if unsigned { i64::from(int.cast_unsigned()) } else { i64::from(int) }
    }))
}

fn ints64(bytes: &[u8], count: usize, _: bool) -> Option<impl Iterator<Item = i64>> {
    Some(bytes.as_chunks().0.get(..count)?.iter().map(|int| i64::from_le_bytes(*int)))
}

fn floats(bytes: &[u8], count: usize) -> Option<impl Iterator<Item = f64>> {
    Some(bytes.as_chunks().0.get(..count)?.iter().map(|float| f64::from(f32::from_le_bytes(*float))))
}

fn doubles(bytes: &[u8], count: usize) -> Option<impl Iterator<Item = f64>> {
    Some(bytes.as_chunks().0.get(..count)?.iter().map(|double| f64::from_le_bytes(*double)))
}
