//! Members found without a directory: one after the other from the start of the file.
//!
//! A run that was killed, or is still running, leaves a file without a directory. Every member has
//! its length in front of its data, so the file can be walked; a checksum reveals the torn one at the end.

use indexmap::IndexMap;

use super::decompress::{Decompressor, LogFile};
use super::format::{END, FoundMember, LOCAL, LocalHeader, Members, SIZES_AFTER, ZipEntry, read_local};
use crate::eval::container::{SAMPLES, is_derived};
use crate::eval::error::{LogError, LogErrorKind, Result};
use crate::eval::limits::{ClaimedSizes, LogLimits};

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    pub(crate) members: Members,
    /// Where the last whole member ends.
    pub(crate) end: u64,
    /// Where a member that is not whole starts, if whole ones come after it.
    pub(crate) damaged_at: Option<u64>,
    /// Whether the file starts like a log, as far as it goes.
    pub(crate) could_be_a_log: bool,
    /// Where each member ends.
    ends: IndexMap<String, u64>,
}

impl ScanResult {
    /// Where the last of the members to copy ends.
    pub(crate) fn kept_end(&self, keep: impl Fn(&str) -> bool) -> u64 {
        self.ends.iter().filter(|(name, _)| keep(name)).map(|(_, end)| *end).max().unwrap_or(0)
    }
}

/// Walks the file up to its directory, its end or the first member that is not whole.
pub(crate) fn scan(source: &LogFile, decompressor: &mut Decompressor) -> Result<ScanResult> {
    let mut found = ScanResult::default();
    let mut claims = ClaimedSizes::new(decompressor.limits(), source.len());
    let mut bytes = Vec::new();
    source.read_up_to(0, 4, &mut bytes).map_err(LogErrorKind::Read)?;
    found.could_be_a_log = [LOCAL, END].iter().any(|sign| sign.starts_with(&bytes));
    while let Some(FoundMember { name, entry, range }) = member_at(source, found.end)? {
        claims.add(&entry).map_err(|error| error.in_member(&name))?;
        // Some writers put a header in front of nothing and fill it in later; killed in between they leave an empty
        // member whose checksum is right, and which is no JSON.
        match decompressor.validate(source, &name, &entry) {
            Ok(()) => {}
            Err(error) if is_torn(&error) => break,
            Err(error) => return Err(error),
        }
        // What was derived from the samples before this one is no longer true. It was added last, if at all.
        while !is_derived(&name) && found.members.last().is_some_and(|(name, _)| is_derived(name)) {
            found.members.pop();
        }
        found.end = range.end;
        found.ends.insert(name.clone(), range.end);
        found.members.insert(name, entry);
    }
    if found.could_be_a_log && has_member_after(source, found.end, decompressor)? {
        found.damaged_at = Some(found.end);
    }
    Ok(found)
}

/// All whole members of a file, in order, the last of each name; and what is damaged between them. What is torn at the
/// end is no damage: a process that is killed leaves it.
pub(crate) fn all_members(
    source: &LogFile,
    decompressor: &mut Decompressor,
) -> Result<(Vec<FoundMember>, Vec<String>)> {
    let mut found: IndexMap<String, FoundMember> = IndexMap::new();
    let (mut damaged, mut torn) = (Vec::new(), Vec::new());
    let mut claims = ClaimedSizes::new(decompressor.limits(), source.len());
    let mut at = 0;
    while at < source.len() {
        let member = member_at(source, at)?;
        let is_whole = match &member {
            Some(FoundMember { name, entry, .. }) => match decompressor.validate(source, name, entry) {
                // Not before: the sizes of a damaged one may be any.
                Ok(()) => claims.add(entry).map(|()| true).map_err(|error| error.in_member(name))?,
                Err(error) if is_torn(&error) => false,
                Err(error) => return Err(error),
            },
            None => false,
        };
        let Some(member) = member.filter(|_| is_whole) else {
            // The header in front of it may be wrong, so the next is looked for.
            let header = read_local(source, at).map_err(LogErrorKind::Read)?;
            let name = header.and_then(|header| String::from_utf8(header.name).ok());
            torn.extend(name.filter(|name| name.starts_with(SAMPLES)).or_else(|| Some(format!("byte {at}"))));
            let validate = |name: &str, entry: &ZipEntry| decompressor.validate(source, name, entry);
            match search(source, at, |_| true, validate)? {
                SearchOutcome::Found(next) => at = next,
                SearchOutcome::NotFound | SearchOutcome::GaveUp => break,
            }
            continue;
        };
        damaged.append(&mut torn);
        at = member.range.end;
        found.insert(member.name.clone(), member);
    }
    // The directory behind the last member is none of them.
    let mut found: Vec<FoundMember> = found.into_values().collect();
    found.sort_by_key(|member| member.range.start);
    Ok((found, damaged))
}

/// How a search for a whole member ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchOutcome {
    /// It starts at this offset.
    Found(u64),
    NotFound,
    /// There are more incomplete entries than in any log that a killed process left.
    GaveUp,
}

/// Whether a whole sample, or what is written at the end of a run, starts anywhere after this offset. A process
/// that is killed leaves one torn member at the end; anything whole behind a torn one means that the file itself
/// is damaged.
fn has_member_after(source: &LogFile, place: u64, decompressor: &mut Decompressor) -> Result<bool> {
    let is_candidate = |name: &str| name.starts_with(SAMPLES) || is_derived(name);
    // A member whose checksum is right was written, whatever is in it.
    let check = |name: &str, entry: &ZipEntry| decompressor.pieces(source, name, entry, &mut |_| Ok(()));
    Ok(search(source, place, is_candidate, check)? != SearchOutcome::NotFound)
}

/// Looks for the first of the candidates after an offset that passes a check.
fn search(
    source: &LogFile,
    place: u64,
    is_candidate: impl Fn(&str) -> bool,
    mut check: impl FnMut(&str, &ZipEntry) -> Result<()>,
) -> Result<SearchOutcome> {
    const PIECE: u64 = 1 << 20;
    /// What it costs to look at an entry, in bytes of work.
    const LOOK: u64 = 4 << 10;
    let mut piece = Vec::new();
    let mut start = place + 1;
    // Enough to check every sample of a log.
    let mut budget = source.len().saturating_mul(4).max(LogLimits::DENSE_BYTES);
    while start < source.len() {
        source.read_up_to(start, PIECE + LOCAL.len() as u64 - 1, &mut piece).map_err(LogErrorKind::Read)?;
        for at in memchr::memmem::find_iter(&piece, LOCAL) {
            let offset = start + at as u64;
            let candidate = member_at(source, offset)?.filter(|member| is_candidate(&member.name));
            let work = candidate.as_ref().map_or(LOOK, |FoundMember { entry, .. }| {
                LOOK.saturating_add(entry.compressed).saturating_add(entry.decompressed)
            });
            let Some(left) = budget.checked_sub(work) else { return Ok(SearchOutcome::GaveUp) };
            budget = left;
            if candidate.is_some_and(|member| check(&member.name, &member.entry).is_ok()) {
                return Ok(SearchOutcome::Found(offset));
            }
        }
        start += PIECE;
    }
    Ok(SearchOutcome::NotFound)
}

/// The member that starts here, if one does and the file is long enough to hold it.
fn member_at(source: &LogFile, offset: u64) -> Result<Option<FoundMember>> {
    let header = read_local(source, offset).map_err(LogErrorKind::Read)?;
    Ok(header.and_then(|LocalHeader { name, entry, data_offset }| {
        let end = data_offset.checked_add(entry.compressed).filter(|end| *end <= source.len())?;
        let name = String::from_utf8(name).ok().filter(|_| entry.flags & SIZES_AFTER == 0)?;
        Some(FoundMember { name, entry, range: offset..end })
    }))
}

/// Whether an entry is not whole. One that is whole but beyond a limit is not torn: cutting the log off in front of
/// it would lose it, and what follows it.
fn is_torn(error: &LogError) -> bool {
    matches!(error.kind(), LogErrorKind::Damaged(_) | LogErrorKind::Json { .. } | LogErrorKind::Method(_))
}
