//! A log with something in it replaced, written as a new file in which every other byte is unchanged.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use errorbar_core::{ErrorPlan, Evaluation, Reducers, ScoreColumns};
use errorbar_files::{AtomicFile, WrittenFile};
use serde_json::Value as Json;

use super::container::LogLayout;
use super::error::{LogErrorKind, Result};
use super::header::Header;
use super::json::splice;
use super::json_log::JsonLog;
use super::lock::{LogLock, lock, lock_named};
use super::members::{HEADER, REDUCTIONS};
use super::plan::ERRORS;
use super::reader::EvalLog;
use super::reductions::Reductions;
use super::rescore::NewScores;
use super::zip::assemble::Assembler;
use super::zip::directory::{self, Directory, DirectoryRecord, Members};
use super::zip::source::FileSection;
use super::zip::{Encoder, ZSTD, ZipEntry};
use crate::recorded::{RecordedBlock, RecordedResults};

/// Changes to a log that are not written yet. The log itself stays as it is until [`Revision::write_back`].
///
/// ```
/// # use errorbar_core::{MetadataKeys, Plan};
/// # use errorbar_log::eval::*;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.eval");
/// # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
/// # let writer = LogWriter::create(&path, &start)?;
/// # writer.finish(&Header::started(start), &Reductions::none())?;
/// let log = EvalLog::open(&path)?;
/// let scores = log.scores(&log.header()?, &ScoreOptions::new(MetadataKeys::NONE))?;
/// let evaluation = Plan::new().evaluate(&scores.columns)?;
/// let mut revision = log.revise()?;
/// revision.set_results(&evaluation, &scores.columns)?;
/// revision.write_back()?;
/// assert!(EvalLog::open(&path)?.header()?.results.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Revision<'a> {
    pub(super) log: &'a EvalLog,
    /// The header as it will be.
    pub(super) header: Vec<u8>,
    /// The other records that are replaced.
    members: Vec<(RecordKey, Vec<u8>)>,
    /// The new scores of all samples, if there are any.
    pub(super) scores: Option<NewScores<'a>>,
}

/// Which record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordKey {
    /// A member of this name.
    Member(String),
    /// The sample at this index.
    Sample(usize),
}

impl EvalLog {
    /// Starts a change of this log.
    pub fn revise(&self) -> Result<Revision<'_>> {
        Ok(Revision { log: self, header: self.header_or_started()?, members: Vec::new(), scores: None })
    }
}

impl Revision<'_> {
    /// Replaces results and reduced scores. Other fields of the old results stay.
    ///
    /// `columns` are those that were evaluated.
    pub fn set_results(&mut self, evaluation: &Evaluation, columns: &ScoreColumns) -> Result<()> {
        self.replace_results(&RecordedResults::from(&evaluation.results))?;
        if let Some(json) = Reductions::by_key(&evaluation.reductions, columns).json {
            self.replace(RecordKey::Member(REDUCTIONS.to_owned()), json);
        }
        Ok(())
    }

    pub(super) fn replace_results(&mut self, recorded: &RecordedResults) -> Result<()> {
        let old = splice::value(&self.header, "results")?.filter(|json| json.starts_with(b"{"));
        let json = match old {
            // A very old log holds a single block in other fields, which would stand beside the new ones.
            Some(old) if splice::field(old, "scorer")?.is_none() => updated(old, recorded)?,
            // Nothing else names the scorer of its samples.
            Some(_) if recorded.scores.is_empty() => {
                let old = Header::from_json(&self.header)?.results.unwrap_or_default();
                let named = |RecordedBlock { name, scorer, .. }| RecordedBlock {
                    name,
                    scorer,
                    ..RecordedBlock::default()
                };
                let scores = old.scores.into_iter().map(named).collect();
                RecordedResults { scores, ..recorded.clone() }.to_json()
            }
            _ => recorded.to_json(),
        };
        self.header = splice::set(&self.header, &["results"], &json)?;
        Ok(())
    }

    /// Records other metrics for every scorer, so that the log records how its results were computed;
    /// see [`metrics_to_log`](super::metrics_to_log).
    pub fn set_metrics(&mut self, metrics: &Json) -> Result<()> {
        let metrics = metrics.to_string().into_bytes();
        self.header = splice::set(&self.header, &["eval", "metrics"], &metrics)?;
        let Some(eval) = splice::value(&self.header, "eval")? else { return Ok(()) };
        let Some(scorers) = splice::value(eval, "scorers")? else { return Ok(()) };
        let mut scorers = scorers.to_vec();
        // From the last, so that the offsets of the others stay valid.
        for item in splice::items(&scorers)?.into_iter().rev() {
            let scorer = splice::set(scorers.get(item.clone()).unwrap_or_default(), &["metrics"], &metrics)?;
            scorers = splice::replaced(&scorers, item, &scorer);
        }
        self.header = splice::set(&self.header, &["eval", "scorers"], &scorers)?;
        Ok(())
    }

    /// Records other reducers.
    pub fn set_reducers(&mut self, reducers: &Reducers) -> Result<()> {
        let names = Json::from(reducers.log_names());
        let path = ["eval", "config", "epochs_reducer"];
        self.header = splice::set(&self.header, &path, names.to_string().as_bytes())?;
        Ok(())
    }

    /// Records how errors and intervals are computed, so that they are computed so again.
    pub fn set_errors(&mut self, errors: &ErrorPlan) -> Result<()> {
        let path = ["eval", "config", ERRORS];
        self.header = splice::set(&self.header, &path, errors.to_json().to_string().as_bytes())?;
        Ok(())
    }

    /// The new content of a record, if it is replaced.
    pub(super) fn replaced(&self, place: &RecordKey) -> Option<&[u8]> {
        self.members.iter().find(|(other, _)| other == place).map(|(_, json)| json.as_slice())
    }

    pub(super) fn replace(&mut self, place: RecordKey, json: Vec<u8>) {
        self.members.retain(|(other, _)| *other != place);
        self.members.push((place, json));
    }

    /// Replaces the log with the changed one: a new file, synced to the disk, takes its name.
    ///
    /// # Errors
    /// A log that another process writes or that was replaced meanwhile, and one whose run has not ended: its
    /// writer would not see the change.
    pub fn write_back(&self) -> Result<WrittenFile> {
        self.write_back_checked().map_err(|error| error.at(self.log.path()))
    }

    /// The same for a log that this process has locked before it was read, so that no other can have changed it.
    ///
    /// # Errors
    /// As [`write_back`](Self::write_back), and the lock of another log.
    pub fn write_back_locked(&self, lock: &LogLock) -> Result<WrittenFile> {
        let path = self.log.path();
        let write = || {
            self.check_ended()?;
            lock.check(path)?;
            self.check_same(&lock.file)?;
            self.write_whole(AtomicFile::create(path))
        };
        write().map_err(|error| error.at(path))
    }

    fn check_ended(&self) -> Result<()> {
        match self.log.has_header() {
            true => Ok(()),
            false => Err(LogErrorKind::Unfinished.into()),
        }
    }

    /// Refuses a file that is not the one that was read, or not as it was.
    fn check_same(&self, file: &File) -> Result<()> {
        match self.log.container.source.is_unchanged(file).map_err(LogErrorKind::Open)? {
            true => Ok(()),
            false => Err(LogErrorKind::Replaced.into()),
        }
    }

    fn write_back_checked(&self) -> Result<WrittenFile> {
        self.check_ended()?;
        // Held until the new file has its name, so that two changes cannot cross.
        let path = self.log.path();
        let held = OpenOptions::new().read(true).write(true).open(path).map_err(LogErrorKind::Create)?;
        let _lock = lock_named(&held, path)?;
        self.check_same(&held)?;
        self.write_whole(AtomicFile::create(path))
    }

    /// Writes the changed log as another file, which appears when it is whole.
    ///
    /// # Errors
    /// A file that is there and that another process writes, and the log itself.
    pub fn write_to(&self, path: &Path) -> Result<WrittenFile> {
        let write = || {
            refuse_busy(self.log, path)?;
            self.write_whole(AtomicFile::create_private(path))
        };
        write().map_err(|error| error.at(path))
    }

    fn write_whole(&self, created: io::Result<AtomicFile>) -> Result<WrittenFile> {
        let mut file = created.map_err(LogErrorKind::Create)?;
        match (&self.scores, &self.log.container.layout) {
            (Some(scores), _) => self.write_rescored(scores, &mut file)?,
            (None, LogLayout::Json(log)) => self.write_json(log, &mut file)?,
            (None, LogLayout::Zip { members, .. }) => self.write_zip(members, &mut file)?,
        }
        Ok(file.commit().map_err(LogErrorKind::Write)?)
    }

    /// Copies the members that stay, appends those that are new, and lists all of them.
    fn write_zip(&self, members: &Members, out: &mut impl Write) -> Result<()> {
        let mut new: Vec<(String, &[u8])> = Vec::new();
        for (place, json) in &self.members {
            let name = match place {
                RecordKey::Member(name) => name.clone(),
                RecordKey::Sample(at) => self.log.container.sample_name(*at),
            };
            new.push((name, json));
        }
        new.push((HEADER.to_owned(), &self.header));

        let source = &self.log.container.source;
        let is_replaced = |name: &str| new.iter().any(|(new, _)| new == name);
        let Directory { offset, records } = match self.log.container.recovered_end {
            // A directory that was not believed when the log was opened is not believed now.
            Some(end) => recovered_directory(members, end),
            // It was there then; another process has changed the file.
            None => {
                directory::read_records(source).map_err(LogErrorKind::Read)?.ok_or(LogErrorKind::Replaced)?
            }
        };
        let end = kept_end(offset, &records, is_replaced);
        copy(&mut FileSection::new(source, 0, end), out)?;
        let mut zip = Assembler::new(out, end);
        records.iter().filter(|record| !is_replaced(&record.name)).for_each(|record| zip.keep(record));
        let mut encoder = Encoder::new()?;
        for (name, json) in new {
            let method = members.get(&name).or(members.get(HEADER)).map_or(ZSTD, |entry| entry.method);
            zip.add(encoder.encode_by(method, &name, json)?)?;
        }
        zip.finish()
    }

    /// Copies the object with the fields and samples that are new replacing the old ones.
    fn write_json(&self, log: &JsonLog, out: &mut impl Write) -> Result<()> {
        let mut edits = Vec::new();
        let mut added: Vec<(&str, &[u8])> = Vec::new();
        for name in ["eval", "results"] {
            if let Some(json) = splice::value(&self.header, name)? {
                match log.field(name) {
                    Some(range) => edits.push((range, json)),
                    None => added.push((name, json)),
                }
            }
        }
        for (place, json) in &self.members {
            match place {
                RecordKey::Sample(at) => {
                    edits.push((log.samples.get(*at).cloned().unwrap_or_default(), json))
                }
                RecordKey::Member(name) if name == REDUCTIONS => match log.field("reductions") {
                    Some(range) => edits.push((range, json)),
                    None => added.push(("reductions", json)),
                },
                // Summaries, which such a log has not.
                RecordKey::Member(_) => {}
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        let source = &self.log.container.source;
        let mut at = 0;
        for (range, json) in edits {
            copy(&mut FileSection::new(source, at, range.start - at), out)?;
            out.write_all(json).map_err(LogErrorKind::Write)?;
            at = range.end;
        }
        let last = log.fields.iter().map(|(_, range)| range.end).max().unwrap_or(at);
        copy(&mut FileSection::new(source, at, last - at), out)?;
        for (name, json) in added {
            let parts: [&[u8]; 4] = [b",\"", name.as_bytes(), b"\":", json];
            out.write_all(&parts.concat()).map_err(LogErrorKind::Write)?;
        }
        copy(&mut FileSection::new(source, last, source.len() - last), out)
    }
}

/// Refuses to overwrite the log itself, or a log that is being written.
pub(super) fn refuse_busy(log: &EvalLog, path: &Path) -> Result<()> {
    let Ok(there) = OpenOptions::new().read(true).write(true).open(path) else { return Ok(()) };
    if log.container.source.has_name(path).map_err(LogErrorKind::Open)? {
        return Err(LogErrorKind::Itself.into());
    }
    lock(&there, path).map(drop)
}

/// The old results with the new figures in them.
fn updated(old: &[u8], new: &RecordedResults) -> Result<Vec<u8>> {
    let json = |value: Json| value.to_string().into_bytes();
    let mut results = splice::set(old, &["total_samples"], &json(new.total_samples.into()))?;
    results = splice::set(&results, &["completed_samples"], &json(new.completed_samples.into()))?;
    results = splice::set(&results, &["scores"], &new.scores_to_json())?;
    let headline = new.headline.as_ref().map(crate::recorded::headline_json);
    if headline.is_some() || splice::field(&results, "headline")?.is_some() {
        results = splice::set(&results, &["headline"], &json(headline.unwrap_or_default()))?;
    }
    let warnings = new.metadata.as_ref().and_then(|metadata| metadata.get("warnings"));
    let had_warnings = match splice::value(old, "metadata")? {
        Some(metadata) if metadata.starts_with(b"{") => splice::field(metadata, "warnings")?.is_some(),
        _ => false,
    };
    if warnings.is_some() || had_warnings {
        let warnings = warnings.cloned().unwrap_or_else(|| Json::Array(Vec::new()));
        results = splice::set(&results, &["metadata", "warnings"], &json(warnings))?;
    }
    Ok(results)
}

/// Where the members end that are copied: what is replaced at the end is skipped; what is replaced in between
/// stays as bytes that no directory lists.
fn kept_end(offset: u64, records: &[DirectoryRecord], is_replaced: impl Fn(&str) -> bool) -> u64 {
    let mut places: Vec<(u64, bool)> =
        records.iter().map(|record| (record.entry.offset, is_replaced(&record.name))).collect();
    places.sort_unstable();
    let end = places.iter().rev().take_while(|(_, is_replaced)| *is_replaced).map(|(at, _)| *at).last();
    // Members of a hostile file may overlap: then all of it is copied.
    let reaches = |record: &DirectoryRecord| record.entry.offset.saturating_add(record.entry.compressed);
    let kept = records.iter().filter(|record| !is_replaced(&record.name)).map(reaches).max().unwrap_or(0);
    end.filter(|end| *end >= kept).unwrap_or(offset)
}

/// The directory of a log that has none, and whose members end at `offset`.
fn recovered_directory(members: &Members, offset: u64) -> Directory {
    let record = |(name, entry): (&String, &ZipEntry)| {
        let mut bytes = Vec::new();
        entry.put_central(name, &mut bytes);
        DirectoryRecord { name: name.clone(), entry: *entry, bytes }
    };
    Directory { offset, records: members.iter().map(record).collect() }
}

pub(super) fn copy(from: &mut FileSection<'_>, to: &mut impl Write) -> Result<()> {
    io::copy(from, to).map_err(LogErrorKind::Write)?;
    Ok(())
}
