//! What can be read only once: the standard input, and pipes.

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::PoisonError;

use super::bytes::InputBytes;
use super::compression::Compression;
use super::encoding::Utf16;
use crate::{TableErrorKind, TableLimits};

/// The name of the standard input.
pub const STDIN: &str = "-";

/// The limit on what is read of a pipe.
const MAX_PIPE: u64 = 1 << 30;

/// What the standard input had. A command reads the same table several times, and the stream is there once per
/// process, so this is too.
static BYTES: Mutex<Option<InputBytes>> = Mutex::new(None);

/// The bytes of the standard input.
pub(super) fn bytes(limits: &TableLimits) -> Result<InputBytes, TableErrorKind> {
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
            return Err(TableErrorKind::InvalidUtf8(None));
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
