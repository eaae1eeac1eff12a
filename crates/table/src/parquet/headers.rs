//! The headers of the pages of a column, checked before any page is decompressed.
//!
//! The header of a page holds its size and its number of cells. They are checked against the footer and the
//! limits first, because the library does not check them.

use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{Compression, Type};
use parquet::file::metadata::ColumnChunkMetaData;

use super::column::column_problem;
use crate::input::InputBytes;
use crate::{TableErrorKind, TableLimits};

/// A header is read in windows of these sizes, until it is whole; statistics can make it long.
const WINDOWS: [u64; 3] = [256, 1 << 14, 1 << 20];

/// How many items the lists of a row group may have: this many, or by the number of rows, or by their size.
const LEAST_ITEMS: u64 = 1 << 22;
const ITEMS_PER_ROW: u64 = 64;
const ITEMS_PER_BYTE: u64 = 4;

/// The number and the decompressed size of the pages of a file, counted over all threads, and their limits.
#[derive(Debug)]
pub(super) struct PageBudget {
    max_page: u64,
    max_pages: u64,
    max_decompressed: u64,
    pages: AtomicU64,
    decompressed: AtomicU64,
}

impl PageBudget {
    /// The limit on the decompressed size of all pages of a small file: about a second of work.
    const LEAST_DECOMPRESSED: u64 = 1 << 30;
    const DECOMPRESSED_PER_BYTE: u64 = 16;
    /// This many pages may be tiny; more of them must have this size on average.
    const LEAST_PAGES: u64 = 100_000;
    const BYTES_PER_PAGE: u64 = 512;

    pub(super) fn new(limits: &TableLimits, file_size: u64) -> Self {
        let by_memory = limits.max_memory.unwrap_or(0).saturating_mul(4);
        let by_size = file_size.saturating_mul(Self::DECOMPRESSED_PER_BYTE).max(Self::LEAST_DECOMPRESSED);
        PageBudget {
            max_page: limits.max_line,
            max_pages: Self::LEAST_PAGES.max(file_size / Self::BYTES_PER_PAGE),
            max_decompressed: by_size.max(by_memory),
            pages: AtomicU64::new(0),
            decompressed: AtomicU64::new(0),
        }
    }

    /// Counts bytes that come out of a page: decompressed, or decoded where that makes more of them.
    pub(super) fn decompress(&self, bytes: u64) -> Result<(), TableErrorKind> {
        let before = self.decompressed.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) > self.max_decompressed {
            true => Err(TableErrorKind::TooDense { limit: self.max_decompressed }),
            false => Ok(()),
        }
    }

    fn page(&self, name: &str) -> Result<(), TableErrorKind> {
        match self.pages.fetch_add(1, Ordering::Relaxed) >= self.max_pages {
            true => {
                let problem = format!("the file has more than {} pages, most of them tiny", self.max_pages);
                Err(column_problem(name, problem))
            }
            false => Ok(()),
        }
    }
}

/// The header of a page.
#[derive(Debug, PartialEq, Eq)]
struct PageHeader {
    is_dictionary: bool,
    uncompressed: u64,
    compressed: u64,
    /// How many cells or entries there are.
    values: u64,
    /// How long the header is.
    length: u64,
}

impl PageHeader {
    /// Nothing if the bytes end too early, or are no header.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut thrift = ThriftReader::new(bytes);
        let (mut last, mut kind) = (0, None);
        let (mut uncompressed, mut compressed) = (None, None);
        // By the field that they are in: first version, dictionary, second version.
        let mut values = [None; 3];
        while let Some((number, of_type)) = thrift.field(&mut last)? {
            match (number, of_type) {
                (1, I32) => kind = Some(thrift.int()?),
                (2, I32) => uncompressed = Some(thrift.int()?),
                (3, I32) => compressed = Some(thrift.int()?),
                (5, STRUCT) => values[0] = Some(count(&mut thrift)?),
                (7, STRUCT) => values[1] = Some(count(&mut thrift)?),
                (8, STRUCT) => values[2] = Some(count(&mut thrift)?),
                (1..=3 | 5 | 7 | 8, _) => return None,
                _ => thrift.skip(of_type)?,
            }
        }
        let values = match kind? {
            0 => values[0]?,
            2 => values[1]?,
            3 => values[2]?,
            // Pages of an index have no cells.
            _ => 0,
        };
        Some(PageHeader {
            is_dictionary: kind == Some(2),
            uncompressed: u64::try_from(uncompressed?).ok()?,
            compressed: u64::try_from(compressed?).ok()?,
            values: u64::try_from(values).ok()?,
            length: thrift.position() as u64,
        })
    }
}

/// The number of values, which is the first field of the headers of all kinds of pages.
fn count(thrift: &mut ThriftReader<'_>) -> Option<i64> {
    let (mut last, mut count) = (0, None);
    while let Some((number, of_type)) = thrift.field(&mut last)? {
        match (number, of_type) {
            (1, I32) => count = Some(thrift.int()?),
            _ => thrift.skip(of_type)?,
        }
    }
    count
}

/// Checks the page headers of a column of a row group, and returns the size of the largest page.
pub(super) fn largest_page(
    file: &mut InputBytes,
    chunk: &ColumnChunkMetaData,
    name: &str,
    rows: usize,
    work: &PageBudget,
) -> Result<u64, TableErrorKind> {
    let problem = |problem: &str| column_problem(name, problem.to_owned());
    // The crate panics at a negative one.
    let (offset, sizes) = (chunk.data_page_offset(), [chunk.compressed_size(), chunk.uncompressed_size()]);
    let numbers = sizes.into_iter().chain([offset, chunk.num_values()]);
    if numbers.chain(chunk.dictionary_page_offset()).any(|number| number < 0) {
        return Err(problem("its offsets or sizes are negative"));
    }
    let (start, length) = chunk.byte_range();
    let (mut at, end) = (start, start.checked_add(length).ok_or_else(|| problem("it is too large"))?);
    let (mut largest, mut cells, mut decompressed) = (0, 0u64, 0u64);
    while at < end {
        work.page(name)?;
        let header = read_header(file, at, end).map_err(TableErrorKind::Read)?;
        let header = header.ok_or_else(|| problem("the header of a page makes no sense"))?;
        let body = header.length.checked_add(header.compressed).filter(|body| *body <= end - at);
        at += body.ok_or_else(|| problem("a page goes beyond its column"))?;
        // The library does not look at the size of what is not compressed.
        if chunk.compression() == Compression::UNCOMPRESSED && header.uncompressed != header.compressed {
            return Err(problem("the header of a page contradicts itself"));
        }
        if header.uncompressed > work.max_page {
            let (column, bytes, limit) = (name.to_owned(), header.uncompressed, work.max_page);
            return Err(TableErrorKind::PageTooLarge { column, bytes, limit });
        }
        work.decompress(header.uncompressed)?;
        decompressed = decompressed.saturating_add(header.uncompressed);
        largest = largest.max(header.uncompressed);
        if !header.is_dictionary {
            cells = cells.saturating_add(header.values);
            continue;
        }
        let width = match chunk.column_type() {
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            _ => 1,
        };
        if header.values.saturating_mul(width) > header.uncompressed {
            return Err(problem("its dictionary claims more entries than it has bytes for"));
        }
    }
    if chunk.column_descr().max_rep_level() > 0 {
        // A list has any number of cells, but a few bytes must not claim millions of them.
        let most = LEAST_ITEMS.max(ITEMS_PER_ROW * rows as u64).max(ITEMS_PER_BYTE * decompressed);
        if cells < rows as u64 || cells > most {
            return Err(column_problem(name, format!("it has {cells} items in a row group of {rows} rows")));
        }
    } else if cells != rows as u64 {
        return Err(column_problem(name, format!("it has {cells} rows in a row group of {rows}")));
    }
    Ok(largest)
}

fn read_header(file: &mut InputBytes, at: u64, end: u64) -> std::io::Result<Option<PageHeader>> {
    let mut bytes = Vec::new();
    for window in WINDOWS {
        bytes.clear();
        file.seek(SeekFrom::Start(at))?;
        file.take(window.min(end - at)).read_to_end(&mut bytes)?;
        if let Some(header) = PageHeader::read(&bytes) {
            return Ok(Some(header));
        }
        if (bytes.len() as u64) < window {
            break;
        }
    }
    Ok(None)
}

/// How deep columns may be nested; those that are read are not nested at all.
const MAX_NESTING: usize = 64;
/// How many parts nested columns may have, for each column that there may be.
const PARTS_PER_COLUMN: u64 = 16;

/// The length of the footer and the magic bytes, at the end of a file.
const TAIL: usize = 8;
const MAGIC: &[u8; 4] = b"PAR1";

/// Refuses a footer that the library does not check. Other errors are left to the library.
pub(super) fn check(file: &mut InputBytes, limits: &TableLimits) -> Result<(), TableErrorKind> {
    let Some(length) = footer_length(file).map_err(TableErrorKind::Read)? else { return Ok(()) };
    let limit = limits.max_footer();
    if length > limit {
        return Err(TableErrorKind::FooterTooLarge { bytes: length, limit });
    }
    let mut footer = Vec::new();
    let start = SeekFrom::End(-(length as i64) - TAIL as i64);
    file.seek(start).map_err(TableErrorKind::Read)?;
    file.take(length).read_to_end(&mut footer).map_err(TableErrorKind::Read)?;
    let mut thrift = ThriftReader::new(&footer);
    let (mut last, mut leaves) = (0, None);
    while let Some((number, kind)) = thrift.field(&mut last).ok_or_else(no_sense)? {
        match (number, kind) {
            (2, LIST) => leaves = Some(read_schema(&mut thrift, limits)?),
            (4, LIST) => {
                let agree = groups_agree(&mut thrift, leaves.as_deref().unwrap_or_default());
                if !agree.ok_or_else(no_sense)? {
                    return Err(refused(
                        "a row group names or types its columns otherwise than the schema does",
                    ));
                }
                break;
            }
            _ => thrift.skip(kind).ok_or_else(no_sense)?,
        }
    }
    leaves.map(drop).ok_or_else(no_sense)
}

fn refused(problem: &str) -> TableErrorKind {
    TableErrorKind::parquet(problem)
}

fn no_sense() -> TableErrorKind {
    refused("its footer makes no sense")
}

/// The length of the footer; nothing if the file does not end as a Parquet file does, or is shorter than that.
fn footer_length(file: &mut InputBytes) -> std::io::Result<Option<u64>> {
    let size = file.size().unwrap_or(0);
    if size < TAIL as u64 {
        return Ok(None);
    }
    let mut tail = [0; TAIL];
    file.seek(SeekFrom::End(-(TAIL as i64)))?;
    file.read_exact(&mut tail)?;
    let (length, magic) = tail.split_at(TAIL / 2);
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte));
    Ok((magic == MAGIC && length <= size - TAIL as u64).then_some(length))
}

/// A part of the schema that holds values: the number of its type, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SchemaLeaf<'a> {
    kind: Option<i64>,
    name: &'a [u8],
}

/// The leaves of the schema, in order, if its shape is sound.
fn read_schema<'a>(
    thrift: &mut ThriftReader<'a>,
    limits: &TableLimits,
) -> Result<Vec<SchemaLeaf<'a>>, TableErrorKind> {
    let unsound = || refused("its schema makes no sense");
    let (count, kind) = thrift.list().ok_or_else(no_sense)?;
    if kind != STRUCT {
        return Err(no_sense());
    }
    let most_parts = (limits.max_columns as u64).saturating_mul(PARTS_PER_COLUMN);
    let mut leaves = Vec::new();
    // For each group that is open, how many of its children are still to come.
    let mut open: Vec<u64> = Vec::new();
    for at in 0..count {
        let (leaf, children) = part(thrift).ok_or_else(no_sense)?;
        match open.last_mut() {
            // The columns are the children of the first part, each with its own parts counted as one.
            _ if at == 0 && children > limits.max_columns as u64 => {
                return Err(TableErrorKind::TooManyColumns { limit: limits.max_columns });
            }
            Some(left) => *left -= 1,
            None if at > 0 => return Err(unsound()),
            None => {}
        }
        match children {
            0 => leaves.push(leaf),
            children => open.push(children),
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > MAX_NESTING || at >= most_parts {
            return Err(unsound());
        }
    }
    if open.is_empty() { Ok(leaves) } else { Err(unsound()) }
}

/// A part of the schema, and how many children it has.
fn part<'a>(thrift: &mut ThriftReader<'a>) -> Option<(SchemaLeaf<'a>, u64)> {
    let (mut last, mut children) = (0, 0);
    let mut leaf = SchemaLeaf { kind: None, name: &[] };
    while let Some((number, kind)) = thrift.field(&mut last)? {
        match (number, kind) {
            (1, I32) => leaf.kind = Some(thrift.int()?),
            (4, BINARY) => leaf.name = thrift.binary()?,
            (5, I32) => children = u64::try_from(thrift.int()?).ok()?,
            _ => thrift.skip(kind)?,
        }
    }
    Some((leaf, children))
}

/// Whether all row groups have the leaves of the schema; nothing if they cannot be read.
fn groups_agree(thrift: &mut ThriftReader<'_>, leaves: &[SchemaLeaf<'_>]) -> Option<bool> {
    let (groups, kind) = thrift.list()?;
    if kind != STRUCT {
        return None;
    }
    for _ in 0..groups {
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            if (number, kind) != (1, LIST) {
                thrift.skip(kind)?;
                continue;
            }
            let (columns, _) = thrift.list()?;
            if columns != leaves.len() as u64 {
                return Some(false);
            }
            for leaf in leaves {
                if !column_agrees(thrift, leaf)? {
                    return Some(false);
                }
            }
        }
    }
    Some(true)
}

/// Whether a column of a row group is a leaf of the schema. A field that a column omits agrees.
fn column_agrees(thrift: &mut ThriftReader<'_>, leaf: &SchemaLeaf<'_>) -> Option<bool> {
    let (mut last, mut agrees) = (0, true);
    while let Some((number, kind)) = thrift.field(&mut last)? {
        if (number, kind) != (3, STRUCT) {
            thrift.skip(kind)?;
            continue;
        }
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match (number, kind) {
                (1, I32) => agrees &= Some(thrift.int()?) == leaf.kind,
                (3, LIST) => {
                    let (parts, _) = thrift.list()?;
                    let mut name = leaf.name;
                    for _ in 0..parts {
                        name = thrift.binary()?;
                    }
                    agrees &= name == leaf.name;
                }
                _ => thrift.skip(kind)?,
            }
        }
    }
    Some(agrees)
}

/// Nested structures are skipped to this depth.
const MAX_DEPTH: u32 = 32;

/// The types of fields.
pub(super) const I32: u8 = 5;
const I64: u8 = 6;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Reads values from bytes. `None` is what cannot be read: the bytes end, or make no sense.
#[derive(Clone, Debug)]
pub(super) struct ThriftReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ThriftReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        ThriftReader { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn skip_bytes(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        (end <= self.bytes.len()).then(|| self.at = end)
    }

    /// A string or other bytes, behind their length.
    pub(super) fn binary(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?;
        let start = self.at;
        self.skip_bytes(length)?;
        self.bytes.get(start..self.at)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn int(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The next field of a structure: its number and type; nothing in it at the end. `last` is the number of
    /// the field before, 0 at the start.
    pub(super) fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *last = match byte >> 4 {
            0 => self.int()?,
            delta => *last + i64::from(delta),
        };
        Some(Some((*last, byte & 0xf)))
    }

    /// How many elements a list has, and of which type.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Some((count, byte & 0xf))
    }

    pub(super) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_within(kind, MAX_DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4 | I32 | I64 => drop(self.varint()?),
            7 => self.skip_bytes(8)?,
            BINARY => drop(self.binary()?),
            LIST | 10 => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    // Within a list a boolean has a byte.
                    self.skip_within(if kind <= 2 { 3 } else { kind }, depth)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_within(kind, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_pages() {
        // A data page of 300 bytes, 20 compressed, with a checksum and 7 cells.
        let bytes = [0x15, 0, 0x15, 0xd8, 4, 0x15, 40, 0x15, 99, 0x1c, 0x15, 14, 0x15, 0, 0, 0];
        let header =
            PageHeader { is_dictionary: false, uncompressed: 300, compressed: 20, values: 7, length: 16 };
        assert_eq!(PageHeader::read(&bytes), Some(header));
        for length in 0..bytes.len() {
            assert_eq!(PageHeader::read(&bytes[..length]), None, "{length}");
        }
        let mut negative = bytes;
        negative[6] = 41;
        assert_eq!(PageHeader::read(&negative), None);
    }

    #[test]
    fn the_work_of_all_pages_is_bounded() {
        let work = PageBudget::new(&TableLimits::default(), 50 << 20);
        assert!(work.decompress(PageBudget::LEAST_DECOMPRESSED).is_ok() && work.decompress(1).is_err());
        for _ in 0..work.max_pages {
            work.page("score").unwrap();
        }
        let Err(TableErrorKind::Parquet { column, problem }) = work.page("score") else { panic!() };
        let message = format!("the file has more than {} pages, most of them tiny", work.max_pages);
        assert_eq!((column, problem), (Some("score".to_owned()), message));
        let larger = TableLimits { max_memory: Some(1 << 30), ..TableLimits::default() };
        assert_eq!(PageBudget::new(&larger, 0).max_decompressed, 4 << 30);
    }
}

#[cfg(test)]
mod footer_tests {
    use super::*;

    /// The leaves of a schema with a part for each number of children.
    fn leaves(children: &[u8]) -> Result<usize, TableErrorKind> {
        let mut bytes = vec![0xfc, children.len() as u8];
        for count in children {
            bytes.extend([0x55, count * 2, 0]);
        }
        read_schema(&mut ThriftReader::new(&bytes), &TableLimits::default()).map(|leaves| leaves.len())
    }

    #[test]
    fn the_shape_of_a_schema() {
        let is_unsound = |children: &[u8]| matches!(leaves(children), Err(TableErrorKind::Parquet { .. }));
        assert_eq!(leaves(&[2, 0, 1, 0]).unwrap(), 2);
        assert_eq!(leaves(&[1, 0]).unwrap(), 1);
        assert_eq!(leaves(&[2, 1, 1, 0, 0]).unwrap(), 2);
        assert!(is_unsound(&[3, 0, 0]), "a part is missing");
        assert!(is_unsound(&[1, 0, 0]), "a part too many");
        assert!(is_unsound(&[60, 0]), "many parts are missing");
        assert!(is_unsound(&[1; 120]), "nested too deep");
    }
}

#[cfg(test)]
mod thrift_tests {
    use super::*;

    #[test]
    fn fields_are_read_and_skipped() {
        // 1: i32 = -3; 2: list of two structures; 40: binary; end.
        let bytes = [0x15, 5, 0x19, 0x2c, 0x15, 2, 0, 0x11, 0, 8, 80, 2, b'a', b'b', 0];
        let mut thrift = ThriftReader::new(&bytes);
        let mut last = 0;
        assert_eq!(thrift.field(&mut last), Some(Some((1, I32))));
        assert_eq!(thrift.int(), Some(-3));
        assert_eq!(thrift.field(&mut last), Some(Some((2, LIST))));
        thrift.skip(LIST).unwrap();
        assert_eq!(thrift.field(&mut last), Some(Some((40, 8))));
        thrift.skip(8).unwrap();
        assert_eq!(thrift.field(&mut last), Some(None));
        assert_eq!(thrift.position(), bytes.len());
        for length in 0..bytes.len() - 1 {
            let mut cut = ThriftReader::new(&bytes[..length]);
            assert_eq!(cut.skip(STRUCT), None, "{length}");
        }
    }

    #[test]
    fn nothing_is_skipped_without_end() {
        let deep = [0x1c; 100_000];
        assert_eq!(ThriftReader::new(&deep).skip(STRUCT), None);
        // Lists of lists of 2^60 elements.
        let lists = [0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f].repeat(40);
        assert_eq!(ThriftReader::new(&lists).skip(LIST), None);
        assert_eq!(ThriftReader::new(&[0xff; 20]).varint(), None);
    }
}
