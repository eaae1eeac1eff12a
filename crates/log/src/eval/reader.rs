//! Reading a log.

use std::fs::File;
use std::path::{Path, PathBuf};

use errorbar_core::{MetadataKeys, ScoreColumns, unique_names};

use super::error::{LogError, LogErrorKind, Result};
use super::header::{Header, StartRecord};
use super::json_log::JsonLog;
use super::members::{HEADER, REDUCTIONS, SAMPLES, START};
use super::stored::{SampleFields, StoredSample, id_and_epoch};
use super::zip::directory::{self, Members};
use super::zip::scan::{Scanned, scan};
use super::zip::source::Source;
use super::zip::unpack::Unpacker;

/// The most that a member may have unpacked.
pub const MAX_MEMBER_BYTES: u64 = 4 << 30;

/// How much of a sample is looked at for its id and epoch, which stand first.
const HEAD_BYTES: u64 = 1024;

/// An eval log, opened for reading. The file may still be growing: what it held when it was opened counts.
///
/// See [the module](super) for an example.
#[derive(Debug)]
pub struct EvalLog {
    path: PathBuf,
    container: Container,
    was_recovered: bool,
}

/// What the records are in.
#[derive(Debug)]
enum Container {
    Zip { source: Source, members: Members },
    Json(JsonLog),
}

impl EvalLog {
    /// Opens a log.
    ///
    /// # Errors
    /// A file that cannot be read, is no eval log, holds nothing yet, or is damaged other than at its end.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| LogError::from(LogErrorKind::Open(error)).at(path))?;
        Self::from_file(file, path)
    }

    fn from_file(file: File, path: &Path) -> Result<Self> {
        let read = || {
            let source = Source::new(file).map_err(LogErrorKind::Read)?;
            if starts_as_object(&source)? {
                let container = Container::Json(JsonLog::read(source.into_file())?);
                return Ok(EvalLog { path: path.to_owned(), container, was_recovered: false });
            }
            let (members, was_recovered) = match directory::read(&source).map_err(LogErrorKind::Read)? {
                Some(members) => (members, false),
                None => (scan_source(&source)?.members, true),
            };
            if !members.contains_key(START) && !members.contains_key(HEADER) {
                return Err(LogErrorKind::NoStart.into());
            }
            Ok(EvalLog {
                path: path.to_owned(),
                container: Container::Zip { source, members },
                was_recovered,
            })
        };
        read().map_err(|error: LogError| error.at(path))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the directory of the file was missing or wrong and its members were found one by one.
    pub fn was_recovered(&self) -> bool {
        self.was_recovered
    }

    /// How many samples times epochs the log holds.
    pub fn sample_count(&self) -> usize {
        self.sample_places().count()
    }

    /// Whether the log is one JSON object, which is written as a whole and cannot be appended to.
    pub fn is_json(&self) -> bool {
        matches!(self.container, Container::Json(_))
    }

    /// Where in the container the samples are.
    fn sample_places(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        match &self.container {
            Container::Json(log) => Box::new(0..log.sample_count()),
            Container::Zip { members, .. } => {
                let named = members.keys().enumerate().filter(|(_, name)| name.starts_with(SAMPLES));
                Box::new(named.map(|(at, _)| at))
            }
        }
    }

    /// The JSON of the sample at a place.
    fn sample_json<'a>(&'a self, unpacker: &'a mut Unpacker, at: usize) -> Option<Result<&'a [u8]>> {
        Some(match &self.container {
            Container::Json(log) => Ok(log.sample(at)?),
            Container::Zip { source, members } => {
                let (name, entry) = members.get_index(at)?;
                unpacker.unpack(source, name, entry)
            }
        })
    }

    /// What an error about the sample at a place should name.
    fn in_sample(&self, at: usize) -> impl Fn(LogError) -> LogError {
        let name = match &self.container {
            Container::Zip { members, .. } => members.get_index(at).map(|(name, _)| name.clone()),
            Container::Json(_) => Some(format!("samples[{at}]")),
        };
        move |error| match &name {
            Some(name) => error.in_member(name).at(&self.path),
            None => error.at(&self.path),
        }
    }

    /// What the log says about the run. One without a header, because the run has not ended or was killed,
    /// is [`Started`](super::Status::Started).
    pub fn header(&self) -> Result<Header> {
        let header = match self.raw(HEADER)? {
            Some(json) => Header::from_json(&json).map_err(|error| error.in_member(HEADER)),
            None => self.start().map(Header::started),
        };
        header.map_err(|error| error.at(&self.path))
    }

    fn start(&self) -> Result<StartRecord> {
        let json = self.raw(START)?.ok_or(LogErrorKind::NoStart)?;
        StartRecord::from_json(&json).map_err(|error| error.in_member(START))
    }

    /// The samples with all that a [`StoredSample`] can hold, by epoch and then by
    /// [key](super::SampleId::sort_key).
    pub fn samples(&self) -> Result<Samples<'_>> {
        self.samples_with(SampleFields::all())
    }

    /// The samples with only some of their fields, in the same order.
    pub fn samples_with(&self, fields: SampleFields) -> Result<Samples<'_>> {
        let mut unpacker = unpacker();
        let mut order = Vec::new();
        for at in self.sample_places() {
            let (id, epoch) = self.key(&mut unpacker, at).map_err(self.in_sample(at))?;
            order.push((epoch, id.sort_key(), at));
        }
        order.sort();
        let order: Vec<usize> = order.into_iter().map(|(_, _, at)| at).collect();
        Ok(Samples { log: self, unpacker, order: order.into_iter(), fields })
    }

    /// Id and epoch of a sample, off its first bytes where they are there.
    fn key(&self, unpacker: &mut Unpacker, at: usize) -> Result<(super::SampleId, u32)> {
        if let Container::Zip { source, members } = &self.container
            && let Some((name, entry)) = members.get_index(at)
            && let Some(key) = id_and_epoch(unpacker.unpack_head(source, name, entry, HEAD_BYTES)?)
        {
            return Ok(key);
        }
        let Some(json) = self.sample_json(unpacker, at) else { return Err(LogErrorKind::NoStart.into()) };
        let sample = StoredSample::from_json(json?, &SampleFields::scores(MetadataKeys::NONE))?;
        Ok((sample.id, sample.epoch))
    }

    fn sample(
        &self,
        unpacker: &mut Unpacker,
        at: usize,
        fields: &SampleFields,
    ) -> Option<Result<StoredSample>> {
        let json = self.sample_json(unpacker, at)?;
        let read = json.and_then(|json| StoredSample::from_json(json, fields));
        Some(read.map_err(self.in_sample(at)))
    }

    /// The scores as columns, with this metadata, in the order of [`EvalLog::samples`].
    ///
    /// The scorers that the header records come first, those found only in the samples after them.
    pub fn score_columns(&self, keys: &MetadataKeys) -> Result<ScoreColumns> {
        let header = self.header()?;
        let recorded = header.eval.scorers.unwrap_or_default();
        let mut scorers = unique_names(recorded.iter().map(|scorer| scorer.name.as_str()));
        if let Some(columns) = self.columns_of(&scorers, keys)? {
            return Ok(columns);
        }
        // Some sample has a scorer that the header does not know: find all of them, then read again.
        for sample in self.samples_with(SampleFields::scores(MetadataKeys::NONE))? {
            for scorer in sample?.scores.into_keys() {
                if !scorers.contains(&scorer) {
                    scorers.push(scorer);
                }
            }
        }
        let unknown = || LogError::from(LogErrorKind::damaged("it changed while it was read")).at(&self.path);
        self.columns_of(&scorers, keys)?.ok_or_else(unknown)
    }

    /// The columns of these scorers; nothing if a sample has another one.
    fn columns_of(&self, scorers: &[String], keys: &MetadataKeys) -> Result<Option<ScoreColumns>> {
        let mut columns = ScoreColumns::new(scorers);
        for sample in self.samples_with(SampleFields::scores(keys.clone()))? {
            let sample = sample?;
            if sample.scores.keys().any(|scorer| !scorers.contains(scorer)) {
                return Ok(None);
            }
            let metadata = sample.metadata.iter().map(|(key, value)| (key.as_str(), value));
            let mut row = columns.push(sample.id.to_string(), sample.epoch).metadata_all(metadata);
            if sample.error.is_some() {
                row = row.errored();
            }
            for (scorer, score) in sample.scores {
                row = row.score(&scorer, score).map_err(|error| {
                    LogError::from(LogErrorKind::Core(error)).of_sample(&sample.id).at(&self.path)
                })?;
            }
        }
        Ok(Some(columns))
    }

    /// A member as it is, unpacked.
    pub(super) fn raw(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let (source, members) = match &self.container {
            Container::Zip { source, members } => (source, members),
            Container::Json(log) => {
                return Ok(match name {
                    HEADER => Some(log.header().to_vec()),
                    REDUCTIONS => log.reductions().map(<[u8]>::to_vec),
                    _ => None,
                });
            }
        };
        let Some(entry) = members.get(name) else { return Ok(None) };
        let mut unpacker = unpacker();
        let json = unpacker.unpack(source, name, entry).map_err(|error| error.at(&self.path))?;
        Ok(Some(json.to_vec()))
    }
}

/// Whether the first byte that is no blank begins an object; an archive begins otherwise.
fn starts_as_object(source: &Source) -> Result<bool> {
    let mut head = Vec::new();
    source.read_up_to(0, HEAD_BYTES, &mut head).map_err(LogErrorKind::Read)?;
    Ok(head.trim_ascii_start().starts_with(b"{"))
}

/// The samples of a log, one after the other.
#[derive(Debug)]
pub struct Samples<'a> {
    log: &'a EvalLog,
    unpacker: Unpacker,
    order: std::vec::IntoIter<usize>,
    fields: SampleFields,
}

impl Iterator for Samples<'_> {
    type Item = Result<StoredSample>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.order.next()?;
        self.log.sample(&mut self.unpacker, at, &self.fields)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.order.size_hint()
    }
}

impl Samples<'_> {
    /// The next sample as the JSON it is.
    pub(super) fn next_raw(&mut self) -> Option<Result<&[u8]>> {
        let at = self.order.next()?;
        let json = self.log.sample_json(&mut self.unpacker, at)?;
        Some(json.map_err(|error| error.at(&self.log.path)))
    }
}

pub(super) fn unpacker() -> Unpacker {
    Unpacker::new(MAX_MEMBER_BYTES)
}

/// Finds the members without a directory. A file that is damaged in the middle is refused, as what comes
/// behind the damage would vanish without a trace.
pub(super) fn scan_source(source: &Source) -> Result<Scanned> {
    let found = scan(source, &mut unpacker())?;
    if found.members.is_empty() && !found.could_be_a_log {
        return Err(LogErrorKind::NotALog.into());
    }
    match found.damaged_at {
        Some(at) => Err(LogErrorKind::damaged(format!("the member at byte {at} is not whole")).into()),
        None => Ok(found),
    }
}
