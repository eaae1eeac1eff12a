//! What the records of a log are in: a zip, or one JSON object. Nothing above this needs to know which.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use super::chunks::{self, SampleExtent};
use super::error::{LogError, LogErrorKind, Result};
use super::json_log::JsonLog;
use super::limits::{ClaimedSizes, LogLimits};
use super::members::{self, HEADER, START, SampleName};
use super::memory_budget::MemoryBudget;
use super::zip::decompress::Decompressor;
use super::zip::directory::{self, Members};
use super::zip::scan::{ScanResult, scan};
use super::zip::source::{FileSection, LogFile};
use errorbar_files::begins_as_manifest;

/// How much of a file is looked at to see what it is.
const HEAD_BYTES: u64 = 1024;

/// An open log file and where its records are.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) source: LogFile,
    pub(super) limits: LogLimits,
    /// What may still be held of the log.
    pub(super) memory: Arc<MemoryBudget>,
    pub(super) layout: LogLayout,
    /// Where the members end, if the directory of a zip was missing or wrong and they were found one by one.
    pub(super) recovered_end: Option<u64>,
}

#[derive(Debug)]
pub(super) enum LogLayout {
    Zip { members: Members, samples: Vec<SampleMember> },
    Json(JsonLog),
}

/// The members that make up a sample, by their indices.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleMember {
    pub(super) at: usize,
    /// Where the sample is in several members, the one with its metadata.
    pub(super) metadata: Option<usize>,
    /// The others in its folder; none where it is in one member.
    pub(super) parts: Vec<usize>,
    /// How much of their names is that of the folder.
    pub(super) folder_len: usize,
}

impl SampleMember {
    /// A sample that is in one member.
    fn whole(at: usize) -> Self {
        SampleMember { at, ..SampleMember::default() }
    }
}

impl Container {
    pub(super) fn open(file: File, limits: LogLimits) -> Result<Self> {
        let source = LogFile::new(file).map_err(LogErrorKind::Read)?;
        if source.len() == 0 {
            return Err(LogErrorKind::Empty.into());
        }
        if let Some(head) = head_of_object(&source)? {
            if begins_as_manifest(&head) {
                return Err(LogErrorKind::Manifest.into());
            }
            let memory = Arc::new(MemoryBudget::new(limits.memory_for(source.len())));
            let layout = LogLayout::Json(JsonLog::index(&source, limits)?);
            return Ok(Container { source, limits, memory, layout, recovered_end: None });
        }
        let (members, recovered_end) = match directory::read(&source).map_err(LogErrorKind::Read)? {
            Some(members) => {
                let mut claims = ClaimedSizes::new(limits, source.len());
                for (name, entry) in &members {
                    claims.add(entry).map_err(|error| error.in_member(name))?;
                }
                (members, None)
            }
            None => {
                let found = scan_source(&source, limits)?;
                (found.members, Some(found.end))
            }
        };
        if !members.contains_key(START) && !members.contains_key(HEADER) {
            return Err(LogErrorKind::NoStart.into());
        }
        if let Some(name) = members.keys().find(|name| members::is_outside(name)) {
            return Err(LogError::from(LogErrorKind::OutsideName).in_member(name));
        }
        let container = Container::of_members(source, limits, members);
        Ok(Container { recovered_end, ..container })
    }

    /// A zip of which these are the members.
    pub(super) fn of_members(source: LogFile, limits: LogLimits, members: Members) -> Self {
        let memory = Arc::new(MemoryBudget::new(limits.memory_for(source.len())));
        let samples = sample_members(&members);
        let layout = LogLayout::Zip { members, samples };
        Container { source, limits, memory, layout, recovered_end: None }
    }

    pub(super) fn decompressor(&self) -> Decompressor {
        Decompressor::new(self.limits)
    }

    pub(super) fn sample_count(&self) -> usize {
        match &self.layout {
            LogLayout::Zip { samples, .. } => samples.len(),
            LogLayout::Json(log) => log.samples.len(),
        }
    }

    /// What messages call the sample at an index.
    pub(super) fn sample_name(&self, at: usize) -> String {
        let member = self.sample_member(at).map(|(name, ..)| name.to_owned());
        member.unwrap_or_else(|| format!("samples[{at}]"))
    }

    /// The member of the sample at an index, in a zip.
    pub(super) fn sample_member(&self, at: usize) -> Option<(&str, &super::zip::ZipEntry)> {
        let LogLayout::Zip { members, samples } = &self.layout else { return None };
        let (name, entry) = members.get_index(samples.get(at)?.at)?;
        Some((name, entry))
    }

    /// The JSON of the sample at an index, in pieces: its record, metadata and messages, whether they are in one member
    /// or in several.
    pub(super) fn sample_pieces(
        &self,
        decompressor: &mut Decompressor,
        at: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.extent_pieces(decompressor, at, SampleExtent::Conversation, each)
    }

    /// The JSON of the sample at an index, in pieces; of one in several members, as much as is wanted.
    pub(super) fn extent_pieces(
        &self,
        decompressor: &mut Decompressor,
        at: usize,
        extent: SampleExtent,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        match &self.layout {
            LogLayout::Json(log) => {
                let Range { start, end } = log.samples.get(at).cloned().unwrap_or_default();
                decompressor.section(FileSection::new(&self.source, start, end - start), each)
            }
            LogLayout::Zip { members, samples } => match samples.get(at) {
                Some(sample) if sample.folder_len > 0 && extent != SampleExtent::Record => {
                    chunks::assemble(self, members, sample, extent, decompressor, each)
                }
                _ => match self.sample_member(at) {
                    Some((name, entry)) => decompressor.pieces(&self.source, name, entry, each),
                    None => Ok(()),
                },
            },
        }
    }

    /// The first bytes of the sample at an index, at most this number, **unchecked**.
    pub(super) fn sample_head(
        &self,
        decompressor: &mut Decompressor,
        at: usize,
        bytes: u64,
    ) -> Result<Vec<u8>> {
        match &self.layout {
            LogLayout::Json(log) => {
                let Range { start, end } = log.samples.get(at).cloned().unwrap_or_default();
                let mut head = Vec::new();
                let read = self.source.read_up_to(start, bytes.min(end.saturating_sub(start)), &mut head);
                read.map_err(LogErrorKind::Read)?;
                Ok(head)
            }
            LogLayout::Zip { .. } => match self.sample_member(at) {
                Some((name, entry)) => decompressor.head(&self.source, name, entry, bytes),
                None => Ok(Vec::new()),
            },
        }
    }

    /// The metadata of the sample at an index, if it is a separate member.
    pub(super) fn sample_metadata(
        &self,
        decompressor: &mut Decompressor,
        at: usize,
    ) -> Option<Result<Vec<u8>>> {
        let LogLayout::Zip { members, samples } = &self.layout else { return None };
        let (name, entry) = members.get_index(samples.get(at)?.metadata?)?;
        Some(decompressor.decompress(&self.source, name, entry))
    }

    /// A member as it is, decompressed.
    pub(super) fn member(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let json = match &self.layout {
            LogLayout::Json(log) => log.member(&self.source, name, self.limits)?,
            LogLayout::Zip { members, .. } => match members.get(name) {
                None => None,
                Some(entry) => Some(self.decompressor().decompress(&self.source, name, entry)?),
            },
        };
        if let Some(json) = &json {
            self.memory.check_tree(json).map_err(|error| error.in_member(name))?;
        }
        Ok(json)
    }
}

/// The samples among the members.
fn sample_members(members: &Members) -> Vec<SampleMember> {
    let mut samples = Vec::new();
    let mut folders: HashMap<&str, usize> = HashMap::new();
    let mut parts = Vec::new();
    for (at, name) in members.keys().enumerate() {
        match members::sample_name(name) {
            SampleName::Whole => samples.push(SampleMember::whole(at)),
            SampleName::Shell { folder } => {
                let metadata = members.get_index_of(&members::metadata_of(folder));
                folders.insert(folder, samples.len());
                let folder_len = folder.len();
                samples.push(SampleMember { at, metadata, parts: Vec::new(), folder_len });
            }
            SampleName::Other => parts.push((at, name)),
            SampleName::No => {}
        }
    }
    for (at, name) in parts {
        let sample = members::folders_of(name).find_map(|folder| folders.get(folder).copied());
        match sample.and_then(|sample| samples.get_mut(sample)) {
            Some(sample) => sample.parts.push(at),
            // A part of a sample, unless nothing indicates that: then reading it reports what is wrong with it.
            None => samples.push(SampleMember::whole(at)),
        }
    }
    samples
}

/// The first bytes, if the first that is not whitespace starts an object; an archive starts differently.
fn head_of_object(source: &LogFile) -> Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    source.read_up_to(0, HEAD_BYTES, &mut head).map_err(LogErrorKind::Read)?;
    Ok(head.trim_ascii_start().starts_with(b"{").then_some(head))
}

/// Finds the members without a directory. A file that is damaged in the middle is refused, as what comes
/// behind the damage would vanish without a trace.
pub(super) fn scan_source(source: &LogFile, limits: LogLimits) -> Result<ScanResult> {
    let found = scan(source, &mut Decompressor::new(limits))?;
    if found.members.is_empty() && !found.could_be_a_log {
        return Err(LogErrorKind::NotALog.into());
    }
    match found.damaged_at {
        Some(at) => Err(LogErrorKind::damaged(format!("the entry at byte {at} is not whole")).into()),
        None => Ok(found),
    }
}
