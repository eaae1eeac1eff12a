//! One record of a dataset file, before it is a sample.

use std::cell::{OnceCell, RefCell};
use std::hash::BuildHasher;
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::python_text::json_text;
use errorbar_core::spec::nearest;
use errorbar_core::{IndexMap, Result};
use hashbrown::{DefaultHashBuilder, HashTable};
use serde_json::Value as Json;

use super::NamedSample;
use super::error::{DatasetError, RecordLocation};
use super::limits::{MemoryBudget, sample_bytes};
use crate::{Input, MessageRole, Sample, SampleId};

/// One record of a dataset file: fields by name.
///
/// `&record["question"]` is a field as a string; [`get`](Record::get) lends it as it is. A field that is not
/// there reads as an empty string, and the reader then refuses the record and names the field.
#[derive(Debug)]
pub struct Record {
    place: RecordLocation,
    names: Arc<FieldNames>,
    /// In the order of the names that are read.
    values: Vec<RecordField>,
    problem: RefCell<Option<DatasetError>>,
}

#[derive(Debug)]
struct RecordField {
    value: Json,
    /// The string of a value that is none, made when it is asked for.
    text: OnceCell<String>,
}

/// The names of the fields of a file in their order, shared by all records that have the same, and where the values of
/// those that are read are.
pub(super) type FieldNames = IndexMap<String, Option<usize>>;

/// Names whose values are all read.
pub(super) fn field_names(all: impl IntoIterator<Item = String>) -> Arc<FieldNames> {
    Arc::new((0..).zip(all).map(|(at, name)| (name, Some(at))).collect())
}

impl Record {
    /// A record of these fields.
    #[cfg(test)]
    pub(crate) fn new(place: RecordLocation, fields: impl IntoIterator<Item = (String, Json)>) -> Self {
        let (names, values): (Vec<String>, Vec<Json>) = fields.into_iter().unzip();
        Record::with_names(place, field_names(names), values)
    }

    /// A record whose values are in the order of the names that are read.
    pub(super) fn with_names(
        place: RecordLocation,
        names: Arc<FieldNames>,
        values: impl IntoIterator<Item = Json>,
    ) -> Self {
        let field = |value: Json| RecordField { value, text: OnceCell::new() };
        let values = values.into_iter().map(field).collect();
        Record { place, names, values, problem: RefCell::new(None) }
    }

    fn field(&self, name: &str) -> Option<&RecordField> {
        self.values.get((*self.names.get(name)?)?)
    }

    /// The field as it is, if there is one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.field(name).map(|field| &field.value)
    }

    /// The names of the fields of the file, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Where the record is.
    pub fn place(&self) -> &RecordLocation {
        &self.place
    }

    /// Remembers that a requested field is missing.
    pub(super) fn miss(&self, name: &str) {
        self.refuse_with(|| DatasetError::MissingField {
            place: self.place.clone(),
            nearest: nearest(name, self.names()).map(str::to_owned),
            known: self.names().map(str::to_owned).collect(),
            field: name.to_owned(),
        });
    }

    /// Remembers why the record is refused; the first reason counts.
    pub(super) fn refuse_with(&self, problem: impl FnOnce() -> DatasetError) {
        self.problem.borrow_mut().get_or_insert_with(problem);
    }

    /// What was wrong with the record while it was made a sample, apart from what the function returned.
    pub(super) fn take_problem(&self) -> Option<DatasetError> {
        self.problem.take()
    }
}

impl Index<&str> for Record {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.field(name) {
            Some(RecordField { value: Json::String(text), .. }) => text,
            Some(RecordField { value: Json::Null, .. }) => "",
            Some(field) => field.text.get_or_init(|| json_text(&field.value)),
            None => {
                self.miss(name);
                ""
            }
        }
    }
}

/// What a closure over records may return: a sample, a result of one, or `None` for a record to skip.
pub trait IntoSample {
    /// The sample, `None` to skip the record, or why there is none.
    fn into_sample(self) -> Result<Option<Sample>>;
}

impl IntoSample for Sample {
    fn into_sample(self) -> Result<Option<Sample>> {
        Ok(Some(self))
    }
}

impl IntoSample for Option<Sample> {
    fn into_sample(self) -> Result<Option<Sample>> {
        Ok(self)
    }
}

impl<S: IntoSample> IntoSample for Result<S> {
    fn into_sample(self) -> Result<Option<Sample>> {
        self.and_then(S::into_sample)
    }
}

/// What makes a sample of a record; `None` is a record to skip.
pub(super) type ToSample = dyn Fn(&Record) -> Result<Option<Sample>> + Send + Sync;

/// Whether a reader goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// As long as there is something to read.
    AtTheEnd,
    /// Enough is read.
    Early,
}

/// Takes the records of all files of a dataset and keeps their samples.
pub(super) struct RecordSink<'s> {
    to_sample: &'s ToSample,
    at_most: usize,
    budget: MemoryBudget,
    pub(super) samples: Vec<LocatedSample>,
    /// How many records were skipped.
    pub(super) skipped: usize,
    /// The fields of the first record.
    pub(super) fields: Option<Arc<[String]>>,
    /// The columns of the first file that has columns.
    columns: Option<(PathBuf, Arc<FieldNames>)>,
}

impl<'s> RecordSink<'s> {
    pub(super) fn new(to_sample: &'s ToSample, at_most: usize) -> Self {
        RecordSink {
            to_sample,
            at_most,
            budget: MemoryBudget::default(),
            samples: Vec::new(),
            skipped: 0,
            fields: None,
            columns: None,
        }
    }

    /// Checks that a file has the columns of those before it.
    pub(super) fn names(
        &mut self,
        path: &Path,
        names: &Arc<FieldNames>,
    ) -> std::result::Result<(), DatasetError> {
        self.fields.get_or_insert_with(|| names.keys().cloned().collect());
        let (first, columns) = self.columns.get_or_insert_with(|| (path.to_owned(), Arc::clone(names)));
        let lacks = |all: &FieldNames, some: &FieldNames| {
            some.keys().find(|name| !all.contains_key(name.as_str())).cloned()
        };
        let difference = lacks(names, columns)
            .map(|column| (path, first.as_path(), column))
            .or_else(|| lacks(columns, names).map(|column| (first.as_path(), path, column)));
        match difference {
            None => Ok(()),
            Some((lacks, has, column)) => Err(DatasetError::new(format!(
                "{} has no column `{column}`, which {} has; files of one dataset have the same columns",
                lacks.display(),
                has.display()
            ))),
        }
    }

    /// Takes a record that was read from this many bytes.
    pub(super) fn take(&mut self, record: Record, bytes: u64) -> Result<Stop, DatasetError> {
        self.fields.get_or_insert_with(|| record.names().map(str::to_owned).collect());
        let sample = (self.to_sample)(&record);
        // A column that is not there explains whatever else went wrong with the record.
        if let Some(problem) = record.take_problem() {
            return Err(problem);
        }
        let wrong = |problem: String| DatasetError::Record { place: record.place().clone(), problem };
        let sample = sample.map_err(|problem| wrong(problem.to_string()))?;
        self.budget.allow(bytes);
        let Some(sample) = sample else {
            self.skipped += 1;
            return Ok(Stop::AtTheEnd);
        };
        self.budget.add(sample_bytes(&sample)).map_err(wrong)?;
        self.samples.push((record.place().clone(), Arc::new(sample)));
        Ok(if self.samples.len() < self.at_most { Stop::AtTheEnd } else { Stop::Early })
    }
}

/// A sample and where it was read. It is shared from the start: to move a million of them takes their memory twice.
pub(super) type LocatedSample = (RecordLocation, Arc<Sample>);

/// Samples with their ids; those without one are numbered by their place. The ids and places of those that are not
/// text alone are added to the list.
///
/// # Errors
/// Two samples of one id.
pub(super) fn with_ids(
    samples: Vec<LocatedSample>,
    not_text: &mut Vec<(String, RecordLocation)>,
) -> Result<Arc<[NamedSample]>, DatasetError> {
    let hasher = DefaultHashBuilder::default();
    // Places in the list, by the text of the id: the texts themselves would take as much memory as small samples.
    let mut seen: HashTable<u32> = HashTable::with_capacity(samples.len());
    let mut named: Vec<NamedSample> = Vec::with_capacity(samples.len());
    for (at, (place, sample)) in samples.iter().enumerate() {
        let id = sample.id.clone().unwrap_or_else(|| SampleId::Int(at as i64 + 1));
        let text = id.to_string();
        if beside_text(&sample.input).is_some() {
            not_text.push((text.clone(), place.clone()));
        }
        let is_same = |other: &u32| named.get(*other as usize).is_some_and(|(id, _)| has_text(id, &text));
        if let Some(&first) = seen.find(hasher.hash_one(&text), is_same) {
            let first = first as usize;
            let name = |at: usize| match samples.get(at) {
                Some((place, _)) if place.line.is_some() => place.to_string(),
                _ => format!("sample number {}", at + 1),
            };
            let was_numbered = named.get(first).is_some_and(|(_, sample)| sample.id.is_none());
            let advice = match sample.id.is_none() || was_numbered {
                true => "give every sample an id, or none",
                false => "ids must differ; to run a sample several times, use epochs",
            };
            let (first, second) = (name(first), name(at));
            let message = format!("two samples have the id {text:?} ({first}; {second}); {advice}");
            return Err(DatasetError::of_key("id", message));
        }
        let hash = |at: &u32| named.get(*at as usize).map_or(0, |(id, _)| hasher.hash_one(id.to_string()));
        seen.insert_unique(hasher.hash_one(&text), at as u32, hash);
        named.push((id, sample.clone()));
    }
    drop((samples, seen));
    Ok(named.into())
}

/// The first message that is not text alone, by its number from 1, and what it is.
pub(super) fn beside_text(input: &Input) -> Option<(usize, String)> {
    let Input::Messages(messages) = input else { return None };
    (1..).zip(messages).find_map(|(number, message)| match message.omitted.as_slice() {
        [] if message.role == MessageRole::Tool => Some((number, "is the answer of a tool".to_owned())),
        [] => None,
        parts => {
            let parts: Vec<String> = parts.iter().map(|part| in_words(part)).collect();
            Some((number, format!("contains {}", parts.join(" and "))))
        }
    })
}

/// A kind of what messages hold beside text, or the key that it is under.
fn in_words(part: &str) -> String {
    match part {
        "image" | "image_url" | "input_image" => "an image",
        "audio" | "input_audio" => "audio",
        "video" => "a video",
        "document" => "a document",
        "tool_calls" | "tool_use" => "tool calls",
        "function_call" => "a function call",
        "reasoning" | "reasoning_content" | "thinking" => "reasoning",
        "error" => "the error of a tool",
        part if part.contains(' ') => part,
        part => return format!("`{part}`"),
    }
    .to_owned()
}

/// Whether an id is written like this: the number 1 and the string "1" are the same id.
fn has_text(id: &SampleId, text: &str) -> bool {
    match id {
        SampleId::Str(id) => id == text,
        other => other.to_string() == text,
    }
}
