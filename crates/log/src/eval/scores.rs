//! The scores of a log as columns, read on all threads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};

use errorbar_core::chat::{Input, MessageRole, Targets};
use errorbar_core::engine::{ColumnBlock, unique_names};
use errorbar_core::{
    Metadata, MetadataKeys, Reduction, Registry, SampleId, Score, ScoreColumns, ScoreParts, Value,
};
use errorbar_files::json_value;
use indexmap::IndexSet;
use jiter::{Jiter, Peek};
use rayon::prelude::*;

use super::container::REDUCTIONS;
use super::error::{LogError, LogErrorKind, Result};
use super::header::Header;
use super::limits::{self, for_all};
use super::reader::{EvalLog, SampleReader};
use super::sample::{SampleFields, StoredSample};
use super::transcript::Transcript;
use super::wire::{JsonWriter, MAX_SCORERS, list, object, parser, sample_id, text};
use crate::inspect::picks_option;

/// How to read the scores of a log.
///
/// ```
/// use errorbar_core::MetadataKeys;
/// use errorbar_log::eval::ScoreOptions;
/// let options = ScoreOptions::new(MetadataKeys::one("category")).skip_bad_samples(true);
/// ```
pub struct ScoreOptions<'a> {
    metadata: MetadataKeys,
    parts: ScoreParts,
    skip_bad_samples: bool,
    digests: bool,
    choices: bool,
    progress: Option<&'a (dyn Fn(usize) + Sync)>,
    edited: Option<&'a EditedScore>,
    only: &'a [String],
}

/// A score that is about to be changed; see [`Revision::edit_score`](super::Revision::edit_score).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EditedScore {
    /// The sample.
    pub id: SampleId,
    /// Its epoch.
    pub epoch: u32,
    /// The scorer.
    pub scorer: String,
    /// The score as it will be.
    pub score: Score,
}

impl EditedScore {
    fn is_of(&self, sample: &StoredSample) -> bool {
        self.id == sample.id && self.epoch == sample.epoch
    }
}

impl<'a> ScoreOptions<'a> {
    /// The scores with this metadata of the samples.
    pub fn new(metadata: MetadataKeys) -> Self {
        let parts = ScoreParts::All;
        ScoreOptions {
            metadata,
            parts,
            skip_bad_samples: false,
            digests: false,
            choices: false,
            progress: None,
            edited: None,
            only: &[],
        }
    }

    setters! {
        /// Only these parts of the scores; all of them by default. What is not held takes no memory, however long it is.
        score_parts: ScoreParts => parts;
        /// Skips a sample that cannot be read; by default it is the error of the whole.
        skip_bad_samples: bool => skip_bad_samples;
        /// Also reads a [digest](LogScores::digests) of what each sample asks.
        digests: bool => digests;
        /// Also reads the [number of choices](LogScores::choice_counts) of each sample.
        choices: bool => choices;
        /// The scores of these scorers alone; of all if there is none.
        only_scorers: &'a [String] => only;
        /// Replaces the score in the log with this one.
        edited: &'a EditedScore => edited;
        /// Reports the number of samples read, now and then, from any thread.
        progress: &'a (dyn Fn(usize) + Sync) => progress;
    }
}

/// The scores of a log.
#[derive(Debug)]
#[non_exhaustive]
pub struct LogScores {
    /// The scores, by epoch and then in the order of the dataset, as far as the header records it; samples that it
    /// does not list come last, by [key](super::SampleId::sort_key). So groups have the order that they had in the run.
    pub columns: ScoreColumns,
    /// What is wrong with each sample that was skipped.
    pub skipped: Vec<LogError>,
    /// All scorers of the log, also those whose scores were not wanted.
    pub scorers: Vec<String>,
    /// How many samples without an error a limit ended, by its kind: `token`, `time` and so on.
    pub limits: BTreeMap<String, usize>,
    /// For each row of the columns a digest of input, choices and target, if it was wanted; samples with different ones
    /// are different. Ids of messages do not count. Digests are of this process alone.
    pub digests: Vec<u64>,
    /// For each row of the columns the number of choices if exactly one of them is right, else 0; empty unless it was wanted.
    pub choice_counts: Vec<u32>,
}

/// The order of samples: by epoch, and then as in the dataset, as far as the header records it. Samples that it does
/// not list come last, by [key](SampleId::sort_key).
pub(super) struct DatasetOrder<'h> {
    places: HashMap<&'h SampleId, usize>,
}

impl<'h> DatasetOrder<'h> {
    pub(super) fn new(header: Option<&'h Header>) -> Self {
        let ids = header.and_then(|header| header.eval.dataset.sample_ids.as_deref()).unwrap_or_default();
        DatasetOrder { places: ids.iter().enumerate().map(|(at, id)| (id, at)).collect() }
    }

    /// What samples are sorted by.
    pub(super) fn key(&self, id: &SampleId, epoch: u32) -> (u32, usize, String) {
        match self.places.get(id) {
            Some(place) => (epoch, *place, String::new()),
            None => (epoch, usize::MAX, id.sort_key()),
        }
    }
}

/// The memory of an error about a sample that is skipped, about.
const ERROR_BYTES: u64 = 512;

/// What is held of a sample until all are there.
struct SampleRow {
    id: SampleId,
    epoch: u32,
    is_errored: bool,
    limit: Option<String>,
    metadata: Metadata,
    scores: Vec<(String, Score)>,
    digest: u64,
    /// How many choices there are, if exactly one is right, else 0.
    choices: u32,
}

impl SampleRow {
    fn new(mut sample: StoredSample, digests: bool) -> Self {
        let targets = match &sample.target {
            Targets::One(target) => std::slice::from_ref(target),
            Targets::Many(targets) => targets.as_slice(),
        };
        let choices = choice_count(sample.choices.as_deref().unwrap_or_default(), targets);
        let digest = if digests { take_digest(&mut sample) } else { 0 };
        SampleRow {
            choices,
            id: sample.id,
            epoch: sample.epoch,
            is_errored: sample.error.is_some(),
            limit: sample.limit,
            metadata: sample.metadata,
            scores: sample.scores.into_iter().collect(),
            digest,
        }
    }
}

/// How many samples make a block.
const BLOCK_ROWS: usize = 1 << 12;

/// Rows as a block, with the names of its metadata. Scores by scorers that have no number are left out.
fn block_of(rows: Vec<SampleRow>, scorers: &HashMap<&str, usize>) -> (IndexSet<String>, ColumnBlock) {
    let mut keys: IndexSet<String> = IndexSet::new();
    let mut block = ColumnBlock::new(scorers.len(), 0);
    for (at, row) in rows.into_iter().enumerate() {
        block.push_sample(&row.id, row.epoch);
        for (key, value) in &row.metadata {
            let number = match keys.get_index_of(key) {
                Some(number) => number,
                None => keys.insert_full(key.clone()).0,
            };
            block.widen(0, keys.len());
            block.metadata.get_mut(number).into_iter().for_each(|column| column.set(at, value));
        }
        if row.is_errored {
            block.errored.push(at as u32);
        }
        for (scorer, score) in row.scores {
            if let Some(number) = scorers.get(scorer.as_str()) {
                // A sample has one score by each scorer: they came from a map.
                block.set_score(*number, score);
            }
        }
    }
    (keys, block)
}

impl EvalLog {
    /// The scores as columns, with this metadata, by epoch and then in the order of the dataset.
    ///
    /// The scorers that the header records come first, those found only in the samples after them.
    pub fn score_columns(&self, keys: &MetadataKeys) -> Result<ScoreColumns> {
        self.scores(&self.header()?, &ScoreOptions::new(keys.clone())).map(|scores| scores.columns)
    }

    /// The scores as columns; `header` is that of the log.
    ///
    /// The samples are read on all threads of the current rayon pool. Memory is that of the scores and the
    /// requested metadata, whatever the length of the transcripts.
    pub fn scores(&self, header: &Header, options: &ScoreOptions<'_>) -> Result<LogScores> {
        let done = AtomicUsize::new(0);
        let memory = &self.container.memory;
        let read = |reader: &mut SampleReader<'_>, at| {
            let row = reader.read(at).map(|mut sample| {
                if let Some(edited) = options.edited.filter(|edited| edited.is_of(&sample)) {
                    sample.scores.insert(edited.scorer.clone(), edited.score.clone());
                }
                (limits::behind_sample(&sample), SampleRow::new(sample, options.digests))
            });
            if let Some(progress) = options.progress {
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
            // A log that does not fit into memory is not a matter of one sample.
            let row = match row {
                Err(error) if !options.skip_bad_samples || error.is_of_memory() => return Err(error),
                row => row,
            };
            let bytes = row.as_ref().map_or(ERROR_BYTES, |(bytes, _)| *bytes);
            memory.take(bytes).map_err(|error| reader.in_sample(at, error))?;
            Ok(row.map(|(_, row)| row))
        };
        // Memory for all rows is allocated at once, and again where the good ones are moved to.
        let rows = 2 * (self.sample_count() * size_of::<SampleRow>()) as u64;
        memory.take(rows).map_err(|error| error.at(self.path()))?;
        let mut fields = SampleFields::scores(options.metadata.clone()).score_parts(options.parts);
        (fields.texts, fields.choices) = (options.digests, options.choices);
        let rows = for_all(self.sample_count(), || SampleReader::new(self, fields.clone()), read)?;

        let (mut good, mut skipped) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in rows {
            match row {
                Ok(row) => good.push(row),
                Err(error) => skipped.push(error),
            }
        }
        let order = DatasetOrder::new(Some(header));
        good.sort_by_cached_key(|row| order.key(&row.id, row.epoch));
        let digests = good.iter().map(|row| row.digest).filter(|_| options.digests).collect();
        let choice_counts = good.iter().map(|row| row.choices).filter(|_| options.choices).collect();
        let scores = self.columns(header, good, skipped, options.only)?;
        Ok(LogScores { digests, choice_counts, ..scores })
    }

    /// The scores with this metadata, off the list of samples that the log ends with; none if it has no such list. Of a log of
    /// gigabytes that reads megabytes.
    ///
    /// The list is a second copy in which long strings are cut, so figures that are computed from it are to be believed only
    /// where they [are](super::compare) those that the log records.
    pub fn summary_scores(&self, header: &Header, metadata: &MetadataKeys) -> Result<Option<LogScores>> {
        let Some(summaries) = self.summaries()? else { return Ok(None) };
        let row = |summary: Transcript| SampleRow {
            id: summary.id,
            epoch: summary.epoch,
            is_errored: summary.error.is_some(),
            choices: choice_count(&summary.choices, &summary.target),
            limit: summary.limit,
            metadata: summary.metadata.into_iter().filter(|(key, _)| metadata.contains(key)).collect(),
            scores: summary.scores.into_iter().collect(),
            digest: 0,
        };
        let rows: Vec<SampleRow> = summaries.into_iter().map(row).collect();
        let choice_counts = rows.iter().map(|row| row.choices).collect();
        let scores = self.columns(header, rows, Vec::new(), &[])?;
        Ok(Some(LogScores { choice_counts, ..scores }))
    }

    fn columns(
        &self,
        header: &Header,
        rows: Vec<SampleRow>,
        skipped: Vec<LogError>,
        only: &[String],
    ) -> Result<LogScores> {
        let recorded = header.eval.scorers.as_deref().unwrap_or_default();
        let mut scorers = unique_names(recorded.iter().map(|scorer| scorer.name.as_str()));
        let mut known: HashSet<String> = scorers.iter().cloned().collect();
        for (scorer, _) in rows.iter().flat_map(|row| &row.scores) {
            if !known.contains(scorer) {
                known.insert(scorer.clone());
                scorers.push(scorer.clone());
            }
        }
        if scorers.len() > MAX_SCORERS {
            let kind = LogErrorKind::TooMany { what: "scorers", limit: MAX_SCORERS };
            return Err(LogError::from(kind).at(self.path()));
        }
        let is_wanted = |scorer: &String| only.is_empty() || only.contains(scorer);
        let wanted: Vec<&String> = scorers.iter().filter(|scorer| is_wanted(scorer)).collect();
        let numbers: HashMap<&str, usize> = wanted.iter().map(|scorer| scorer.as_str()).zip(0..).collect();
        let mut limits = BTreeMap::new();
        for kind in rows.iter().filter(|row| !row.is_errored).filter_map(|row| row.limit.as_deref()) {
            *limits.entry(kind.to_owned()).or_default() += 1;
        }
        let mut columns = ScoreColumns::new(wanted);
        let by_record = scorers.iter().zip(recorded).filter(|(_, info)| info.picks_option());
        let picking = by_record.map(|(name, _)| name).chain(scorers.iter().filter(|name| picks_option(name)));
        picking.for_each(|name| columns.set_picks_option(name));
        let mut rows = rows.into_iter();
        let chunks: Vec<Vec<SampleRow>> = std::iter::from_fn(|| {
            Some(rows.by_ref().take(BLOCK_ROWS).collect()).filter(|rows: &Vec<_>| !rows.is_empty())
        })
        .collect();
        // A block for each thread at a time, so that little is held twice.
        let mut chunks = chunks.into_iter().peekable();
        while chunks.peek().is_some() {
            let some: Vec<Vec<SampleRow>> = chunks.by_ref().take(rayon::current_num_threads()).collect();
            let blocks: Vec<_> = some.into_par_iter().map(|rows| block_of(rows, &numbers)).collect();
            for (keys, mut block) in blocks {
                columns.append(keys.iter().map(String::as_str), &mut block);
            }
        }
        Ok(LogScores { columns, skipped, scorers, limits, digests: Vec::new(), choice_counts: Vec::new() })
    }
}

/// The number of choices, if exactly one of them is right. Targets are letters, and `AC` is two of them.
fn choice_count(choices: &[String], targets: &[String]) -> u32 {
    let is_one = targets.iter().map(|target| target.trim().chars().count()).sum::<usize>() == 1;
    if is_one { u32::try_from(choices.len()).unwrap_or(0) } else { 0 }
}

/// The digest of what a sample asks, which is dropped.
fn take_digest(sample: &mut StoredSample) -> u64 {
    // With fixed keys: one that can be made to collide hides a difference, and nothing else.
    let mut hasher = DefaultHasher::new();
    match std::mem::take(&mut sample.input) {
        // A string is a message of the user.
        Input::Text(text) => (MessageRole::User.name(), text).hash(&mut hasher),
        Input::Messages(messages) => {
            messages.into_iter().for_each(|message| (message.role.name(), message.content).hash(&mut hasher))
        }
    }
    sample.choices.take().hash(&mut hasher);
    match std::mem::take(&mut sample.target) {
        Targets::One(target) => [target].as_slice().hash(&mut hasher),
        Targets::Many(targets) => targets.hash(&mut hasher),
    }
    hasher.finish()
}

// One score per sample for each scorer and reducer: `reductions.json`.

/// The reduced scores of a run, ready to be written.
#[derive(Clone, Debug, Default)]
pub struct Reductions {
    pub(super) json: Option<Vec<u8>>,
}

impl Reductions {
    /// No reduced scores: the member is not written.
    pub fn none() -> Self {
        Reductions::default()
    }

    /// These reduced scores; `columns` are those that they were computed from.
    pub fn of(reductions: &[Reduction], columns: &ScoreColumns) -> Self {
        Reductions::write(reductions, |reduction| reduction.iter(columns))
    }

    /// The same in the order in which the reference reads samples back: what it computes of a log again, it writes in
    /// that order.
    pub(super) fn by_key(reductions: &[Reduction], columns: &ScoreColumns) -> Self {
        Reductions::write(reductions, |reduction| reduction.iter_by_key(columns))
    }

    fn write<'a, I>(reductions: &'a [Reduction], samples: impl Fn(&'a Reduction) -> I) -> Self
    where
        I: Iterator<Item = (SampleId, Score)>,
    {
        let write = |json: &mut JsonWriter| {
            for reduction in reductions {
                json.object(|json| {
                    json.field("scorer", &reduction.scorer);
                    let reducer = reduction
                        .reducer
                        .as_deref()
                        .map(|name| Registry::recorded_reducer(name).into_owned());
                    json.optional("reducer", reducer.as_ref());
                    json.key("samples").array(|json| {
                        for (id, score) in samples(reduction) {
                            json.score(&score, Some(&id));
                        }
                    });
                });
            }
        };
        Reductions { json: Some(JsonWriter::bytes_of(|json| json.array(write))) }
    }
}

/// The reduced scores of one scorer and reducer that a log records.
#[derive(Debug, Default)]
pub(super) struct RecordedReduction {
    pub(super) scorer: String,
    pub(super) reducer: Option<String>,
    /// The value of each sample.
    pub(super) values: Vec<(SampleId, Value)>,
}

/// The reduced scores that a log records; none if they cannot be understood, as figures do not need them.
pub(super) fn recorded_reductions(log: &EvalLog) -> Result<Vec<RecordedReduction>> {
    let Some(json) = log.raw(REDUCTIONS)? else { return Ok(Vec::new()) };
    let mut json = parser(&json);
    let read = json.peek().map_err(Into::into).and_then(|peek| match peek {
        Peek::Null => Ok(Vec::new()),
        peek => list("reductions", &mut json, peek, read_reduction),
    });
    Ok(read.unwrap_or_default())
}

fn read_reduction(json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedReduction> {
    let mut reduction = RecordedReduction::default();
    object("reductions", json, peek, |key, json, peek| {
        match key {
            "scorer" => reduction.scorer = text(key, json, peek)?.unwrap_or_default(),
            "reducer" => reduction.reducer = text(key, json, peek)?,
            "samples" => {
                let samples = list(key, json, peek, read_sample)?;
                reduction.values = samples.into_iter().flatten().collect();
            }
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    Ok(reduction)
}

fn read_sample(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<(SampleId, Value)>> {
    let (mut id, mut value) = (None, None);
    object("samples", json, peek, |key, json, peek| {
        match key {
            "sample_id" if peek != Peek::Null => id = Some(sample_id(json, peek)?),
            "value" => value = json_value::score(json, peek)?.ok(),
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    Ok(id.zip(value))
}
