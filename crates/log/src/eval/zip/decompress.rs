//! The content of a member, checked.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

use errorbar_files::{identity, is_named};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::read::Decoder as ZstdDecoder;
use zstd::zstd_safe::{DCtx, ResetDirective};

use super::format::{self, DEFLATE, ENCRYPTED, LOCAL_LEN, STORED, ZSTD, ZipEntry};
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
pub(crate) struct Decompressor {
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
    pub(crate) fn new(limits: LogLimits) -> Self {
        Decompressor { contexts: SPARE.take(), piece: Vec::new(), limits }
    }

    pub(super) fn limits(&self) -> LogLimits {
        self.limits
    }

    /// The whole content; an error unless size and checksum match the central directory.
    pub(crate) fn decompress(&mut self, source: &LogFile, name: &str, entry: &ZipEntry) -> Result<Vec<u8>> {
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
    pub(crate) fn pieces(
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
    pub(crate) fn validate(&mut self, source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
        let mut validator = Validator::new();
        self.pieces(source, name, entry, &mut |piece| validator.push(piece))?;
        validator.finish().map_err(|error| error.in_member(name))
    }

    /// The content of a part of the file that is not compressed, in pieces.
    pub(crate) fn section(
        &mut self,
        section: FileSection<'_>,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        pieces_of(section, &mut self.piece, u64::MAX, each)
    }

    /// The first bytes of the content, at most this number, **unchecked**.
    pub(crate) fn head(
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
    let section = FileSection::new(source, entry.offset..source.len());
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
pub(crate) fn collector(into: &mut Vec<u8>, limit: u64) -> impl FnMut(&[u8]) -> Result<()> {
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

// Reading a file at offsets, from many threads, without a mapping: a log that shrinks while it is read
// must give an error, not a signal.

/// A file that is read at offsets.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    len: u64,
    /// When it was last changed before it was opened.
    changed: Option<SystemTime>,
}

impl LogFile {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(LogFile { file, len: metadata.len(), changed: metadata.modified().ok() })
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// How long the file was when it was opened, and when it was last changed before.
    pub(crate) fn stamp(&self) -> (u64, Option<SystemTime>) {
        (self.len, self.changed)
    }

    /// Looks again how long the file is.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        (self.len, self.changed) = (metadata.len(), metadata.modified().ok());
        Ok(())
    }

    /// Whether another file is the one that was opened, and was not changed since.
    pub(crate) fn is_unchanged(&self, other: &File) -> io::Result<bool> {
        let metadata = other.metadata()?;
        let is_same = identity(&self.file.metadata()?) == identity(&metadata);
        Ok(is_same && metadata.len() == self.len && metadata.modified().ok() == self.changed)
    }

    /// Whether this is the file that has this name now.
    pub(crate) fn has_name(&self, path: &Path) -> io::Result<bool> {
        is_named(&self.file, path)
    }

    /// The length when the file was opened; what a writer appends later is not looked at.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads exactly this number of bytes at an offset. Never allocates more than the file holds.
    pub(crate) fn read(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
        self.read_up_to(offset, len, into)?;
        if into.len() as u64 == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads up to this number of bytes at an offset, fewer only at the end of the file, which may come earlier than
    /// it did: a writer cuts off the directory to append a member.
    pub(crate) fn read_up_to(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
        #[cfg(test)]
        tests::before_read(offset);
        let len = len.min(self.len.saturating_sub(offset));
        into.clear();
        into.resize(usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?, 0);
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match read_at(&self.file, rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        into.truncate(filled);
        Ok(())
    }
}

/// A part of a file, read from its start to its end.
#[derive(Debug)]
pub(crate) struct FileSection<'a> {
    source: &'a LogFile,
    at: u64,
    end: u64,
}

impl<'a> FileSection<'a> {
    pub(crate) fn new(source: &'a LogFile, range: Range<u64>) -> Self {
        FileSection { source, at: range.start, end: range.end }
    }
}

impl Read for FileSection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = read_at(&self.source.file, buffer.get_mut(..wanted).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        if read == 0 && wanted > 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    type Change = Box<dyn FnOnce()>;

    thread_local! {
        /// What another process does before the first read behind the start of a file.
        static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
    }

    pub(crate) fn change_before_read(change: impl FnOnce() + 'static) {
        CHANGE.set(Some(Box::new(change)));
    }

    pub(crate) fn before_read(offset: u64) {
        let change = if offset > 0 { CHANGE.take() } else { None };
        change.into_iter().for_each(|change| change());
    }
}
