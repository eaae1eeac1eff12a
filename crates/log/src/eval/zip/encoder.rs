//! Members, made ready to be appended.

use std::fmt;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use zstd::bulk::Compressor;
use zstd::stream::write::Encoder as ZstdEncoder;

use super::format::{DEFLATE, Entry, STORED, ZSTD};
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

    fn new(name: &str, method: u16, compressed: &[u8], crc: u32, unpacked: u64) -> Result<Self> {
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
            method,
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
        self.encode_by(ZSTD, name, json)
    }

    /// A member compressed by a method, so that whoever could read a log can read it when a member of it was
    /// replaced. By another method than those three it is zstd.
    pub(in crate::eval) fn encode_by(&mut self, method: u16, name: &str, json: &[u8]) -> Result<Member> {
        let encode = |encoder: &mut Self| {
            let method = encoder.compress(method, json).map_err(LogErrorKind::Compress)?;
            Member::new(name, method, &encoder.buffer, crc32fast::hash(json), json.len() as u64)
        };
        encode(self).map_err(|error| error.in_member(name))
    }

    fn compress(&mut self, method: u16, json: &[u8]) -> io::Result<u16> {
        self.buffer.clear();
        match method {
            STORED => self.buffer.extend_from_slice(json),
            DEFLATE => {
                let mut deflate = DeflateEncoder::new(&mut self.buffer, Compression::default());
                deflate.write_all(json)?;
                deflate.finish()?;
            }
            _ => {
                self.buffer.reserve(zstd::zstd_safe::compress_bound(json.len()));
                self.compressor.compress_to_buffer(json, &mut self.buffer)?;
                return Ok(ZSTD);
            }
        }
        Ok(method)
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
        Member::new(name, ZSTD, &compressed, self.crc.finalize(), self.unpacked)
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
