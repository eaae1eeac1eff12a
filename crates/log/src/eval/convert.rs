//! A log written again in the other form, or whole where it was torn.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use errorbar_core::MetadataKeys;
use errorbar_files::{AtomicFile, WrittenFile};

use super::container::{
    HEADER, REDUCTIONS, SAMPLES, START, SUMMARIES, is_derived, is_journal_summaries, scan_source,
};
use super::error::{LogError, LogErrorKind, Result};
use super::header::{Header, StartRecord};
use super::json::{Validator, validate};
use super::limits::{self, LogLimits};
use super::lock::lock_named;
use super::reader::{EvalLog, SampleReader};
use super::revision::refuse_busy;
use super::rewrite::{NewRecords, SampleTools};
use super::sample::{SampleFields, StoredSample, member_name};
use super::writer::LogWriter;
use super::zip::{
    Assembler, Decompressor, Encoder, FoundMember, LogFile, Member, Members, StreamedMember, all_members,
    read_members,
};

/// Writes a log as another file: one JSON object if its name ends in `.json`, else an `.eval` log. The records
/// are copied as they are, but for whitespace between them. The new file replaces one of that name only when it
/// is whole and on the disk. A log that was torn becomes a whole one, of a run that has not ended.
///
/// A sample that is in several members becomes one record.
///
/// # Errors
/// A log that cannot be read, and a file that cannot be written or is being written.
///
/// ```
/// # use errorbar_log::eval::*;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.eval");
/// # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
/// # let writer = LogWriter::create(&path, &start)?;
/// # writer.finish(&Header::started(start), &Reductions::none())?;
/// convert(&EvalLog::open(&path)?, &path.with_extension("json"))?;
/// let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path.with_extension("json"))?)?;
/// assert_eq!(json["samples"], serde_json::json!([]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(log: &EvalLog, to: &Path) -> Result<WrittenFile> {
    // What cannot be read is not converted.
    log.header()?;
    refuse_busy(log, to).map_err(|error| error.at(to))?;
    let mut file =
        AtomicFile::create_private(to).map_err(|error| LogError::from(LogErrorKind::Create(error)).at(to))?;
    let written = match to.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        true => write_json(log, &mut file),
        false => write_eval(log, &mut file),
    };
    written.and_then(|()| Ok(file.commit().map_err(LogErrorKind::Write)?)).map_err(|error| error.at(to))
}

fn write_json(log: &EvalLog, out: &mut impl Write) -> Result<()> {
    let header = log.header_or_started()?;
    let no_object = || LogError::from(LogErrorKind::damaged("the header is no object")).at(log.path());
    validate(&header).map_err(|error| error.in_member(HEADER).at(log.path()))?;
    let header = header.trim_ascii_end().strip_suffix(b"}").ok_or_else(no_object)?;
    let write = |bytes: &[u8], out: &mut dyn Write| out.write_all(bytes).map_err(LogErrorKind::Write);
    write(header, out)?;
    // An object without fields needs no comma.
    write(if header.trim_ascii() == b"{" { b"" } else { b"," }, out)?;
    write(b"\"samples\":[", out)?;
    let mut reader = SampleReader::new(log, SampleFields::scores(MetadataKeys::NONE));
    for (number, at) in log.key_order()?.into_iter().enumerate() {
        write(if number == 0 { b"" } else { b"," }, out)?;
        reader.copy(at, out)?;
    }
    write(b"]", out)?;
    if let Some(reductions) = log.raw(REDUCTIONS)? {
        validate(&reductions).map_err(|error| error.in_member(REDUCTIONS).at(log.path()))?;
        write(b",\"reductions\":", out)?;
        write(&reductions, out)?;
    }
    write(b"}", out)?;
    Ok(())
}

fn write_eval(log: &EvalLog, out: &mut impl Write) -> Result<()> {
    let header = log.header_or_started()?;
    let (summaries, reductions) = (log.raw(SUMMARIES)?.filter(|_| log.has_header()), log.raw(REDUCTIONS)?);
    let records = NewRecords {
        header: &header,
        summaries: summaries.as_deref(),
        reductions: reductions.as_deref(),
        methods: None,
    };
    // The order in which the reference writes and reads them.
    log.write_anew(&records, &log.key_order()?, out, encode)
}

/// A sample as a member, and its summary. It is copied in pieces: a long one takes no more memory.
fn encode(SampleTools { reader, encoder }: &mut SampleTools<'_>, at: usize) -> Result<(Member, Vec<u8>)> {
    let (mut validator, mut member) = (Validator::new(), StreamedMember::new(encoder));
    let sample = reader.decode_copied(at, &mut |piece| {
        validator.push(piece)?;
        Ok(member.write_all(piece).map_err(LogErrorKind::Compress)?)
    })?;
    validator.finish()?;
    let member = member.finish(&member_name(&sample.id, sample.epoch))?;
    Ok((member, sample.summary_json()))
}

// A log without its damaged samples, so that its run can be resumed: they are run again.

/// Samples that were taken out of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DamagedSamples {
    /// Their entries, or where they are in the file.
    pub samples: Vec<String>,
    /// The log as it was.
    pub kept_as: PathBuf,
}

/// Takes the samples out of a log that are damaged in the middle of it, and keeps the log as it was beside it. A log
/// without any is not touched.
///
/// # Errors
/// A log that another process writes, one whose start cannot be read, one beyond the limits.
pub fn remove_damaged_samples(path: &Path, limits: LogLimits) -> Result<Option<DamagedSamples>> {
    remove(path, limits).map_err(|error| error.at(path))
}

fn remove(path: &Path, limits: LogLimits) -> Result<Option<DamagedSamples>> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(LogErrorKind::Open)?;
    let _lock = lock_named(&file, path)?;
    let source = LogFile::new(file.try_clone().map_err(LogErrorKind::Open)?).map_err(LogErrorKind::Read)?;
    let (found, mut damaged) = all_members(&source, &mut Decompressor::new(limits))?;
    let unreadable = unreadable_samples(path, &source, limits, &found)?;
    damaged.extend(unreadable.iter().cloned());
    if damaged.is_empty() {
        return Ok(None);
    }

    let kept_as = free_name(path);
    let mut out = AtomicFile::create(path).map_err(LogErrorKind::Create)?;
    let mut zip = Assembler::new(&mut out, 0);
    found
        .iter()
        .filter(|member| !unreadable.contains(&member.name))
        .try_for_each(|member| zip.copy(&source, member))?;
    zip.finish()?;
    // The old file has two names until the new one takes the first.
    fs::hard_link(path, &kept_as)
        .or_else(|_| fs::copy(path, &kept_as).map(drop))
        .map_err(|error| LogError::from(LogErrorKind::Create(error)).at(&kept_as))?;
    out.commit().map_err(LogErrorKind::Write)?;
    Ok(Some(DamagedSamples { samples: damaged, kept_as }))
}

/// Samples that are whole JSON, and no samples.
fn unreadable_samples(
    path: &Path,
    source: &LogFile,
    limits: LogLimits,
    found: &[FoundMember],
) -> Result<Vec<String>> {
    let members: Members = found.iter().map(|member| (member.name.clone(), member.entry)).collect();
    let again = source.file().try_clone().and_then(LogFile::new).map_err(LogErrorKind::Open)?;
    let log = EvalLog::of_members(path, again, limits, members);
    let mut reader = SampleReader::new(&log, SampleFields::all());
    let mut unreadable = Vec::new();
    for at in 0..log.sample_count() {
        match reader.read(at) {
            Ok(_) => {}
            Err(error) if is_damage(&error) => unreadable.push(log.container.sample_name(at)),
            Err(error) => return Err(error),
        }
    }
    unreadable.retain(|name| name.starts_with(SAMPLES));
    Ok(unreadable)
}

fn is_damage(error: &LogError) -> bool {
    use LogErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::Damaged(_) | Kind::Json { .. } | Kind::Method(_) | Kind::Field { .. } | Kind::Missing(_)
    )
}

/// `NAME.damaged`, or with a number behind it.
fn free_name(path: &Path) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if number == 0 { ".damaged".to_owned() } else { format!(".damaged{number}") });
        path.with_file_name(name)
    };
    (0..).map(name).find(|path| !path.exists()).unwrap_or_default()
}

// Resuming a log whose run was stopped.

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
    if let Some(listed) = read_members(&source).map_err(LogErrorKind::Read)? {
        let lost = |name: &&String| name.starts_with(SAMPLES) && !found.members.contains_key(*name);
        if let Some(name) = listed.keys().find(lost) {
            let kind = LogErrorKind::damaged("the sample is in the directory but cannot be reached");
            return Err(LogError::from(kind).in_member(name));
        }
    }

    let is_kept = |name: &str| !is_derived(name) && !is_journal_summaries(name);
    let end = found.kept_end(is_kept);
    let mut members = found.members.clone();
    members.retain(|name, _| is_kept(name));

    // Everything is read once before the file is truncated.
    let log = EvalLog::of_members(path, source, limits, found.members);
    let header = log.has_header().then(|| log.header()).transpose()?;
    let has_start = members.contains_key(START);
    let start = match &header {
        Some(header) if !has_start => {
            StartRecord { version: header.version, eval: header.eval.clone(), plan: header.plan.clone() }
        }
        _ => log.start()?,
    };
    let mut reader = SampleReader::new(&log, SampleFields { texts: false, ..SampleFields::all() });
    let mut samples = Vec::new();
    for at in 0..log.sample_count() {
        let sample = reader.read(at)?;
        let bytes = limits::of_sample(&sample);
        log.container.memory.take(bytes).map_err(|error| reader.in_sample(at, error))?;
        samples.push(sample);
    }

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
