//! Resuming a log whose run was stopped.

use std::fs::OpenOptions;
use std::path::Path;

use super::container::scan_source;
use super::error::{LogError, LogErrorKind, Result};
use super::header::{Header, StartRecord};
use super::limits::LogLimits;
use super::lock::lock_named;
use super::members::{HEADER, SAMPLES, START, is_derived, is_journal_summaries};
use super::memory_budget;
use super::reader::{EvalLog, SampleReader};
use super::stored::{SampleFields, StoredSample};
use super::writer::LogWriter;
use super::zip::Encoder;
use super::zip::decompress::Decompressor;
use super::zip::directory;
use super::zip::source::LogFile;

/// What a log held when its run was resumed.
#[derive(Debug)]
#[non_exhaustive]
pub struct ResumedLog {
    /// The header, if the run had ended.
    pub header: Option<Header>,
    /// What the run started with.
    pub start: StartRecord,
    /// The samples, those that errored among them, in the order of the file; without input, choices and
    /// target, which the dataset has.
    pub samples: Vec<StoredSample>,
}

impl LogWriter {
    /// Resumes a log in place: locks it, finds what it contains and truncates it after the last whole sample. A
    /// sample that is appended again replaces the old one.
    ///
    /// # Errors
    /// A log that another process writes, one that is damaged other than at its end, and one beyond the limits:
    /// truncating it there would lose what follows.
    pub fn resume(path: &Path) -> Result<(LogWriter, ResumedLog)> {
        Self::resume_with(path, LogLimits::default())
    }

    /// The same for a log that may be larger than others, or must be smaller.
    pub fn resume_with(path: &Path, limits: LogLimits) -> Result<(LogWriter, ResumedLog)> {
        resume(path, limits).map_err(|error| error.at(path))
    }
}

fn resume(path: &Path, limits: LogLimits) -> Result<(LogWriter, ResumedLog)> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(LogErrorKind::Open)?;
    let lock = lock_named(&file, path)?;
    let source = LogFile::new(file.try_clone().map_err(LogErrorKind::Open)?).map_err(LogErrorKind::Read)?;
    // The walk, even where there is a directory: what it finds is what a later one will find again.
    let found = scan_source(&source, limits)?;
    if let Some(listed) = directory::read(&source).map_err(LogErrorKind::Read)? {
        let lost = |name: &&String| name.starts_with(SAMPLES) && !found.members.contains_key(*name);
        if let Some(name) = listed.keys().find(lost) {
            let kind = LogErrorKind::damaged("the sample is in the directory but cannot be reached");
            return Err(LogError::from(kind).in_member(name));
        }
    }

    let mut decompressor = Decompressor::new(limits);
    let header = match found.members.get(HEADER) {
        Some(entry) => Some(Header::from_json(&decompressor.decompress(&source, HEADER, entry)?)?),
        None => None,
    };
    let start = match (found.members.get(START), &header) {
        (Some(entry), _) => StartRecord::from_json(&decompressor.decompress(&source, START, entry)?)?,
        (None, Some(header)) => {
            StartRecord { version: header.version, eval: header.eval.clone(), plan: header.plan.clone() }
        }
        (None, None) => return Err(LogErrorKind::NoStart.into()),
    };

    let is_kept = |name: &str| !is_derived(name) && !is_journal_summaries(name);
    let end = found.kept_end(is_kept);
    let mut members = found.members;
    members.retain(|name, _| is_kept(name));

    // Everything is read once before the file is truncated.
    let log = EvalLog::of_members(path, source, limits, members.clone());
    let mut reader = SampleReader::new(&log, SampleFields { texts: false, ..SampleFields::all() });
    let mut samples = Vec::new();
    for at in 0..log.sample_count() {
        let sample = reader.read(at)?;
        let bytes = memory_budget::of_sample(&sample);
        log.container.memory.take(bytes).map_err(|error| reader.in_sample(at, error))?;
        samples.push(sample);
    }

    let has_start = members.contains_key(START);
    file.set_len(end).map_err(LogErrorKind::Write)?;
    let mut writer = LogWriter::with_members(path, file, lock, members, end)?;
    if !has_start {
        // The header, the only record of what was run, has been cut off. If the process is killed now, the log must still have one.
        writer.append(Encoder::new()?.encode(START, &start.to_json())?)?;
    }
    // The old summaries are not trusted: they may lack samples and hold some that were run again.
    let mut reader = SampleReader::new(&log, SampleFields::all());
    for at in 0..log.sample_count() {
        let summary = reader.read(at)?.summary_json();
        writer.push_summary(&log.container.sample_name(at), &summary)?;
    }
    Ok((writer, ResumedLog { header, start, samples }))
}
