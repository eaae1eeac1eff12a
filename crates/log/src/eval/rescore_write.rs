//! A log with new scores in all its samples, written as a new file.
//!
//! Every sample changes, so copying the old file and appending to it, as other changes do, would leave most of it
//! without use: the records are put together anew. What holds no scores is copied. A sample that is in several members
//! becomes one record, as `convert` makes it.

use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::container::{Container, LogLayout};
use super::error::{LogError, LogErrorKind, Result};
use super::json::{Skimmer, splice, validate};
use super::json_log::JsonLog;
use super::members::{
    HEADER, REDUCTIONS, SUMMARIES, SampleName, is_derived, is_journal_summaries, sample_name,
};
use super::reader::EvalLog;
use super::rescore::NewScores;
use super::revision::{RecordKey, Revision, copy};
use super::sample::member_name;
use super::stored::{SampleFields, StoredSample, id_and_epoch};
use super::summary::SummaryList;
use super::zip::assemble::Assembler;
use super::zip::decompress::Decompressor;
use super::zip::directory::Members;
use super::zip::source::FileSection;
use super::zip::{Encoder, Member, ZSTD};

/// The number of samples that are processed at once.
const BATCH: usize = 128;

impl Revision<'_> {
    /// Writes all records, those that are replaced and the samples with their new scores.
    pub(super) fn write_rescored(&self, new: &NewScores<'_>, out: &mut impl Write) -> Result<()> {
        match &self.log.container.layout {
            LogLayout::Zip { members, .. } => self.write_rescored_zip(new, members, out),
            LogLayout::Json(log) => self.write_rescored_json(new, log, out),
        }
    }

    fn write_rescored_zip(&self, new: &NewScores<'_>, members: &Members, out: &mut impl Write) -> Result<()> {
        let log = self.log;
        let mut encoder = Encoder::new()?;
        let method =
            |name: &str| members.get(name).or(members.get(HEADER)).map_or(ZSTD, |entry| entry.method);
        let mut zip = Assembler::new(out, 0);
        // The journal of summaries would show the old scores.
        let is_copied = |name: &str| {
            sample_name(name) == SampleName::No
                && !name.ends_with('/')
                && !is_derived(name)
                && !is_journal_summaries(name)
        };
        for name in members.keys().filter(|name| is_copied(name)) {
            let json = log.raw(name)?.unwrap_or_default();
            zip.add(encoder.encode_by(method(name), name, &json)?)?;
        }
        let summaries = self.replaced(&RecordKey::Member(SUMMARIES.to_owned()));
        let mut for_summaries = Encoder::new()?;
        let mut built = summaries.is_none().then(|| SummaryList::new(&mut for_summaries));
        let pool = ToolPool { log, tools: Mutex::default() };
        for batch in batches(log.sample_count()) {
            let encoded: Vec<Result<(Member, Vec<u8>)>> = batch
                .clone()
                .into_par_iter()
                .map(|at| {
                    let mut tools = pool.take()?;
                    let json = sample(log, &mut tools.decompressor, new, at)?;
                    let summary = match summaries {
                        Some(_) => Vec::new(),
                        None => tools.summary(&json)?,
                    };
                    let name = record_name(log, at, &json)?;
                    let member = tools.encoder.encode_by(method(&name), &name, &json)?;
                    pool.put_back(tools);
                    Ok((member, summary))
                })
                .collect();
            for (at, encoded) in batch.zip(encoded) {
                let (member, summary) = encoded.map_err(|error| located(log, at, error))?;
                zip.add(member)?;
                if let Some(built) = &mut built {
                    built.push(&summary)?;
                }
            }
        }
        match (summaries, built) {
            (Some(json), _) => zip.add(encoder.encode_by(method(SUMMARIES), SUMMARIES, json)?)?,
            (None, Some(built)) => zip.add(built.finish()?)?,
            (None, None) => {}
        }
        if let Some(json) = self.replaced(&RecordKey::Member(REDUCTIONS.to_owned())) {
            zip.add(encoder.encode_by(method(REDUCTIONS), REDUCTIONS, json)?)?;
        }
        zip.add(encoder.encode_by(method(HEADER), HEADER, &self.header)?)?;
        zip.finish()
    }

    /// Copies the object with the fields and samples that are new replacing the old ones.
    fn write_rescored_json(&self, new: &NewScores<'_>, log: &JsonLog, out: &mut impl Write) -> Result<()> {
        let mut fields: Vec<(Range<u64>, &[u8])> = Vec::new();
        let mut added: Vec<(&str, &[u8])> = Vec::new();
        let mut put = |name: &'static str, json| match log.field(name) {
            Some(range) => fields.push((range, json)),
            None => added.push((name, json)),
        };
        for name in ["eval", "results"] {
            if let Some(json) = splice::value(&self.header, name)? {
                put(name, json);
            }
        }
        if let Some(json) = self.replaced(&RecordKey::Member(REDUCTIONS.to_owned())) {
            put("reductions", json);
        }
        fields.sort_by_key(|(range, _)| range.start);
        let mut copier = Copier { revision: self, out, at: 0 };
        let mut fields = fields.into_iter().peekable();
        for batch in batches(log.samples.len()) {
            let decompressor = || self.log.container.decompressor();
            let changed: Vec<Result<Vec<u8>>> = batch
                .clone()
                .into_par_iter()
                .map_init(decompressor, |decompressor, at| sample(self.log, decompressor, new, at))
                .collect();
            for (at, json) in batch.zip(changed) {
                let json = json.map_err(|error| located(self.log, at, error))?;
                let range = log.samples.get(at).cloned().unwrap_or_default();
                while let Some((field, json)) = fields.next_if(|(field, _)| field.start < range.start) {
                    copier.replace(field, json)?;
                }
                copier.replace(range, &json)?;
            }
        }
        for (field, json) in fields {
            copier.replace(field, json)?;
        }
        let last = log.fields.iter().map(|(_, range)| range.end).max().unwrap_or(0);
        copier.copy_to(last.max(copier.at))?;
        for (name, json) in added {
            let parts: [&[u8]; 4] = [b",\"", name.as_bytes(), b"\":", json];
            copier.out.write_all(&parts.concat()).map_err(LogErrorKind::Write)?;
        }
        copier.copy_to(self.log.container.source.len())
    }
}

/// Copies a file with some ranges of it replaced, in their order.
struct Copier<'r, 'a, W> {
    revision: &'r Revision<'a>,
    out: &'r mut W,
    /// Where the part that is not copied yet begins.
    at: u64,
}

impl<W: Write> Copier<'_, '_, W> {
    fn copy_to(&mut self, end: u64) -> Result<()> {
        let source = &self.revision.log.container.source;
        copy(&mut FileSection::new(source, self.at, end.saturating_sub(self.at)), self.out)?;
        self.at = end;
        Ok(())
    }

    fn replace(&mut self, range: Range<u64>, json: &[u8]) -> Result<()> {
        self.copy_to(range.start)?;
        self.out.write_all(json).map_err(LogErrorKind::Write)?;
        self.at = range.end;
        Ok(())
    }
}

/// What a thread needs to rewrite a sample. Compressors are expensive to make, and are used again.
struct Tools {
    decompressor: Decompressor,
    encoder: Encoder,
    /// For the short forms of samples.
    skimmer: Skimmer,
}

impl Tools {
    fn new(log: &EvalLog) -> Result<Self> {
        let Container { limits, memory, .. } = &log.container;
        let skimmer = Skimmer::new(SampleFields::all().wanted(), limits.max_record, Arc::clone(memory));
        Ok(Tools { decompressor: log.container.decompressor(), encoder: Encoder::new()?, skimmer })
    }

    /// The short form of a sample, as JSON.
    fn summary(&mut self, sample: &[u8]) -> Result<Vec<u8>> {
        self.skimmer.reset();
        self.skimmer.push(sample)?;
        Ok(StoredSample::from_json(self.skimmer.finish()?, &SampleFields::all())?.summary_json())
    }
}

struct ToolPool<'a> {
    log: &'a EvalLog,
    tools: Mutex<Vec<Tools>>,
}

impl ToolPool<'_> {
    fn take(&self) -> Result<Tools> {
        let free = self.tools.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match free {
            Some(tools) => Ok(tools),
            None => Tools::new(self.log),
        }
    }

    fn put_back(&self, tools: Tools) {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).push(tools);
    }
}

fn batches(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BATCH).map(move |start| start..count.min(start + BATCH))
}

/// The sample at an index with its new scores.
fn sample(log: &EvalLog, decompressor: &mut Decompressor, new: &NewScores<'_>, at: usize) -> Result<Vec<u8>> {
    let json = log.whole_sample_json(decompressor, at)?;
    validate(&json)?;
    new.put_into(&json, at, log.old_scorer())
}

/// The name of the member for a sample as one record.
fn record_name(log: &EvalLog, at: usize, json: &[u8]) -> Result<String> {
    let name = log.container.sample_name(at);
    match sample_name(&name) {
        SampleName::Shell { .. } => {
            let (id, epoch) = id_and_epoch(json).ok_or(LogErrorKind::Missing("id"))?;
            Ok(member_name(&id, epoch))
        }
        _ => Ok(name),
    }
}

fn located(log: &EvalLog, at: usize, error: LogError) -> LogError {
    error.in_member(&log.container.sample_name(at)).at(log.path())
}
