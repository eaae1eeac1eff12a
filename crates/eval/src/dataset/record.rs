//! One record of a dataset file, before it is a sample.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Index;
use std::sync::Arc;

use errorbar_core::Result;
use errorbar_core::python_text::json_text;
use errorbar_core::spec::nearest;
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

/// The names of the fields of records, shared by all records that have the same.
#[derive(Debug, Default)]
pub(super) struct FieldNames {
    /// All that the file has, in its order.
    all: Vec<String>,
    /// Where the values of those that are read are.
    read: HashMap<String, usize>,
}

impl FieldNames {
    /// Names whose values are all read.
    pub(super) fn new(all: impl IntoIterator<Item = String>) -> Self {
        let all: Vec<String> = all.into_iter().collect();
        let read = (0..).zip(&all).map(|(at, name)| (name.clone(), at)).collect();
        FieldNames { all, read }
    }

    /// All names of a file, and those whose values are read, in the order of the values.
    #[cfg(feature = "parquet")]
    pub(super) fn with_read<'n>(all: &[String], read: impl IntoIterator<Item = &'n str>) -> Self {
        let read = (0..).zip(read).map(|(at, name)| (name.to_owned(), at)).collect();
        FieldNames { all: all.to_vec(), read }
    }

    pub(super) fn all(&self) -> &[String] {
        &self.all
    }
}

impl Record {
    /// A record of these fields.
    #[cfg(test)]
    pub(crate) fn new(place: RecordLocation, fields: impl IntoIterator<Item = (String, Json)>) -> Self {
        let (names, values): (Vec<String>, Vec<Json>) = fields.into_iter().unzip();
        Record::with_names(place, Arc::new(FieldNames::new(names)), values)
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
        self.names.read.get(name).and_then(|at| self.values.get(*at))
    }

    /// The field as it is, if there is one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.field(name).map(|field| &field.value)
    }

    /// The names of the fields of the file, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.all.iter().map(String::as_str)
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
