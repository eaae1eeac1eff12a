//! A log written again in the other form, or whole where it was torn.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use errorbar_files::{AtomicFile, WrittenFile};
use rayon::prelude::*;

use super::container::LogLayout;
use super::error::{LogError, LogErrorKind, Result};
use super::json::{Validator, splice, validate};
use super::members::{
    HEADER, REDUCTIONS, START, SUMMARIES, SampleName, is_derived, is_journal_summaries, sample_name,
};
use super::reader::{EvalLog, SampleReader};
use super::revision::refuse_busy;
use super::sample::member_name;
use super::stored::SampleFields;
use super::summary::SummaryList;
use super::zip::assemble::Assembler;
use super::zip::{Encoder, Member, StreamedMember};

/// The number of samples that are processed at once.
const BATCH: usize = 16;

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
    let mut samples = log.samples_by_key(SampleFields::scores(errorbar_core::MetadataKeys::NONE))?;
    let mut is_first = true;
    while samples.len() > 0 {
        write(if is_first { b"" } else { b"," }, out)?;
        samples.copy_next(out)?;
        is_first = false;
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
    let mut encoder = Encoder::new()?;
    let mut zip = Assembler::new(out, 0);
    zip.add(encoder.encode(START, &start_of(log, &header)?)?)?;
    if let LogLayout::Zip { members, .. } = &log.container.layout {
        let is_other = |name: &str| {
            sample_name(name) == SampleName::No
                && name != START
                && !is_derived(name)
                && !is_journal_summaries(name)
        };
        for name in members.keys().filter(|name| is_other(name)) {
            let json = log.raw(name)?.unwrap_or_default();
            zip.add(encoder.encode(name, &json)?)?;
        }
    }
    let mut for_summaries = Encoder::new()?;
    let mut summaries = SummaryList::new(&mut for_summaries);
    let mut names = HashSet::new();
    // The order in which the reference writes and reads them.
    let order = log.key_order()?;
    let tools = || (SampleReader::new(log, SampleFields::all()), Encoder::new());
    for batch in order.chunks(BATCH) {
        let encoded: Vec<Result<(Member, Vec<u8>)>> =
            batch.par_iter().map_init(tools, |tools, at| encode(log, tools, *at)).collect();
        for sample in encoded {
            let (member, summary) = sample?;
            if !names.insert(member.name().to_owned()) {
                let kind = LogErrorKind::damaged("two samples have one id and epoch");
                return Err(LogError::from(kind).in_member(member.name()).at(log.path()));
            }
            zip.add(member)?;
            summaries.push(&summary)?;
        }
    }
    match log.raw(SUMMARIES)?.filter(|_| log.has_header()) {
        Some(json) => zip.add(encoder.encode(SUMMARIES, &json)?)?,
        None => zip.add(summaries.finish()?)?,
    }
    if let Some(json) = log.raw(REDUCTIONS)? {
        zip.add(encoder.encode(REDUCTIONS, &json)?)?;
    }
    zip.add(encoder.encode(HEADER, &header)?)?;
    zip.finish()
}

/// The record of the start, out of the header where there is none.
fn start_of(log: &EvalLog, header: &[u8]) -> Result<Vec<u8>> {
    if let Some(json) = log.raw(START)? {
        return Ok(json);
    }
    let mut start = b"{}".to_vec();
    for field in ["version", "eval", "plan"] {
        if let Some(json) = splice::value(header, field)? {
            start = splice::set(&start, &[field], json)?;
        }
    }
    Ok(start)
}

/// A sample as a member, and its summary. It is copied in pieces: a long one takes no more memory.
fn encode(
    log: &EvalLog,
    (reader, encoder): &mut (SampleReader<'_>, Result<Encoder>),
    at: usize,
) -> Result<(Member, Vec<u8>)> {
    let mut encode = || {
        let encoder = encoder.as_mut().map_err(|_| LogErrorKind::damaged("the compressor failed"))?;
        let (mut validator, mut member) = (Validator::new(), StreamedMember::new(encoder));
        let sample = reader.decode_copied(at, &mut |piece| {
            validator.push(piece)?;
            Ok(member.write_all(piece).map_err(LogErrorKind::Compress)?)
        })?;
        validator.finish()?;
        let member = member.finish(&member_name(&sample.id, sample.epoch))?;
        Ok((member, sample.summary_json()))
    };
    encode().map_err(|error: LogError| error.in_member(&log.container.sample_name(at)).at(log.path()))
}
