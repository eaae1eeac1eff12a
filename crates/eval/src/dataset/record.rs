//! One record of a dataset file, before it is a sample.

use std::cell::RefCell;
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
    missing: RefCell<Option<String>>,
}

#[derive(Debug)]
struct RecordField {
    value: Json,
    /// The string of a value that is none.
    text: Option<String>,
}

impl Record {
    pub(super) fn new(place: RecordLocation, fields: impl IntoIterator<Item = (String, Json)>) -> Self {
        let field = |value: Json| {
            let text = match &value {
                Json::String(_) => None,
                Json::Null => Some(String::new()),
                other => Some(json_text(other)),
            };
            RecordField { value, text }
        };
        let fields = fields.into_iter().map(|(name, value)| (name, field(value))).collect();
        Record { place, fields, missing: RefCell::new(None) }
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
        self.missing.borrow_mut().get_or_insert_with(|| name.to_owned());
    }

    pub(super) fn missing_field(&self) -> Option<DatasetError> {
        let field = self.missing.take()?;
        Some(DatasetError::MissingField {
            place: self.place.clone(),
            nearest: nearest(&field, self.names()).map(str::to_owned),
            known: self.names().map(str::to_owned).collect(),
            field,
        })
    }
}

impl Index<&str> for Record {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.fields.get(name) {
            Some(RecordField { text: Some(text), .. }) => text,
            Some(RecordField { value, .. }) => value.as_str().unwrap_or_default(),
            None => {
                self.miss(name);
                ""
            }
        }
    }
}

/// What a closure over records may return: a sample, or a result of one.
pub trait IntoSample {
    /// The sample, or why there is none.
    fn into_sample(self) -> Result<Sample>;
}

impl IntoSample for Sample {
    fn into_sample(self) -> Result<Sample> {
        Ok(self)
    }
}

impl IntoSample for Result<Sample> {
    fn into_sample(self) -> Result<Sample> {
        self
    }
}
