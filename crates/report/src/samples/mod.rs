//! Samples in a page: what people read, search and compare, for one or more runs.
//!
//! A [`SampleSet`] aligns the samples of runs by their ids, over epochs. It is written in two parts, because a page must
//! open before megabytes of text are read. The **index** is what a list, its filters and its orders need: ids, the start of
//! each question, groups, and one small number per score, which stands for one of the few distinct [`Outcome`]s. The
//! **details** are everything else, in chunks that the page inflates when it needs them; conversations are in chunks of
//! their own, because they are most of the bytes and few people open them.
//!
//! The same JSON is in the page ([`EncodedSamples`]) and on a server ([`SampleSet::index_json`],
//! [`SampleSet::sample_json`]); `assets/source.js` reads both. Its types are written down in `assets/types.js`.
//!
//! ```
//! use errorbar_core::{Score, ScoreColumns};
//! use errorbar_report::samples::SampleSetBuilder;
//!
//! let mut columns = ScoreColumns::new(["match"]);
//! columns.push("q1", 1).metadata("category", "physics").score("match", Score::new("C").answer("4"))?;
//! columns.push("q2", 1).metadata("category", "biology").score("match", Score::new("I"))?;
//! let mut builder = SampleSetBuilder::new();
//! builder.add_rows("heron", &columns, |_| true);
//! let samples = builder.finish();
//! assert_eq!(samples.len(), 2);
//! let index = samples.index_json();
//! assert_eq!(index["outcomes"][0]["verdict"], "C");
//! assert!(samples.encode(None)?.to_html().contains("id=\"samples-index\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod encode;
mod epoch_record;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use encode::TextBudget;
use epoch_record::preview;
use errorbar_core::{IndexMap, SampleId, ScoreColumns};
use errorbar_log::eval::{EvalLog, LogError};
use serde::Serialize;

pub use encode::{EncodeError, EncodedSamples, Omission, section_html, whole_key_html};
pub use epoch_record::{EpochRecord, LongText, SampleTexts, TEXT_LIMIT};

/// The samples of one or more runs, aligned by their ids.
#[derive(Clone, Debug, Default)]
pub struct SampleSet {
    runs: Vec<SampleRun>,
    columns: Vec<ScoreColumn>,
    /// Distinct; a sample holds their indices.
    outcomes: Vec<Outcome>,
    groups: Vec<GroupKey>,
    /// Whether samples are of several tasks: the first group key is the task.
    has_tasks: bool,
    samples: IndexMap<String, AlignedSample>,
    has_details: bool,
    has_messages: bool,
    /// What was left out while samples were added.
    omissions: Vec<Omission>,
}

/// A run whose samples are shown.
#[derive(Clone, Debug, Serialize)]
struct SampleRun {
    name: String,
    /// In order; a sample may have fewer.
    epochs: Vec<u32>,
}

/// A scorer, or one of the values that it gives in a map or a list.
#[derive(Clone, Debug, Serialize)]
struct ScoreColumn {
    scorer: String,
    field: Option<String>,
}

/// What a score says; most samples of a run share one of a few.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// What it means for the answer.
    pub verdict: OutcomeVerdict,
    /// The value as people write it; none if there is no score.
    pub value: Option<String>,
    /// The number that the value counts, if it counts one.
    pub number: Option<f64>,
    /// Why, as the scorer recorded it.
    pub reason: Option<String>,
}

/// What an outcome means, one letter each: the class of its glyph in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum OutcomeVerdict {
    /// It counts 1.
    #[serde(rename = "C")]
    Right,
    /// It counts something between 0 and 1.
    #[serde(rename = "P")]
    Partial,
    /// It counts 0 or less.
    #[serde(rename = "I")]
    Wrong,
    /// It counts as wrong because no answer was found.
    #[serde(rename = "N")]
    NoAnswer,
    /// The scorer gave no value.
    #[serde(rename = "U")]
    Unscored,
    /// The sample failed.
    #[serde(rename = "E")]
    Errored,
    /// There is no such sample or score in the run.
    #[serde(rename = "A")]
    Absent,
    /// It is beyond 1, or not a number.
    #[serde(rename = "O")]
    Other,
}

/// A metadata key that samples can be filtered by.
#[derive(Clone, Debug, Serialize)]
struct GroupKey {
    key: String,
    values: Vec<String>,
}

/// A sample over runs and epochs; as JSON, everything but what the index has and its conversations.
#[derive(Clone, Debug, Default, Serialize)]
struct AlignedSample {
    #[serde(skip)]
    preview: String,
    /// Per group key, the index of its value.
    #[serde(skip)]
    groups: Vec<Option<u32>>,
    #[serde(flatten)]
    texts: SampleTexts,
    /// Per score column, run and epoch of the run, the index of its outcome.
    #[serde(skip)]
    cells: Vec<u32>,
    /// Per run, per epoch of the run.
    #[serde(rename = "runs")]
    records: Vec<Vec<Option<EpochRecord>>>,
}

impl SampleSet {
    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// What was left out while samples were added.
    pub fn omissions(&self) -> &[Omission] {
        &self.omissions
    }

    /// The ids of the samples, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.samples.keys().map(String::as_str)
    }
}

// Aligning the samples of runs.

/// More columns of scores than this are in the details only.
const MOST_COLUMNS: usize = 24;
/// More metadata keys than this cannot be filtered by.
const MOST_KEYS: usize = 12;
/// A key with more values than this tells samples apart, not groups.
const MOST_VALUES: usize = 200;
/// A metadata value that is longer is no name of a group.
const LONGEST_VALUE: usize = 60;

/// More cells than this, samples × epochs of runs, are not held if fewer than one in four has a record.
const MOST_SPARSE: usize = 4_000_000;

/// The key that samples of several tasks are filtered by.
const TASK: &str = "task";

/// What is read of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogContents {
    /// Question, answers, scores and their explanations.
    Texts,
    /// The conversations too.
    Messages,
}

/// Collects samples of runs.
#[derive(Debug, Default)]
pub struct SampleSetBuilder {
    set: SampleSet,
    /// Keys that are grouped by come first.
    wanted_keys: Vec<String>,
    /// The task that samples are added of, where there are several.
    task: Option<String>,
    /// The samples that cannot be read, and why.
    problems: Vec<LogError>,
    /// The number of epochs of all runs, and of records that were added.
    epochs: usize,
    records: usize,
    budget: TextBudget,
    /// The most records; none if there is no bound.
    most_records: Option<usize>,
    /// Whether samples were left out for it.
    has_more: bool,
}

impl SampleSetBuilder {
    /// Without any run.
    pub fn new() -> Self {
        SampleSetBuilder::default()
    }

    /// Metadata keys that can be filtered by whatever their values are, before others that are found.
    #[must_use]
    pub fn group_keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.wanted_keys.extend(keys.into_iter().map(Into::into));
        self
    }

    /// Bounds what is held of texts, in bytes of JSON: beyond it conversations are left out, then explanations, then the
    /// middle of long texts, and the page says so.
    #[must_use]
    pub fn max_text_bytes(mut self, bytes: usize) -> Self {
        self.budget = TextBudget::new(bytes);
        self
    }

    /// Bounds the number of epochs of samples of all runs: beyond it no more samples are listed, and the list says so.
    #[must_use]
    pub fn max_records(mut self, records: usize) -> Self {
        self.most_records = Some(records);
        self
    }

    /// Says that only the first samples are added.
    pub fn set_listed(&mut self, listed: usize) {
        self.set.omissions.push(Omission::Samples { listed });
    }

    /// Names the task of what is added from here on, where there are several: their samples are kept apart by ids like
    /// `task/id`, and a run of the same name is the same run.
    pub fn set_task(&mut self, task: &str) {
        self.task = Some(task.to_owned());
    }

    /// Adds samples of a log as a run. A sample that cannot be read is left out; see [`problems`](Self::problems).
    ///
    /// # Errors
    /// A log whose list of samples cannot be read.
    pub fn add_log(
        &mut self,
        name: &str,
        log: &EvalLog,
        contents: LogContents,
        is_wanted: impl Fn(&SampleId, u32) -> bool + Sync + Send,
    ) -> Result<(), LogError> {
        let run = self.start_run(name);
        self.set.has_details = true;
        self.set.has_messages |= contents == LogContents::Messages && self.budget.has_messages();
        let mut transcripts = log.transcripts(is_wanted)?;
        while let Some(read) = transcripts.next() {
            let with_messages = contents == LogContents::Messages && self.budget.has_messages();
            let completed = read.and_then(|mut transcript| {
                transcripts.complete(&mut transcript, with_messages)?;
                Ok(transcript)
            });
            match completed {
                Ok(transcript) => self.add(
                    run,
                    &transcript.id,
                    transcript.epoch,
                    SampleTexts::from_transcript(&transcript),
                    EpochRecord::from_transcript(&transcript),
                ),
                Err(problem) => self.problems.push(problem),
            }
        }
        Ok(())
    }

    /// The same with only some of the samples, by their ids.
    pub fn add_rows(&mut self, name: &str, columns: &ScoreColumns, is_wanted: impl Fn(&str) -> bool) {
        let run = self.start_run(name);
        self.set.has_details = true;
        for row in (0..columns.len()).filter(|row| is_wanted(columns.id(*row))) {
            let (texts, record) = (SampleTexts::from_row(columns, row), EpochRecord::from_row(columns, row));
            self.add(run, &columns.sample_id(row), columns.epoch(row), texts, record);
        }
    }

    /// Adds a run without samples; its number is for [`add`](Self::add).
    pub fn start_run(&mut self, name: &str) -> usize {
        let known = self.set.runs.iter().position(|run| run.name == name);
        if let Some(known) = known.filter(|_| self.task.is_some()) {
            return known;
        }
        self.set.runs.push(SampleRun { name: name.to_owned(), epochs: Vec::new() });
        self.set.runs.len() - 1
    }

    /// Adds a sample of an epoch to a run. One that is there already is replaced.
    pub fn add(&mut self, run: usize, id: &SampleId, epoch: u32, texts: SampleTexts, record: EpochRecord) {
        if self.is_too_sparse() || self.is_too_large() {
            return;
        }
        let key = self.key(id);
        let is_full = self.most_records.is_some_and(|most| self.records >= most);
        if is_full && !self.set.samples.contains_key(&key) {
            self.has_more = true;
            return;
        }
        let Some(at) = self.epoch_index(run, epoch) else { return };
        let (mut texts, mut record) = self.budget.take(texts, record);
        self.records += 1;
        if let Some(task) = &self.task {
            texts.metadata.insert(0, (TASK.to_owned(), task.as_str().into()));
        }
        let sample = self.set.samples.entry(key).or_insert_with(|| AlignedSample {
            preview: preview(&texts.question()),
            ..AlignedSample::default()
        });
        if sample.texts == SampleTexts::default() {
            sample.texts = texts;
        } else if sample.texts.input != texts.input && !texts.input.is_empty() {
            record.input = Some(texts.input);
        }
        if sample.preview.is_empty() {
            sample.preview = preview(&sample.texts.question());
        }
        // A vector begins with room for four, and most samples have one run and one epoch.
        if sample.records.is_empty() {
            sample.records.reserve_exact(run + 1);
        }
        sample.records.resize_with(sample.records.len().max(run + 1), Vec::new);
        if let Some(records) = sample.records.get_mut(run) {
            if records.is_empty() {
                records.reserve_exact(at + 1);
            }
            records.resize_with(records.len().max(at + 1), || None);
            if let Some(place) = records.get_mut(at) {
                *place = Some(record);
            }
        }
        self.budget.fit(&mut self.set);
    }

    /// The samples that are added one by one have their conversations.
    #[must_use]
    pub fn with_messages(mut self) -> Self {
        (self.set.has_details, self.set.has_messages) = (true, true);
        self
    }

    /// Whether the runs have so few samples in common that a table of samples by runs would be large and nearly empty.
    /// Nothing is added from then on.
    pub fn is_too_sparse(&self) -> bool {
        self.cells() > MOST_SPARSE && self.is_sparse()
    }

    /// Whether fewer than one in four of the runs and epochs of samples has a record.
    pub fn is_sparse(&self) -> bool {
        self.cells() / 4 > self.records
    }

    fn cells(&self) -> usize {
        self.set.samples.len().saturating_mul(self.epochs)
    }

    /// Whether texts take more than they may, whatever is left out of them. Nothing is added from then on.
    pub fn is_too_large(&self) -> bool {
        self.budget.is_exceeded()
    }

    /// The samples that could not be read.
    pub fn problems(&self) -> &[LogError] {
        &self.problems
    }

    /// The samples of all runs.
    pub fn finish(self) -> SampleSet {
        let SampleSetBuilder { mut set, mut wanted_keys, task, has_more, .. } = self;
        if has_more {
            set.omissions.push(Omission::Samples { listed: set.samples.len() });
        }
        if task.is_some() {
            wanted_keys.insert(0, TASK.to_owned());
        }
        sort_epochs(&mut set);
        set.columns = columns(&set);
        remove_verdicts_of_ratings(&mut set);
        set.groups = group_keys(&mut set, &wanted_keys);
        set.has_tasks = task.is_some() && set.groups.first().is_some_and(|group| group.key == TASK);
        encode::add_outcomes(&mut set);
        set
    }

    fn key(&self, id: &SampleId) -> String {
        match &self.task {
            Some(task) => format!("{task}/{id}"),
            None => id.to_string(),
        }
    }

    /// Where an epoch is in a run.
    fn epoch_index(&mut self, run: usize, epoch: u32) -> Option<usize> {
        let epochs = &mut self.set.runs.get_mut(run)?.epochs;
        // Mostly the last one: logs are read by epoch.
        match epochs.iter().rposition(|known| *known == epoch) {
            Some(at) => Some(at),
            None => {
                epochs.push(epoch);
                self.epochs += 1;
                Some(epochs.len() - 1)
            }
        }
    }
}

/// Brings epochs into order, and gives every sample a place for each.
fn sort_epochs(set: &mut SampleSet) {
    for (at, run) in set.runs.iter_mut().enumerate() {
        let mut order: Vec<usize> = (0..run.epochs.len()).collect();
        order.sort_by_key(|index| run.epochs.get(*index).copied());
        run.epochs.sort_unstable();
        for sample in set.samples.values_mut() {
            sample.records.resize_with(sample.records.len().max(at + 1), Vec::new);
            let Some(records) = sample.records.get_mut(at) else { continue };
            let take = |from: &usize| records.get_mut(*from).and_then(Option::take);
            *records = order.iter().map(take).collect();
        }
    }
}

/// The scorers and their fields, in the order of their first score.
fn columns(set: &SampleSet) -> Vec<ScoreColumn> {
    let mut columns: Vec<ScoreColumn> = Vec::new();
    for record in set.samples.values().flat_map(|sample| &sample.records).flatten().flatten() {
        for (scorer, field, _) in record.outcomes() {
            let is_known = |column: &ScoreColumn| column.scorer == scorer && column.field.as_deref() == field;
            if columns.len() < MOST_COLUMNS && !columns.iter().any(is_known) {
                columns.push(ScoreColumn { scorer: scorer.to_owned(), field: field.map(str::to_owned) });
            }
        }
    }
    // A sample that a scorer of maps left unscored has no fields; the others say which there are.
    let with_fields = columns.iter().filter(|column| column.field.is_some());
    let with_fields: HashSet<String> = with_fields.map(|column| column.scorer.clone()).collect();
    columns.retain(|column| column.field.is_some() || !with_fields.contains(&column.scorer));
    columns
}

/// A scorer that gives more than 1 or less than 0 somewhere rates on another scale: its 1 is not right, nor its 0 wrong.
fn remove_verdicts_of_ratings(set: &mut SampleSet) {
    let is_beyond = |outcome: &Outcome| outcome.number.is_some_and(|number| !(0.0..=1.0).contains(&number));
    let mut ratings: HashSet<(String, Option<String>)> = HashSet::new();
    for record in set.samples.values().flat_map(|sample| &sample.records).flatten().flatten() {
        let beyond = record.outcomes().filter(|(_, _, outcome)| is_beyond(outcome));
        ratings.extend(beyond.map(|(scorer, field, _)| (scorer.to_owned(), field.map(str::to_owned))));
    }
    if ratings.is_empty() {
        return;
    }
    let is_rating = |scorer: &str, field: Option<&str>| {
        ratings.iter().any(|(of, key)| of == scorer && key.as_deref() == field)
    };
    for record in set.samples.values_mut().flat_map(|sample| &mut sample.records).flatten().flatten() {
        for (scorer, field, outcome) in record.outcomes_mut() {
            let is_verdict = matches!(
                outcome.verdict,
                OutcomeVerdict::Right | OutcomeVerdict::Partial | OutcomeVerdict::Wrong
            );
            // A grade means what it says beside any number.
            let is_number = outcome.value.as_ref().is_some_and(|value| value.parse::<f64>().is_ok());
            if is_verdict && is_number && is_rating(scorer, field) {
                outcome.verdict = OutcomeVerdict::Other;
            }
        }
    }
}

/// The metadata keys whose values many samples share, and which value each sample has.
fn group_keys(set: &mut SampleSet, wanted: &[String]) -> Vec<GroupKey> {
    let mut found: IndexMap<String, IndexMap<String, usize>> =
        wanted.iter().map(|key| (key.clone(), IndexMap::new())).collect();
    let mut rejected: HashSet<String> = HashSet::new();
    for sample in set.samples.values() {
        for (key, value) in &sample.texts.metadata {
            if rejected.contains(key) {
                continue;
            }
            let is_wanted = wanted.contains(key);
            let values = found.entry(key.clone()).or_default();
            let text = value.head();
            if !is_wanted && (value.is_cut() || text.chars().count() > LONGEST_VALUE) {
                rejected.insert(key.clone());
                found.shift_remove(key);
                continue;
            }
            *values.entry(text.to_owned()).or_default() += 1;
            if !is_wanted && values.len() > MOST_VALUES {
                rejected.insert(key.clone());
                found.shift_remove(key);
            }
        }
    }
    // Of few samples, a key with a value for each is no group either.
    let is_group = |values: &IndexMap<String, usize>| values.len() > 1 && values.values().any(|n| *n > 1);
    found.retain(|key, values| if wanted.contains(key) { !values.is_empty() } else { is_group(values) });
    found.truncate(MOST_KEYS);
    for sample in set.samples.values_mut() {
        let code = |(key, values): (&String, &IndexMap<String, usize>)| {
            let (_, value) = sample.texts.metadata.iter().find(|(of, _)| of == key)?;
            values.get_index_of(value.head()).and_then(|at| u32::try_from(at).ok())
        };
        sample.groups = found.iter().map(code).collect();
    }
    found.into_iter().map(|(key, values)| GroupKey { key, values: values.into_keys().collect() }).collect()
}
