//! Datasets: where samples come from.
//!
//! A dataset is read when it is made, and what went wrong is held until a task is checked, so that
//! `Task::new(csv_dataset(…))` needs no `?` and all mistakes of a task are reported at once.

mod compiled;
mod delimited;
mod error;
mod fields;
mod json;
pub(crate) mod limits;
mod record;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use errorbar_core::stats::Stream;

use crate::text::{choice_label, choice_places};
use crate::{Sample, SampleId, Target, Targets};

pub use error::{DatasetError, InvalidField, RecordLocation, RecordPosition};
pub use fields::{Fields, OneOrMany};
pub use record::{IntoSample, Record};

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
    /// The fields of the first record of its file.
    fields: Arc<[String]>,
    samples: Result<Arc<[NamedSample]>, DatasetError>,
}

impl Dataset {
    /// These samples. Those without an id are numbered by their place, from 1.
    pub fn new(samples: impl IntoIterator<Item = impl Into<Sample>>) -> Self {
        Dataset::made(
            None,
            Ok(samples.into_iter().map(|sample| (RecordLocation::NOWHERE, sample.into())).collect()),
        )
    }

    fn made(location: Option<&Path>, samples: Result<Vec<(RecordLocation, Sample)>, DatasetError>) -> Self {
        let samples = samples.and_then(with_ids);
        let name = location.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        let location = location.map(|path| path.display().to_string());
        Dataset { name, location, shuffled: false, fields: Arc::default(), samples }
    }

    /// Samples with their ids, in order.
    ///
    /// # Errors
    /// Whatever went wrong when the dataset was read; no sample at all.
    pub fn samples(&self) -> Result<&[NamedSample], DatasetError> {
        match &self.samples {
            Ok(samples) if samples.is_empty() => Err(DatasetError::Empty { location: self.location.clone() }),
            Ok(samples) => Ok(samples),
            Err(error) => Err(error.clone()),
        }
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
        &self.fields
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

    /// The first `count` samples only.
    #[must_use]
    pub fn limit(self, count: usize) -> Self {
        self.map(|mut samples| {
            samples.truncate(count);
            Ok(samples)
        })
    }

    /// The samples in a random order that the seed alone decides. They keep their ids.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffled = true;
        self.map(|mut samples| {
            shuffle(&mut samples, seed, 0);
            Ok(samples)
        })
    }

    /// The choices of every sample in a random order that the seed and the sample's place decide. Targets
    /// follow: the letter of a right choice changes with it.
    #[must_use]
    pub fn shuffle_choices(self, seed: u64) -> Self {
        self.map(|mut samples| {
            for (stream, (id, sample)) in (1..).zip(&mut samples) {
                let shuffled = with_shuffled_choices(sample, seed, stream)
                    .map_err(|problem| DatasetError::Choices { sample: id.to_string(), problem })?;
                *sample = Arc::new(shuffled);
            }
            Ok(samples)
        })
    }

    fn map(
        mut self,
        change: impl FnOnce(Vec<NamedSample>) -> Result<Vec<NamedSample>, DatasetError>,
    ) -> Self {
        self.samples = self.samples.and_then(|samples| change(samples.to_vec())).map(Into::into);
        self
    }
}

impl<S: Into<Sample>, I: IntoIterator<Item = S>> From<I> for Dataset {
    fn from(samples: I) -> Self {
        Dataset::new(samples)
    }
}

/// Reads a dataset from a CSV file with a header (TSV, if the file is called so), one sample a row.
///
/// A closure makes the sample, or [`Fields::reader`] maps columns to fields:
///
/// ```no_run
/// use errorbar_eval::{Fields, Sample, csv_dataset};
/// csv_dataset("quiz.csv", |row| Sample::new(&row["question"]).target(&row["answer"]));
/// csv_dataset("quiz.csv", Fields::new().input("question").target("answer").reader());
/// ```
pub fn csv_dataset<S: IntoSample>(path: impl AsRef<Path>, to_sample: impl Fn(&Record) -> S) -> Dataset {
    read(path.as_ref(), delimited::read, to_sample)
}

/// Reads a dataset from JSON: a list of objects, or an object a line. A closure makes the sample, as for
/// [`csv_dataset`].
///
/// ```no_run
/// use errorbar_eval::{Sample, json_dataset};
/// json_dataset("quiz.jsonl", |row| Sample::new(&row["question"]).target(&row["answer"]));
/// ```
pub fn json_dataset<S: IntoSample>(path: impl AsRef<Path>, to_sample: impl Fn(&Record) -> S) -> Dataset {
    read(path.as_ref(), json::read, to_sample)
}

type ReadRecords = fn(&Path, &mut dyn FnMut(Record) -> Result<(), DatasetError>) -> Result<(), DatasetError>;

fn read<S: IntoSample>(path: &Path, records: ReadRecords, to_sample: impl Fn(&Record) -> S) -> Dataset {
    let mut samples = Vec::new();
    let mut held = limits::MemoryBudget::of_file(path);
    let mut fields: Option<Arc<[String]>> = None;
    let mut skipped: usize = 0;
    let read = records(path, &mut |record| {
        fields.get_or_insert_with(|| record.names().map(str::to_owned).collect());
        let sample = to_sample(&record).into_sample();
        // A column that is not there explains whatever else went wrong with the record.
        if let Some(problem) = record.take_problem() {
            return Err(problem);
        }
        let sample = sample.map_err(|problem| DatasetError::Record {
            place: record.place().clone(),
            problem: problem.to_string(),
        })?;
        let Some(sample) = sample else {
            skipped += 1;
            return Ok(());
        };
        held.add(limits::sample_bytes(&sample))
            .map_err(|problem| DatasetError::Record { place: record.place().clone(), problem })?;
        samples.push((record.place().clone(), sample));
        Ok(())
    });
    let read = match read {
        Ok(()) if samples.is_empty() && skipped > 0 => {
            Err(DatasetError::AllSkipped { location: path.display().to_string(), records: skipped })
        }
        read => read,
    };
    let dataset = Dataset::made(Some(path), read.map(|()| samples));
    Dataset { fields: fields.unwrap_or_default(), ..dataset }
}

fn with_ids(samples: Vec<(RecordLocation, Sample)>) -> Result<Arc<[NamedSample]>, DatasetError> {
    let mut seen: HashMap<String, (usize, bool)> = HashMap::with_capacity(samples.len());
    let mut places = Vec::with_capacity(samples.len());
    let mut named = Vec::with_capacity(samples.len());
    for (at, (place, sample)) in samples.into_iter().enumerate() {
        let id = sample.id.clone().unwrap_or_else(|| SampleId::Int(at as i64 + 1));
        places.push(place);
        let is_numbered = sample.id.is_none();
        if let Some((first, was_numbered)) = seen.insert(id.to_string(), (at, is_numbered)) {
            let place = |at: usize| places.get(at).cloned().unwrap_or(RecordLocation::NOWHERE);
            return Err(DatasetError::DuplicateId {
                id: id.to_string(),
                first: (first + 1, place(first)),
                second: (at + 1, place(at)),
                numbered: is_numbered || was_numbered,
            });
        }
        named.push((id, Arc::new(sample)));
    }
    Ok(named.into())
}

/// Fisher and Yates, with the bits of (seed, stream).
fn shuffle<T>(items: &mut [T], seed: u64, stream: u64) {
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

fn with_shuffled_choices(sample: &Sample, seed: u64, stream: u64) -> Result<Sample, String> {
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
