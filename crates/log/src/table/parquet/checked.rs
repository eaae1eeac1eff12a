//! Pages in delta encodings, checked before the library makes room for what they claim.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use super::thrift::ThriftReader;

/// Pages from another reader, none of which claims more texts than it has cells.
///
/// Texts in delta encodings begin with their lengths, and those with how many there are. The library makes
/// room for that many before it looks further; ten bytes can claim billions.
pub(super) struct CheckedPages<P> {
    pages: P,
    /// Whether cells can be null.
    optional: bool,
}

impl<P: PageReader> CheckedPages<P> {
    pub(super) fn new(pages: P, optional: bool) -> Self {
        CheckedPages { pages, optional }
    }

    fn check(&self, page: &Page) -> Result<()> {
        let (values, count, encoding) = match page {
            Page::DataPage { buf, num_values, encoding, .. } => {
                let levels = match (self.optional, buf.first_chunk()) {
                    (true, Some(length)) => 4 + u64::from(u32::from_le_bytes(*length)),
                    _ => 0,
                };
                (usize::try_from(levels).ok().and_then(|levels| buf.get(levels..)), *num_values, *encoding)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = def_levels_byte_len.saturating_add(*rep_levels_byte_len);
                (buf.get(levels as usize..), *num_values, *encoding)
            }
            Page::DictionaryPage { .. } => return Ok(()),
        };
        let lists = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            // How much each text has in common with the one before, and how long the rest is.
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let mut thrift = ThriftReader::new(values.unwrap_or_default());
        for list in 0..lists {
            match lengths(&mut thrift, list + 1 < lists) {
                Some(claimed) if claimed <= u64::from(count) => {}
                // A page of nulls may have no lengths at all.
                None if values.is_none_or(<[u8]>::is_empty) => {}
                _ => return Err(ParquetError::General("a page claims more texts than it has".to_owned())),
            }
        }
        Ok(())
    }
}

/// How many integers a delta-encoded list claims to have. It is gone past to its end if that is wanted.
fn lengths(thrift: &mut ThriftReader<'_>, to_the_end: bool) -> Option<u64> {
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

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}
