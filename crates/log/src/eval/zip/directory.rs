//! The directory at the end of a file, believed only where it is consistent.

use std::io;

use indexmap::IndexMap;

use super::format::{
    self, CENTRAL_LEN, END_64_LEN, END_LEN, End, Entry, LOCAL_LEN, LOCATOR_64_LEN, RawHeader,
};
use super::source::Source;

/// Members by name, in the order of the file. Of two with one name the last one counts.
pub(in crate::eval) type Members = IndexMap<String, Entry>;

/// The members that the directory lists; nothing if there is none or it is not consistent.
///
/// A flipped bit in a name would make a sample vanish without a trace, so names that no log has, and
/// names that occur twice, are compared with those in front of the members.
pub(in crate::eval) fn read(source: &Source) -> io::Result<Option<Members>> {
    let Some((end, directory_end)) = find_end(source)? else { return Ok(None) };
    if end.offset.checked_add(end.size) != Some(directory_end) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    source.read(end.offset, end.size, &mut bytes)?;
    let mut members = Members::new();
    let mut suspects = Vec::new();
    let mut rest = bytes.as_slice();
    for _ in 0..end.count {
        let Some((name, entry, after)) = next_entry(rest) else { return Ok(None) };
        let header_end = entry.offset.saturating_add((LOCAL_LEN + name.len()) as u64);
        if header_end.saturating_add(entry.compressed) > end.offset {
            return Ok(None);
        }
        if !is_known(&name) {
            suspects.push((name.clone(), entry));
        }
        if let Some(older) = members.insert(name.clone(), entry) {
            suspects.extend([(name.clone(), older), (name, entry)]);
        }
        rest = after;
    }
    if !rest.is_empty() {
        return Ok(None);
    }
    for (name, entry) in &suspects {
        if !has_name(source, name, entry)? {
            return Ok(None);
        }
    }
    Ok(Some(members))
}

/// The end record, and where the directory must end for it to be right.
fn find_end(source: &Source) -> io::Result<Option<(End, u64)>> {
    let mut bytes = Vec::new();
    let Some(end_at) = source.len().checked_sub(END_LEN as u64) else { return Ok(None) };
    source.read(end_at, END_LEN as u64, &mut bytes)?;
    let Some(end) = format::parse_end(&bytes) else { return Ok(None) };
    if !end.is_large() {
        return Ok(Some((end, end_at)));
    }
    let Some(locator_at) = end_at.checked_sub(LOCATOR_64_LEN as u64) else { return Ok(None) };
    source.read(locator_at, LOCATOR_64_LEN as u64, &mut bytes)?;
    let Some(end_64_at) = format::parse_locator_64(&bytes) else { return Ok(None) };
    if end_64_at.checked_add(END_64_LEN as u64) != Some(locator_at) {
        return Ok(None);
    }
    source.read(end_64_at, END_64_LEN as u64, &mut bytes)?;
    Ok(format::parse_end_64(&bytes).map(|end| (end, end_64_at)))
}

fn next_entry(bytes: &[u8]) -> Option<(String, Entry, &[u8])> {
    let RawHeader { entry, name, extra, comment } = format::parse_central(bytes)?;
    let (_, rest) = bytes.split_at_checked(CENTRAL_LEN)?;
    let (name, rest) = rest.split_at_checked(name)?;
    let (extra, rest) = rest.split_at_checked(extra)?;
    let (_, rest) = rest.split_at_checked(comment)?;
    Some((str::from_utf8(name).ok()?.to_owned(), entry.with_extra(extra)?, rest))
}

fn is_known(name: &str) -> bool {
    name.starts_with("samples/") || name.starts_with("_journal/") || crate::eval::members::is_derived(name)
}

fn has_name(source: &Source, name: &str, entry: &Entry) -> io::Result<bool> {
    let mut bytes = Vec::new();
    source.read(entry.offset, (LOCAL_LEN + name.len()) as u64, &mut bytes)?;
    let header = format::parse_local(&bytes);
    let named = header.is_some_and(|header| header.name == name.len());
    Ok(named && bytes.get(LOCAL_LEN..) == Some(name.as_bytes()))
}
