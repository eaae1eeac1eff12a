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
//! builder.add_columns("heron", &columns);
//! let samples = builder.finish();
//! assert_eq!(samples.len(), 2);
//! let index = samples.index_json();
//! assert_eq!(index["outcomes"][0]["verdict"], "C");
//! assert!(samples.encode(None)?.to_html().contains("id=\"samples-index\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod encode;
mod epoch_record;
mod json;
mod long_text;
mod section;
mod text_budget;

#[cfg(test)]
mod tests;

use errorbar_core::IndexMap;
use serde::Serialize;

pub use build::{LogContents, SampleSetBuilder};
pub use encode::{EncodeError, EncodedSamples, Omission};
pub use epoch_record::{EpochRecord, SampleTexts};
pub use long_text::{LongText, TEXT_LIMIT};
pub use section::{SampleOrigin, section_html, whole_key_html};

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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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

/// A sample over runs and epochs.
#[derive(Clone, Debug, Default)]
struct AlignedSample {
    preview: String,
    /// Per group key, the index of its value.
    groups: Vec<Option<u32>>,
    texts: SampleTexts,
    /// Per score column, run and epoch of the run, the index of its outcome.
    cells: Vec<u32>,
    /// Per run, per epoch of the run.
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

    /// The names of the runs, in order.
    pub fn run_names(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.name.as_str())
    }

    /// The ids of the samples, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.samples.keys().map(String::as_str)
    }
}
