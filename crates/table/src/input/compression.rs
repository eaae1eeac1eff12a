//! Compressed files, by their first bytes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::bytes::InputBytes;
use crate::{TableErrorKind, TableLimits};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// What a file that starts with these bytes is compressed with.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // A frame of zstd that is to be skipped, as `pzstd` and seekable files start with.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// The most that a file of this size may decompress to.
    pub fn limit(size: u64) -> u64 {
        size.saturating_mul(DECOMPRESSED_PER_BYTE).max(LEAST_DECOMPRESSED)
    }

    /// The decompressed bytes, as a stream.
    ///
    /// # Errors
    /// A decoder that cannot be made.
    pub fn reader(self, bytes: impl Read + 'static) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(bytes))),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes)?),
        })
    }

    /// The extension that is left of a name without that of the compression.
    pub fn strip(name: &str) -> &str {
        let lower = name.to_ascii_lowercase();
        let ending = [".gz", ".gzip", ".zst", ".zstd"].into_iter().find(|ending| lower.ends_with(ending));
        ending.and_then(|ending| name.get(..name.len() - ending.len())).unwrap_or(name)
    }
}

/// The limit on the decompressed size of a small file.
const LEAST_DECOMPRESSED: u64 = 1 << 30;
/// The same for each byte of a large one; text of tables compresses by ten or twenty.
const DECOMPRESSED_PER_BYTE: u64 = 100;

/// The decompressed bytes. They are all written somewhere, because readers go back to the start.
pub(super) fn decompress(
    bytes: InputBytes,
    compression: Compression,
    max_memory: Option<u64>,
) -> Result<InputBytes, TableErrorKind> {
    let size = bytes.size().unwrap_or(0);
    let limit = Compression::limit(size).max(max_memory.unwrap_or(0));
    let failed = |error: io::Error| {
        let problem = format!("cannot decompress the file: {error}");
        TableErrorKind::invalid(problem, "check that the file was written to its end")
    };
    let reader = compression.reader(bytes).map_err(failed)?;
    let spooled = InputBytes::spool(reader, limit).map_err(failed)?;
    spooled.ok_or(TableErrorKind::InputTooLarge { limit })
}

/// UTF-16 of either byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utf16 {
    /// Little endian, as on Windows.
    Little,
    /// Big endian.
    Big,
}

impl Utf16 {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Utf16::Little => "UTF-16LE",
            Utf16::Big => "UTF-16BE",
        }
    }

    /// Whether a file starts with text in UTF-16: by its byte order mark, or because every second byte is zero, as
    /// those of ASCII characters are, and no other.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => return Some(Utf16::Little),
            [0xfe, 0xff, ..] => return Some(Utf16::Big),
            _ => {}
        }
        let pairs: Vec<&[u8; 2]> = head.as_chunks().0.iter().take(256).collect();
        let zeros = |at: usize| pairs.iter().filter(|pair| pair.get(at) == Some(&0)).count();
        match (zeros(0), zeros(1)) {
            // A few characters may be beyond ASCII.
            (0, zeros) if pairs.len() >= 4 && zeros * 4 >= pairs.len() * 3 => Some(Utf16::Little),
            (zeros, 0) if pairs.len() >= 4 && zeros * 4 >= pairs.len() * 3 => Some(Utf16::Big),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Utf16::Little => u16::from_le_bytes(bytes),
            Utf16::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// The text as UTF-8, without its byte order mark.
pub(super) fn to_utf8(bytes: InputBytes, encoding: Utf16) -> Result<InputBytes, TableErrorKind> {
    // Three bytes of UTF-8 for two of UTF-16, at most.
    let limit = bytes.size().unwrap_or(u64::MAX / 4).saturating_mul(2).saturating_add(4);
    let reader = Utf8Reader { bytes, encoding, ready: Vec::new(), at: 0 };
    match InputBytes::spool(reader, limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(TableErrorKind::InputTooLarge { limit }),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let problem = "the text starts as UTF-16, but is not valid UTF-16";
            Err(TableErrorKind::invalid(problem, "save the table as UTF-8"))
        }
        Err(error) => Err(TableErrorKind::Read(error)),
    }
}

struct Utf8Reader<R> {
    bytes: R,
    encoding: Utf16,
    ready: Vec<u8>,
    at: usize,
}

impl<R: Read> Utf8Reader<R> {
    /// Converts some more.
    fn fill(&mut self) -> io::Result<()> {
        const BATCH: u64 = 1 << 15;
        let mut units = Vec::new();
        self.append_units(BATCH, &mut units)?;
        // The second half of a character that takes two.
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.append_units(2, &mut units)?;
        }
        (self.at, self.ready) = (0, Vec::with_capacity(units.len() * 3));
        for character in char::decode_utf16(units) {
            match character {
                Ok('\u{feff}') => {}
                Ok(character) => {
                    self.ready.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Err(_) => return Err(io::Error::from(io::ErrorKind::InvalidData)),
            }
        }
        Ok(())
    }

    fn append_units(&mut self, bytes: u64, units: &mut Vec<u16>) -> io::Result<()> {
        let mut batch = Vec::new();
        (&mut self.bytes).take(bytes).read_to_end(&mut batch)?;
        let (pairs, []) = batch.as_chunks() else { return Err(io::Error::from(io::ErrorKind::InvalidData)) };
        units.extend(pairs.iter().map(|pair| self.encoding.unit(*pair)));
        Ok(())
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.ready.len() {
            self.fill()?;
        }
        let read = self.ready.get(self.at..).unwrap_or_default().read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

/// The name of the standard input.
pub const STDIN: &str = "-";

/// The limit on what is read of a pipe.
const MAX_PIPE: u64 = 1 << 30;

/// What the standard input had. A command reads the same table several times, and the stream is there once per
/// process, so this is too.
static BYTES: Mutex<Option<InputBytes>> = Mutex::new(None);

/// The bytes of the standard input.
pub(super) fn stdin_bytes(limits: &TableLimits) -> Result<InputBytes, TableErrorKind> {
    let mut held = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = match held.take() {
        Some(bytes) => bytes,
        None => spool(io::stdin().lock(), limits)?,
    };
    let reopened = bytes.reopen().map_err(TableErrorKind::Read);
    *held = Some(bytes);
    reopened
}

/// All bytes of a pipe. One that never ends, or holds no text, is refused early.
pub(super) fn spool(mut pipe: impl Read, limits: &TableLimits) -> Result<InputBytes, TableErrorKind> {
    let mut start = Vec::new();
    let most = limits.max_line.saturating_add(1);
    (&mut pipe).take(most).read_to_end(&mut start).map_err(TableErrorKind::Read)?;
    if start.len() as u64 == most && is_text(&start) {
        if memchr::memchr2(b'\n', b'\r', &start).is_none()
            && !start.starts_with(b"[")
            && !start.starts_with(b"{")
        {
            let kind =
                TableErrorKind::LineTooLong { limit: limits.max_line, is_header: false, in_quote: false };
            return Err(kind);
        }
        if let Err(error) = str::from_utf8(&start)
            && error.error_len().is_some()
        {
            return Err(TableErrorKind::not_utf8(None));
        }
    }
    let limit = limits.max_memory.unwrap_or(MAX_PIPE).max(MAX_PIPE);
    let spooled = InputBytes::spool(start.as_slice().chain(pipe), limit).map_err(TableErrorKind::Read)?;
    spooled.ok_or(TableErrorKind::InputTooLarge { limit })
}

/// Whether bytes are neither compressed, nor UTF-16, nor Parquet.
fn is_text(start: &[u8]) -> bool {
    Compression::of(start).is_none() && Utf16::of(start).is_none() && !start.starts_with(b"PAR1")
}

#[cfg(test)]
mod encoding_tests {
    use super::*;

    fn encoded(text: &str, encoding: Utf16) -> Vec<u8> {
        let bytes = |unit: u16| match encoding {
            Utf16::Little => unit.to_le_bytes(),
            Utf16::Big => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_16_becomes_utf_8() {
        let text = format!("id,score\n{}ä€😀,1\n{}", "ab,1\n".repeat(100), "x😀".repeat(30_000));
        for encoding in [Utf16::Little, Utf16::Big] {
            for mark in ["\u{feff}", ""] {
                let bytes = encoded(&format!("{mark}{text}"), encoding);
                assert_eq!(Utf16::of(&bytes), Some(encoding), "{mark:?}");
                let mut found = String::new();
                to_utf8(InputBytes::from_memory(bytes), encoding)
                    .unwrap()
                    .read_to_string(&mut found)
                    .unwrap();
                assert!(found == text);
            }
        }
    }

    #[test]
    fn other_bytes_are_no_utf_16() {
        for head in ["id,score\n1,2\n".as_bytes(), &[0; 64], b"", b"ab", b"a\0", "äöü".as_bytes()] {
            assert_eq!(Utf16::of(head), None, "{head:?}");
        }
        for damaged in [vec![0xff, 0xfe, b'a', 0, b'b'], vec![0xff, 0xfe, 0, 0xd8, b'a', 0]] {
            let error = to_utf8(InputBytes::from_memory(damaged), Utf16::Little).unwrap_err();
            assert!(error.to_string().ends_with("is not valid UTF-16"), "{error}");
        }
    }
}

/// Reading in larger pieces than the default measurably helps on long files.
pub const BUFFER_BYTES: usize = 1 << 18;

/// A file, decompressed while it is read if it is gzip or zstd. Its first bytes decide that, not its name.
///
/// What comes out is bounded: a few kilobytes can claim to be terabytes.
pub struct DecompressedFile {
    source: Box<dyn Read>,
    read: u64,
    /// How much may come out, if it is compressed.
    limit: Option<u64>,
}

impl DecompressedFile {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of opening and of reading its first bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        /// As many bytes as tell compressed files.
        const HEAD: u64 = 4;
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut head)?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let compression = Compression::of(&head);
        let bytes = Cursor::new(head).chain(file);
        let source = match compression {
            Some(compression) => compression.reader(bytes)?,
            None => Box::new(bytes),
        };
        Ok(DecompressedFile { source, read: 0, limit: compression.map(|_| Compression::limit(size)) })
    }
}

impl Read for DecompressedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(limit) = self.limit else { return self.source.read(buffer) };
        let count = self
            .source
            .read(buffer)
            .map_err(|error| io::Error::new(error.kind(), format!("it cannot be decompressed: {error}")))?;
        self.read = self.read.saturating_add(count as u64);
        match self.read > limit {
            true => {
                let problem = format!(
                    "it decompresses to more than {} MiB, far more than a file of its size should",
                    limit >> 20
                );
                Err(io::Error::new(io::ErrorKind::InvalidData, problem))
            }
            false => Ok(count),
        }
    }
}

impl std::fmt::Debug for DecompressedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecompressedFile").field("read", &self.read).field("limit", &self.limit).finish()
    }
}

#[cfg(test)]
mod decompress_tests {
    use std::io::Write;

    use super::*;

    fn open(bytes: &[u8]) -> DecompressedFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        DecompressedFile::open(file.path()).unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        open(bytes).read_to_end(&mut all).map(|_| all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_first_bytes_decide() {
        let text = b"a,b\n1,2\n".repeat(100);
        assert_eq!(read(&text).unwrap(), text);
        assert_eq!(read(&gzip(&text)).unwrap(), text);
        let members = [gzip(&text), gzip(b"end")].concat();
        assert_eq!(read(&members).unwrap(), [&text[..], b"end"].concat(), "two members");
        assert_eq!(read(&zstd::encode_all(&text[..], 3).unwrap()).unwrap(), text);
        assert_eq!(read(b"").unwrap(), b"");
        let (cut, damaged) = (gzip(&text), b"\x1f\x8b\x08 no gzip at all");
        for bad in [&cut[..cut.len() - 9], damaged] {
            let error = read(bad).unwrap_err();
            assert!(error.to_string().starts_with("it cannot be decompressed: "), "{error}");
        }
    }

    #[test]
    fn what_comes_out_is_bounded() {
        let limit = Compression::limit(0);
        let bomb = zstd::encode_all(io::repeat(b' ').take(limit + (1 << 20)), 1).unwrap();
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        let error = io::copy(&mut open(&bomb), &mut io::sink()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let problem = "it decompresses to more than 1024 MiB, far more than a file of its size should";
        assert_eq!(error.to_string(), problem);
    }
}
