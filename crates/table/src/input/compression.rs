//! Compressed files, by their first bytes.

use std::io::{self, Read};

use super::bytes::InputBytes;
use crate::TableErrorKind;

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
    let reader = compression.reader(bytes).map_err(TableErrorKind::Decompress)?;
    let spooled = InputBytes::spool(reader, limit).map_err(TableErrorKind::Decompress)?;
    spooled.ok_or(TableErrorKind::InputTooLarge { limit })
}
