//! A log without its damaged samples, so that its run can be resumed: they are run again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use errorbar_files::AtomicFile;

use super::error::{LogError, LogErrorKind, Result};
use super::limits::LogLimits;
use super::lock::lock_named;
use super::members::SAMPLES;
use super::reader::{EvalLog, SampleReader};
use super::stored::SampleFields;
use super::zip::decompress::Decompressor;
use super::zip::directory::Members;
use super::zip::directory_bytes;
use super::zip::scan::{FoundMember, all_members};
use super::zip::source::LogFile;

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
    let (mut end, mut members, mut bytes) = (0, Members::new(), Vec::new());
    for FoundMember { name, mut entry, range } in found {
        if unreadable.contains(&name) {
            continue;
        }
        const PIECE: u64 = 1 << 20;
        let start = end;
        for at in range.clone().step_by(PIECE as usize) {
            source.read(at, PIECE.min(range.end - at), &mut bytes).map_err(LogErrorKind::Read)?;
            out.write_all(&bytes).map_err(LogErrorKind::Write)?;
        }
        end += range.end - range.start;
        entry.offset = start;
        members.insert(name, entry);
    }
    let listed = members.iter().map(|(name, entry)| (name.as_str(), entry));
    out.write_all(&directory_bytes(listed, end)).map_err(LogErrorKind::Write)?;
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
    let mut number = 0;
    while name(number).exists() {
        number += 1;
    }
    name(number)
}
