//! One record of a dataset file, before it is a sample.

use std::cell::{OnceCell, RefCell};
use std::ops::Index;

use errorbar_core::python_text::json_text;
use errorbar_core::spec::nearest;
use errorbar_core::{IndexMap, Result};
use serde_json::Value as Json;

use super::error::{DatasetError, RecordLocation};
use crate::Sample;

/// One record of a dataset file: fields by name.
///
/// `&record["question"]` is a field as a string; [`get`](Record::get) lends it as it is. A field that is not
/// there reads as an empty string, and the reader then refuses the record and names the field.
#[derive(Debug)]
pub struct Record {
    place: RecordLocation,
    fields: IndexMap<String, RecordField>,
    problem: RefCell<Option<DatasetError>>,
}

#[derive(Debug)]
struct RecordField {
    value: Json,
    /// The string of a value that is none, once it was asked for.
    text: OnceCell<String>,
}

impl Record {
    pub(super) fn new(place: RecordLocation, fields: impl IntoIterator<Item = (String, Json)>) -> Self {
        let field = |value: Json| RecordField { value, text: OnceCell::new() };
        let fields = fields.into_iter().map(|(name, value)| (name, field(value))).collect();
        Record { place, fields, problem: RefCell::new(None) }
    }

    /// The field as it is, if there is one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.fields.get(name).map(|field| &field.value)
    }

    /// The names of the fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
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
        match self.fields.get(name) {
            Some(RecordField { value: Json::String(text), .. }) => text,
            Some(RecordField { value: Json::Null, .. }) => "",
            Some(RecordField { value, text }) => text.get_or_init(|| json_text(value)),
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
