//! Fields whose expressions have been read over the columns of a file.

use std::borrow::Cow;
use std::collections::HashSet;

use errorbar_core::python_text::json_text;
use errorbar_core::{Error, Metadata, Result};
use errorbar_log::eval::Wire;
use serde_json::Value as Json;

use super::error::{DatasetError, InvalidField};
use super::fields::{Fields, OneOrMany};
use super::record::Record;
use crate::expression::Expression;
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
            && !is_kept(filter, record)?
        {
            return Ok(None);
        }
        let mut sample = Sample::new(input(&self.input, record)?);
        sample.target = match &self.target {
            None => record.get("target").map(target).unwrap_or_default(),
            Some(OneOrSeveral::One(field)) => target(&*field.eval(record)?),
            Some(OneOrSeveral::Several(all)) => texts(all, record)?.into(),
        };
        sample.choices = match &self.choices {
            None => match record.get("choices") {
                None | Some(Json::Null) => Vec::new(),
                Some(value) => choices("choices", value)?,
            },
            Some(OneOrSeveral::One(field)) => choices(field.text(), &*field.eval(record)?)?,
            Some(OneOrSeveral::Several(all)) => texts(all, record)?,
        };
        sample.id = match &self.id {
            None => match record.get("id") {
                None | Some(Json::Null) => None,
                Some(value) => Some(id("id", value)?),
            },
            Some(field) => Some(id(field.text(), &*field.eval(record)?)?),
        };
        sample.metadata = match &self.metadata {
            None => metadata(record)?,
            Some(entries) => {
                let entry = |(key, field): &(String, FieldExpression)| {
                    Ok((key.clone(), field.eval(record)?.into_owned()))
                };
                entries.iter().map(entry).collect::<Result<_>>()?
            }
        };
        Ok(Some(sample))
    }
}

impl FieldExpression {
    /// The value for a record. What is wrong is left with the record, which knows its place.
    fn eval<'v>(&'v self, record: &'v Record) -> Result<Cow<'v, Json>> {
        self.expression.eval(record).map_err(|error| {
            let message = format!("`{}`: {error}", self.field);
            if self.expression.is_column() {
                record.miss(self.text());
            }
            record.refuse_with(|| DatasetError::Expression {
                place: record.place().clone(),
                field: self.field.to_owned(),
                text: self.expression.text().to_owned(),
                error,
            });
            Error::custom(message)
        })
    }

    fn text(&self) -> &str {
        self.expression.text()
    }
}

fn is_kept(filter: &FieldExpression, record: &Record) -> Result<bool> {
    match &*filter.eval(record)? {
        Json::Bool(is_kept) => Ok(*is_kept),
        other => Err(Error::custom(format!(
            "the condition `{}` gives {other}, not true or false; compare it with something, as in x == 'yes'",
            filter.text()
        ))),
    }
}

fn input(field: &FieldExpression, record: &Record) -> Result<Input> {
    let value = field.eval(record)?;
    let name = field.text();
    match &*value {
        Json::Null => Err(Error::custom(format!("the input (field `{name}`) is null"))),
        Json::Array(_) => {
            serde_json::from_value(value.into_owned()).map(|Wire(messages)| Input::Messages(messages)).map_err(|error| {
                Error::custom(format!(
                    "`{name}` is a list, but not of messages {{\"role\": \"user\", \"content\": \"…\"}}: {error}"
                ))
            })
        }
        value => Ok(Input::Text(text(value))),
    }
}

fn target(value: &Json) -> Target {
    match value {
        Json::Array(items) => items.iter().map(text).collect::<Vec<_>>().into(),
        value => Target::from(text_or_empty(value)),
    }
}

fn choices(name: &str, value: &Json) -> Result<Vec<String>> {
    match value {
        Json::Array(items) => match items.iter().position(Json::is_null) {
            Some(at) => Err(Error::custom(format!("`{name}` has None as choice {}", at + 1))),
            None => Ok(items.iter().map(text).collect()),
        },
        Json::String(text) if text.trim_start().starts_with(['[', '(']) => Err(Error::custom(format!(
            "`{name}` is no list, but a string that holds one; read it: choices = \"list({name})\""
        ))),
        _ => Err(Error::custom(format!(
            "`{name}` is no list; name the field of each choice: choices = [\"a\", \"b\", …]"
        ))),
    }
}

/// The strings of several fields.
fn texts(fields: &[FieldExpression], record: &Record) -> Result<Vec<String>> {
    fields.iter().map(|field| Ok(text_or_empty(&*field.eval(record)?))).collect()
}

fn id(name: &str, value: &Json) -> Result<SampleId> {
    match value {
        Json::String(id) if id.is_empty() => Err(Error::custom(format!("the id (field `{name}`) is empty"))),
        Json::String(id) => Ok(SampleId::from(id.as_str())),
        value => match value.as_i64() {
            Some(number) => Ok(SampleId::Int(number)),
            None => Err(Error::custom(format!("an id is a string or an integer, found {value}"))),
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

fn text_or_empty(value: &Json) -> String {
    if value.is_null() { String::new() } else { text(value) }
}
