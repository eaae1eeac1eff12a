//! What the records of a log are in: a zip, or one JSON object. Nothing above this needs to know which.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use errorbar_files::begins_as_manifest;

use super::chunks::{self, SampleExtent};
use super::error::{LogError, LogErrorKind, Result};
use super::json::{Descent, Outline, PartVisitor};
use super::limits::{ClaimedSizes, LogLimits, MemoryBudget};
use super::zip::{
    Decompressor, FileSection, LogFile, Members, ScanResult, ZipEntry, collector, read_members, scan,
};

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
        let (members, recovered_end) = match read_members(&source).map_err(LogErrorKind::Read)? {
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
        if let Some(name) = members.keys().find(|name| is_outside(name)) {
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
    pub(super) fn sample_member(&self, at: usize) -> Option<(&str, &ZipEntry)> {
        let LogLayout::Zip { members, samples } = &self.layout else { return None };
        let (name, entry) = members.get_index(samples.get(at)?.at)?;
        Some((name, entry))
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
                let range = log.samples.get(at).cloned().unwrap_or_default();
                decompressor.section(FileSection::new(&self.source, range), each)
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
        match sample_name(name) {
            SampleName::Whole => samples.push(SampleMember::whole(at)),
            SampleName::Shell { folder } => {
                let metadata = members.get_index_of(&metadata_of(folder));
                folders.insert(folder, samples.len());
                let folder_len = folder.len();
                samples.push(SampleMember { at, metadata, parts: Vec::new(), folder_len });
            }
            SampleName::Other => parts.push((at, name)),
            SampleName::No => {}
        }
    }
    for (at, name) in parts {
        let sample = folders_of(name).find_map(|folder| folders.get(folder).copied());
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

// A `.json` log: the same records as one object, `samples` and `reductions` inline.

const SAMPLES_FIELD: &str = "samples";
const REDUCTIONS_FIELD: &str = "reductions";

/// The most fields of a log, known or not; the reference writes a dozen.
const MAX_FIELDS: usize = 10_000;

/// Where the parts of a log are in its file. Only their offsets are held in memory.
#[derive(Debug, Default)]
pub(super) struct JsonLog {
    /// Every field of the log, as it comes.
    pub(super) fields: Vec<(String, Range<u64>)>,
    pub(super) samples: Vec<Range<u64>>,
    /// Whether the list of samples is being indexed.
    is_in_samples: bool,
}

impl JsonLog {
    /// Finds the parts of a file that holds one object.
    pub(super) fn index(source: &LogFile, limits: LogLimits) -> Result<Self> {
        let (mut log, mut outline) = (JsonLog::default(), Outline::of_object());
        Decompressor::new(limits)
            .section(FileSection::new(source, 0..source.len()), &mut |piece| outline.push(piece, &mut log))?;
        outline.finish()?;
        Ok(log)
    }

    /// Where a field is; of several with one name the last counts.
    pub(super) fn field(&self, name: &str) -> Option<Range<u64>> {
        self.fields.iter().rev().find(|(field, _)| field == name).map(|(_, range)| range.clone())
    }

    /// The header that an `.eval` log would have, in pieces.
    pub(super) fn header_pieces(
        &self,
        source: &LogFile,
        decompressor: &mut Decompressor,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let parts = self.fields.iter().filter(|(name, _)| name != SAMPLES_FIELD && name != REDUCTIONS_FIELD);
        let mut before = "{";
        for (name, range) in parts {
            each(format!("{before}{}:", serde_json::Value::from(name.as_str())).as_bytes())?;
            decompressor.section(FileSection::new(source, range.clone()), each)?;
            before = ",";
        }
        each(if before == "{" { b"{}" } else { b"}" })
    }

    /// What would be this member of an `.eval` log.
    pub(super) fn member(&self, source: &LogFile, name: &str, limits: LogLimits) -> Result<Option<Vec<u8>>> {
        let mut decompressor = Decompressor::new(limits);
        let mut json = Vec::new();
        let mut keep = collector(&mut json, limits.max_record);
        match (name, self.field(REDUCTIONS_FIELD)) {
            (HEADER, _) => self.header_pieces(source, &mut decompressor, &mut keep)?,
            (REDUCTIONS, Some(range)) => decompressor.section(FileSection::new(source, range), &mut keep)?,
            _ => return Ok(None),
        }
        drop(keep);
        Ok(Some(json))
    }
}

impl PartVisitor for JsonLog {
    fn begin(&mut self, key: &[u8], first: u8, at: u64) -> Result<Descent> {
        if self.is_in_samples {
            self.samples.push(at..at);
            return Ok(Descent::Whole);
        }
        if self.fields.len() == MAX_FIELDS {
            return Err(LogErrorKind::TooMany { what: "fields", limit: MAX_FIELDS }.into());
        }
        self.fields.push((String::from_utf8_lossy(key).into_owned(), at..at));
        if key != SAMPLES_FIELD.as_bytes() {
            return Ok(Descent::Whole);
        }
        // Of several lists the last one counts.
        self.samples.clear();
        match first {
            b'[' => {
                self.is_in_samples = true;
                Ok(Descent::Enter)
            }
            // A null is a list without any.
            b'n' => Ok(Descent::Whole),
            _ => Err(LogErrorKind::Json { problem: "a list should start".to_owned(), at }.into()),
        }
    }

    fn end(&mut self, at: u64) -> Result<()> {
        let range = match self.is_in_samples {
            true => self.samples.last_mut(),
            false => self.fields.last_mut().map(|(_, range)| range),
        };
        range.into_iter().for_each(|range| range.end = at);
        Ok(())
    }

    fn leave(&mut self, at: u64) -> Result<()> {
        self.is_in_samples = false;
        self.end(at)
    }
}

// The names of the members of a log.

/// What is known when a run starts.
pub(super) const START: &str = "_journal/start.json";
/// What is known when it has ended.
pub(super) const HEADER: &str = "header.json";
/// A short form of every sample.
pub(super) const SUMMARIES: &str = "summaries.json";
/// One score per sample, for each scorer and reducer.
pub(super) const REDUCTIONS: &str = "reductions.json";
/// Where samples are.
pub(super) const SAMPLES: &str = "samples/";

/// The short forms that were written with one flush.
pub(super) fn journal_summaries(number: usize) -> String {
    format!("_journal/summaries/{number}.json")
}

/// Whether a member is a journal of short forms.
pub(super) fn is_journal_summaries(name: &str) -> bool {
    name.starts_with("_journal/summaries/")
}

/// Whether a member is made of the samples when a run ends.
pub(super) fn is_derived(name: &str) -> bool {
    matches!(name, HEADER | SUMMARIES | REDUCTIONS)
}

/// What a member is to a sample, by its name. Only the content identifies the sample: an id may be any string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleName<'a> {
    /// `samples/{id}_epoch_{n}.json`: all of it.
    Whole,
    /// `samples/{id}_epoch_{n}/sample.json`: all but its long lists and its metadata, which are members in the
    /// same folder.
    Shell {
        /// `samples/{id}_epoch_{n}`
        folder: &'a str,
    },
    /// Something else among the samples.
    Other,
    /// It does not belong to a sample.
    No,
}

const SHELL: &str = "/sample.json";

pub(super) fn sample_name(name: &str) -> SampleName<'_> {
    // Folders, as general tools list them, are nothing; anything else in there might be a sample, and must not be
    // lost because a bit of its name is wrong.
    if !name.starts_with(SAMPLES) || name.ends_with('/') {
        return SampleName::No;
    }
    let ends_in_epoch = |text: &str| {
        text.rsplit_once("_epoch_")
            .is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if name.strip_suffix(".json").is_some_and(ends_in_epoch) {
        return SampleName::Whole;
    }
    match name.strip_suffix(SHELL).filter(|folder| ends_in_epoch(folder)) {
        Some(folder) => SampleName::Shell { folder },
        None => SampleName::Other,
    }
}

/// The folders that a member is in, from the innermost, as far as one of them may be that of a sample.
fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    const PARTS: usize = 8;
    name.match_indices('/').rev().take(PARTS).map(|(end, _)| name.get(..end).unwrap_or_default())
}

/// The metadata of the sample in this folder.
fn metadata_of(folder: &str) -> String {
    format!("{folder}/metadata.json")
}

/// Whether a name, were it a path, would lead out of the folder that it is decompressed in. The names of samples
/// hold their ids, which may be anything; they are never made a path.
fn is_outside(name: &str) -> bool {
    if sample_name(name) == SampleName::Whole {
        return false;
    }
    let drive = name.as_bytes().get(1) == Some(&b':');
    drive || name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..")
}

#[cfg(test)]
mod json_log_tests {
    use super::*;
    use std::io::Write;

    fn log(text: &str) -> Result<(JsonLog, LogFile)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let source = LogFile::new(file).unwrap();
        Ok((JsonLog::index(&source, LogLimits::default())?, source))
    }

    #[test]
    fn the_parts_are_found() {
        let text = r#" {"version": 2, "samples": [ {"id": 1, "v": NaN} , {"id": "]}"}], "a\"b": [-Infinity], "reductions": [1]} "#;
        let (log, source) = log(text).unwrap();
        let member = |name| log.member(&source, name, LogLimits::default()).unwrap();
        assert_eq!(member(HEADER).unwrap(), br#"{"version":2,"a\"b":[-Infinity]}"#);
        let samples: Vec<&str> =
            log.samples.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
        assert_eq!(samples, [r#"{"id": 1, "v": NaN}"#, r#"{"id": "]}"}"#]);
        assert_eq!(member(REDUCTIONS).unwrap(), b"[1]");
        assert_eq!(member("summaries.json"), None);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        for text in ["", "[]", "{", r#"{"samples": {}}"#, r#"{"samples": [1 2]}"#, r#"{"a": 1} x"#] {
            assert!(log(text).is_err(), "{text}");
        }
        assert_eq!(log(r#"{"samples": null}"#).unwrap().0.samples, []);
    }

    #[test]
    fn fields_have_a_limit() {
        let fields: Vec<String> = (0..10_001).map(|n| format!(r#""k{n}":0"#)).collect();
        assert!(log(&format!("{{{}}}", fields[1..].join(","))).is_ok());
        let error = log(&format!("{{{}}}", fields.join(","))).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooMany { what: "fields", .. }), "{error}");
    }

    #[test]
    fn a_header_beyond_the_limit_is_refused() {
        let (log, source) = log(&format!(r#"{{"a":"{}"}}"#, "x".repeat(1000))).unwrap();
        let limits = LogLimits { max_record: 500, ..LogLimits::default() };
        assert!(log.member(&source, HEADER, limits).is_err());
    }
}

#[cfg(test)]
mod members_tests {
    use super::*;

    #[test]
    fn a_name_decides_what_a_member_is() {
        for name in
            ["samples/1_epoch_1.json", "samples/a/b_epoch_12.json", "samples/x_epoch_1/y_epoch_2.json"]
        {
            assert_eq!(sample_name(name), SampleName::Whole, "{name}");
        }
        let shell = SampleName::Shell { folder: "samples/a/b_epoch_3" };
        assert_eq!(sample_name("samples/a/b_epoch_3/sample.json"), shell);
        for name in ["samples/a_epoch_1/messages/0.json", "samples/a.json", "samples/x_epoch_.json"] {
            assert_eq!(sample_name(name), SampleName::Other, "{name}");
        }
        for name in ["header.json", "samples/", "samples/a_epoch_1/"] {
            assert_eq!(sample_name(name), SampleName::No, "{name}");
        }
    }

    #[test]
    fn names_that_lead_out_are_seen() {
        for name in ["../x.json", "/etc/passwd", "a/../../b", "\\\\host\\x", "c:\\x", "samples/../../x.json"]
        {
            assert!(is_outside(name), "{name}");
        }
        for name in ["header.json", "samples/../x_epoch_1.json", "a..b/c", "samples/a/b_epoch_1/sample.json"]
        {
            assert!(!is_outside(name), "{name}");
        }
    }
}
