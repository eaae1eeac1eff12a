//! Members, made ready to be appended.

use std::fmt;
use std::io::{self, Write};

use zstd::bulk::Compressor;
use zstd::stream::write::Encoder as ZstdEncoder;

use super::format::{Entry, ZSTD};
use crate::eval::error::{LogErrorKind, Result};

/// The level that the reference compresses with.
const LEVEL: i32 = 3;
/// Beyond this a size does not fit its 32 bits in front of the data.
const MAX_MEMBER: u64 = u32::MAX as u64 - 1;
const MAX_NAME: u64 = u16::MAX as u64;

/// A member of a log, complete in memory: header, compressed data and what the directory says about it.
#[derive(Clone, Debug)]
pub struct Member {
    pub(in crate::eval) name: String,
    /// The local header and the data.
    pub(in crate::eval) bytes: Vec<u8>,
    /// Its offset is known when it is appended.
    pub(in crate::eval) entry: Entry,
}

impl Member {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes the member takes in the file.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Never: a member has a header at least.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn new(name: &str, compressed: &[u8], crc: u32, unpacked: u64) -> Result<Self> {
        let name_len = name.len() as u64;
        if name_len > MAX_NAME {
            let kind = LogErrorKind::TooLong { what: "the name", bytes: name_len, limit: MAX_NAME };
            return Err(kind.into());
        }
        let larger = unpacked.max(compressed.len() as u64);
        if larger > MAX_MEMBER {
            return Err(LogErrorKind::TooLong { what: "the record", bytes: larger, limit: MAX_MEMBER }.into());
        }
        let entry = Entry {
            method: ZSTD,
            flags: Entry::flags_for(name),
            crc,
            compressed: compressed.len() as u64,
            unpacked,
            offset: 0,
        };
        let mut bytes = entry.local_header(name);
        bytes.extend_from_slice(compressed);
        Ok(Member { name: name.to_owned(), bytes, entry })
    }
}

/// Makes members. Keep one per thread: it holds a compression context and a buffer, which are reused.
///
/// ```
/// use errorbar_log::eval::Encoder;
/// let member = Encoder::new()?.encode("samples/1_epoch_1.json", b"{}")?;
/// assert_eq!(member.name(), "samples/1_epoch_1.json");
/// # Ok::<(), errorbar_log::eval::LogError>(())
/// ```
pub struct Encoder {
    compressor: Compressor<'static>,
    buffer: Vec<u8>,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    /// An encoder of its own.
    pub fn new() -> Result<Self> {
        let compressor = Compressor::new(LEVEL).map_err(LogErrorKind::Compress)?;
        Ok(Encoder { compressor, buffer: Vec::new() })
    }

    /// A member of this name and content.
    pub fn encode(&mut self, name: &str, json: &[u8]) -> Result<Member> {
        let compress = |encoder: &mut Self| {
            encoder.buffer.clear();
            encoder.buffer.reserve(zstd::zstd_safe::compress_bound(json.len()));
            encoder.compressor.compress_to_buffer(json, &mut encoder.buffer)
        };
        compress(self)
            .map_err(|error| crate::eval::LogError::from(LogErrorKind::Compress(error)).in_member(name))?;
        Member::new(name, &self.buffer, crc32fast::hash(json), json.len() as u64)
            .map_err(|error| error.in_member(name))
    }
}

/// A member that is too large to be held unpacked, written piece by piece.
pub(in crate::eval) struct StreamedMember {
    encoder: ZstdEncoder<'static, Vec<u8>>,
    crc: crc32fast::Hasher,
    unpacked: u64,
}

impl StreamedMember {
    pub(in crate::eval) fn new() -> Result<Self> {
        let encoder = ZstdEncoder::new(Vec::new(), LEVEL).map_err(LogErrorKind::Compress)?;
        Ok(StreamedMember { encoder, crc: crc32fast::Hasher::new(), unpacked: 0 })
    }

    pub(in crate::eval) fn finish(self, name: &str) -> Result<Member> {
        let compressed = self.encoder.finish().map_err(LogErrorKind::Compress)?;
        Member::new(name, &compressed, self.crc.finalize(), self.unpacked)
    }
}

impl Write for StreamedMember {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.encoder.write(bytes)?;
        self.crc.update(bytes.get(..written).unwrap_or_default());
        self.unpacked += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
