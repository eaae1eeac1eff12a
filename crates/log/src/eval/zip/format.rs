//! The records of a zip file as bytes (APPNOTE 6.3.10), with the extensions for large files.

use std::io::{self, Write};
use std::ops::Range;

use indexmap::IndexMap;

use super::decompress::LogFile;
use super::encoder::Member;
use crate::eval::container::{SampleName, is_derived, sample_name};
use crate::eval::error::{LogError, LogErrorKind, Result};

/// Starts a member.
pub(super) const LOCAL: &[u8] = b"PK\x03\x04";
/// Starts an entry of the directory.
const CENTRAL: &[u8] = b"PK\x01\x02";
/// Starts the end of the directory.
pub(super) const END: &[u8] = b"PK\x05\x06";
/// Starts the end of a large directory.
const END_64: &[u8] = b"PK\x06\x06";
/// Starts the record with the offset of the end of a large directory, which it follows.
const LOCATOR_64: &[u8] = b"PK\x06\x07";
/// Starts the record behind the data, where there is one; it is optional.
const DESCRIPTOR: &[u8] = b"PK\x07\x08";

// How many bytes the numbers of each record take, behind what it starts with.

/// Both headers of a member: flags, method, time, date, checksum, compressed and decompressed size, length of the name.
const COMMON: [usize; 8] = [2, 2, 2, 2, 4, 4, 4, 2];
/// The end of an entry of the directory: lengths of the extra field and the comment, disk, internal and external attributes,
/// offset.
const CENTRAL_REST: [usize; 6] = [2, 2, 2, 2, 4, 4];
/// The end of the directory: disks, entries on this disk and in all, size, offset, length of the comment.
const END_WIDTHS: [usize; 6] = [4, 2, 2, 4, 4, 2];
/// The end of a large directory: its own size, versions, this disk and that of the directory, entries on this disk and in
/// all, size, offset.
const END_64_WIDTHS: [usize; 9] = [8, 2, 2, 4, 4, 8, 8, 8, 8];
/// Its locator: disk, offset of that end, number of disks.
const LOCATOR_64_WIDTHS: [usize; 3] = [4, 8, 4];

pub(super) const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;
const END_64_LEN: usize = 56;
const LOCATOR_64_LEN: usize = 20;
/// The longest form of the record behind the data: its signature, the checksum, two sizes.
const DESCRIPTOR_LEN: u64 = 24;
/// How long a comment behind the directory may be.
const MAX_COMMENT: usize = u16::MAX as usize;

/// The extra field that holds what 32 bits cannot.
const EXTRA_64: u64 = 1;
/// What stands in a 32-bit field whose value is in the extra field.
const IN_EXTRA: u64 = u32::MAX as u64;
/// What stands in a 16-bit field whose value is elsewhere.
const ELSEWHERE: u64 = u16::MAX as u64;

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATE: u16 = 8;
pub(crate) const ZSTD: u16 = 93;

/// The name is UTF-8.
const UTF8: u16 = 1 << 11;
/// The member is encrypted.
pub(super) const ENCRYPTED: u16 = 1;
/// Sizes follow the data instead of standing in front of it.
pub(super) const SIZES_AFTER: u16 = 1 << 3;

/// The version of the format that a reader needs.
const VERSION: u64 = 20;
/// The same with the extensions for large files.
const VERSION_64: u64 = 45;
/// Made on Unix, so that the attributes are Unix modes.
const UNIX: u64 = 3 << 8;
/// The first of January 1980. A log has its times inside, and equal content gives equal bytes.
const DATE: u64 = 1 << 5 | 1;
/// A regular file that its owner may read and write, as Python writes it.
const ATTRIBUTES: u64 = 0o600 << 16;

/// Appends numbers of these widths, the lowest byte first.
fn put<const N: usize>(bytes: &mut Vec<u8>, widths: [usize; N], numbers: [u64; N]) {
    for (width, number) in widths.into_iter().zip(numbers) {
        bytes.extend(number.to_le_bytes().into_iter().take(width));
    }
}

/// Takes numbers of these widths; none if there are not as many bytes.
fn take<const N: usize>(bytes: &mut &[u8], widths: [usize; N]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    for (width, number) in widths.into_iter().zip(&mut numbers) {
        let (first, rest) = bytes.split_at_checked(width)?;
        *number = first.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        *bytes = rest;
    }
    Some(numbers)
}

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
        bytes.extend_from_slice(LOCAL);
        put(&mut bytes, [2], [VERSION]);
        put(&mut bytes, COMMON, self.common(name));
        put(&mut bytes, [2], [0]); // extra field
        bytes.extend_from_slice(name.as_bytes());
        bytes
    }

    /// Appends the entry of the directory.
    pub(crate) fn put_central(&self, name: &str, bytes: &mut Vec<u8>) {
        let mut large: Vec<u64> = vec![self.decompressed, self.compressed, self.offset];
        large.retain(|value| *value >= IN_EXTRA);
        let (values, is_large) = (8 * large.len() as u64, !large.is_empty());
        let version = if is_large { VERSION_64 } else { VERSION };
        bytes.extend_from_slice(CENTRAL);
        put(bytes, [2, 2], [UNIX | version, version]);
        put(bytes, COMMON, self.common(name));
        let extra = if is_large { 4 + values } else { 0 };
        put(bytes, CENTRAL_REST, [extra, 0, 0, 0, ATTRIBUTES, self.offset.min(IN_EXTRA)]);
        bytes.extend_from_slice(name.as_bytes());
        if is_large {
            put(bytes, [2, 2], [EXTRA_64, values]);
            large.into_iter().for_each(|value| put(bytes, [8], [value]));
        }
    }

    fn common(&self, name: &str) -> [u64; 8] {
        let [compressed, decompressed] = [self.compressed, self.decompressed].map(|size| size.min(IN_EXTRA));
        let (flags, method, name) =
            (self.flags.into(), self.method.into(), (name.len() as u64).min(ELSEWHERE));
        [flags, method, 0, DATE, self.crc.into(), compressed, decompressed, name]
    }

    /// Fills in what stands in the extra field; nothing if it should be there and is not.
    fn with_extra(mut self, mut extra: &[u8]) -> Option<Self> {
        let mut fields = vec![&mut self.decompressed, &mut self.compressed, &mut self.offset];
        fields.retain(|field| **field == IN_EXTRA);
        if fields.is_empty() {
            return Some(self);
        }
        while !extra.is_empty() {
            let [kind, length] = take(&mut extra, [2, 2])?;
            let (mut field, rest) = extra.split_at_checked(length as usize)?;
            if kind == EXTRA_64 {
                for value in fields {
                    [*value] = take(&mut field, [8])?;
                }
                return Some(self);
            }
            extra = rest;
        }
        None
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
    if (End { count, size, offset }).is_large() {
        let (own_size, made_by) = (END_64_LEN as u64 - 12, UNIX | VERSION_64);
        bytes.extend_from_slice(END_64);
        put(&mut bytes, END_64_WIDTHS, [own_size, made_by, VERSION_64, 0, 0, count, count, size, offset]);
        bytes.extend_from_slice(LOCATOR_64);
        put(&mut bytes, LOCATOR_64_WIDTHS, [0, offset + size, 1]);
    }
    bytes.extend_from_slice(END);
    let count = count.min(ELSEWHERE);
    put(&mut bytes, END_WIDTHS, [0, count, count, size.min(IN_EXTRA), offset.min(IN_EXTRA), 0]);
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

impl RawHeader {
    fn new(common: [u64; 8], extra: u64, comment: u64, offset: u64) -> Self {
        let [flags, method, _time, _date, crc, compressed, decompressed, name] = common;
        let (flags, method, crc) = (flags as u16, method as u16, crc as u32);
        let entry = ZipEntry { method, flags, crc, compressed, decompressed, offset };
        RawHeader { entry, name: name as usize, extra: extra as usize, comment: comment as usize }
    }
}

/// Reads a local header; nothing if it is none. The offset is the reader's to fill in.
pub(super) fn parse_local(bytes: &[u8]) -> Option<RawHeader> {
    let rest = &mut bytes.strip_prefix(LOCAL)?;
    let ([_version], common, [extra]) = (take(rest, [2])?, take(rest, COMMON)?, take(rest, [2])?);
    Some(RawHeader::new(common, extra, 0, 0))
}

/// Reads an entry of the directory; nothing if it is none.
fn parse_central(bytes: &[u8]) -> Option<RawHeader> {
    let rest = &mut bytes.strip_prefix(CENTRAL)?;
    let ([_made_by, _version], common) = (take(rest, [2, 2])?, take(rest, COMMON)?);
    let [extra, comment, _disk, _internal, _external, offset] = take(rest, CENTRAL_REST)?;
    Some(RawHeader::new(common, extra, comment, offset))
}

/// The end of the directory: how many entries, how many bytes, where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    count: u64,
    size: u64,
    offset: u64,
}

impl End {
    /// Whether the true values are in the records for large files.
    fn is_large(&self) -> bool {
        self.count >= ELSEWHERE || self.size >= IN_EXTRA || self.offset >= IN_EXTRA
    }

    /// Reads the end record, which must be of a single disk and have all that follows as its comment.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes.strip_prefix(END)?;
        let [disks, here, count, size, offset, comment] = take(rest, END_WIDTHS)?;
        (disks == 0 && here == count && comment == rest.len() as u64).then_some(End { count, size, offset })
    }

    /// Reads the end record of a large directory, which stands at this offset, and its locator.
    fn parse_large(bytes: &[u8], at: u64) -> Option<Self> {
        let rest = &mut bytes.strip_prefix(END_64)?;
        let [.., here, count, size, offset] = take(rest, END_64_WIDTHS)?;
        let [_, located, _] = take(&mut rest.strip_prefix(LOCATOR_64)?, LOCATOR_64_WIDTHS)?;
        (here == count && located == at).then_some(End { count, size, offset })
    }
}

// The local header of a member, compared with its entry in the central directory.
//
// Readers go by the directory, so damage in a local header goes unnoticed until the directory is lost.

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

/// Refuses a member whose local header, or the record behind its data, has another name, checksum or size than the
/// directory.
pub(crate) fn check_entry(source: &LogFile, name: &str, entry: &ZipEntry) -> Result<()> {
    let kind = match disagreement(source, name, entry) {
        Ok(None) => return Ok(()),
        Ok(Some(problem)) => LogErrorKind::Damaged(problem),
        Err(error) => LogErrorKind::Read(error),
    };
    Err(LogError::from(kind).in_member(name))
}

/// What of a member is not as the directory has it, if anything.
fn disagreement(source: &LogFile, name: &str, entry: &ZipEntry) -> io::Result<Option<String>> {
    let differs =
        |what: &str| Ok(Some(format!("the {what} in front of the entry is not the one in the directory")));
    let Some(header) = read_local(source, entry.offset)? else { return differs("header") };
    if header.name != name.as_bytes() {
        return differs("name");
    }
    let local = header.entry;
    let numbers = |entry: &ZipEntry| (entry.crc, entry.compressed, entry.decompressed);
    if numbers(&local) == numbers(entry) {
        return Ok(None);
    }
    let has_sizes_after = (local.flags | entry.flags) & SIZES_AFTER != 0;
    if !has_sizes_after || numbers(&local) != (0, 0, 0) {
        return differs(if local.crc == entry.crc { "size" } else { "checksum" });
    }
    let mut bytes = Vec::new();
    source.read_up_to(header.data_offset.saturating_add(entry.compressed), DESCRIPTOR_LEN, &mut bytes)?;
    let problem = || "the record behind the entry does not agree with the directory".to_owned();
    Ok((!is_described(&bytes, entry)).then(problem))
}

/// Whether the record behind the data agrees: with its signature or without, with sizes of 32 bits or of 64.
fn is_described(bytes: &[u8], entry: &ZipEntry) -> bool {
    let expected = Some([entry.crc.into(), entry.compressed, entry.decompressed]);
    let starts = [Some(bytes), bytes.strip_prefix(DESCRIPTOR)];
    let agrees = |bytes: &[u8], size| take(&mut &*bytes, [4, size, size]) == expected;
    starts.into_iter().flatten().any(|bytes| agrees(bytes, 4) || agrees(bytes, 8))
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
        if read_local(source, entry.offset)?.is_none_or(|header| header.name != name.as_bytes()) {
            return Ok(None);
        }
    }
    Ok(Some(members))
}

/// The directory with its bytes, to be written again; none if there is none or one of its entries is wrong.
pub(crate) fn read_records(source: &LogFile) -> io::Result<Option<Directory>> {
    let Some((End { count, size, offset }, directory_end)) = find_end(source)? else { return Ok(None) };
    if offset.checked_add(size) != Some(directory_end) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    source.read(offset, size, &mut bytes)?;
    let (mut records, mut rest) = (Vec::new(), bytes.as_slice());
    for _ in 0..count {
        let Some((record, after)) = next_record(rest) else { return Ok(None) };
        let header_end = record.entry.offset.saturating_add((LOCAL_LEN + record.name.len()) as u64);
        if header_end.saturating_add(record.entry.compressed) > offset {
            return Ok(None);
        }
        records.push(record);
        rest = after;
    }
    Ok(rest.is_empty().then_some(Directory { offset, records }))
}

/// The end record, and where the directory must end for it to be right. Other tools write a comment behind it.
fn find_end(source: &LogFile) -> io::Result<Option<(End, u64)>> {
    let start = source.len().saturating_sub((END_LEN + MAX_COMMENT) as u64);
    let mut bytes = Vec::new();
    source.read(start, source.len() - start, &mut bytes)?;
    let mut places = memchr::memmem::rfind_iter(&bytes, END);
    let found = places.find_map(|at| Some((End::parse(bytes.get(at..)?)?, start + at as u64)));
    let Some((_, at)) = found.filter(|(end, _)| end.is_large()) else { return Ok(found) };
    let length = (END_64_LEN + LOCATOR_64_LEN) as u64;
    let Some(large_at) = at.checked_sub(length) else { return Ok(None) };
    source.read(large_at, length, &mut bytes)?;
    Ok(End::parse_large(&bytes, large_at).map(|end| (end, large_at)))
}

fn next_record(bytes: &[u8]) -> Option<(DirectoryRecord, &[u8])> {
    let RawHeader { entry, name, extra, comment } = parse_central(bytes)?;
    let (record, after) = bytes.split_at_checked(CENTRAL_LEN + name + extra + comment)?;
    let (name, rest) = record.get(CENTRAL_LEN..)?.split_at_checked(name)?;
    let (name, entry) = (str::from_utf8(name).ok()?.to_owned(), entry.with_extra(rest.get(..extra)?)?);
    Some((DirectoryRecord { name, entry, bytes: record.to_owned() }, after))
}

fn is_known(name: &str) -> bool {
    sample_name(name) != SampleName::No || name.starts_with("_journal/") || is_derived(name)
}

// A zip file put together from members, old and new.

/// A member of a file, and where in the file it is.
pub(crate) struct FoundMember {
    pub(crate) name: String,
    pub(crate) entry: ZipEntry,
    /// Its local header and its data.
    pub(crate) range: Range<u64>,
}

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
    pub(crate) fn add(&mut self, member: Member) -> Result<()> {
        self.out.write_all(&member.bytes).map_err(LogErrorKind::Write)?;
        self.list(&member.name, member.entry, member.len() as u64);
        Ok(())
    }

    /// Appends a member of a file, as it is there.
    pub(crate) fn copy(&mut self, source: &LogFile, member: &FoundMember) -> Result<()> {
        const PIECE: usize = 1 << 20;
        let (mut bytes, range) = (Vec::new(), &member.range);
        for at in range.clone().step_by(PIECE) {
            source.read(at, (PIECE as u64).min(range.end - at), &mut bytes).map_err(LogErrorKind::Read)?;
            self.out.write_all(&bytes).map_err(LogErrorKind::Write)?;
        }
        self.list(&member.name, member.entry, range.end - range.start);
        Ok(())
    }

    /// Lists a member that was appended.
    fn list(&mut self, name: &str, entry: ZipEntry, length: u64) {
        ZipEntry { offset: self.at, ..entry }.put_central(name, &mut self.listed);
        self.at += length;
        self.count += 1;
    }

    /// Ends the file with the directory.
    pub(crate) fn finish(mut self) -> Result<()> {
        let directory = put_end(self.listed, self.count, self.at);
        Ok(self.out.write_all(&directory).map_err(LogErrorKind::Write)?)
    }
}
