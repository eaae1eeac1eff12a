//! How much of a log is believed before it is refused.

/// How large a log may be before it is refused: a few kilobytes can claim to hold terabytes.
///
/// Transcripts are skipped as a stream, so a large one costs time and no memory; what is kept of a sample (id,
/// scores, wanted metadata) is held as a whole.
///
/// ```
/// use errorbar_log::eval::Limits;
/// let limits = Limits { max_unpacked: 100 << 30, ..Limits::default() };
/// assert!(limits.max_ratio > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that a member may have unpacked.
    pub max_unpacked: u64,
    /// The most times that a member of more than 64 MiB may be larger unpacked than packed.
    pub max_ratio: u64,
    /// The most bytes of one record that may be held in memory: the header, or what is kept of a sample.
    pub max_record: u64,
}

impl Limits {
    /// From this size on the ratio counts: what is smaller can do no harm.
    pub(super) const RATIO_FROM: u64 = 64 << 20;
}

impl Default for Limits {
    /// 16 GiB, a thousand times, 1 GiB.
    fn default() -> Self {
        Limits { max_unpacked: 16 << 30, max_ratio: 1000, max_record: 1 << 30 }
    }
}
