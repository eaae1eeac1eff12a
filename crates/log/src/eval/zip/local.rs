//! The local header of a member, compared with its entry in the central directory.
//!
//! Readers go by the directory, so damage in a local header goes unnoticed until the directory is lost.

use std::io;

use super::format::{self, LOCAL_LEN, SIZES_AFTER, ZipEntry, get32, get64};
use super::source::LogFile;
use crate::eval::error::{LogErrorKind, Result};

/// Starts the record behind the data, where there is one; it is optional.
const DESCRIPTOR: u32 = 0x0807_4b50;
/// The longest form of that record: its signature, the checksum, two sizes.
const DESCRIPTOR_LEN: u64 = 24;

/// Refuses a member whose local header, or the record behind its data, has another name, checksum or size than the
/// directory.
pub(in crate::eval) fn check(source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
    agrees(source, name, entry).map_err(|error| error.in_member(name))
}

/// A local header.
#[derive(Debug)]
pub(super) struct LocalHeader {
    pub(super) name: Vec<u8>,
    pub(super) entry: ZipEntry,
    /// Where the data starts.
    pub(super) data_offset: u64,
}

/// Reads the local header at an offset, if there is one.
pub(super) fn read(source: &LogFile, offset: u64) -> io::Result<Option<LocalHeader>> {
    let mut bytes = Vec::new();
    source.read_up_to(offset, LOCAL_LEN as u64, &mut bytes)?;
    let Some(header) = format::parse_local(&bytes) else { return Ok(None) };
    let (name_offset, length) =
        (offset.saturating_add(LOCAL_LEN as u64), (header.name + header.extra) as u64);
    source.read_up_to(name_offset, length, &mut bytes)?;
    Ok(bytes.split_at_checked(header.name).and_then(|(name, extra)| {
        let entry = ZipEntry { offset, ..header.entry.with_extra(extra)? };
        Some(LocalHeader { name: name.to_vec(), entry, data_offset: name_offset.saturating_add(length) })
    }))
}

fn agrees(source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
    let differs = |what: &str| {
        LogErrorKind::Damaged(format!("the {what} in front of the entry is not the one in the directory"))
    };
    let header = read(source, entry.offset).map_err(LogErrorKind::Read)?.ok_or_else(|| differs("header"))?;
    if header.name != name.as_bytes() {
        return Err(differs("name").into());
    }
    let local = header.entry;
    let numbers = |entry: &ZipEntry| (entry.crc, entry.compressed, entry.decompressed);
    if numbers(&local) == numbers(entry) {
        return Ok(());
    }
    let has_sizes_after = (local.flags | entry.flags) & SIZES_AFTER != 0;
    if !has_sizes_after || numbers(&local) != (0, 0, 0) {
        return Err(differs(if local.crc == entry.crc { "size" } else { "checksum" }).into());
    }
    let mut bytes = Vec::new();
    let behind = header.data_offset.saturating_add(entry.compressed);
    source.read_up_to(behind, DESCRIPTOR_LEN, &mut bytes).map_err(LogErrorKind::Read)?;
    match is_described(&bytes, entry) {
        true => Ok(()),
        false => {
            Err(LogErrorKind::damaged("the record behind the entry does not agree with the directory").into())
        }
    }
}

/// Whether the record behind the data agrees: with its signature or without, with sizes of 32 bits or of 64.
fn is_described(bytes: &[u8], entry: &ZipEntry) -> bool {
    let ZipEntry { crc, compressed, decompressed, .. } = *entry;
    let narrow = |mut bytes: &[u8]| {
        let size = |bytes: &mut &[u8]| get32(bytes).map(u64::from);
        (get32(&mut bytes), size(&mut bytes), size(&mut bytes))
    };
    let wide = |mut bytes: &[u8]| (get32(&mut bytes), get64(&mut bytes), get64(&mut bytes));
    let expected = (Some(crc), Some(compressed), Some(decompressed));
    let starts = [Some(bytes), bytes.strip_prefix(&DESCRIPTOR.to_le_bytes())];
    starts.into_iter().flatten().any(|bytes| narrow(bytes) == expected || wide(bytes) == expected)
}
