//! The records of a zip file as bytes (APPNOTE 6.3.10), with the extensions for large files.

use std::io::{self, Write};

use indexmap::IndexMap;

use super::decompress::LogFile;
use super::encoder::Member;
use crate::eval::container::{SampleName, is_derived, sample_name};
use crate::eval::error::{LogErrorKind, Result};

/// Starts a member.
pub(super) const LOCAL: u32 = 0x0403_4b50;
/// Starts an entry of the directory.
const CENTRAL: u32 = 0x0201_4b50;
/// Starts the end of the directory.
pub(super) const END: u32 = 0x0605_4b50;
/// Starts the end of a large directory.
const END_64: u32 = 0x0606_4b50;
/// Starts the record with the offset of the end of a large directory.
const LOCATOR_64: u32 = 0x0706_4b50;

pub(super) const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;
const END_64_LEN: usize = 56;
const LOCATOR_64_LEN: usize = 20;
/// How long a comment behind the directory may be.
const MAX_COMMENT: usize = u16::MAX as usize;

/// The extra field that holds what 32 bits cannot.
const EXTRA_64: u16 = 1;
/// What stands in a 32-bit field whose value is in the extra field.
const IN_EXTRA: u32 = u32::MAX;

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATE: u16 = 8;
pub(crate) const ZSTD: u16 = 93;

/// The name is UTF-8.
const UTF8: u16 = 1 << 11;
/// The member is encrypted.
pub(super) const ENCRYPTED: u16 = 1;
/// Sizes follow the data instead of standing in front of it.
pub(super) const SIZES_AFTER: u16 = 1 << 3;

/// The first of January 1980. A log has its times inside, and equal content gives equal bytes.
const DATE: u16 = 1 << 5 | 1;
/// A regular file that its owner may read and write, as Python writes it.
const ATTRIBUTES: u32 = 0o600 << 16;

/// A member, as the central directory lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZipEntry {
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) crc: u32,
    pub(crate) compressed: u64,
    pub(crate) decompressed: u64,
    /// Where its local header starts.
    pub(crate) offset: u64,
}

impl ZipEntry {
    /// The flags for a member of this name.
    pub(super) fn flags_for(name: &str) -> u16 {
        if name.is_ascii() { 0 } else { UTF8 }
    }

    /// The local header. Members that are written fit 32 bits; see [`super::Encoder`].
    pub(super) fn local_header(&self, name: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LOCAL_LEN + name.len());
        put32(&mut bytes, LOCAL);
        put16(&mut bytes, 20);
        self.put_common(&mut bytes, low32(self.compressed), low32(self.decompressed), name.len());
        put16(&mut bytes, 0);
        bytes.extend_from_slice(name.as_bytes());
        bytes
    }

    /// Appends the entry of the directory.
    pub(crate) fn put_central(&self, name: &str, bytes: &mut Vec<u8>) {
        let large: Vec<u64> = [self.decompressed, self.compressed, self.offset]
            .into_iter()
            .filter(|value| *value >= u64::from(IN_EXTRA))
            .collect();
        let version = if large.is_empty() { 20 } else { 45 };
        put32(bytes, CENTRAL);
        put16(bytes, 3 << 8 | version); // made on Unix, so that the attributes are Unix modes
        put16(bytes, version);
        self.put_common(bytes, low32(self.compressed), low32(self.decompressed), name.len());
        put16(bytes, if large.is_empty() { 0 } else { 4 + 8 * low16(large.len() as u64) });
        put16(bytes, 0); // comment
        put16(bytes, 0); // disk
        put16(bytes, 0); // internal attributes
        put32(bytes, ATTRIBUTES);
        put32(bytes, low32(self.offset));
        bytes.extend_from_slice(name.as_bytes());
        if !large.is_empty() {
            put16(bytes, EXTRA_64);
            put16(bytes, 8 * low16(large.len() as u64));
            large.iter().for_each(|value| put64(bytes, *value));
        }
    }

    /// From the flags to the length of the name, which both headers share.
    fn put_common(&self, bytes: &mut Vec<u8>, compressed: u32, decompressed: u32, name: usize) {
        put16(bytes, self.flags);
        put16(bytes, self.method);
        put16(bytes, 0); // time
        put16(bytes, DATE);
        put32(bytes, self.crc);
        put32(bytes, compressed);
        put32(bytes, decompressed);
        put16(bytes, low16(name as u64));
    }
}

/// The directory of these members, to stand at `offset`.
pub(crate) fn directory_bytes<'a>(
    entries: impl Iterator<Item = (&'a str, &'a ZipEntry)>,
    offset: u64,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut count = 0_u64;
    for (name, entry) in entries {
        entry.put_central(name, &mut bytes);
        count += 1;
    }
    put_end(bytes, count, offset)
}

/// The entries of a directory that stands at `offset`, with its end behind them.
fn put_end(mut bytes: Vec<u8>, count: u64, offset: u64) -> Vec<u8> {
    let size = bytes.len() as u64;
    if count >= u64::from(u16::MAX) || offset >= u64::from(IN_EXTRA) || size >= u64::from(IN_EXTRA) {
        let end_64 = offset + size;
        put32(&mut bytes, END_64);
        put64(&mut bytes, END_64_LEN as u64 - 12);
        put16(&mut bytes, 3 << 8 | 45);
        put16(&mut bytes, 45);
        put32(&mut bytes, 0); // this disk
        put32(&mut bytes, 0); // the disk of the directory
        put64(&mut bytes, count);
        put64(&mut bytes, count);
        put64(&mut bytes, size);
        put64(&mut bytes, offset);
        put32(&mut bytes, LOCATOR_64);
        put32(&mut bytes, 0);
        put64(&mut bytes, end_64);
        put32(&mut bytes, 1);
    }
    put32(&mut bytes, END);
    put32(&mut bytes, 0); // this disk and the disk of the directory
    put16(&mut bytes, low16(count));
    put16(&mut bytes, low16(count));
    put32(&mut bytes, low32(size));
    put32(&mut bytes, low32(offset));
    put16(&mut bytes, 0); // comment
    bytes
}

/// A header as it is read, with the lengths of what follows it.
#[derive(Clone, Debug)]
pub(super) struct RawHeader {
    pub(super) entry: ZipEntry,
    pub(super) name: usize,
    pub(super) extra: usize,
    comment: usize,
}

/// Reads a local header; nothing if it is none. The offset is the reader's to fill in.
pub(super) fn parse_local(mut bytes: &[u8]) -> Option<RawHeader> {
    let bytes = &mut bytes;
    (get32(bytes)? == LOCAL).then_some(())?;
    get16(bytes)?;
    let (entry, name) = parse_common(bytes)?;
    let extra = get16(bytes)?.into();
    Some(RawHeader { entry, name, extra, comment: 0 })
}

/// Reads an entry of the directory; nothing if it is none.
fn parse_central(mut bytes: &[u8]) -> Option<RawHeader> {
    let bytes = &mut bytes;
    (get32(bytes)? == CENTRAL).then_some(())?;
    get32(bytes)?;
    let (mut entry, name) = parse_common(bytes)?;
    let extra = get16(bytes)?.into();
    let comment = get16(bytes)?.into();
    get64(bytes)?; // disk and attributes
    entry.offset = get32(bytes)?.into();
    Some(RawHeader { entry, name, extra, comment })
}

fn parse_common(bytes: &mut &[u8]) -> Option<(ZipEntry, usize)> {
    let flags = get16(bytes)?;
    let method = get16(bytes)?;
    get32(bytes)?; // time and date
    let crc = get32(bytes)?;
    let compressed = get32(bytes)?.into();
    let decompressed = get32(bytes)?.into();
    let name = get16(bytes)?.into();
    Some((ZipEntry { method, flags, crc, compressed, decompressed, offset: 0 }, name))
}

impl ZipEntry {
    /// Fills in what stands in the extra field; nothing if it should be there and is not.
    fn with_extra(mut self, mut extra: &[u8]) -> Option<Self> {
        let large = u64::from(IN_EXTRA);
        let mut fields: Vec<&mut u64> = [&mut self.decompressed, &mut self.compressed, &mut self.offset]
            .into_iter()
            .filter(|f| **f == large)
            .collect();
        if fields.is_empty() {
            return Some(self);
        }
        while !extra.is_empty() {
            let kind = get16(&mut extra)?;
            let length = usize::from(get16(&mut extra)?);
            let (mut field, rest) = extra.split_at_checked(length)?;
            if kind == EXTRA_64 {
                for value in &mut fields {
                    **value = get64(&mut field)?;
                }
                return Some(self);
            }
            extra = rest;
        }
        None
    }
}

/// The end of the directory: how many entries, how many bytes, where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    pub(super) count: u64,
    pub(super) size: u64,
    pub(super) offset: u64,
}

impl End {
    /// Whether the true values are in the records for large files.
    pub(super) fn is_large(&self) -> bool {
        self.count == u64::from(u16::MAX)
            || self.size == u64::from(IN_EXTRA)
            || self.offset == u64::from(IN_EXTRA)
    }
}

/// Reads the end record, which must be without a comment.
fn parse_end(bytes: &[u8]) -> Option<End> {
    parse_end_with_comment(bytes, 0)
}

/// Reads the end record, which must be of a single disk and with a comment of this length.
fn parse_end_with_comment(mut bytes: &[u8], comment: usize) -> Option<End> {
    let bytes = &mut bytes;
    (get32(bytes)? == END && get32(bytes)? == 0).then_some(())?;
    let (here, count) = (get16(bytes)?, get16(bytes)?);
    let end = End { count: count.into(), size: get32(bytes)?.into(), offset: get32(bytes)?.into() };
    (here == count && usize::from(get16(bytes)?) == comment).then_some(end)
}

/// The offset of the end record of a large directory, from its locator.
fn parse_locator_64(mut bytes: &[u8]) -> Option<u64> {
    let bytes = &mut bytes;
    (get32(bytes)? == LOCATOR_64).then_some(())?;
    get32(bytes)?;
    get64(bytes)
}

/// Reads the end record of a large directory.
fn parse_end_64(mut bytes: &[u8]) -> Option<End> {
    let bytes = &mut bytes;
    (get32(bytes)? == END_64).then_some(())?;
    get64(bytes)?; // its own size
    get64(bytes)?; // versions and this disk
    get32(bytes)?; // the disk of the directory
    let (here, count) = (get64(bytes)?, get64(bytes)?);
    let end = End { count, size: get64(bytes)?, offset: get64(bytes)? };
    (here == count).then_some(end)
}

fn put16(bytes: &mut Vec<u8>, value: u16) {
    bytes.extend_from_slice(&value.to_le_bytes());
}
fn put32(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend_from_slice(&value.to_le_bytes());
}
fn put64(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}
/// The value, or the mark that it stands elsewhere.
fn low32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(IN_EXTRA)
}
fn low16(value: u64) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

fn get<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}
fn get16(bytes: &mut &[u8]) -> Option<u16> {
    get(bytes).map(u16::from_le_bytes)
}
fn get32(bytes: &mut &[u8]) -> Option<u32> {
    get(bytes).map(u32::from_le_bytes)
}
fn get64(bytes: &mut &[u8]) -> Option<u64> {
    get(bytes).map(u64::from_le_bytes)
}

// The local header of a member, compared with its entry in the central directory.
//
// Readers go by the directory, so damage in a local header goes unnoticed until the directory is lost.

/// Starts the record behind the data, where there is one; it is optional.
const DESCRIPTOR: u32 = 0x0807_4b50;
/// The longest form of that record: its signature, the checksum, two sizes.
const DESCRIPTOR_LEN: u64 = 24;

/// Refuses a member whose local header, or the record behind its data, has another name, checksum or size than the
/// directory.
pub(crate) fn check_entry(source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
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
pub(super) fn read_local(source: &LogFile, offset: u64) -> io::Result<Option<LocalHeader>> {
    let mut bytes = Vec::new();
    source.read_up_to(offset, LOCAL_LEN as u64, &mut bytes)?;
    let Some(header) = parse_local(&bytes) else { return Ok(None) };
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
    let header =
        read_local(source, entry.offset).map_err(LogErrorKind::Read)?.ok_or_else(|| differs("header"))?;
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

// The directory at the end of a file, believed only where it is consistent.

/// Members by name, in the order of the file. Of two with one name the last one counts.
pub(crate) type Members = IndexMap<String, ZipEntry>;

/// A directory, entry by entry.
#[derive(Debug)]
pub(crate) struct Directory {
    /// Where it starts, and the members end.
    pub(crate) offset: u64,
    /// What it lists, names that occur twice included.
    pub(crate) records: Vec<DirectoryRecord>,
}

/// An entry of a directory.
#[derive(Debug)]
pub(crate) struct DirectoryRecord {
    pub(crate) name: String,
    pub(crate) entry: ZipEntry,
    /// As it stands in the file.
    pub(crate) bytes: Vec<u8>,
}

/// The members that the directory lists; nothing if there is none or it is not consistent.
///
/// A flipped bit in a name would make a sample vanish without a trace, so names that no log has, and
/// names that occur twice, are compared with those in front of the members.
pub(crate) fn read_members(source: &LogFile) -> io::Result<Option<Members>> {
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
pub(crate) fn read_records(source: &LogFile) -> io::Result<Option<Directory>> {
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
    let (end, end_at) = match parse_end(&bytes) {
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
    let Some(end_64_at) = parse_locator_64(&bytes) else { return Ok(None) };
    if end_64_at.checked_add(END_64_LEN as u64) != Some(locator_at) {
        return Ok(None);
    }
    source.read(end_64_at, END_64_LEN as u64, &mut bytes)?;
    Ok(parse_end_64(&bytes).map(|end| (end, end_64_at)))
}

/// The end record where a comment follows it, as other tools write one.
fn find_end_before_comment(source: &LogFile) -> io::Result<Option<(End, u64)>> {
    let start = source.len().saturating_sub((END_LEN + MAX_COMMENT) as u64);
    let mut tail = Vec::new();
    source.read(start, source.len() - start, &mut tail)?;
    let sign = END.to_le_bytes();
    for at in memchr::memmem::rfind_iter(&tail, &sign) {
        let (record, comment) = tail.get(at..).unwrap_or_default().split_at(END_LEN.min(tail.len() - at));
        if let Some(end) = parse_end_with_comment(record, comment.len()) {
            return Ok(Some((end, start + at as u64)));
        }
    }
    Ok(None)
}

fn next_entry(bytes: &[u8]) -> Option<(&str, ZipEntry, &[u8])> {
    let RawHeader { entry, name, extra, comment } = parse_central(bytes)?;
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
    Ok(read_local(source, entry.offset)?.is_some_and(|header| header.name == name.as_bytes()))
}

// A zip file put together from members, old and new.

/// Writes members one behind the other, and at last their directory.
#[derive(Debug)]
pub(crate) struct Assembler<W> {
    out: W,
    /// Where the next member goes.
    at: u64,
    listed: Vec<u8>,
    count: u64,
}

impl<W: Write> Assembler<W> {
    /// Appends to what is in `out` already, which ends at offset `at`.
    pub(crate) fn new(out: W, at: u64) -> Self {
        Assembler { out, at, listed: Vec::new(), count: 0 }
    }

    /// Lists a member that is there already, as the old directory did.
    pub(crate) fn keep(&mut self, record: &DirectoryRecord) {
        self.listed.extend_from_slice(&record.bytes);
        self.count += 1;
    }

    /// Appends a member.
    pub(crate) fn add(&mut self, mut member: Member) -> Result<()> {
        member.entry.offset = self.at;
        self.out.write_all(&member.bytes).map_err(LogErrorKind::Write)?;
        self.at += member.len() as u64;
        member.entry.put_central(&member.name, &mut self.listed);
        self.count += 1;
        Ok(())
    }

    /// Ends the file with the directory.
    pub(crate) fn finish(mut self) -> Result<()> {
        let directory = put_end(self.listed, self.count, self.at);
        Ok(self.out.write_all(&directory).map_err(LogErrorKind::Write)?)
    }
}
