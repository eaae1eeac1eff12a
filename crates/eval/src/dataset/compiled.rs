//! Fields whose expressions have been read over the columns of a file.

use std::borrow::Cow;
use std::collections::HashSet;

use errorbar_core::python_text::json_text;
use errorbar_core::{Error, Metadata, Result};
use errorbar_table::whole_number;
use serde_json::Value as Json;

use super::error::{DatasetError, InvalidField};
use super::fields::{Fields, OneOrMany};
use super::messages::{conversation, is_message};
use super::record::Record;
use crate::expression::{Expression, ExpressionError, ExpressionErrorKind, shown};
use crate::{Input, Sample, SampleId, Target};

/// What a field of a sample is made of.
#[derive(Debug)]
pub(super) struct CompiledFields {
    input: FieldExpression,
    target: Option<OneOrSeveral>,
    choices: Option<OneOrSeveral>,
    id: Option<FieldExpression>,
    metadata: Option<Vec<(String, FieldExpression)>>,
    filter: Option<FieldExpression>,
}

/// An expression and the field that it is for.
#[derive(Debug)]
struct FieldExpression {
    field: &'static str,
    expression: Expression,
}

#[derive(Debug)]
enum OneOrSeveral {
    One(FieldExpression),
    Several(Vec<FieldExpression>),
}

impl CompiledFields {
    /// Reads all expressions over these columns.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn new(
        fields: &Fields,
        columns: &HashSet<&str>,
    ) -> std::result::Result<Self, Vec<InvalidField>> {
        let mut invalid = Vec::new();
        let mut read = |field: &'static str, text: &str| {
            let parsed = Expression::parse_with(text, columns, &fields.lookup);
            let expression =
                parsed.map_err(|error| invalid.push(InvalidField { field: field.to_owned(), error })).ok()?;
            Some(FieldExpression { field, expression })
        };
        let input = read("input", fields.input.as_deref().unwrap_or("input"));
        let mut several = |field: &'static str, texts: &Option<OneOrMany>| {
            Some(match texts.as_ref()? {
                OneOrMany::One(text) => OneOrSeveral::One(read(field, text)?),
                OneOrMany::Many(texts) => {
                    let all: Vec<_> = texts.iter().map(|text| read(field, text)).collect();
                    OneOrSeveral::Several(all.into_iter().collect::<Option<_>>()?)
                }
            })
        };
        let (target, choices) = (several("target", &fields.target), several("choices", &fields.choices));
        let id = fields.id.as_deref().and_then(|text| read("id", text));
        let metadata = fields.metadata.as_ref().map(|entries| {
            let entry = |(key, text): (&String, &String)| Some((key.clone(), read("metadata", text)?));
            entries.iter().filter_map(entry).collect()
        });
        let filter = fields.filter.as_deref().and_then(|text| read("where", text));
        match input {
            Some(input) if invalid.is_empty() => {
                Ok(CompiledFields { input, target, choices, id, metadata, filter })
            }
            _ => Err(invalid),
        }
    }

    /// The sample that a record makes; none if the condition is not met.
    ///
    /// Fields that are not named are taken from the columns of their own names, where a record has them.
    pub(super) fn sample(&self, record: &Record) -> Result<Option<Sample>> {
        if let Some(filter) = &self.filter
            && !filter.make(record, is_kept)?
        {
            return Ok(None);
        }
        let mut sample = Sample::new(self.input.make(record, input)?);
        sample.target = match &self.target {
            None => match record.get("target") {
                Some(value) => {
                    target("target", Cow::Borrowed(value)).map_err(|problem| problem.about("target"))?
                }
                None => Target::default(),
            },
            Some(OneOrSeveral::One(field)) => field.make(record, target)?,
            Some(OneOrSeveral::Several(all)) => texts(all, record)?.into(),
        };
        sample.choices = match &self.choices {
            None => match record.get("choices") {
                None | Some(Json::Null) => Vec::new(),
                Some(value) => choices("choices", Cow::Borrowed(value)).map_err(|problem| {
                    let without = "choices = [] if the task has none";
                    let hint = match &problem.hint {
                        Some(hint) => format!("{hint} Or {without}"),
                        None => without.to_owned(),
                    };
                    problem.hint(hint).about("choices")
                })?,
            },
            Some(OneOrSeveral::One(field)) => field.make(record, choices)?,
            Some(OneOrSeveral::Several(all)) => texts(all, record)?,
        };
        sample.id = match &self.id {
            None => match record.get("id") {
                None | Some(Json::Null) => None,
                Some(value) => Some(id("id", Cow::Borrowed(value)).map_err(|problem| problem.about("id"))?),
            },
            Some(field) => Some(field.make(record, id)?),
        };
        sample.metadata = match &self.metadata {
            None => metadata(record)?,
            Some(entries) => {
                let mut metadata = Metadata::with_capacity(entries.len());
                for (key, field) in entries {
                    metadata.insert(key.clone(), field.eval(record)?.into_owned());
                }
                metadata
            }
        };
        Ok(Some(sample))
    }
}

impl FieldExpression {
    /// The value for a record. What is wrong is left with the record, which knows its place.
    fn eval<'v>(&'v self, record: &'v Record) -> Result<Cow<'v, Json>> {
        self.expression.eval(record).map_err(|error| {
            if self.expression.is_column() {
                record.miss(self.text());
            }
            self.refuse(record, error)
        })
    }

    /// A part of a sample, made of the value for a record.
    fn make<T>(
        &self,
        record: &Record,
        part: impl FnOnce(&str, Cow<'_, Json>) -> std::result::Result<T, Unsuitable>,
    ) -> Result<T> {
        let value = self.eval(record)?;
        part(self.text(), value).map_err(|Unsuitable { problem, hint }| {
            let kind = ExpressionErrorKind::Value { problem };
            self.refuse(record, ExpressionError { kind, span: 0..self.text().len(), hint })
        })
    }

    fn refuse(&self, record: &Record, error: ExpressionError) -> Error {
        let message = format!("`{}`: {error}", self.field);
        record.refuse_with(|| DatasetError::Expression {
            place: record.place().clone(),
            field: self.field.to_owned(),
            text: self.expression.text().to_owned(),
            error: Box::new(error),
        });
        Error::custom(message)
    }

    fn text(&self) -> &str {
        self.expression.text()
    }
}

/// Why a value is no part of a sample, and what would be one.
pub(super) struct Unsuitable {
    problem: String,
    hint: Option<String>,
}

impl Unsuitable {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Unsuitable { problem: problem.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error about a field that is taken because of its name.
    fn about(self, name: &str) -> Error {
        let hint = self.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Error::custom(format!("`{name}`: {}{hint}", self.problem))
    }
}

fn is_kept(name: &str, value: Cow<'_, Json>) -> std::result::Result<bool, Unsuitable> {
    match &*value {
        Json::Bool(is_kept) => Ok(*is_kept),
        other => {
            let problem = format!("the condition gives {}, not true or false", shown(other));
            Err(Unsuitable::new(problem).hint(match other {
                Json::Null => format!("default({name}, False) is false where it is None"),
                Json::String(_) | Json::Number(_) => {
                    format!("compare it with something, as in {name} == {}", shown(other))
                }
                _ => "compare it with something, as in x == 'yes'".to_owned(),
            }))
        }
    }
}

fn input(name: &str, value: Cow<'_, Json>) -> std::result::Result<Input, Unsuitable> {
    match &*value {
        Json::Null => Err(none(name, "''")),
        // A conversation of one message.
        message if is_message(message) => conversation(name, vec![value.into_owned()]),
        Json::Object(entries) => Err(map(name, entries)),
        Json::Array(messages) => conversation(name, messages.clone()),
        _ => Ok(Input::Text(into_text(value))),
    }
}

fn target(name: &str, value: Cow<'_, Json>) -> std::result::Result<Target, Unsuitable> {
    match &*value {
        Json::Object(entries) => Err(map(name, entries)),
        Json::Array(items) => match items.iter().find_map(Json::as_object) {
            Some(entries) => {
                let key = entries.keys().next().map_or("text", String::as_str);
                let problem = format!("`{name}` is a list of maps, and a target is a string");
                Err(Unsuitable::new(problem)
                    .hint(format!("take one of their keys: [x.{key} for x in {name}]")))
            }
            None => Ok(items.iter().map(text).collect::<Vec<_>>().into()),
        },
        Json::Null => Ok(Target::from(String::new())),
        _ => Ok(Target::from(into_text(value))),
    }
}

/// A field that is None, and must not be.
fn none(name: &str, other: &str) -> Unsuitable {
    Unsuitable::new(format!("`{name}` is null"))
        .hint(format!("default({name}, {other}) gives another value in place of it"))
}

/// A map where a string is meant: as text it would be Python's, which no answer is like.
fn map(name: &str, entries: &serde_json::Map<String, Json>) -> Unsuitable {
    const SHOWN: usize = 12;
    const USUAL: [&str; 4] = ["text", "value", "answer", "content"];
    let usual = USUAL.into_iter().find(|key| entries.contains_key(*key));
    let keys: Vec<&str> = entries.keys().take(SHOWN).map(String::as_str).collect();
    let near = usual.or(keys.first().copied()).map(|key| format!("did you mean {name}.{key}?"));
    let problem = format!("`{name}` is a map with the keys {}, and not a string", keys.join(", "));
    Unsuitable { problem, hint: near }
}

fn choices(name: &str, value: Cow<'_, Json>) -> std::result::Result<Vec<String>, Unsuitable> {
    match &*value {
        Json::Array(items) => match items.iter().position(|item| item.is_null() || item.is_object()) {
            Some(at) if items.get(at).is_some_and(Json::is_null) => {
                Err(Unsuitable::new(format!("`{name}` has None as choice {}", at + 1)))
            }
            Some(at) => {
                let key = items.get(at).and_then(Json::as_object).and_then(|entries| entries.keys().next());
                let key = key.map_or("text", String::as_str);
                let problem = format!("`{name}` has a map as choice {}", at + 1);
                Err(Unsuitable::new(problem)
                    .hint(format!("take one of their keys: [x.{key} for x in {name}]")))
            }
            None => Ok(items.iter().map(text).collect()),
        },
        Json::Object(entries) => {
            let list = entries.iter().find(|(_, value)| value.is_array()).map(|(key, _)| key);
            let problem = format!("`{name}` is a map, not a list");
            let hint = list.map(|key| format!("did you mean {name}.{key}?"));
            Err(Unsuitable { problem, hint })
        }
        Json::String(text) if text.trim_start().starts_with(['[', '(']) => {
            Err(Unsuitable::new(format!("`{name}` is no list, but a string that holds one"))
                .hint(format!("read it: choices = \"list({name})\"")))
        }
        _ => Err(Unsuitable::new(format!("`{name}` is no list"))
            .hint("name the field of each choice: choices = [\"a\", \"b\", …]")),
    }
}

/// The strings of several fields.
fn texts(fields: &[FieldExpression], record: &Record) -> Result<Vec<String>> {
    let one = |field: &FieldExpression| {
        field.make(record, |name, value| match &*value {
            Json::Array(_) => {
                Err(Unsuitable::new(format!("`{name}` holds a list, and each field here is one string"))
                    .hint(format!("write {} = \"{name}\"", field.field)))
            }
            Json::Object(entries) => Err(map(name, entries)),
            Json::Null => Ok(String::new()),
            _ => Ok(into_text(value)),
        })
    };
    fields.iter().map(one).collect()
}

fn id(name: &str, value: Cow<'_, Json>) -> std::result::Result<SampleId, Unsuitable> {
    match &*value {
        Json::String(id) if id.is_empty() => Err(Unsuitable::new("the id is empty")),
        Json::String(id) => Ok(SampleId::from(id.as_str())),
        Json::Null => Err(none(name, "'…'")),
        value => match value.as_i64() {
            Some(number) => Ok(SampleId::Int(number)),
            None if value.is_u64() => Ok(SampleId::Str(value.to_string())),
            // As in tables: pandas writes integers beside absent values as floats.
            None => match value.as_f64().and_then(whole_number) {
                Some(number) => Ok(SampleId::Int(number)),
                None => Err(Unsuitable::new(format!("an id is a string or an integer, found {value}"))),
            },
        },
    }
}

/// The field `metadata`: an object, or the JSON of one, as a CSV cell holds it.
fn metadata(record: &Record) -> Result<Metadata> {
    let wrong = |found: &str| {
        Error::custom(format!(
            "`metadata` is an object of the form {{\"key\": \"value\"}}, found {found}; or name the fields to keep as metadata"
        ))
    };
    match record.get("metadata") {
        None | Some(Json::Null) => Ok(Metadata::new()),
        Some(Json::Object(entries)) => Ok(entries.clone().into()),
        Some(Json::String(text)) if text.trim().is_empty() => Ok(Metadata::new()),
        Some(Json::String(text)) => {
            serde_json::from_str(text).map_err(|_| wrong(&format!("the string {text:?}")))
        }
        Some(other) => Err(wrong(&other.to_string())),
    }
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => json_text(other),
    }
}

/// The same without a copy of a string that was made for it.
fn into_text(value: Cow<'_, Json>) -> String {
    match value {
        Cow::Owned(Json::String(text)) => text,
        value => text(&value),
    }
}
