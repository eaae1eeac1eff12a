//! Reading a log.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use errorbar_core::chat::SampleEvents;
use errorbar_core::{MetadataKeys, SampleId, Score};
use errorbar_files::open_error;
use indexmap::IndexMap;

use super::chunks::SampleExtent;
use super::container::{Container, HEADER, LogLayout, SAMPLES, START};
use super::error::{LogError, LogErrorKind, Result};
use super::header::{Header, StartRecord};
use super::json::{Descent, FieldSelection, Outline, PartVisitor, Selection, Skimmer, Validator};
use super::limits::{self, LogLimits, for_all};
use super::log_summary::STOPPED_EARLY;
use super::sample::{NAMELESS, SOME_SCORER, SampleDecoder, SampleFields, StoredSample, id_and_epoch};
use super::scores::DatasetOrder;
use super::wire;
use super::zip::{Decompressor, FileSection, LogFile, Members, check_entry, collector};

/// How much of a sample is looked at for its id and epoch, which stand first.
const HEAD_BYTES: u64 = 1024;

/// An eval log, opened for reading. The file may still be growing: what it held when it was opened counts.
///
/// What is read is checked: sizes and checksums of the members, the JSON of what is loaded. **Not checked** are
/// members that are not requested, and the parts of a sample that are skipped (messages, events, …) beyond their
/// checksum, quotes and brackets; [`EvalLog::check`] does that.
///
/// See [the module](super) for an example.
#[derive(Debug)]
pub struct EvalLog {
    path: PathBuf,
    pub(super) container: Container,
    /// The scorer of the scores of a very old log, once it was requested.
    old_scorer: OnceLock<String>,
}

impl EvalLog {
    /// Opens a log.
    ///
    /// # Errors
    /// A file that cannot be read, is no eval log, holds nothing yet, or is damaged other than at its end.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, LogLimits::default())
    }

    /// Opens a log that may be larger than others, or must be smaller.
    pub fn open_with(path: impl AsRef<Path>, limits: LogLimits) -> Result<Self> {
        let path = path.as_ref();
        let opened = |error| LogError::from(LogErrorKind::Open(open_error(path, error))).at(path);
        let file = File::open(path).map_err(opened)?;
        let state = |metadata: Metadata| (metadata.len(), metadata.modified().ok());
        let before = file.metadata().map(state).map_err(opened)?;
        match Self::from_file(file, path, limits) {
            // A run has cut off the directory that was being read, to append a sample: the new one is read.
            Err(_) if fs::metadata(path).is_ok_and(|now| state(now) != before) => {
                Self::from_file(File::open(path).map_err(opened)?, path, limits)
            }
            log => log,
        }
    }

    /// Reads a log of a file that is open already, so that what was checked of it still holds. Messages name the path.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_file(file: File, path: &Path, limits: LogLimits) -> Result<Self> {
        let container = Container::open(file, limits).map_err(|error| error.at(path))?;
        Ok(EvalLog { path: path.to_owned(), container, old_scorer: OnceLock::new() })
    }

    /// A log of these members of a file.
    pub(super) fn of_members(path: &Path, source: LogFile, limits: LogLimits, members: Members) -> Self {
        let container = Container::of_members(source, limits, members);
        EvalLog { path: path.to_owned(), container, old_scorer: OnceLock::new() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length of the file when it was opened, and when it was last changed before.
    pub fn file_stamp(&self) -> (u64, Option<SystemTime>) {
        self.container.source.stamp()
    }

    /// Whether the directory of the file was missing or wrong and its members were found one by one.
    pub fn was_recovered(&self) -> bool {
        self.container.recovered_end.is_some()
    }

    /// How many samples times epochs the log holds.
    pub fn sample_count(&self) -> usize {
        self.container.sample_count()
    }

    /// Whether the log is one JSON object, which is written as a whole and cannot be appended to.
    pub fn is_json(&self) -> bool {
        matches!(self.container.layout, LogLayout::Json(_))
    }

    /// Whether the log has the record of the end of its run.
    pub fn has_header(&self) -> bool {
        match &self.container.layout {
            LogLayout::Json(_) => true,
            LogLayout::Zip { members, .. } => members.contains_key(HEADER),
        }
    }

    /// What the log records about the run. One without a header, because the run has not ended or was killed,
    /// is [`Started`](super::Status::Started).
    pub fn header(&self) -> Result<Header> {
        let header = match self.raw(HEADER)? {
            // A log of one object has no members to name.
            Some(json) if self.is_json() => Header::from_json(&json),
            Some(json) => Header::from_json(&json).map_err(|error| error.in_member(HEADER)),
            None => self.start().map(Header::started),
        };
        header.map_err(|error| error.at(&self.path))
    }

    pub(super) fn start(&self) -> Result<StartRecord> {
        let json = self.raw(START)?.ok_or(LogErrorKind::NoStart)?;
        StartRecord::from_json(&json).map_err(|error| error.in_member(START))
    }

    /// Checks all that the log holds: all checksums, that the local headers agree with the central directory, and that
    /// all of it is JSON, whether a metric needs it or not.
    ///
    /// # Errors
    /// The first thing that is wrong; in the log of a run that has ended, also a central directory that is missing or
    /// wrong, without which other programs cannot read it.
    pub fn check(&self) -> Result<()> {
        let container = &self.container;
        if self.was_recovered() && self.has_header() {
            return Err(LogError::from(LogErrorKind::NoDirectory).at(&self.path));
        }
        match &container.layout {
            LogLayout::Json(_) => copy_valid(&mut io::sink(), |each| {
                container
                    .decompressor()
                    .section(FileSection::new(&container.source, 0..container.source.len()), each)
            }),
            LogLayout::Zip { members, .. } => {
                let decompressor = || container.decompressor();
                let checked = for_all(members.len(), decompressor, |decompressor, at| {
                    let Some((name, entry)) = members.get_index(at) else { return Ok(()) };
                    check_entry(&container.source, name, entry)?;
                    // A folder has no content.
                    match name.ends_with('/') {
                        true => Ok(()),
                        false => decompressor.validate(&container.source, name, entry),
                    }
                });
                checked.map(|_| ())
            }
        }
        .map_err(|error| error.at(&self.path))
    }

    /// The samples with all that a [`StoredSample`] can hold, by epoch and then in the order of the dataset, as
    /// [`EvalLog::scores`] has them.
    pub fn samples(&self) -> Result<Samples<'_>> {
        self.samples_with(SampleFields::all())
    }

    /// The samples with only some of their fields, in the same order.
    pub fn samples_with(&self, fields: SampleFields) -> Result<Samples<'_>> {
        self.samples_of(fields, |_, _| true)
    }

    /// The samples of some ids and epochs, in the same order. Of the others only the key is read.
    pub fn samples_of(
        &self,
        fields: SampleFields,
        is_wanted: impl Fn(&SampleId, u32) -> bool + Sync + Send,
    ) -> Result<Samples<'_>> {
        let reader = SampleReader::new(self, fields);
        Ok(Samples { reader, order: self.sample_order_of(is_wanted)?.into_iter() })
    }

    /// The indices of the samples, by epoch and then by [key](super::SampleId::sort_key), as the reference's reader has them.
    pub(super) fn key_order(&self) -> Result<Vec<usize>> {
        self.order_of(&DatasetOrder::new(None), |_, _| true)
    }

    /// The indices of the samples of some ids and epochs, by epoch and then in the order of the dataset.
    pub(super) fn sample_order_of(
        &self,
        is_wanted: impl Fn(&SampleId, u32) -> bool + Sync + Send,
    ) -> Result<Vec<usize>> {
        // Samples can be read without a header that can.
        let header = self.header().ok();
        self.order_of(&DatasetOrder::new(header.as_ref()), is_wanted)
    }

    /// The epochs of a sample, and where they are: by the names of entries where they have the usual ones, so that no other
    /// sample is looked at.
    pub(super) fn places_of(&self, id: &str) -> Result<Vec<(u32, usize)>> {
        let usual = format!("{SAMPLES}{id}_epoch_");
        let is_usual =
            |at: &usize| self.container.sample_member(*at).is_some_and(|(name, _)| name.starts_with(&usual));
        let mut reader = SampleReader::new(self, SampleFields::scores(MetadataKeys::NONE));
        let mut epochs_at = |places: Vec<usize>| {
            let mut found = Vec::new();
            for at in places {
                // A name is not trusted, and other ids may begin the same.
                let (sample, epoch) = reader.key(at)?;
                found.extend((sample.to_string() == id).then_some((epoch, at)));
            }
            found.sort_unstable();
            Ok(found)
        };
        match epochs_at((0..self.sample_count()).filter(is_usual).collect())? {
            found if found.is_empty() => epochs_at(self.sample_order_of(|found, _| found.to_string() == id)?),
            found => Ok(found),
        }
    }

    fn order_of(
        &self,
        order: &DatasetOrder<'_>,
        is_wanted: impl Fn(&SampleId, u32) -> bool + Sync + Send,
    ) -> Result<Vec<usize>> {
        let fields = SampleFields::scores(MetadataKeys::NONE);
        let reader = || SampleReader::new(self, fields.clone());
        let keys = for_all(self.sample_count(), reader, |reader, at| {
            let (id, epoch) = reader.key(at)?;
            if !is_wanted(&id, epoch) {
                return Ok(None);
            }
            let key = order.key(&id, epoch);
            let (_, _, text) = &key;
            let taken = self.container.memory.take(text.len() as u64);
            taken.map_err(|error| reader.in_sample(at, error))?;
            Ok(Some((key, at)))
        })?;
        let mut keys: Vec<_> = keys.into_iter().flatten().collect();
        keys.sort();
        Ok(keys.into_iter().map(|(_, at)| at).collect())
    }

    /// The scorer of scores that have no name: the only one that a very old log has anywhere.
    pub(super) fn old_scorer(&self) -> &str {
        self.old_scorer.get_or_init(|| {
            let Ok(header) = self.header() else { return SOME_SCORER.to_owned() };
            let names: Vec<String> = match (header.eval.scorers, header.results) {
                (Some(scorers), _) => scorers.into_iter().map(|scorer| scorer.name).collect(),
                (None, Some(results)) => results.scores.into_iter().map(|block| block.scorer).collect(),
                (None, None) => Vec::new(),
            };
            let mut different = names.iter().filter(|name| Some(*name) != names.first());
            // Several could be meant: it has none of their names.
            match names.first() {
                Some(only) if different.next().is_none() => only.clone(),
                _ => SOME_SCORER.to_owned(),
            }
        })
    }

    /// Gives the score of a very old log the name of its scorer.
    pub(super) fn name_scorer(&self, scores: &mut IndexMap<String, Score>) {
        if let Some(score) = scores.shift_remove(NAMELESS) {
            scores.insert(self.old_scorer().to_owned(), score);
        }
    }

    /// Reads samples by their index, in any order.
    pub fn reader(&self, fields: SampleFields) -> SampleReader<'_> {
        SampleReader::new(self, fields)
    }

    /// Counts scores that are held until all samples are scored.
    ///
    /// # Errors
    /// More than may be held of the log.
    pub fn hold_scores<'s>(&self, scores: impl IntoIterator<Item = &'s Score>) -> Result<()> {
        let bytes = scores.into_iter().map(limits::of_score).sum();
        self.container.memory.take(bytes).map_err(|error| error.at(self.path()))
    }

    /// Counts what happened while samples were scored, which is held until the log is written.
    ///
    /// # Errors
    /// More than may be held of the log.
    pub fn hold_events(&self, events: &SampleEvents) -> Result<()> {
        let bytes = limits::of_events(events);
        self.container.memory.take(bytes).map_err(|error| error.at(self.path()))
    }

    /// A member as it is, decompressed.
    pub(super) fn raw(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.container.member(name).map_err(|error| error.at(&self.path))
    }
}

/// Reads the wanted fields of samples by their index. One per thread.
#[derive(Debug)]
pub(super) struct RecordReader<'a> {
    pub(super) log: &'a EvalLog,
    decompressor: Decompressor,
    skimmer: Skimmer,
    pub(super) limit: u64,
}

impl<'a> RecordReader<'a> {
    /// A reader of some fields, of which so many bytes may be held.
    pub(super) fn new(log: &'a EvalLog, wanted: Vec<(&'static str, Selection)>, limit: u64) -> Self {
        let Container { memory, .. } = &log.container;
        let skimmer = Skimmer::new(wanted, limit, Arc::clone(memory));
        RecordReader { log, decompressor: log.container.decompressor(), skimmer, limit }
    }

    /// The fields of a sample; `copy` gets every byte of it.
    pub(super) fn read<T>(
        &mut self,
        at: usize,
        extent: SampleExtent,
        copy: &mut dyn FnMut(&[u8]) -> Result<()>,
        parse: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        let RecordReader { log, decompressor, skimmer, .. } = self;
        // The id stands first, so what was read before an error identifies the sample.
        let identified = |error: LogError, skimmer: &Skimmer| match id_and_epoch(skimmer.so_far()) {
            Some((id, _)) => error.of_sample(id),
            None => error,
        };
        skimmer.reset();
        let taken = log.container.extent_pieces(decompressor, at, extent, &mut |piece| {
            skimmer.push(piece)?;
            copy(piece)
        });
        taken.map_err(|error| identified(error, skimmer))?;
        let parsed = parse(skimmer.finish()?);
        parsed.map_err(|error| identified(skimmer.relocate(error), skimmer))
    }

    /// Puts the attachments of a sample into the strings that stand for them. One that is not in the log stays as it is.
    pub(super) fn resolve(&mut self, at: usize, mut texts: Vec<&mut String>) -> Result<()> {
        texts.retain(|text| reference(text).is_some());
        if texts.is_empty() {
            return Ok(());
        }
        let wanted = texts.iter().filter_map(|text| reference(text)).map(str::to_owned).collect();
        let mut attachments = NamedAttachments::new(&wanted, self.limit);
        let mut outline = Outline::of_object();
        let container = &self.log.container;
        let extent = SampleExtent::Conversation;
        container.extent_pieces(&mut self.decompressor, at, extent, &mut |piece| {
            outline.push(piece, &mut attachments)
        })?;
        outline.finish()?;
        for text in texts {
            if let Some(content) = reference(text).and_then(|name| attachments.found.get(name)) {
                text.clone_from(content);
            }
        }
        Ok(())
    }

    pub(super) fn in_sample(&self, at: usize, error: LogError) -> LogError {
        error.in_member(&self.log.container.sample_name(at)).at(&self.log.path)
    }
}

/// The name of the attachment that a string stands for; the second form is that of old logs.
pub(super) fn reference(text: &str) -> Option<&str> {
    ["attachment://", "tc://"].iter().find_map(|prefix| text.strip_prefix(prefix))
}

/// The attachments of a sample, by their names.
#[derive(Debug)]
struct NamedAttachments<'a> {
    wanted: &'a HashSet<String>,
    found: HashMap<String, String>,
    is_inside: bool,
    /// The one that is being read, and its JSON so far.
    current: Option<(String, Vec<u8>)>,
    /// How many bytes of JSON were read, and may be.
    total: u64,
    limit: u64,
}

impl<'a> NamedAttachments<'a> {
    fn new(wanted: &'a HashSet<String>, limit: u64) -> Self {
        let found = HashMap::new();
        NamedAttachments { wanted, found, is_inside: false, current: None, total: 0, limit }
    }
}

impl PartVisitor for NamedAttachments<'_> {
    fn begin(&mut self, key: &[u8], first: u8, _at: u64) -> Result<Descent> {
        if !self.is_inside {
            self.is_inside = key == b"attachments" && first == b'{';
            return Ok(if self.is_inside { Descent::Enter } else { Descent::Whole });
        }
        let key = str::from_utf8(key).ok().filter(|key| first == b'"' && self.wanted.contains(*key));
        self.current = key.map(|key| (key.to_owned(), Vec::new()));
        Ok(Descent::Whole)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((_, json)) = &mut self.current else { return Ok(()) };
        self.total += bytes.len() as u64;
        if self.total > self.limit {
            return Err(LogErrorKind::TooLargeRecord { limit: self.limit }.into());
        }
        json.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, _at: u64) -> Result<()> {
        if let Some((name, json)) = self.current.take() {
            let mut parser = wire::parser(&json);
            self.found.insert(name, parser.next_str()?.to_owned());
            parser.finish()?;
        }
        Ok(())
    }

    fn leave(&mut self, _at: u64) -> Result<()> {
        self.is_inside = false;
        Ok(())
    }
}

/// Copies JSON that comes in pieces, which must be valid.
fn copy_valid(
    out: &mut dyn Write,
    pieces: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut validator = Validator::new();
    pieces(&mut |piece| {
        validator.push(piece)?;
        Ok(out.write_all(piece).map_err(LogErrorKind::Write)?)
    })?;
    validator.finish()
}

/// Reads samples by their index. One per thread.
///
/// ```
/// # use errorbar_log::eval::*;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.eval");
/// # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
/// # let mut writer = LogWriter::create(&path, &start)?;
/// # let (id, output) = (SampleId::from("q1"), ModelOutput::from_text("mock/model", "42"));
/// # writer.append_sample(&SampleRecord { output: Some(&output), ..SampleRecord::new(&id, 1) })?;
/// # writer.finish(&Header::started(start), &Reductions::none())?;
/// let log = EvalLog::open(&path)?;
/// assert_eq!(log.reader(SampleFields::answers()).read(0)?.output.completion, "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SampleReader<'a> {
    records: RecordReader<'a>,
    fields: SampleFields,
}

impl<'a> SampleReader<'a> {
    pub(super) fn new(log: &'a EvalLog, fields: SampleFields) -> Self {
        let records = RecordReader::new(log, fields.wanted(), log.container.limits.max_record);
        SampleReader { records, fields }
    }

    /// The sample at an index, below [`EvalLog::sample_count`].
    pub fn read(&mut self, at: usize) -> Result<StoredSample> {
        let decoded = self.decode(at, self.fields.extent(), &mut |_| Ok(()));
        decoded.map_err(|error| self.in_sample(at, error))
    }

    /// The sample at an index; `copy` gets every byte of it.
    pub(super) fn decode_copied(
        &mut self,
        at: usize,
        copy: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<StoredSample> {
        self.decode(at, SampleExtent::Whole, copy)
    }

    fn decode(
        &mut self,
        at: usize,
        extent: SampleExtent,
        copy: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<StoredSample> {
        let SampleReader { records, fields } = self;
        let mut decoder = records.read(at, extent, copy, |json| SampleDecoder::read(json, fields))?;
        records.resolve(at, decoder.texts_mut())?;
        let mut sample = decoder.build()?;
        records.log.name_scorer(&mut sample.scores);
        if extent == SampleExtent::Record
            && fields.wants_metadata()
            && let Some(json) = records.log.container.sample_metadata(&mut records.decompressor, at)
        {
            sample.read_metadata(&json?, &fields.metadata)?;
        }
        Ok(sample)
    }

    /// Writes the JSON of the sample at an index, unchanged.
    pub(super) fn copy(&mut self, at: usize, out: &mut dyn Write) -> Result<()> {
        let RecordReader { log, decompressor, .. } = &mut self.records;
        let copied =
            copy_valid(out, |each| log.container.extent_pieces(decompressor, at, SampleExtent::Whole, each));
        copied.map_err(|error| self.in_sample(at, error))
    }

    /// The JSON of the sample at an index, to be changed. That takes several times its size: copies with and without
    /// escapes, of the record and of its parts.
    pub(super) fn json(&mut self, at: usize, extent: SampleExtent) -> Result<Vec<u8>> {
        const COPIES: u64 = 5;
        let RecordReader { log, decompressor, .. } = &mut self.records;
        let limit = log.container.limits.max_record.min(log.container.memory.limit() / COPIES);
        let mut json = Vec::new();
        log.container.extent_pieces(decompressor, at, extent, &mut collector(&mut json, limit))?;
        Ok(json)
    }

    /// Reads a sample that was changed.
    pub(super) fn parse(&mut self, json: &[u8]) -> Result<StoredSample> {
        let skimmer = &mut self.records.skimmer;
        skimmer.reset();
        skimmer.push(json)?;
        StoredSample::from_json(skimmer.finish()?, &self.fields)
    }

    /// Id and epoch of a sample, off its first bytes where they are there.
    pub(super) fn key(&mut self, at: usize) -> Result<(SampleId, u32)> {
        let RecordReader { log, decompressor, .. } = &mut self.records;
        let head = log.container.sample_head(decompressor, at, HEAD_BYTES);
        let key = head.map(|head| id_and_epoch(&head)).map_err(|error| self.in_sample(at, error))?;
        if let Some(key) = key {
            return Ok(key);
        }
        self.read(at).map(|sample| (sample.id, sample.epoch))
    }

    pub(super) fn in_sample(&self, at: usize, error: LogError) -> LogError {
        self.records.in_sample(at, error)
    }
}

/// The samples of a log, one after the other.
#[derive(Debug)]
pub struct Samples<'a> {
    reader: SampleReader<'a>,
    order: std::vec::IntoIter<usize>,
}

impl Iterator for Samples<'_> {
    type Item = Result<StoredSample>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.order.next()?;
        Some(self.reader.read(at))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.order.size_hint()
    }
}

impl ExactSizeIterator for Samples<'_> {}

impl Samples<'_> {
    /// Writes the next sample as the JSON it is; false if there is none. It is copied in pieces, so that a
    /// large one takes no more memory than a small one.
    pub fn copy_next(&mut self, out: &mut dyn Write) -> Result<bool> {
        match self.order.next() {
            Some(at) => self.reader.copy(at, out).map(|()| true),
            None => Ok(false),
        }
    }
}

// The records of a log as the JSON they are, with everything that this version does not know.

impl EvalLog {
    /// Writes the header as it is in the file; the record of the start, if the run has not ended. It is copied
    /// in pieces, so that a large one takes no more memory than a small one. May hold a bare `NaN`; see
    /// [`StrictWriter`](crate::StrictWriter).
    pub fn copy_header(&self, out: &mut dyn Write) -> Result<()> {
        let Container { source, layout, .. } = &self.container;
        let mut decompressor = self.container.decompressor();
        let name = if self.has_header() { HEADER } else { START };
        let copied = copy_valid(out, |each| match layout {
            LogLayout::Json(log) => log.header_pieces(source, &mut decompressor, each),
            LogLayout::Zip { members, .. } => match members.get(name) {
                Some(entry) => decompressor.pieces(source, name, entry, each),
                None => Err(LogErrorKind::NoStart.into()),
            },
        });
        copied.map_err(|error| error.in_member(name).at(self.path()))
    }

    /// The header as it is in the file; the record of the start, if the run has not ended.
    pub(super) fn json_of_header(&self) -> Result<Vec<u8>> {
        if let Some(json) = self.raw(HEADER)? {
            return Ok(json);
        }
        self.raw(START)?.ok_or_else(|| LogError::from(LogErrorKind::NoStart).at(self.path()))
    }

    /// The header as it is in the file; that of a run which has not ended, if there is none.
    pub(super) fn header_or_started(&self) -> Result<Vec<u8>> {
        match self.raw(HEADER)? {
            Some(json) => Ok(json),
            None => Ok(self.header()?.to_json()),
        }
    }

    /// What a list of logs shows of a header, without the time that the whole of it takes: version, status,
    /// results, times and tokens; why it ended early; of `eval` when it was made, the task, the model, the number of samples
    /// and epochs, and the shards that it was merged from. The rest is empty and not checked.
    pub fn short_header(&self) -> Result<Header> {
        let json = self.json_of_header()?;
        let skimmer = |fields| {
            let Container { limits, memory, .. } = &self.container;
            Skimmer::new(fields, limits.max_record, Arc::clone(memory))
        };
        let member = if self.has_header() { HEADER } else { START };
        short_header(&json, skimmer).map_err(|error| error.in_member(member).at(self.path()))
    }

    /// Writes the sample of this id and epoch as it is in the file, with its messages and events; false if it is
    /// not there. An id that is a number matches its digits.
    pub fn copy_sample(&self, id: &str, epoch: u32, out: &mut dyn Write) -> Result<bool> {
        let places = self.places_of(id)?;
        match places.into_iter().find(|(found, _)| *found == epoch) {
            Some((_, at)) => {
                let mut reader = SampleReader::new(self, SampleFields::scores(MetadataKeys::NONE));
                reader.copy(at, out).map(|()| true)
            }
            None => Ok(false),
        }
    }
}

/// The parts of a header that a list shows.
fn short_header(json: &[u8], skimmer: impl Fn(Vec<(&'static str, Selection)>) -> Skimmer) -> Result<Header> {
    use Selection::{All, Fields};
    const EVAL: FieldSelection = &[
        ("created", All),
        ("task", All),
        ("model", All),
        ("dataset", Fields(&[("samples", All)])),
        ("config", Fields(&[("epochs", All), (STOPPED_EARLY, All)])),
        ("shards", All),
    ];
    const IDS: FieldSelection = &[("dataset", Fields(&[("sample_ids", All)]))];
    let read = |fields| {
        let mut skimmer = skimmer(fields);
        skimmer.push(json)?;
        let header = Header::from_json(skimmer.finish()?);
        header.map_err(|error| skimmer.relocate(error))
    };
    let mut header = read(vec![
        ("version", All),
        ("status", All),
        ("results", All),
        ("stats", All),
        ("error", Fields(&[("message", All)])),
        ("eval", Fields(EVAL)),
    ])?;
    // Results have the number of samples; only without them the ids are worth their time.
    if header.results.is_none() {
        header.eval.dataset.sample_ids = read(vec![("eval", Fields(IDS))])?.eval.dataset.sample_ids;
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::limits::MemoryBudget;

    #[test]
    fn a_short_header_holds_the_same() {
        let memory = Arc::new(MemoryBudget::new(1 << 20));
        let short = |text: &str| {
            short_header(text.as_bytes(), |fields| Skimmer::new(fields, 1 << 20, Arc::clone(&memory)))
        };
        let results = r#""results": {"total_samples": 2, "completed_samples": 1, "scores": [{"name": "s", "scorer": "s",
            "params": {}, "metrics": {"mean": {"name": "mean", "value": NaN, "params": {}}}}]}"#;
        let eval = r#""eval": {"run_id": "r", "created": "now", "task": "t\"x", "dataset": {"name": "d", "samples": 9,
            "sample_ids": [1, "b]"]}, "model": "m", "config": {"limit": 3, "epochs": 4}, "packages": {"p": "1"}}"#;
        for text in [
            format!(
                r#"{{"version": 2, "status": "error", {eval}, "plan": {{"name": "p"}}, {results}, "x": [1],
                    "stats": {{"started_at": "a", "completed_at": "b", "model_usage": {{"m": {{"total_tokens": 7}}}}}},
                    "error": {{"message": "boom", "traceback": "x", "traceback_ansi": ""}}}}"#
            ),
            format!(r#"{{"version": 2, {eval}}}"#),
            format!(r#"{{"status": "success", {results}, "eval": {{"task": "t"}}}}"#),
        ] {
            let whole = Header::from_json(text.as_bytes()).unwrap();
            let short = short(&text).unwrap();
            assert_eq!((short.version, short.status), (whole.version, whole.status));
            let figures = |header: &Header| {
                let results = header.results.as_ref();
                results.map(|r| (r.total_samples, r.completed_samples, format!("{:?}", r.scores)))
            };
            assert_eq!(figures(&short), figures(&whole));
            assert_eq!(short.stats, whole.stats);
            let message = |header: &Header| header.error.as_ref().map(|error| error.message.clone());
            assert_eq!(message(&short), message(&whole));
            let named = |header: &Header| {
                let eval = &header.eval;
                (
                    eval.created.clone(),
                    eval.task.clone(),
                    eval.model.clone(),
                    eval.config.epochs,
                    eval.dataset.samples,
                )
            };
            assert_eq!(named(&short), named(&whole));
            if whole.results.is_none() {
                assert_eq!(short.eval.dataset.sample_ids, whole.eval.dataset.sample_ids);
            }
        }
        for text in ["", "[]", r#"{"eval": {"task": }}"#, r#"{"eval": {}, "x": }"#] {
            assert!(short(text).is_err(), "{text}");
        }
        assert!(matches!(short(r#"{"a": 1}"#).unwrap_err().kind(), LogErrorKind::Missing("eval")));
    }
}

#[cfg(test)]
mod parts_tests {
    use super::*;
    use crate::eval::json::Outline;

    #[test]
    fn attachments_are_found_by_name() {
        let wanted = HashSet::from(["a".to_owned(), "b\"".to_owned(), "c".to_owned(), "gone".to_owned()]);
        let json = br#"{"a": "not this", "attachments": {"x": "long", "a": "one\ntwo", "b\"": "", "c": [1]}, "c": "nor this"}"#;
        for piece in 1..json.len() {
            let mut found = NamedAttachments::new(&wanted, 100);
            let mut outline = Outline::of_object();
            json.chunks(piece).for_each(|piece| outline.push(piece, &mut found).unwrap());
            let expected = HashMap::from([("a", "one\ntwo"), ("b\"", "")]);
            let expected =
                expected.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            assert_eq!(found.found, expected, "pieces of {piece}");
        }
        let mut small = NamedAttachments::new(&wanted, 5);
        let error = Outline::of_object().push(json, &mut small).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 5 }), "{error}");
    }
}
