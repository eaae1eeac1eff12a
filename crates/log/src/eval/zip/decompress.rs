//! The content of a member, checked.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::read::Decoder as ZstdDecoder;
use zstd::zstd_safe::{DCtx, ResetDirective};

use super::format::{self, DEFLATE, ENCRYPTED, LOCAL_LEN, STORED, ZSTD, ZipEntry};
use super::source::{FileSection, LogFile};
use crate::eval::error::{LogError, LogErrorKind, Result};
use crate::eval::json::Validator;
use crate::eval::limits::LogLimits;

/// The bytes that are read beyond a header of the expected length, so that one call nearly always gets all of a small
/// member.
const SLACK: usize = 64;
/// How much of a member is decompressed at a time, and how much of it is read.
const PIECE: usize = 256 << 10;
const READ: usize = 128 << 10;
/// The most memory that is reserved because a file merely claims that it is needed.
const CLAIM: u64 = 4 << 20;

/// Decompresses members. Keep one per thread: it holds contexts and a buffer, which are reused.
pub(in crate::eval) struct Decompressor {
    contexts: Contexts,
    piece: Vec<u8>,
    limits: LogLimits,
}

/// The state of each method, made when it is first needed and reset for each member: 40 kB that are freed between the
/// strings of a sample are a hole that nothing else fills.
#[derive(Default)]
struct Contexts {
    zstd: Option<DCtx<'static>>,
    deflate: Option<Decompress>,
}

thread_local! {
    /// The contexts of the last decompressor, for the next one: to make one takes as long as to read a header.
    static SPARE: Cell<Contexts> = const { Cell::new(Contexts { zstd: None, deflate: None }) };
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
        Decompressor { contexts: SPARE.take(), piece: Vec::new(), limits }
    }

    pub(super) fn limits(&self) -> LogLimits {
        self.limits
    }

    /// The whole content; an error unless size and checksum match the central directory.
    pub(in crate::eval) fn decompress(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
    ) -> Result<Vec<u8>> {
        let limit = self.limits.max_record;
        if entry.decompressed > limit {
            return Err(LogError::from(LogErrorKind::TooLargeRecord { limit }).in_member(name));
        }
        let mut whole = Vec::with_capacity(entry.decompressed.min(CLAIM) as usize);
        self.pieces(source, name, entry, &mut collector(&mut whole, limit))?;
        Ok(whole)
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
        let mut decompress = || {
            let (bytes, limit) = (entry.decompressed, self.limits.max_decompressed);
            if bytes > limit {
                return Err(LogErrorKind::TooLarge { bytes, limit }.into());
            }
            let (mut crc, mut size) = (crc32fast::Hasher::new(), 0);
            // One byte more than promised is requested, to see that there is none.
            let content = content(&mut self.contexts, source, name, entry)?.take(bytes.saturating_add(1));
            pieces_of(content, &mut self.piece, bytes, &mut |piece| {
                crc.update(piece);
                size += piece.len() as u64;
                each(piece)
            })?;
            if size != bytes {
                let problem = format!("the content has not the {bytes} bytes that it should have");
                return Err(LogErrorKind::Damaged(problem).into());
            }
            match crc.finalize() == entry.crc {
                true => Ok(()),
                false => Err(LogErrorKind::damaged("the content does not match its checksum").into()),
            }
        };
        decompress().map_err(|error: LogError| error.in_member(name))
    }

    /// Checks that the content is JSON.
    pub(in crate::eval) fn validate(&mut self, source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
        let mut validator = Validator::new();
        self.pieces(source, name, entry, &mut |piece| validator.push(piece))?;
        validator.finish().map_err(|error| error.in_member(name))
    }

    /// The content of a part of the file that is not compressed, in pieces.
    pub(in crate::eval) fn section(
        &mut self,
        section: FileSection<'_>,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        pieces_of(section, &mut self.piece, u64::MAX, each)
    }

    /// The first bytes of the content, at most this number, **unchecked**.
    pub(in crate::eval) fn head(
        &mut self,
        source: &LogFile,
        name: &str,
        entry: &ZipEntry,
        bytes: u64,
    ) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let content =
            content(&mut self.contexts, source, name, entry).map_err(|error| error.in_member(name))?;
        // Damage is reported when all of it is read.
        let _damaged = content.take(bytes).read_to_end(&mut head);
        Ok(head)
    }
}

/// The content of a member, unchecked.
fn content<'a>(
    contexts: &'a mut Contexts,
    source: &'a LogFile,
    name: &str,
    entry: &ZipEntry,
) -> Result<Box<dyn Read + 'a>> {
    if entry.flags & ENCRYPTED != 0 {
        return Err(LogErrorKind::damaged("it is encrypted").into());
    }
    let header_len = LOCAL_LEN + name.len();
    let compressed = usize::try_from(entry.compressed).unwrap_or(usize::MAX);
    let section = FileSection::new(source, entry.offset, source.len().saturating_sub(entry.offset));
    let mut file = BufReader::with_capacity(READ.min(compressed.saturating_add(header_len + SLACK)), section);
    let mut header = vec![0; header_len];
    let parsed = match file.read_exact(&mut header) {
        Ok(()) => format::parse_local(&header),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
        Err(error) => return Err(LogErrorKind::Read(error).into()),
    };
    let no_member = || LogErrorKind::damaged("there is no entry at the offset in the directory");
    let parsed = parsed.ok_or_else(no_member)?;
    let is_named = parsed.name == name.len() && header.get(LOCAL_LEN..) == Some(name.as_bytes());
    if !is_named || parsed.entry.method != entry.method {
        return Err(LogErrorKind::damaged("another entry is at the offset in the directory").into());
    }
    io::copy(&mut file.by_ref().take(parsed.extra as u64), &mut io::sink()).map_err(LogErrorKind::Read)?;
    let compressed = file.take(entry.compressed);
    Ok(match entry.method {
        STORED => Box::new(compressed),
        DEFLATE => {
            let state = contexts.deflate.get_or_insert_with(|| Decompress::new(false));
            state.reset(false);
            Box::new(Inflate { compressed, state })
        }
        ZSTD => {
            let context = contexts.zstd.get_or_insert_with(DCtx::create);
            // It may be left in the middle of a frame by the member before.
            let reset = context.reset(ResetDirective::SessionOnly);
            reset.map_err(|_| LogErrorKind::damaged("the decompressor failed"))?;
            Box::new(ZstdDecoder::with_context(compressed, context))
        }
        other => return Err(LogErrorKind::Method(other).into()),
    })
}

/// Deflated content. The decoders of flate2 own their state and do not return it.
struct Inflate<'a, R> {
    compressed: R,
    state: &'a mut Decompress,
}

impl<R: BufRead> Read for Inflate<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = self.compressed.fill_buf()?;
            let is_end = input.is_empty();
            let flush = if is_end { FlushDecompress::Finish } else { FlushDecompress::None };
            let before = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, buffer, flush);
            let (read, written) = (self.state.total_in() - before.0, self.state.total_out() - before.1);
            self.compressed.consume(read as usize);
            match status {
                Ok(Status::StreamEnd) => return Ok(written as usize),
                Ok(_) if written > 0 || buffer.is_empty() => return Ok(written as usize),
                Ok(_) if is_end => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "incomplete deflate stream"));
                }
                Ok(_) => {}
                Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "corrupt deflate stream")),
            }
        }
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

/// Reads to the end, a piece at a time. The buffer grows to what this number of bytes needs.
fn pieces_of(
    mut content: impl Read,
    buffer: &mut Vec<u8>,
    bytes: u64,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let needed = usize::try_from(bytes).map_or(PIECE, |bytes| PIECE.min(bytes.saturating_add(1)));
    buffer.resize(buffer.len().max(needed), 0);
    loop {
        match content.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => each(buffer.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error().is_some() => return Err(LogErrorKind::Read(error).into()),
            Err(error) => return Err(LogErrorKind::Damaged(format!("cannot decompress: {error}")).into()),
        }
    }
}
