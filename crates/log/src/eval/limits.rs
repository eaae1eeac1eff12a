//! How much of a log is believed before it is refused.

use super::error::{LogErrorKind, Result};
use super::zip::ZipEntry;

/// How large a log may be before it is refused: a few kilobytes can claim to hold terabytes.
///
/// Transcripts are skipped as a stream, so a large one costs time and no memory; what is loaded of a sample (id,
/// scores, requested metadata) is held as a whole.
///
/// ```
/// use errorbar_log::eval::LogLimits;
/// let limits = LogLimits { max_decompressed: 100 << 30, ..LogLimits::default() };
/// assert!(limits.max_ratio > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// The largest decompressed size of one entry.
    pub max_decompressed: u64,
    /// Entries that decompress to more than this many times their size are dense: a trap, or a very repetitive
    /// answer. Those of one log may have 192 MiB decompressed, all together.
    pub max_ratio: u64,
    /// The most bytes of one record that may be held in memory: the header, or what is loaded of a sample.
    pub max_record: u64,
    /// The most bytes of memory for what is held of a log. Unset, it is 256 MiB or four times the size of the file,
    /// whichever is more.
    pub max_memory: Option<u64>,
}

impl LogLimits {
    /// The decompressed size of all dense entries together: about a second of work, if every byte of it is checked.
    pub(super) const DENSE_BYTES: u64 = 192 << 20;
    /// What a log may hold in memory, however small its file is.
    const LEAST_MEMORY: u64 = 256 << 20;
    const MEMORY_PER_BYTE: u64 = 4;

    /// The most memory for what is held of a log whose file has this size.
    pub(super) fn memory_for(&self, file_size: u64) -> u64 {
        let by_size = file_size.saturating_mul(Self::MEMORY_PER_BYTE).max(Self::LEAST_MEMORY);
        self.max_memory.unwrap_or(by_size)
    }
}

impl Default for LogLimits {
    /// 16 GiB, a hundred times, 256 MiB.
    fn default() -> Self {
        LogLimits { max_decompressed: 16 << 30, max_ratio: 100, max_record: 256 << 20, max_memory: None }
    }
}

/// Adds up what the entries of a log claim, and refuses a log that claims too much.
#[derive(Debug)]
pub(super) struct ClaimedSizes {
    limits: LogLimits,
    file_size: u64,
    compressed: u64,
    dense: u64,
}

impl ClaimedSizes {
    pub(super) fn new(limits: LogLimits, file_size: u64) -> Self {
        ClaimedSizes { limits, file_size, compressed: 0, dense: 0 }
    }

    /// Takes one more entry into account.
    pub(super) fn add(&mut self, entry: &ZipEntry) -> Result<()> {
        // Entries that overlap can make a small file decompress to any size without being dense.
        self.compressed = self.compressed.saturating_add(entry.compressed);
        if self.compressed > self.file_size {
            return Err(LogErrorKind::Overlap.into());
        }
        let limit = self.limits.max_ratio;
        let ratio = entry.decompressed / entry.compressed.max(1);
        if ratio > limit {
            self.dense = self.dense.saturating_add(entry.decompressed);
        }
        if self.dense > LogLimits::DENSE_BYTES {
            return Err(LogErrorKind::TooDense { bytes: self.dense, ratio, limit }.into());
        }
        Ok(())
    }
}
