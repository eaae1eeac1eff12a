//! The records of a zip file as bytes (APPNOTE 6.3.10), with the extensions for large files.

/// Starts a member.
pub(super) const LOCAL: u32 = 0x0403_4b50;
/// Starts an entry of the directory.
pub(super) const CENTRAL: u32 = 0x0201_4b50;
/// Starts the end of the directory.
pub(super) const END: u32 = 0x0605_4b50;
/// Starts the end of a large directory.
pub(super) const END_64: u32 = 0x0606_4b50;
/// Starts the record with the offset of the end of a large directory.
pub(super) const LOCATOR_64: u32 = 0x0706_4b50;

pub(super) const LOCAL_LEN: usize = 30;
pub(super) const CENTRAL_LEN: usize = 46;
pub(super) const END_LEN: usize = 22;
pub(super) const END_64_LEN: usize = 56;
pub(super) const LOCATOR_64_LEN: usize = 20;
/// How long a comment behind the directory may be.
pub(super) const MAX_COMMENT: usize = u16::MAX as usize;

/// The extra field that holds what 32 bits cannot.
const EXTRA_64: u16 = 1;
/// What stands in a 32-bit field whose value is in the extra field.
const IN_EXTRA: u32 = u32::MAX;

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATE: u16 = 8;
pub(in crate::eval) const ZSTD: u16 = 93;

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
pub(in crate::eval) struct ZipEntry {
    pub(in crate::eval) method: u16,
    pub(in crate::eval) flags: u16,
    pub(in crate::eval) crc: u32,
    pub(in crate::eval) compressed: u64,
    pub(in crate::eval) decompressed: u64,
    /// Where its local header starts.
    pub(in crate::eval) offset: u64,
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
    pub(in crate::eval) fn put_central(&self, name: &str, bytes: &mut Vec<u8>) {
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
pub(in crate::eval) fn directory_bytes<'a>(
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
pub(in crate::eval) fn put_end(mut bytes: Vec<u8>, count: u64, offset: u64) -> Vec<u8> {
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
    pub(super) comment: usize,
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
pub(super) fn parse_central(mut bytes: &[u8]) -> Option<RawHeader> {
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
    pub(super) fn with_extra(mut self, mut extra: &[u8]) -> Option<Self> {
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
pub(super) struct End {
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
pub(super) fn parse_end(bytes: &[u8]) -> Option<End> {
    parse_end_with_comment(bytes, 0)
}

/// Reads the end record, which must be of a single disk and with a comment of this length.
pub(super) fn parse_end_with_comment(mut bytes: &[u8], comment: usize) -> Option<End> {
    let bytes = &mut bytes;
    (get32(bytes)? == END && get32(bytes)? == 0).then_some(())?;
    let (here, count) = (get16(bytes)?, get16(bytes)?);
    let end = End { count: count.into(), size: get32(bytes)?.into(), offset: get32(bytes)?.into() };
    (here == count && usize::from(get16(bytes)?) == comment).then_some(end)
}

/// The offset of the end record of a large directory, from its locator.
pub(super) fn parse_locator_64(mut bytes: &[u8]) -> Option<u64> {
    let bytes = &mut bytes;
    (get32(bytes)? == LOCATOR_64).then_some(())?;
    get32(bytes)?;
    get64(bytes)
}

/// Reads the end record of a large directory.
pub(super) fn parse_end_64(mut bytes: &[u8]) -> Option<End> {
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
pub(super) fn get16(bytes: &mut &[u8]) -> Option<u16> {
    get(bytes).map(u16::from_le_bytes)
}
pub(super) fn get32(bytes: &mut &[u8]) -> Option<u32> {
    get(bytes).map(u32::from_le_bytes)
}
pub(super) fn get64(bytes: &mut &[u8]) -> Option<u64> {
    get(bytes).map(u64::from_le_bytes)
}
