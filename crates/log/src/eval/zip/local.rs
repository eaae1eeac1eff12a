//! What a member says of itself, compared with what the directory says of it.
//!
//! Readers go by the directory, so damage in front of a member is seen by nobody until the directory is lost.

use super::format::{self, LOCAL_LEN, SIZES_AFTER, ZipEntry, get32, get64};
use super::source::LogFile;
use crate::eval::error::{LogErrorKind, Result};

/// Starts the record behind the data, where there is one; it may be left out.
const DESCRIPTOR: u32 = 0x0807_4b50;
/// The longest form of that record: its sign, the checksum, two sizes.
const DESCRIPTOR_LEN: u64 = 24;

/// Refuses a member whose local header, or the record behind its data, has another name, checksum or size than the
/// directory.
pub(in crate::eval) fn check(source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
    agrees(source, name, entry).map_err(|error| error.in_member(name))
}

fn agrees(source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
    let differs = |what: &str| {
        LogErrorKind::Damaged(format!("the {what} in front of the member is not the one in the directory"))
    };
    let mut bytes = Vec::new();
    source.read_up_to(entry.offset, LOCAL_LEN as u64, &mut bytes).map_err(LogErrorKind::Read)?;
    let header = format::parse_local(&bytes).ok_or_else(|| differs("sign"))?;
    let beyond = (header.name + header.extra) as u64;
    let names_at = entry.offset.saturating_add(LOCAL_LEN as u64);
    source.read_up_to(names_at, beyond, &mut bytes).map_err(LogErrorKind::Read)?;
    let (own_name, extra) = bytes.split_at_checked(header.name).ok_or_else(|| differs("name"))?;
    if own_name != name.as_bytes() {
        return Err(differs("name").into());
    }
    let local = header.entry.with_extra(extra).ok_or_else(|| differs("size"))?;
    let numbers = |entry: &ZipEntry| (entry.crc, entry.compressed, entry.decompressed);
    if numbers(&local) == numbers(entry) {
        return Ok(());
    }
    let is_said_after = (local.flags | entry.flags) & SIZES_AFTER != 0;
    if is_said_after && numbers(&local) == (0, 0, 0) {
        let behind = names_at.saturating_add(beyond).saturating_add(entry.compressed);
        source.read_up_to(behind, DESCRIPTOR_LEN, &mut bytes).map_err(LogErrorKind::Read)?;
        return match is_described(&bytes, entry) {
            true => Ok(()),
            false => {
                Err(LogErrorKind::damaged("what is said behind the member is not what the directory says")
                    .into())
            }
        };
    }
    Err(differs(if local.crc == entry.crc { "size" } else { "checksum" }).into())
}

/// Whether the record behind the data says the same: with its sign or without, with sizes of 32 bits or of 64.
fn is_described(bytes: &[u8], entry: &ZipEntry) -> bool {
    let ZipEntry { crc, compressed, decompressed, .. } = *entry;
    let narrow = |mut bytes: &[u8]| {
        let size = |bytes: &mut &[u8]| get32(bytes).map(u64::from);
        (get32(&mut bytes), size(&mut bytes), size(&mut bytes))
    };
    let wide = |mut bytes: &[u8]| (get32(&mut bytes), get64(&mut bytes), get64(&mut bytes));
    let said = (Some(crc), Some(compressed), Some(decompressed));
    let starts = [Some(bytes), bytes.strip_prefix(&DESCRIPTOR.to_le_bytes())];
    starts.into_iter().flatten().any(|bytes| narrow(bytes) == said || wide(bytes) == said)
}
