//! Datasets: where samples come from.
//!
//! A dataset is read when its samples are first asked for, and what went wrong is held until a task is checked, so
//! that `Task::new(csv_dataset(…))` needs no `?` and all mistakes of a task are reported at once. Until then it
//! knows how many samples are wanted, and reads no further than that.

mod delimited;
mod error;
mod fields;
mod hub;
mod json;
pub(crate) mod limits;
#[cfg(feature = "parquet")]
mod parquet;
mod record;
mod source;

use std::fmt;
use std::sync::{Arc, OnceLock};

pub use error::{DatasetError, InvalidField, RecordLocation, RecordPosition};
use errorbar_core::Metadata;
use errorbar_stats::random::Stream;
pub use fields::{Fields, OneOrMany};
pub use hub::HubDataset;
pub use record::{IntoSample, Record};
pub(crate) use source::nearest_file;
pub use source::{FileFormat, RecordSource};

use crate::text::{choice_label, choice_places};
use crate::{Sample, SampleId, Target, Targets};

/// A sample and its id.
pub type NamedSample = (SampleId, Arc<Sample>);

/// Samples with their ids, and where they are from.
///
/// ```
/// use errorbar_eval::{Dataset, Sample};
/// let dataset = Dataset::new([Sample::new("1 + 1?").target("2"), Sample::new("2 + 2?").target("4")]);
/// let samples = dataset.samples()?;
/// assert_eq!(samples[1].0.to_string(), "2", "numbered from 1");
/// # Ok::<(), errorbar_eval::DatasetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    name: Option<String>,
    location: Option<String>,
    shuffled: bool,
    origin: Origin,
    /// What is done with the samples of the origin, in order.
    steps: Vec<Step>,
    /// The result, once it was asked for.
    read: Arc<OnceLock<ReadSamples>>,
}

/// Where samples come from.
#[derive(Clone)]
enum Origin {
    /// They are there.
    Read(ReadSamples),
    /// Records of files, and what makes samples of them.
    Files(Arc<RecordSource>, Arc<record::ToSample>),
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Read(read) => read.fmt(f),
            Origin::Files(source, _) => source.fmt(f),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Limit(usize),
    Shuffle(u64),
    ShuffleChoices(u64),
}

/// What was read.
#[derive(Clone, Debug)]
struct ReadSamples {
    samples: Result<Arc<[NamedSample]>, DatasetError>,
    /// The samples that are not text alone, by their ids, and where they are.
    beside_text: Arc<[(String, RecordLocation)]>,
    /// The fields of the first record.
    fields: Arc<[String]>,
    /// What identifies the data beside its location.
    provenance: Metadata,
}

impl Dataset {
    /// These samples. Those without an id are numbered by their place, from 1.
    pub fn new(samples: impl IntoIterator<Item = impl Into<Sample>>) -> Self {
        let located = |sample: Sample| (RecordLocation::NOWHERE, Arc::new(sample));
        let samples = samples.into_iter().map(|sample| located(sample.into())).collect();
        let read = ReadSamples::new(Ok(samples), Arc::default(), Metadata::new());
        Dataset::of(None, None, Origin::Read(read))
    }

    fn of(name: Option<String>, location: Option<String>, origin: Origin) -> Self {
        Dataset { name, location, shuffled: false, origin, steps: Vec::new(), read: Arc::default() }
    }

    /// Samples with their ids, in order.
    ///
    /// # Errors
    /// Whatever went wrong when the dataset was read; no sample at all.
    pub fn samples(&self) -> Result<&[NamedSample], DatasetError> {
        match &self.read().samples {
            Ok(samples) if samples.is_empty() => {
                let location = self.location.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
                let advice = "an evaluation needs at least one sample";
                Err(DatasetError::new(format!("the dataset{location} is empty; {advice}")))
            }
            Ok(samples) => Ok(samples),
            Err(error) => Err(error.clone()),
        }
    }

    /// Checks that models are sent all that these samples of it hold.
    ///
    /// # Errors
    /// The first that is not text alone: with an image, say, or a call of a tool.
    pub fn check_text(&self, samples: &[NamedSample]) -> Result<(), DatasetError> {
        let Some((id, (message, problem))) =
            samples.iter().find_map(|(id, sample)| Some((id, record::beside_text(&sample.input)?)))
        else {
            return Ok(());
        };
        let sample = id.to_string();
        let place = self.read().beside_text.iter().find(|(id, _)| *id == sample);
        let place = place.map(|(_, place)| place).filter(|place| **place != RecordLocation::NOWHERE);
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let message = format!(
            "{place}sample {sample:?}: message {message} {problem}, and only text is sent to models; replace it with \
             text, or leave the sample out"
        );
        Err(DatasetError::of_key("input", message))
    }

    /// The dataset's name: by default that of its file.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The file that it was read from.
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// The fields of the first record of its file, whether they are in the samples or not.
    pub fn fields(&self) -> &[String] {
        &self.read().fields
    }

    /// What identifies the data beside its location: the revision, subset and split of a dataset of the hub.
    pub fn provenance(&self) -> &Metadata {
        &self.read().provenance
    }

    /// Whether the samples are in another order than the source has them.
    pub fn is_shuffled(&self) -> bool {
        self.shuffled
    }

    /// Gives it a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The first `count` samples only. Of a dataset that is not shuffled before, no more than that is read.
    #[must_use]
    pub fn limit(self, count: usize) -> Self {
        self.then(Step::Limit(count))
    }

    /// The samples in a random order that the seed alone decides. They keep their ids.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffled = true;
        self.then(Step::Shuffle(seed))
    }

    /// The choices of every sample in a random order that the seed and the sample's place decide. Targets
    /// follow: the letter of a right choice changes with it.
    #[must_use]
    pub fn shuffle_choices(self, seed: u64) -> Self {
        self.then(Step::ShuffleChoices(seed))
    }

    fn then(mut self, step: Step) -> Self {
        // What is read already is not read again.
        if let Some(read) = self.read.get() {
            self.origin = Origin::Read(read.clone());
            self.steps.clear();
        }
        self.steps.push(step);
        self.read = Arc::default();
        self
    }

    fn read(&self) -> &ReadSamples {
        self.read.get_or_init(|| {
            let mut read = match &self.origin {
                Origin::Read(read) => read.clone(),
                Origin::Files(source, to_sample) => source.read(&**to_sample, self.wanted()),
            };
            for step in &self.steps {
                read.samples = read.samples.and_then(|samples| step.apply(samples));
            }
            read
        })
    }

    /// How many samples of the origin are needed.
    fn wanted(&self) -> usize {
        let before_shuffle = self.steps.iter().take_while(|step| !matches!(step, Step::Shuffle(_)));
        let limits = before_shuffle.filter_map(|step| match step {
            Step::Limit(count) => Some(*count),
            _ => None,
        });
        limits.min().unwrap_or(usize::MAX)
    }
}

impl ReadSamples {
    fn new(
        samples: Result<Vec<record::LocatedSample>, DatasetError>,
        fields: Arc<[String]>,
        provenance: Metadata,
    ) -> Self {
        let mut beside_text = Vec::new();
        let samples = samples.and_then(|samples| record::with_ids(samples, &mut beside_text));
        ReadSamples { samples, beside_text: beside_text.into(), fields, provenance }
    }
}

impl Step {
    fn apply(self, samples: Arc<[NamedSample]>) -> Result<Arc<[NamedSample]>, DatasetError> {
        match self {
            Step::Limit(count) => Ok(match samples.get(..count) {
                Some(first) => first.into(),
                None => samples,
            }),
            Step::Shuffle(seed) => {
                let mut samples = samples.to_vec();
                shuffle(&mut samples, seed, 0);
                Ok(samples.into())
            }
            Step::ShuffleChoices(seed) => {
                let shuffled = (1..).zip(samples.iter()).map(|(stream, (id, sample))| {
                    let shuffled = with_shuffled_choices(sample, seed, stream)
                        .map_err(|problem| format!("sample {:?}: {problem}", id.to_string()))
                        .map_err(|message| DatasetError::of_key("shuffle_choices", message))?;
                    Ok((id.clone(), Arc::new(shuffled)))
                });
                shuffled.collect()
            }
        }
    }
}

impl<S: Into<Sample>, I: IntoIterator<Item = S>> From<I> for Dataset {
    fn from(samples: I) -> Self {
        Dataset::new(samples)
    }
}

/// A dataset of files whose format is in their names: CSV, TSV, JSON or Parquet. The source is a file, a folder, a
/// pattern such as `data/test-*.parquet`, a dataset of the Hugging Face hub that was downloaded (`hf:ORG/NAME`), or
/// a [`RecordSource`] with more options.
///
/// A closure makes the sample; [`RecordSource::fields`] maps columns to fields instead, and reads no others:
///
/// ```no_run
/// use errorbar_eval::{Fields, RecordSource, Sample, dataset};
/// dataset("data/test-*.parquet", |row| Sample::new(&row["question"]).target(&row["answer"]));
/// let test = RecordSource::new("hf:openai/gsm8k").subset("main").split("test");
/// test.fields(Fields::new().input("question").target("answer"));
/// ```
pub fn dataset<S: IntoSample>(
    source: impl Into<RecordSource>,
    to_sample: impl Fn(&Record) -> S + Send + Sync + 'static,
) -> Dataset {
    source.into().samples(to_sample)
}

/// A dataset of a CSV file with a header (TSV, if the file is called so), one sample a row. The file may be
/// compressed.
///
/// A closure makes the sample, or [`Fields::reader`] maps columns to fields:
///
/// ```no_run
/// use errorbar_eval::{Fields, Sample, csv_dataset};
/// csv_dataset("quiz.csv", |row| Sample::new(&row["question"]).target(&row["answer"]));
/// csv_dataset("quiz.csv", Fields::new().input("question").target("answer").reader());
/// ```
pub fn csv_dataset<S: IntoSample>(
    source: impl Into<RecordSource>,
    to_sample: impl Fn(&Record) -> S + Send + Sync + 'static,
) -> Dataset {
    source.into().format(FileFormat::Csv).samples(to_sample)
}

/// A dataset of JSON: a list of objects, or an object a line. A closure makes the sample, as for [`csv_dataset`].
///
/// ```no_run
/// use errorbar_eval::{Sample, json_dataset};
/// json_dataset("quiz.jsonl", |row| Sample::new(&row["question"]).target(&row["answer"]));
/// ```
pub fn json_dataset<S: IntoSample>(
    source: impl Into<RecordSource>,
    to_sample: impl Fn(&Record) -> S + Send + Sync + 'static,
) -> Dataset {
    source.into().format(FileFormat::Json).samples(to_sample)
}

/// A dataset of a Parquet file, one sample a row; lists, structs and maps are JSON lists and objects. A closure
/// makes the sample, as for [`csv_dataset`].
///
/// ```no_run
/// use errorbar_eval::{Sample, parquet_dataset};
/// parquet_dataset("quiz.parquet", |row| Sample::new(&row["question"]).target(&row["answer"]));
/// ```
pub fn parquet_dataset<S: IntoSample>(
    source: impl Into<RecordSource>,
    to_sample: impl Fn(&Record) -> S + Send + Sync + 'static,
) -> Dataset {
    source.into().format(FileFormat::Parquet).samples(to_sample)
}

/// Fisher and Yates, with the bits of (seed, stream).
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64, stream: u64) {
    let mut random = Stream::new(seed, SHUFFLE, stream);
    for last in (1..items.len()).rev() {
        let at = below(&mut random, last as u64 + 1);
        items.swap(last, at as usize);
    }
}

/// What sets the draws of a shuffle apart from those of a bootstrap with the same seed.
const SHUFFLE: u32 = 0x5348_5546;

/// A number below `bound`, each equally likely: draws that would favour the small ones are thrown away.
fn below(random: &mut Stream, bound: u64) -> u64 {
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let draw = random.next_u64();
        if draw < fair {
            return draw % bound;
        }
    }
}

pub(super) fn with_shuffled_choices(sample: &Sample, seed: u64, stream: u64) -> Result<Sample, String> {
    let mut order: Vec<usize> = (0..sample.choices.len()).collect();
    shuffle(&mut order, seed, stream);
    let choices = order.iter().filter_map(|at| sample.choices.get(*at)).cloned().collect();
    // Where each choice has gone.
    let mut places = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        if let Some(place) = places.get_mut(*from) {
            *place = to;
        }
    }
    let moved = |target: &String| {
        if sample.choices.is_empty() {
            return Ok(target.clone());
        }
        let from = choice_places(&[target], order.len()).map_err(|error| error.to_string())?;
        let labels = from.iter().filter_map(|from| places.get(*from)).map(|to| choice_label(*to));
        Ok(labels.collect::<Vec<_>>().join(","))
    };
    let target = match sample.target.targets() {
        Targets::One(target) => Target::from(moved(target)?),
        Targets::Many(targets) => {
            Target::from(targets.iter().map(moved).collect::<Result<Vec<_>, String>>()?)
        }
    };
    Ok(Sample { choices, target, ..sample.clone() })
}
