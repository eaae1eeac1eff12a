//! The content of a member, checked.

use std::fmt;
use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;
use zstd::zstd_safe::{DCtx, ResetDirective};

use super::format::{self, DEFLATE, ENCRYPTED, Entry, LOCAL_LEN, STORED, ZSTD};
use super::source::Source;
use crate::eval::error::{LogError, LogErrorKind, Result};

/// What is read beyond a header of the expected length, so that one call nearly always gets all.
const SLACK: u64 = 64;
/// How much memory a file can make us ask for by a mere claim.
const FIRST_RESERVE: u64 = 1 << 20;

/// Unpacks members. Keep one per thread: it holds a context and buffers, which are reused.
pub(in crate::eval) struct Unpacker {
    context: DCtx<'static>,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    /// The most that a member may have unpacked.
    limit: u64,
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacker").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Unpacker {
    pub(in crate::eval) fn new(limit: u64) -> Self {
        Unpacker { context: DCtx::create(), packed: Vec::new(), unpacked: Vec::new(), limit }
    }

    /// The whole content; an error if it is not what the directory says to the last bit.
    pub(in crate::eval) fn unpack(&mut self, source: &Source, name: &str, entry: &Entry) -> Result<&[u8]> {
        self.whole(source, name, entry).map_err(|error| error.in_member(name))?;
        Ok(&self.unpacked)
    }

    /// The first bytes of the content, at most so many, **unchecked**.
    pub(in crate::eval) fn unpack_head(
        &mut self,
        source: &Source,
        name: &str,
        entry: &Entry,
        bytes: u64,
    ) -> Result<&[u8]> {
        // Compressed bytes give at least as many unpacked ones but for a few of framing.
        let packed = Entry { compressed: entry.compressed.min(bytes + SLACK), ..*entry };
        let head = self.packed_data(source, name, &packed);
        let data = head.map_err(|error| error.in_member(name))?;
        // The end is cut off, so the error that comes after the last good byte is no error.
        let _cut = self.decompress(entry.method, data, bytes.min(entry.unpacked));
        Ok(&self.unpacked)
    }

    fn whole(&mut self, source: &Source, name: &str, entry: &Entry) -> Result<()> {
        if entry.unpacked > self.limit {
            return Err(LogErrorKind::TooLarge { bytes: entry.unpacked, limit: self.limit }.into());
        }
        let data = self.packed_data(source, name, entry)?;
        // One byte more than promised is asked for, to see that there is none.
        self.decompress(entry.method, data, entry.unpacked.saturating_add(1))?;
        let found = self.unpacked.len() as u64;
        if found != entry.unpacked {
            let problem = format!("the content has not the {} bytes that it should have", entry.unpacked);
            return Err(LogErrorKind::Damaged(problem).into());
        }
        if crc32fast::hash(&self.unpacked) != entry.crc {
            return Err(LogErrorKind::damaged("the content does not match its checksum").into());
        }
        Ok(())
    }

    /// Reads header and data into the buffer, and says where in it the data is.
    fn packed_data(&mut self, source: &Source, name: &str, entry: &Entry) -> Result<std::ops::Range<usize>> {
        if entry.flags & ENCRYPTED != 0 {
            return Err(LogErrorKind::damaged("it is encrypted").into());
        }
        let wanted = LOCAL_LEN as u64 + name.len() as u64 + SLACK + entry.compressed;
        source.read_up_to(entry.offset, wanted, &mut self.packed).map_err(LogErrorKind::Read)?;
        let no_header = || LogErrorKind::damaged("there is no member where the directory says");
        let header = format::parse_local(&self.packed).ok_or_else(no_header)?;
        let name_end = LOCAL_LEN + header.name;
        if self.packed.get(LOCAL_LEN..name_end) != Some(name.as_bytes())
            || header.entry.method != entry.method
        {
            return Err(LogErrorKind::damaged("another member is where the directory says").into());
        }
        let start = name_end + header.extra;
        let compressed = usize::try_from(entry.compressed).map_err(|_| no_header())?;
        let end = start.checked_add(compressed).ok_or_else(no_header)?;
        if self.packed.len() < end {
            source.read(entry.offset, end as u64, &mut self.packed).map_err(LogErrorKind::Read)?;
        }
        Ok(start..end)
    }

    fn decompress(&mut self, method: u16, data: std::ops::Range<usize>, at_most: u64) -> Result<()> {
        let data = self.packed.get(data).unwrap_or_default();
        self.unpacked.clear();
        self.unpacked.reserve(usize::try_from(at_most.min(FIRST_RESERVE)).unwrap_or(0));
        let read = match method {
            STORED => fill(&mut self.unpacked, data, at_most),
            DEFLATE => fill(&mut self.unpacked, DeflateDecoder::new(data), at_most),
            ZSTD => {
                // A context may be left in the middle of a frame by the member before.
                let reset = self.context.reset(ResetDirective::SessionOnly);
                reset.map_err(|_| LogErrorKind::damaged("the decompressor failed"))?;
                fill(&mut self.unpacked, ZstdDecoder::with_context(data, &mut self.context), at_most)
            }
            other => return Err(LogErrorKind::Method(other).into()),
        };
        read.map_err(|error| LogError::from(LogErrorKind::Damaged(format!("cannot unpack: {error}"))))
    }
}

fn fill(into: &mut Vec<u8>, from: impl Read, at_most: u64) -> io::Result<()> {
    from.take(at_most).read_to_end(into).map(drop)
}
