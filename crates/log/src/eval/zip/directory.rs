//! The directory at the end of a file, believed only where it is consistent.

use std::io;

use indexmap::IndexMap;

use super::format::{
    self, CENTRAL_LEN, END_64_LEN, END_LEN, End, LOCAL_LEN, LOCATOR_64_LEN, MAX_COMMENT, RawHeader, ZipEntry,
};
use super::local;
use super::source::LogFile;
use crate::eval::members::{SampleName, is_derived, sample_name};

/// Members by name, in the order of the file. Of two with one name the last one counts.
pub(in crate::eval) type Members = IndexMap<String, ZipEntry>;

/// A directory, entry by entry.
#[derive(Debug)]
pub(in crate::eval) struct Directory {
    /// Where it starts, and the members end.
    pub(in crate::eval) offset: u64,
    /// What it lists, names that occur twice included.
    pub(in crate::eval) records: Vec<DirectoryRecord>,
}

/// An entry of a directory.
#[derive(Debug)]
pub(in crate::eval) struct DirectoryRecord {
    pub(in crate::eval) name: String,
    pub(in crate::eval) entry: ZipEntry,
    /// As it stands in the file.
    pub(in crate::eval) bytes: Vec<u8>,
}

/// The members that the directory lists; nothing if there is none or it is not consistent.
///
/// A flipped bit in a name would make a sample vanish without a trace, so names that no log has, and
/// names that occur twice, are compared with those in front of the members.
pub(in crate::eval) fn read(source: &LogFile) -> io::Result<Option<Members>> {
    let Some(Directory { records, .. }) = read_records(source)? else { return Ok(None) };
    let (mut members, mut suspects) = (Members::new(), Vec::new());
    for DirectoryRecord { name, entry, .. } in records {
        let is_known = is_known(&name);
        let older = members.insert(name.clone(), entry);
        if !is_known || older.is_some() {
            suspects.extend(older.into_iter().chain([entry]).map(|entry| (name.clone(), entry)));
        }
    }
    for (name, entry) in &suspects {
        if !has_name(source, name, entry)? {
            return Ok(None);
        }
    }
    Ok(Some(members))
}

/// The directory with its bytes, to be written again; none if there is none or one of its entries is wrong.
pub(in crate::eval) fn read_records(source: &LogFile) -> io::Result<Option<Directory>> {
    let Some((end, bytes)) = listing(source)? else { return Ok(None) };
    let (mut records, mut rest) = (Vec::new(), bytes.as_slice());
    for _ in 0..end.count {
        let Some((name, entry, after)) = next_entry(rest) else { return Ok(None) };
        let header_end = entry.offset.saturating_add((LOCAL_LEN + name.len()) as u64);
        if header_end.saturating_add(entry.compressed) > end.offset {
            return Ok(None);
        }
        let bytes = rest.get(..rest.len() - after.len()).unwrap_or_default().to_owned();
        records.push(DirectoryRecord { name: name.to_owned(), entry, bytes });
        rest = after;
    }
    Ok(rest.is_empty().then_some(Directory { offset: end.offset, records }))
}

/// The bytes of the directory, if the file ends with one.
fn listing(source: &LogFile) -> io::Result<Option<(End, Vec<u8>)>> {
    let Some((end, directory_end)) = find_end(source)? else { return Ok(None) };
    if end.offset.checked_add(end.size) != Some(directory_end) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    source.read(end.offset, end.size, &mut bytes)?;
    Ok(Some((end, bytes)))
}

/// The end record, and where the directory must end for it to be right.
fn find_end(source: &LogFile) -> io::Result<Option<(End, u64)>> {
    let mut bytes = Vec::new();
    let Some(end_at) = source.len().checked_sub(END_LEN as u64) else { return Ok(None) };
    source.read(end_at, END_LEN as u64, &mut bytes)?;
    let (end, end_at) = match format::parse_end(&bytes) {
        Some(end) => (end, end_at),
        None => match find_end_before_comment(source)? {
            Some(found) => found,
            None => return Ok(None),
        },
    };
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

/// The end record where a comment follows it, as other tools write one.
fn find_end_before_comment(source: &LogFile) -> io::Result<Option<(End, u64)>> {
    let start = source.len().saturating_sub((END_LEN + MAX_COMMENT) as u64);
    let mut tail = Vec::new();
    source.read(start, source.len() - start, &mut tail)?;
    let sign = format::END.to_le_bytes();
    for at in memchr::memmem::rfind_iter(&tail, &sign) {
        let (record, comment) = tail.get(at..).unwrap_or_default().split_at(END_LEN.min(tail.len() - at));
        if let Some(end) = format::parse_end_with_comment(record, comment.len()) {
            return Ok(Some((end, start + at as u64)));
        }
    }
    Ok(None)
}

fn next_entry(bytes: &[u8]) -> Option<(&str, ZipEntry, &[u8])> {
    let RawHeader { entry, name, extra, comment } = format::parse_central(bytes)?;
    let (_, rest) = bytes.split_at_checked(CENTRAL_LEN)?;
    let (name, rest) = rest.split_at_checked(name)?;
    let (extra, rest) = rest.split_at_checked(extra)?;
    let (_, rest) = rest.split_at_checked(comment)?;
    Some((str::from_utf8(name).ok()?, entry.with_extra(extra)?, rest))
}

fn is_known(name: &str) -> bool {
    sample_name(name) != SampleName::No || name.starts_with("_journal/") || is_derived(name)
}

fn has_name(source: &LogFile, name: &str, entry: &ZipEntry) -> io::Result<bool> {
    Ok(local::read(source, entry.offset)?.is_some_and(|header| header.name == name.as_bytes()))
}
