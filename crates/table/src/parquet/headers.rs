//! The headers of the pages of a column, checked before any page is decompressed.
//!
//! The header of a page holds its size and its number of cells. They are checked against the footer and the
//! limits first, because the library does not check them.

use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::{Compression, Type};
use parquet::file::metadata::ColumnChunkMetaData;

use super::column::column_problem;
use super::thrift::{I32, STRUCT, ThriftReader};
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
        let Err(TableErrorKind::ParquetColumn { column, problem }) = work.page("score") else { panic!() };
        let message = format!("the file has more than {} pages, most of them tiny", work.max_pages);
        assert_eq!((column, problem), ("score".to_owned(), message));
        let larger = TableLimits { max_memory: Some(1 << 30), ..TableLimits::default() };
        assert_eq!(PageBudget::new(&larger, 0).max_decompressed, 4 << 30);
    }
}
