//! Members, made ready to be appended.

use std::fmt;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use zstd::bulk::Compressor;

use super::format::{DEFLATE, STORED, ZSTD, ZipEntry};
use crate::eval::error::{LogErrorKind, Result};

/// The level that the reference compresses with.
const LEVEL: i32 = 3;
/// Beyond this a size does not fit its 32 bits in front of the data.
const MAX_MEMBER: u64 = u32::MAX as u64 - 1;
const MAX_NAME: u64 = u16::MAX as u64;
/// No entry that we write decompresses to more than this many times its size, well below what readers call a trap:
/// what we write, we must read.
const MAX_RATIO: usize = 64;

/// A member of a log, complete in memory: header, compressed data and its entry for the directory.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) name: String,
    /// The local header and the data.
    pub(crate) bytes: Vec<u8>,
    /// Its offset is known when it is appended.
    pub(crate) entry: ZipEntry,
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

    fn new(name: &str, method: u16, compressed: &[u8], crc: u32, decompressed: u64) -> Result<Self> {
        let name_len = name.len() as u64;
        if name_len > MAX_NAME {
            let kind = LogErrorKind::TooLong { what: "the name", bytes: name_len, limit: MAX_NAME };
            return Err(kind.into());
        }
        let larger = decompressed.max(compressed.len() as u64);
        if larger > MAX_MEMBER {
            return Err(LogErrorKind::TooLong { what: "the record", bytes: larger, limit: MAX_MEMBER }.into());
        }
        let entry = ZipEntry {
            method,
            flags: ZipEntry::flags_for(name),
            crc,
            compressed: compressed.len() as u64,
            decompressed,
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
    /// A new encoder.
    pub fn new() -> Result<Self> {
        let compressor = Compressor::new(LEVEL).map_err(LogErrorKind::Compress)?;
        Ok(Encoder { compressor, buffer: Vec::new() })
    }

    /// A member of this name and content.
    pub fn encode(&mut self, name: &str, json: &[u8]) -> Result<Member> {
        self.encode_by(ZSTD, name, json)
    }

    /// A member compressed by a method, so that a reader of the log can still read it after a member was
    /// replaced. By another method than those three it is zstd.
    pub(crate) fn encode_by(&mut self, method: u16, name: &str, json: &[u8]) -> Result<Member> {
        let encode = |encoder: &mut Self| {
            let method = encoder.compress(method, json).map_err(LogErrorKind::Compress)?;
            Member::new(name, method, &encoder.buffer, crc32fast::hash(json), json.len() as u64)
        };
        encode(self).map_err(|error| error.in_member(name))
    }

    fn compress(&mut self, method: u16, json: &[u8]) -> io::Result<u16> {
        self.buffer.clear();
        match method {
            STORED => {}
            DEFLATE => {
                let mut deflate = DeflateEncoder::new(&mut self.buffer, Compression::default());
                deflate.write_all(json)?;
                deflate.finish()?;
                if !is_dense(json, self.buffer.len()) {
                    return Ok(DEFLATE);
                }
                self.buffer.clear();
            }
            _ => {
                put_frames(&mut self.compressor, json, &mut self.buffer)?;
                return Ok(ZSTD);
            }
        }
        self.buffer.extend_from_slice(json);
        Ok(STORED)
    }
}

/// Whether a content decompresses to more than we allow ourselves.
fn is_dense(json: &[u8], compressed: usize) -> bool {
    json.len() / MAX_RATIO > compressed
}

/// Appends the content as a frame of zstd; as two if one would be too dense, the first of them uncompressed.
fn put_frames(compressor: &mut Compressor<'static>, json: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let start = out.len();
    put_frame(compressor, json, out)?;
    if is_dense(json, out.len() - start) {
        out.truncate(start);
        let (plain, rest) = json.split_at(json.len() / MAX_RATIO);
        put_plain_frame(plain, out);
        put_frame(compressor, rest, out)?;
    }
    Ok(())
}

fn put_frame(compressor: &mut Compressor<'static>, json: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let start = out.len();
    out.resize(start + zstd::zstd_safe::compress_bound(json.len()), 0);
    let written = compressor.compress_to_buffer(json, out.get_mut(start..).unwrap_or_default())?;
    out.truncate(start + written);
    Ok(())
}

/// Appends a frame of zstd whose blocks are not compressed (RFC 8878, 3.1.1). The library decides by itself whether a
/// block is worth compressing, so it cannot write one.
fn put_plain_frame(content: &[u8], out: &mut Vec<u8>) {
    const MAGIC: u32 = 0xfd2f_b528;
    /// No dictionary, no checksum, no size of the content; the window follows.
    const DESCRIPTOR: u8 = 0;
    /// 2^(10 + 7) bytes, the largest block.
    const WINDOW: u8 = 7 << 3;
    const BLOCK: usize = 1 << 17;
    out.extend_from_slice(&MAGIC.to_le_bytes());
    out.extend_from_slice(&[DESCRIPTOR, WINDOW]);
    let mut rest = content;
    loop {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        // Whether it is the last one, the type 0 (raw), the size: 1, 2 and 21 bits.
        let header = u32::from(after.is_empty()) | (block.len() as u32) << 3;
        out.extend(header.to_le_bytes().into_iter().take(3));
        out.extend_from_slice(block);
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

/// A member that is too large to be held decompressed, written piece by piece: a frame for each eight megabytes.
pub(crate) struct StreamedMember<'e> {
    encoder: &'e mut Encoder,
    frames: Vec<u8>,
    piece: Vec<u8>,
    crc: crc32fast::Hasher,
    decompressed: u64,
}

impl<'e> StreamedMember<'e> {
    const PIECE: usize = 8 << 20;

    pub(crate) fn new(encoder: &'e mut Encoder) -> Self {
        let (frames, piece) = (Vec::new(), Vec::new());
        StreamedMember { encoder, frames, piece, crc: crc32fast::Hasher::new(), decompressed: 0 }
    }

    pub(crate) fn finish(mut self, name: &str) -> Result<Member> {
        self.put_piece().map_err(LogErrorKind::Compress)?;
        Member::new(name, ZSTD, &self.frames, self.crc.finalize(), self.decompressed)
    }

    fn put_piece(&mut self) -> io::Result<()> {
        self.crc.update(&self.piece);
        self.decompressed += self.piece.len() as u64;
        put_frames(&mut self.encoder.compressor, &self.piece, &mut self.frames)?;
        self.piece.clear();
        Ok(())
    }
}

impl Write for StreamedMember<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= Self::PIECE {
            self.put_piece()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content_of(member: &Member) -> Vec<u8> {
        let data = &member.bytes[member.bytes.len() - member.entry.compressed as usize..];
        match member.entry.method {
            ZSTD => zstd::stream::decode_all(data).unwrap(),
            _ => data.to_vec(),
        }
    }

    #[test]
    fn what_is_written_is_never_dense() {
        let mut encoder = Encoder::new().unwrap();
        for size in [0, 1, 100, 8_191, 70_000, (1 << 17) * 64, (1 << 23) + 1, 20_000_000] {
            let content = vec![b'a'; size];
            for method in [ZSTD, DEFLATE, STORED] {
                let member = encoder.encode_by(method, "x", &content).unwrap();
                let ZipEntry { compressed, decompressed, .. } = member.entry;
                assert!(decompressed / compressed.max(1) <= 64, "{size} by {method}: {compressed}");
                if member.entry.method != DEFLATE {
                    assert!(content_of(&member) == content, "{size} by {method}");
                }
            }
            let mut streamed = StreamedMember::new(&mut encoder);
            content.chunks(3_000_000).for_each(|piece| streamed.write_all(piece).unwrap());
            let member = streamed.finish("x").unwrap();
            assert!(member.entry.decompressed / member.entry.compressed.max(1) <= 64, "{size}");
            assert!(content_of(&member) == content, "{size} streamed");
        }
    }

    #[test]
    fn what_is_not_dense_is_one_frame() {
        let text: String = (0..2_000).map(|n| format!("{{\"id\":{n},\"score\":\"C\"}}")).collect();
        let member = Encoder::new().unwrap().encode("x", text.as_bytes()).unwrap();
        let data = &member.bytes[member.bytes.len() - member.entry.compressed as usize..];
        assert_eq!(zstd::zstd_safe::find_frame_compressed_size(data), Ok(data.len()));
    }
}
