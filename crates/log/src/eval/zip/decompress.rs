//! The content of a member, checked.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::ops::Range;

use flate2::bufread::DeflateDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::read::Decoder as ZstdDecoder;
use zstd::zstd_safe::{DCtx, ResetDirective};

use super::format::{self, DEFLATE, ENCRYPTED, LOCAL_LEN, STORED, ZSTD, ZipEntry};
use super::source::{FileSection, LogFile};
use crate::eval::error::{LogErrorKind, Result};
use crate::eval::json::Validator;
use crate::eval::limits::LogLimits;

/// What is read beyond a header of the expected length, so that one call nearly always gets all.
const SLACK: u64 = 64;
/// More than a block of zstd can take packed.
const BLOCK: u64 = 160 << 10;
/// Members up to this size are decompressed in one go; a file can make us ask for so much memory by a mere claim.
const SMALL: u64 = 4 << 20;
/// How much of a large member is decompressed at a time, and how much of it is read.
const PIECE: usize = 256 << 10;
const READ: usize = 128 << 10;

/// Unpacks members. Keep one per thread: it holds contexts and buffers, which are reused.
pub(in crate::eval) struct Decompressor {
    contexts: Contexts,
    packed: Vec<u8>,
    decompressed: Vec<u8>,
    limits: LogLimits,
}

/// What the decompressors need.
#[derive(Default)]
struct Contexts {
    zstd: Option<DCtx<'static>>,
    deflate: Option<Decompress>,
}

thread_local! {
    /// The contexts of the last decompressor, for the next one: to make them takes as long as to read a header.
    static SPARE: Cell<Contexts> = const { Cell::new(Contexts { zstd: None, deflate: None }) };
}

impl Contexts {
    fn zstd(&mut self) -> Result<&mut DCtx<'static>> {
        let context = self.zstd.get_or_insert_with(DCtx::create);
        // It may be left in the middle of a frame by the member before.
        let reset = context.reset(ResetDirective::SessionOnly);
        reset.map_err(|_| LogErrorKind::damaged("the decompressor failed"))?;
        Ok(context)
    }

    fn deflate(&mut self) -> &mut Decompress {
        let context = self.deflate.get_or_insert_with(|| Decompress::new(false));
        context.reset(false);
        context
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        SPARE.set(std::mem::take(&mut self.contexts));
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Decompressor {
    pub(in crate::eval) fn new(limits: LogLimits) -> Self {
        Decompressor { contexts: SPARE.take(), packed: Vec::new(), decompressed: Vec::new(), limits }
    }

    pub(super) fn limits(&self) -> LogLimits {
        self.limits
    }

    /// The whole content; an error if it is not what the directory says to the last bit.
    pub(in crate::eval) fn decompress(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
    ) -> Result<&[u8]> {
        let decompress = |decompressor: &mut Self| {
            if entry.decompressed > decompressor.limits.max_record {
                return Err(LogErrorKind::TooLargeRecord { limit: decompressor.limits.max_record }.into());
            }
            if entry.decompressed <= SMALL {
                return decompressor.small(source, name, entry);
            }
            let mut whole = Vec::new();
            decompressor.large(source, name, entry, &mut |piece| {
                whole.extend_from_slice(piece);
                Ok(())
            })?;
            decompressor.decompressed = whole;
            Ok(())
        };
        decompress(self).map_err(|error| error.in_member(name))?;
        Ok(&self.decompressed)
    }

    /// The same as a buffer of its own, without a second copy of a large one.
    pub(in crate::eval) fn decompress_owned(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
    ) -> Result<Vec<u8>> {
        self.decompress(source, name, entry)?;
        Ok(std::mem::take(&mut self.decompressed))
    }

    /// The content in pieces, which need no more memory if it is large. They are checked when the last one has
    /// come: an error after it takes them all back.
    pub(in crate::eval) fn pieces(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let decompressed = match entry.decompressed <= SMALL {
            true => self.small(source, name, entry).and_then(|()| each(&self.decompressed)),
            false => self.large(source, name, entry, each),
        };
        decompressed.map_err(|error| error.in_member(name))
    }

    /// Checks that the content is JSON.
    pub(in crate::eval) fn validate(&mut self, source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
        let mut validator = Validator::new();
        self.pieces(source, name, entry, &mut |piece| validator.push(piece))?;
        validator.finish().map_err(|error| error.in_member(name))
    }

    /// The content of a part of the file that is not packed, in pieces.
    pub(in crate::eval) fn section(
        &mut self,
        section: FileSection<'_>,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        pieces_of(section, &mut self.decompressed, each)
    }

    /// The first bytes of the content, at most so many, **unchecked**.
    pub(in crate::eval) fn decompress_head(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
        bytes: u64,
    ) -> Result<&[u8]> {
        // Bytes give at least as many decompressed ones but for a few of framing; of zstd a whole block is needed.
        let enough = if entry.method == ZSTD { BLOCK } else { bytes + SLACK };
        let packed = ZipEntry { compressed: entry.compressed.min(enough), ..*entry };
        let head = self.compressed_data(source, name, &packed);
        let data = head.map_err(|error| error.in_member(name))?;
        let data = self.packed.get(data).unwrap_or_default();
        let at_most = bytes.min(entry.decompressed);
        self.decompressed.clear();
        // The end is cut off, so the error that comes after the last good byte is no error.
        let _cut = decoder(entry.method, data, &mut self.contexts).and_then(|decoder| {
            Ok(decoder.take(at_most).read_to_end(&mut self.decompressed).map_err(cannot)?)
        });
        Ok(&self.decompressed)
    }

    /// Unpacks a small member in one go.
    fn small(&mut self, source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
        self.check_size(entry)?;
        let data = self.compressed_data(source, name, entry)?;
        let data = self.packed.get(data).unwrap_or_default();
        let size = usize::try_from(entry.decompressed).unwrap_or(usize::MAX);
        self.decompressed.clear();
        self.decompressed.reserve(size);
        match entry.method {
            STORED => self.decompressed.extend_from_slice(data),
            ZSTD => {
                let decompressed = self.contexts.zstd()?.decompress(&mut self.decompressed, data);
                decompressed.map_err(|code| cannot(zstd::zstd_safe::get_error_name(code)))?;
            }
            DEFLATE => {
                let deflate = self.contexts.deflate();
                let status = deflate.decompress_vec(data, &mut self.decompressed, FlushDecompress::Finish);
                if status.map_err(cannot)? != Status::StreamEnd {
                    return Err(not_so_long(entry).into());
                }
            }
            other => return Err(LogErrorKind::Method(other).into()),
        }
        check_content(entry, self.decompressed.len() as u64, crc32fast::hash(&self.decompressed))
    }

    /// Unpacks a large member piece by piece.
    fn large(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.check_size(entry)?;
        let header = LOCAL_LEN as u64 + name.len() as u64;
        source.read_up_to(entry.offset, header, &mut self.packed).map_err(LogErrorKind::Read)?;
        let start = self.data_start(name, entry)?;
        let packed = FileSection::new(source, entry.offset + start as u64, entry.compressed);
        let packed = BufReader::with_capacity(READ, packed);
        // One byte more than promised is asked for, to see that there is none.
        let content =
            decoder(entry.method, packed, &mut self.contexts)?.take(entry.decompressed.saturating_add(1));
        let (mut crc, mut size) = (crc32fast::Hasher::new(), 0);
        pieces_of(content, &mut self.decompressed, &mut |piece| {
            crc.update(piece);
            size += piece.len() as u64;
            each(piece)
        })?;
        check_content(entry, size, crc.finalize())
    }

    fn check_size(&self, entry: &ZipEntry) -> Result<()> {
        let (bytes, limit) = (entry.decompressed, self.limits.max_decompressed);
        if bytes > limit {
            return Err(LogErrorKind::TooLarge { bytes, limit }.into());
        }
        Ok(())
    }

    /// Reads header and data into the buffer, and says where in it the data is.
    fn compressed_data(&mut self, source: &LogFile, name: &str, entry: &ZipEntry) -> Result<Range<usize>> {
        let wanted = LOCAL_LEN as u64 + name.len() as u64 + SLACK + entry.compressed;
        source.read_up_to(entry.offset, wanted, &mut self.packed).map_err(LogErrorKind::Read)?;
        let start = self.data_start(name, entry)?;
        let compressed = usize::try_from(entry.compressed).map_err(|_| no_member())?;
        let end = start.checked_add(compressed).ok_or_else(no_member)?;
        if self.packed.len() < end {
            source.read(entry.offset, end as u64, &mut self.packed).map_err(LogErrorKind::Read)?;
        }
        Ok(start..end)
    }

    /// How far behind the start of the header in the buffer the data begins.
    fn data_start(&self, name: &str, entry: &ZipEntry) -> Result<usize> {
        if entry.flags & ENCRYPTED != 0 {
            return Err(LogErrorKind::damaged("it is encrypted").into());
        }
        let header = format::parse_local(&self.packed).ok_or_else(no_member)?;
        let name_end = LOCAL_LEN + header.name;
        if self.packed.get(LOCAL_LEN..name_end) != Some(name.as_bytes())
            || header.entry.method != entry.method
        {
            return Err(LogErrorKind::damaged("another member is where the directory says").into());
        }
        Ok(name_end + header.extra)
    }
}

/// Collects pieces, up to a limit.
pub(in crate::eval) fn collector(into: &mut Vec<u8>, limit: u64) -> impl FnMut(&[u8]) -> Result<()> {
    move |piece| {
        if (into.len() + piece.len()) as u64 > limit {
            return Err(LogErrorKind::TooLargeRecord { limit }.into());
        }
        into.extend_from_slice(piece);
        Ok(())
    }
}

fn no_member() -> LogErrorKind {
    LogErrorKind::damaged("there is no member where the directory says")
}

fn not_so_long(entry: &ZipEntry) -> LogErrorKind {
    LogErrorKind::Damaged(format!("the content has not the {} bytes that it should have", entry.decompressed))
}

fn cannot(problem: impl fmt::Display) -> LogErrorKind {
    LogErrorKind::Damaged(format!("cannot decompress: {problem}"))
}

fn check_content(entry: &ZipEntry, size: u64, crc: u32) -> Result<()> {
    if size != entry.decompressed {
        return Err(not_so_long(entry).into());
    }
    if crc != entry.crc {
        return Err(LogErrorKind::damaged("the content does not match its checksum").into());
    }
    Ok(())
}

fn decoder<'a>(
    method: u16,
    packed: impl io::BufRead + 'a,
    contexts: &'a mut Contexts,
) -> Result<Box<dyn Read + 'a>> {
    Ok(match method {
        STORED => Box::new(packed),
        DEFLATE => Box::new(DeflateDecoder::new(packed)),
        ZSTD => Box::new(ZstdDecoder::with_context(packed, contexts.zstd()?)),
        other => return Err(LogErrorKind::Method(other).into()),
    })
}

/// Reads to the end, a piece at a time.
fn pieces_of(
    mut content: impl Read,
    buffer: &mut Vec<u8>,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    buffer.resize(PIECE, 0);
    loop {
        match content.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => each(buffer.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error().is_some() => return Err(LogErrorKind::Read(error).into()),
            Err(error) => return Err(cannot(error).into()),
        }
    }
}
