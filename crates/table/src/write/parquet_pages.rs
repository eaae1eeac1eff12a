//! The pages of a column of Parquet, each with its checksum.
//!
//! The library verifies checksums of pages, but writes none; so the pages that it makes get their headers here.

use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::{ParquetError, Result};

/// Takes the pages of one column, headers and all.
#[derive(Debug)]
pub(super) struct ChecksummedPages<'a> {
    /// Where they go.
    pub(super) bytes: &'a mut Vec<u8>,
}

impl PageWriter for ChecksummedPages<'_> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let header = header(&page)?;
        let bytes = &mut *self.bytes;
        let mut spec = PageWriteSpec::new();
        spec.page_type = page.page_type();
        spec.uncompressed_size = page.uncompressed_size() + header.len();
        spec.compressed_size = page.compressed_size() + header.len();
        spec.num_values = page.num_values();
        spec.offset = bytes.len() as u64;
        spec.bytes_written = spec.compressed_size as u64;
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(page.data());
        Ok(spec)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The header of a page, in Thrift's compact protocol. Statistics of pages are in the index of the file.
fn header(page: &CompressedPage) -> Result<Vec<u8>> {
    let size = |bytes: usize| {
        i32::try_from(bytes).map_err(|_| ParquetError::General(format!("a page of {bytes} bytes")))
    };
    let mut inner = ThriftFields::default();
    let (kind, field) = match page.compressed_page() {
        Page::DataPage { num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
            inner.int(1, num_values.cast_signed()).int(2, *encoding as i32);
            inner.int(3, *def_level_encoding as i32).int(4, *rep_level_encoding as i32);
            (0, 5)
        }
        Page::DictionaryPage { num_values, encoding, is_sorted, .. } => {
            inner.int(1, num_values.cast_signed()).int(2, *encoding as i32).bool(3, *is_sorted);
            (2, 7)
        }
        Page::DataPageV2 {
            num_values,
            encoding,
            num_nulls,
            num_rows,
            def_levels_byte_len,
            rep_levels_byte_len,
            is_compressed,
            ..
        } => {
            inner.int(1, num_values.cast_signed()).int(2, num_nulls.cast_signed());
            inner.int(3, num_rows.cast_signed()).int(4, *encoding as i32);
            inner.int(5, def_levels_byte_len.cast_signed()).int(6, rep_levels_byte_len.cast_signed());
            inner.bool(7, *is_compressed);
            (3, 8)
        }
    };
    let checksum = crc32fast::hash(page.data()).cast_signed();
    let mut header = ThriftFields::default();
    header.int(1, kind).int(2, size(page.uncompressed_size())?).int(3, size(page.compressed_size())?);
    header.int(4, checksum).structure(field, inner);
    Ok(header.end())
}

/// The fields of a structure, in the order of their numbers.
#[derive(Default)]
struct ThriftFields {
    bytes: Vec<u8>,
    last: u8,
}

impl ThriftFields {
    /// The number of a field, as the distance from the one before, and its type.
    fn begin(&mut self, number: u8, kind: u8) {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn int(&mut self, number: u8, value: i32) -> &mut Self {
        self.begin(number, 5);
        let mut left = (value << 1 ^ value >> 31).cast_unsigned();
        while left >= 0x80 {
            self.bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.bytes.push(left as u8);
        self
    }

    fn bool(&mut self, number: u8, value: bool) -> &mut Self {
        self.begin(number, if value { 1 } else { 2 });
        self
    }

    fn structure(&mut self, number: u8, inner: ThriftFields) -> &mut Self {
        self.begin(number, 12);
        self.bytes.extend(inner.end());
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}
