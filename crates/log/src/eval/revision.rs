//! A log with something in it replaced, written as a new file in which every other byte is unchanged.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use errorbar_core::spec::nearest;
use errorbar_core::{
    ErrorPlan, Evaluation, Leaf, Metadata, MetadataKeys, Reducers, SampleId, Score, ScoreColumns, Value,
};
use errorbar_files::{AtomicFile, WrittenFile, json_value};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::chunks::SampleExtent;
use super::container::{HEADER, JsonLog, LogLayout, REDUCTIONS, SUMMARIES};
use super::error::{LogError, LogErrorKind, Result};
use super::header::Header;
use super::json;
use super::lock::{LogLock, lock};
use super::plan::ERRORS;
use super::reader::{EvalLog, SampleReader};
use super::rescore::{NewScores, ScorersSpan, find_span};
use super::sample::{SampleFields, id_and_epoch, thin_score};
use super::scores::{EditedScore, Reductions};
use super::wire::{self, JsonWriter, murmur3};
use super::zip::{
    Assembler, Directory, DirectoryRecord, Encoder, FileSection, LogFile, Members, ZSTD, ZipEntry,
    read_records,
};
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
    /// The other records that are replaced, samples by what [`Container`](super::container::Container) calls them.
    members: IndexMap<String, Vec<u8>>,
    /// The new scores of all samples, if there are any.
    pub(super) scores: Option<NewScores<'a>>,
}

impl EvalLog {
    /// Starts a change of this log.
    pub fn revise(&self) -> Result<Revision<'_>> {
        Ok(Revision { log: self, header: self.header_or_started()?, members: IndexMap::new(), scores: None })
    }
}

impl Revision<'_> {
    /// Replaces results and reduced scores. Other fields of the old results stay.
    ///
    /// `columns` are those that were evaluated.
    pub fn set_results(&mut self, evaluation: &Evaluation, columns: &ScoreColumns) -> Result<()> {
        self.replace_results(&RecordedResults::from(&evaluation.results))?;
        if let Some(json) = Reductions::by_key(&evaluation.reductions, columns).json {
            self.replace(REDUCTIONS, json);
        }
        Ok(())
    }

    pub(super) fn replace_results(&mut self, recorded: &RecordedResults) -> Result<()> {
        let old = json::value(&self.header, "results")?.filter(|json| json.starts_with(b"{"));
        let json = match old {
            // A very old log holds a single block in other fields, which would stand beside the new ones.
            Some(old) if json::field(old, "scorer")?.is_none() => updated(old, recorded)?,
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
        self.header = json::set(&self.header, &["results"], &json)?;
        Ok(())
    }

    /// Records other metrics for every scorer, so that the log records how its results were computed;
    /// see [`metrics_to_log`](super::metrics_to_log).
    pub fn set_metrics(&mut self, metrics: &Json) -> Result<()> {
        let metrics = metrics.to_string().into_bytes();
        self.header = json::set(&self.header, &["eval", "metrics"], &metrics)?;
        let Some(eval) = json::value(&self.header, "eval")? else { return Ok(()) };
        let Some(scorers) = json::value(eval, "scorers")? else { return Ok(()) };
        let mut scorers = scorers.to_vec();
        // From the last, so that the offsets of the others stay valid.
        for item in json::items(&scorers)?.into_iter().rev() {
            let scorer = json::set(scorers.get(item.clone()).unwrap_or_default(), &["metrics"], &metrics)?;
            scorers = json::replaced(&scorers, item, &scorer);
        }
        self.header = json::set(&self.header, &["eval", "scorers"], &scorers)?;
        Ok(())
    }

    /// Records other reducers.
    pub fn set_reducers(&mut self, reducers: &Reducers) -> Result<()> {
        let names = Json::from(reducers.log_names());
        let path = ["eval", "config", "epochs_reducer"];
        self.header = json::set(&self.header, &path, names.to_string().as_bytes())?;
        Ok(())
    }

    /// Records how errors and intervals are computed, so that they are computed so again.
    pub fn set_errors(&mut self, errors: &ErrorPlan) -> Result<()> {
        let path = ["eval", "config", ERRORS];
        self.header = json::set(&self.header, &path, errors.to_json().to_string().as_bytes())?;
        Ok(())
    }

    /// The new content of a record, if it is replaced.
    pub(super) fn replaced(&self, name: &str) -> Option<&[u8]> {
        self.members.get(name).map(Vec::as_slice)
    }

    pub(super) fn replace(&mut self, name: &str, json: Vec<u8>) {
        // What was replaced last is written last.
        self.members.shift_remove(name);
        self.members.insert(name.to_owned(), json);
    }

    /// Replaces the log with the changed one: a new file, synced to the disk, takes its name.
    ///
    /// # Errors
    /// A log that another process writes or that was replaced meanwhile, and one whose run has not ended: its
    /// writer would not see the change.
    pub fn write_back(&self) -> Result<WrittenFile> {
        let path = self.log.path();
        self.check_ended().map_err(|error| error.at(path))?;
        // Held until the new file has its name, so that two changes cannot cross.
        let lock = LogLock::take(path).map_err(|error| error.at(path))?;
        self.write_back_locked(&lock)
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
            // Another file than the one that was read, or not as it was.
            if !self.log.container.source.is_unchanged(&lock.file).map_err(LogErrorKind::Open)? {
                return Err(LogErrorKind::Replaced.into());
            }
            self.write_whole(AtomicFile::create(path))
        };
        write().map_err(|error: LogError| error.at(path))
    }

    fn check_ended(&self) -> Result<()> {
        match self.log.has_header() {
            true => Ok(()),
            false => Err(LogErrorKind::Unfinished.into()),
        }
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
        match (&self.log.container.layout, &self.scores) {
            (LogLayout::Json(log), _) => self.write_json(log, &mut file)?,
            (LogLayout::Zip { members, .. }, Some(scores)) => {
                self.write_rescored_zip(scores, members, &mut file)?;
            }
            (LogLayout::Zip { members, .. }, None) => self.write_zip(members, &mut file)?,
        }
        Ok(file.commit().map_err(LogErrorKind::Write)?)
    }

    /// Copies the members that stay, appends those that are new, and lists all of them.
    fn write_zip(&self, members: &Members, out: &mut impl Write) -> Result<()> {
        let new = || {
            let members = self.members.iter().map(|(name, json)| (name.as_str(), json));
            members.chain([(HEADER, &self.header)])
        };
        let source = &self.log.container.source;
        let is_replaced = |name: &str| new().any(|(new, _)| new == name);
        let Directory { offset, records } = match self.log.container.recovered_end {
            // A directory that was not believed when the log was opened is not believed now.
            Some(end) => recovered_directory(members, end),
            // It was there then; another process has changed the file.
            None => read_records(source).map_err(LogErrorKind::Read)?.ok_or(LogErrorKind::Replaced)?,
        };
        let end = kept_end(offset, &records, is_replaced);
        copy(&mut FileSection::new(source, 0..end), out)?;
        let mut zip = Assembler::new(out, end);
        records.iter().filter(|record| !is_replaced(&record.name)).for_each(|record| zip.keep(record));
        let mut encoder = Encoder::new()?;
        for (name, json) in new() {
            let method = members.get(name).or(members.get(HEADER)).map_or(ZSTD, |entry| entry.method);
            zip.add(encoder.encode_by(method, name, json)?)?;
        }
        zip.finish()
    }

    /// Copies the object with the fields and samples that are new replacing the old ones.
    fn write_json(&self, log: &JsonLog, out: &mut impl Write) -> Result<()> {
        let mut edits = Vec::new();
        let mut added: Vec<(&str, &[u8])> = Vec::new();
        let mut put = |name: &'static str, json| match log.field(name) {
            Some(range) => edits.push((range, json)),
            None => added.push((name, json)),
        };
        for name in ["eval", "results"] {
            if let Some(json) = json::value(&self.header, name)? {
                put(name, json);
            }
        }
        if let Some(json) = self.replaced(REDUCTIONS) {
            put("reductions", json);
        }
        // Summaries are not among them, which such a log has not.
        edits.extend(log.samples.iter().enumerate().filter_map(|(at, range)| {
            Some((range.clone(), self.replaced(&self.log.container.sample_name(at))?))
        }));
        edits.sort_by_key(|(range, _)| range.start);
        let source = &self.log.container.source;
        let mut copier = Copier { source, out, at: 0 };
        let mut edits = edits.into_iter().peekable();
        self.each_rescored(|at, json| {
            let range = log.samples.get(at).cloned().unwrap_or_default();
            while let Some((field, json)) = edits.next_if(|(field, _)| field.start < range.start) {
                copier.replace(field, json)?;
            }
            copier.replace(range, &json)
        })?;
        for (range, json) in edits {
            copier.replace(range, json)?;
        }
        let last = log.fields.iter().map(|(_, range)| range.end).max().unwrap_or(0);
        copier.copy_to(last.max(copier.at))?;
        for (name, json) in added {
            let parts: [&[u8]; 4] = [b",\"", name.as_bytes(), b"\":", json];
            copier.out.write_all(&parts.concat()).map_err(LogErrorKind::Write)?;
        }
        copier.copy_to(source.len())
    }
}

/// Copies a file with some ranges of it replaced, in their order.
struct Copier<'r, W> {
    source: &'r LogFile,
    out: &'r mut W,
    /// Where the part that is not copied yet begins.
    at: u64,
}

impl<W: Write> Copier<'_, W> {
    fn copy_to(&mut self, end: u64) -> Result<()> {
        copy(&mut FileSection::new(self.source, self.at..end), self.out)?;
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
    let mut results = json::set(old, &["total_samples"], &json(new.total_samples.into()))?;
    results = json::set(&results, &["completed_samples"], &json(new.completed_samples.into()))?;
    results = json::set(&results, &["scores"], &new.scores_to_json())?;
    let headline = new.headline.as_ref().map(crate::recorded::headline_json);
    if headline.is_some() || json::field(&results, "headline")?.is_some() {
        results = json::set(&results, &["headline"], &json(headline.unwrap_or_default()))?;
    }
    let warnings = new.metadata.as_ref().and_then(|metadata| metadata.get("warnings"));
    let had_warnings = match json::value(old, "metadata")? {
        Some(metadata) if metadata.starts_with(b"{") => json::field(metadata, "warnings")?.is_some(),
        _ => false,
    };
    if warnings.is_some() || had_warnings {
        let warnings = warnings.cloned().unwrap_or_else(|| Json::Array(Vec::new()));
        results = json::set(&results, &["metadata", "warnings"], &json(warnings))?;
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

fn copy(from: &mut FileSection<'_>, to: &mut impl Write) -> Result<()> {
    io::copy(from, to).map_err(LogErrorKind::Write)?;
    Ok(())
}

// A score changed by a person, with what it was, who changed it and why.

/// What stands in the history for a part of a score that was not edited.
pub(super) const UNCHANGED: &str = "UNCHANGED";

/// A change of one score, or a new one.
#[derive(Clone, Debug, Default)]
pub struct ScoreEdit {
    /// The sample, as people write its id.
    pub sample: String,
    /// The epoch; optional if the sample has only one.
    pub epoch: Option<u32>,
    /// The scorer.
    pub scorer: String,
    /// Whether the score is a new one; the sample must not have one by this scorer then.
    pub is_new: bool,
    /// The new value, if it changes; a new score needs one.
    pub value: Option<Value>,
    /// The new answer, if it changes.
    pub answer: Option<String>,
    /// The new explanation, if it changes.
    pub explanation: Option<String>,
    /// The new metadata, if it changes: it replaces all of the old one.
    pub metadata: Option<Metadata>,
    /// Who changes it.
    pub author: String,
    /// Why.
    pub reason: Option<String>,
    /// When, by RFC 3339.
    pub timestamp: String,
}

/// A value as people write it: JSON, or else a string.
///
/// ```
/// use errorbar_core::Value;
/// use errorbar_log::eval::score_value;
/// assert_eq!(score_value("0.5"), Ok(Value::from(0.5)));
/// assert_eq!(score_value("C"), Ok(Value::from("C")));
/// assert_eq!(score_value("nan"), Ok(Value::Unscored));
/// assert!(score_value("[[1]]").is_err() && score_value("[null]").is_err() && score_value("null").is_err());
/// ```
///
/// # Errors
/// What logs have no values of scores for: lists and maps in lists and maps, null outside of a map, and nothing.
pub fn score_value(text: &str) -> std::result::Result<Value, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("there is no value".to_owned());
    }
    if text == "null" {
        return Err("null is no value of a score; NaN leaves it unscored".to_owned());
    }
    if text.eq_ignore_ascii_case("nan") {
        return Ok(Value::Unscored);
    }
    let mut json = wire::parser(text.as_bytes());
    let value = json.peek().and_then(|peek| json_value::score(&mut json, peek));
    match value.and_then(|value| json.finish().map(|()| value)) {
        Ok(Ok(Value::List(items))) if items.iter().any(|item| matches!(item, Leaf::Null)) => {
            Err("a list that holds null is no value of a score".to_owned())
        }
        Ok(value) => {
            value.map_err(|found| format!("a list or map that holds {found} is no value of a score"))
        }
        Err(_) if text.starts_with(['{', '[']) => Err("this is not valid JSON".to_owned()),
        Err(_) => Ok(Value::from(text)),
    }
}

impl ScoreEdit {
    /// Refuses what is no edit.
    fn check(&self) -> Result<()> {
        let ScoreEdit { value, answer, explanation, metadata, is_new, .. } = self;
        if value.is_none() && *is_new {
            return Err(LogErrorKind::NoValue.into());
        }
        if value.is_none() && answer.is_none() && explanation.is_none() && metadata.is_none() {
            return Err(LogErrorKind::NoChange.into());
        }
        let value = match value {
            Some(Value::Str(text)) => Some(&**text),
            _ => None,
        };
        for (part, text) in
            [("value", value), ("answer", answer.as_deref()), ("explanation", explanation.as_deref())]
        {
            if text == Some(UNCHANGED) {
                return Err(LogErrorKind::ReservedText { part }.into());
            }
        }
        Ok(())
    }

    /// The parts that change, as JSON.
    fn changes(&self) -> Vec<(&'static str, Vec<u8>)> {
        let text = |text: &String| JsonWriter::bytes_of(|json| json.text(text));
        let value = self.value.as_ref().map(|value| json_value::score_json(value).into_bytes());
        let metadata =
            self.metadata.as_ref().map(|metadata| JsonWriter::bytes_of(|json| json.value(metadata)));
        let parts = [
            ("value", value),
            ("answer", self.answer.as_ref().map(text)),
            ("explanation", self.explanation.as_ref().map(text)),
            ("metadata", metadata),
        ];
        parts.into_iter().filter_map(|(part, json)| Some((part, json?))).collect()
    }
}

impl Revision<'_> {
    /// Changes a score, or adds one: its parts, its history, the record of the edit among the events of the sample,
    /// and the summary of the sample. Returns the score as it will be, for
    /// [`ScoreOptions::edited`](super::ScoreOptions): the results do not change by themselves.
    ///
    /// # Errors
    /// An unknown sample, epoch or scorer; a new score that is there already; an edit that changes nothing.
    pub fn edit_score(&mut self, edit: &ScoreEdit) -> Result<EditedScore> {
        let log = self.log;
        edit.check().map_err(|error| error.at(log.path()))?;
        let (at, id, epoch) = find(log, edit)?;
        let name = log.container.sample_name(at);
        let place = |error: LogError| error.of_sample(&edit.sample).in_member(&name).at(log.path());
        // Edits follow one another.
        let sample = match self.replaced(&name) {
            Some(json) => json.to_vec(),
            None => {
                let mut reader = log.reader(SampleFields::scores(MetadataKeys::NONE));
                reader.json(at, SampleExtent::Record).map_err(place)?
            }
        };
        let (sample, score) = edited_sample(&sample, edit).map_err(place)?;
        self.replace(&name, sample);
        let old = match self.replaced(SUMMARIES) {
            Some(json) => Some(json.to_vec()),
            None => log.raw(SUMMARIES)?,
        };
        if let Some(old) = old {
            let summaries = edited_summaries(&old, &id, epoch, edit, &score);
            self.replace(SUMMARIES, summaries.map_err(|error| error.in_member(SUMMARIES).at(log.path()))?);
        }
        Ok(EditedScore { id, epoch, scorer: edit.scorer.clone(), score })
    }
}

/// The index, id and epoch of the sample to edit.
fn find(log: &EvalLog, edit: &ScoreEdit) -> Result<(usize, SampleId, u32)> {
    let mut reader = SampleReader::new(log, SampleFields::scores(MetadataKeys::NONE));
    let mut found = log.places_of(&edit.sample)?;
    let no = |kind: LogErrorKind| LogError::from(kind).at(log.path());
    if found.is_empty() {
        let ids = (0..log.sample_count()).map(|at| Ok(reader.key(at)?.0.to_string()));
        let known: BTreeSet<String> = ids.collect::<Result<_>>()?;
        let nearest = nearest(&edit.sample, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(no(LogErrorKind::NoSample { sample: edit.sample.clone(), nearest }));
    }
    let epochs: Vec<u32> = found.iter().map(|(epoch, _)| *epoch).collect();
    match edit.epoch {
        Some(wanted) => found.retain(|(epoch, _)| *epoch == wanted),
        None if found.len() > 1 => {
            return Err(no(LogErrorKind::WhichEpoch { sample: edit.sample.clone(), epochs }));
        }
        None => {}
    }
    let missing = || no(LogErrorKind::NoEpoch { sample: edit.sample.clone(), epochs });
    let (epoch, at) = found.pop().ok_or_else(missing)?;
    Ok((at, reader.key(at)?.0, epoch))
}

/// The sample with the edit in it, and the score as it is then.
fn edited_sample(sample: &[u8], edit: &ScoreEdit) -> Result<(Vec<u8>, Score)> {
    let scores = json::value(sample, "scores")?.filter(|json| json.starts_with(b"{")).unwrap_or(b"{}");
    let scorer = || edit.scorer.clone();
    let new = match json::value(scores, &edit.scorer)? {
        Some(_) if edit.is_new => return Err(LogErrorKind::HasScore { scorer: scorer() }.into()),
        Some(old) => edited_score(old, edit)?,
        None if edit.is_new => new_score(edit)?,
        None => {
            let mut known = Vec::new();
            wire::root_fields(scores, |scorer, json, peek| {
                known.push(scorer.to_owned());
                Ok(json.known_skip(peek)?)
            })?;
            return Err(LogErrorKind::NoScore { scorer: scorer(), known }.into());
        }
    };
    let mut json = wire::parser(&new);
    let peek = json.peek()?;
    let score = wire::score(&edit.scorer, &mut json, peek)?;

    let mut sample = json::set(sample, &["scores", &edit.scorer], &new)?;
    // Samples in several members have their events elsewhere.
    if let Some(range) = json::field(&sample, "events")? {
        let events = with_event(sample.get(range.clone()).unwrap_or_default(), edit)?;
        sample = json::replaced(&sample, range, &events);
    }
    Ok((sample, score))
}

/// A new score, whose history begins with the edit.
fn new_score(edit: &ScoreEdit) -> Result<Vec<u8>> {
    let score = with_changes(b"{}", edit)?;
    json::set(&score, &["history"], &json::pushed(b"[]", &edit_json(edit))?)
}

fn with_changes(score: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    let set = |score: Vec<u8>, (part, json): (&str, Vec<u8>)| json::set(&score, &[part], &json);
    edit.changes().into_iter().try_fold(score.to_vec(), set)
}

/// The score with its changes, and in its history what it was and what was done.
fn edited_score(old: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    let history = json::value(old, "history")?.filter(|json| json.starts_with(b"["));
    let mut history = history.unwrap_or(b"[]").to_vec();
    if json::items(&history)?.is_empty() {
        history = json::pushed(&history, &original(old)?)?;
    }
    let history = json::pushed(&history, &edit_json(edit))?;
    json::set(&with_changes(old, edit)?, &["history"], &history)
}

/// A score before its first edit, as the first item of its history.
fn original(score: &[u8]) -> Result<Vec<u8>> {
    let mut original = b"{}".to_vec();
    for field in ["value", "answer", "explanation", "reason", "metadata"] {
        match json::value(score, field)?.filter(|json| *json != b"null") {
            Some(json) => original = json::set(&original, &[field], json)?,
            None if field == "metadata" => original = json::set(&original, &[field], b"{}")?,
            None => {}
        }
    }
    Ok(original)
}

/// The edit, as an item of the history and as a part of the event.
fn edit_json(edit: &ScoreEdit) -> Vec<u8> {
    let changes = edit.changes();
    JsonWriter::object_bytes(|json| {
        for part in ["value", "answer", "explanation", "reason", "metadata"] {
            match changes.iter().find(|(changed, _)| *changed == part) {
                Some((_, new)) => json.key(part).raw(new),
                None => json.key(part).text(UNCHANGED),
            }
        }
        json.key("provenance").object(|json| {
            json.field("timestamp", &edit.timestamp);
            json.field("author", &edit.author);
            json.optional("reason", edit.reason.as_ref());
            json.key("metadata").object(|_| ());
        });
    })
}

/// The events with one about the edit: at the end of the part in which the sample was scored, if it has one.
fn with_event(events: &[u8], edit: &ScoreEdit) -> Result<Vec<u8>> {
    // A null is a list without any.
    let events = if events.starts_with(b"[") { events } else { b"[]" };
    let span = find_span(events)?.filter(|span| span.is_last);
    // Unlike any other edit, so that its hash is unlike any other id.
    let uuid = murmur3(&[edit.sample.as_bytes(), edit.scorer.as_bytes(), &edit_json(edit)].concat());
    let event = JsonWriter::object_bytes(|json| {
        json.field("uuid", &format!("{uuid:032x}"));
        json.optional("span_id", span.as_ref().map(|span| &span.id));
        json.field("timestamp", &edit.timestamp);
        json.field("event", "score_edit");
        json.field("score_name", &edit.scorer);
        json.key("edit").raw(&edit_json(edit));
    });
    Ok(match span {
        Some(ScorersSpan { end, .. }) => {
            json::replaced(events, end.start..end.start, &[event.as_slice(), b","].concat())
        }
        None => json::pushed(events, &event)?,
    })
}

/// The summaries with the changes in that of the sample.
fn edited_summaries(
    json: &[u8],
    id: &SampleId,
    epoch: u32,
    edit: &ScoreEdit,
    score: &Score,
) -> Result<Vec<u8>> {
    // Long strings are cut.
    let short = thin_score(score);
    let short = ScoreEdit {
        value: edit.value.clone(),
        answer: short.answer.filter(|_| edit.answer.is_some()),
        explanation: short.explanation.filter(|_| edit.explanation.is_some()),
        metadata: short.metadata.filter(|_| edit.metadata.is_some()),
        ..ScoreEdit::default()
    };
    for item in json::items(json)? {
        let summary = json.get(item.clone()).unwrap_or_default();
        if id_and_epoch(summary).is_some_and(|(i, e)| i == *id && e == epoch) {
            let mut summary = summary.to_vec();
            for (part, new) in short.changes() {
                summary = json::set(&summary, &["scores", &edit.scorer, part], &new)?;
            }
            if edit.is_new {
                summary = json::set(&summary, &["scores", &edit.scorer, "history"], b"[]")?;
            }
            return Ok(json::replaced(json, item, &summary));
        }
    }
    Ok(json.to_vec())
}

#[cfg(test)]
mod tests {

    use super::*;
    use serde_json::Value as Json;

    fn edit() -> ScoreEdit {
        ScoreEdit {
            sample: "q1".to_owned(),
            epoch: None,
            scorer: "m".to_owned(),
            value: Some(Value::from(0.5)),
            author: "ann".to_owned(),
            reason: Some("a \"typo\"".to_owned()),
            timestamp: "2026-11-15T09:20:38Z".to_owned(),
            ..ScoreEdit::default()
        }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_history_begins_with_what_was() {
        let once = edited_score(br#"{"value":"I","answer":"1","history":[]}"#, &edit()).unwrap();
        let item = r#"{"value":0.5,"answer":"UNCHANGED","explanation":"UNCHANGED","reason":"UNCHANGED","metadata":"UNCHANGED","provenance":{"timestamp":"2026-11-15T09:20:38Z","author":"ann","reason":"a \"typo\"","metadata":{}}}"#;
        let original = r#"{"value":"I","answer":"1","metadata":{}}"#;
        assert_eq!(
            text(once.clone()),
            format!(r#"{{"value":0.5,"answer":"1","history":[{original},{item}]}}"#)
        );
        let twice = edited_score(&once, &edit()).unwrap();
        assert_eq!(
            text(twice),
            format!(r#"{{"value":0.5,"answer":"1","history":[{original},{item},{item}]}}"#)
        );
        // A null is as good as nothing.
        let nulls = br#"{"value":1,"answer":null,"metadata":null,"history":null}"#;
        let new = text(edited_score(nulls, &edit()).unwrap());
        assert!(new.contains(r#""history":[{"value":1,"metadata":{}},{"value":0.5,"#), "{new}");
        assert!(
            text(edited_score(br#"{"value":NaN}"#, &edit()).unwrap())
                .contains(r#"[{"value":NaN,"metadata":{}},"#)
        );
    }

    #[test]
    fn the_event_is_where_the_sample_was_scored() {
        let begin = r#"{"event":"span_begin","id":"s1","type":"scorers","name":"scorers"}"#;
        let end = r#"{"event":"span_end","id":"s1"}"#;
        let events = format!(r#"[{{"event":"x"}}, {begin}, {end}, {{"event":"y"}}]"#);
        let new = text(with_event(events.as_bytes(), &edit()).unwrap());
        let json: Vec<Json> = serde_json::from_str(&new).unwrap();
        assert_eq!(json.len(), 5);
        assert_eq!(
            (json[2]["event"].as_str(), json[2]["span_id"].as_str()),
            (Some("score_edit"), Some("s1"))
        );
        // Within the span of the scorers, whatever else ends around it; the last one, if there are two.
        let span = |event: &str, id: &str, kind: &str, name: &str| {
            format!(r#"{{"event":"{event}","id":"{id}","type":"{kind}","name":"{name}"}}"#)
        };
        let outer = span("span_begin", "o", "sample", "x");
        let (inner, other) =
            (span("span_begin", "i", "scorer", "m"), span("span_begin", "n", "solver", "scorers"));
        let ends = |id: &str| format!(r#"{{"event":"span_end","id":"{id}"}}"#);
        let second = span("span_begin", "s2", "scorers", "scorers");
        let (o, i, n, s2) = (ends("o"), ends("i"), ends("n"), ends("s2"));
        for (events, at, id) in [
            (format!("[{outer},{begin},{inner},{i},{end},{o}]"), 4, "s1"),
            (format!("[{begin},{end},{other},{n}]"), 1, "s1"),
            (format!("[{begin},{end},{second},{s2}]"), 3, "s2"),
        ] {
            let new = text(with_event(events.as_bytes(), &edit()).unwrap());
            let json: Vec<Json> = serde_json::from_str(&new).unwrap();
            assert_eq!(json[at]["event"], "score_edit", "{new}");
            assert_eq!(json[at]["span_id"], id, "{new}");
        }
        let unended = format!("[{begin},{end},{second}]");
        for events in ["[]", r#"[{"event":"x"}]"#, &format!("[{begin}]"), &unended] {
            let new = text(with_event(events.as_bytes(), &edit()).unwrap());
            let json: Vec<Json> = serde_json::from_str(&new).unwrap();
            let last = json.last().unwrap();
            assert_eq!((last["event"].as_str(), last.get("span_id")), (Some("score_edit"), None), "{new}");
        }
    }

    #[test]
    fn only_the_summary_of_the_sample_changes() {
        let json = br#"[{"id":"q1","epoch":1,"scores":{"m":{"value":"I"}}},{"id":"q1","epoch":2,"scores":{"m":{"value":"I"}}}]"#;
        let new = text(edited_summaries(json, &"q1".into(), 2, &edit(), &Score::new(0.5)).unwrap());
        assert_eq!(new.matches("0.5").count(), 1);
        assert!(new.contains(r#""epoch":2,"scores":{"m":{"value":0.5}}"#), "{new}");
    }
}
