//! Which field of a record is what.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use errorbar_core::python_text::json_text;
use errorbar_core::{Error, IndexMap, Metadata, Result};
use errorbar_files::is_url;
use errorbar_table::whole_number;
use serde_json::Value as Json;

use super::error::{DatasetError, InvalidField};
use super::record::Record;
use crate::expression::{Expression, ExpressionError, shown};
use crate::macros::setters;
use crate::{Input, Message, Sample, SampleId, Target};

/// One field, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OneOrMany<T = String> {
    /// One field, which may hold a list.
    One(T),
    /// Several, in order.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

impl From<&str> for OneOrMany {
    fn from(name: &str) -> Self {
        OneOrMany::One(name.to_owned())
    }
}
impl<const N: usize> From<[&str; N]> for OneOrMany {
    fn from(names: [&str; N]) -> Self {
        OneOrMany::Many(names.map(str::to_owned).to_vec())
    }
}

/// Which field of a record is what: by default `input`, `target`, `choices` and `id`, where there
/// are such fields.
///
/// Each is the name of a column, a template, or an expression over columns; `docs/expressions.md` describes them.
///
/// ```no_run
/// use errorbar_eval::{Fields, csv_dataset};
/// let fields = Fields::new().input("question").target("answer").choices(["a", "b", "c", "d"]).metadata(["category"]);
/// csv_dataset("quiz.csv", fields.reader());
///
/// let fields = Fields::new()
///     .input("{question}\n\n{context}")
///     .target("letter(answer)")
///     .choices("list(options)")
///     .filter("lang == 'en'");
/// csv_dataset("quiz.csv", fields.reader());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The question.
    pub input: Option<String>,
    /// What would be right; several fields give several targets.
    pub target: Option<OneOrMany>,
    /// The choices: a field for each, or one that holds a list.
    pub choices: Option<OneOrMany>,
    /// The sample's id.
    pub id: Option<String>,
    /// Fields to keep as metadata, by their keys; by default a field `metadata` that holds an object.
    pub metadata: Option<IndexMap<String, String>>,
    /// A condition: records for which it is false are skipped. In task files it is called `where`.
    pub filter: Option<String>,
    /// Lookup tables that expressions can use, by name: `table[field]`. Each is an object.
    pub lookup: IndexMap<String, Json>,
}

impl Fields {
    /// The fields that are called what they are.
    pub fn new() -> Self {
        Fields::default()
    }

    /// The function from record to sample that [`csv_dataset`](super::csv_dataset) takes. Expressions are read once, over
    /// the columns of the first record.
    pub fn reader(self) -> impl Fn(&Record) -> Result<Option<Sample>> + Send + Sync + use<> {
        let compiled = OnceLock::new();
        move |record| {
            let compiled = compiled.get_or_init(|| CompiledFields::new(&self, &record.names().collect()));
            match compiled {
                Ok(compiled) => compiled.sample(record),
                Err(invalid) => {
                    refuse(record, invalid);
                    Ok(None)
                }
            }
        }
    }

    /// The columns that samples can be made of, if they are known without a record: a reader then need not read the
    /// others. Not all of them need exist.
    pub fn columns(&self) -> Option<Vec<String>> {
        let several = |fields: &Option<OneOrMany>, default: &str| {
            fields.as_ref().map_or_else(|| vec![default.to_owned()], |fields| fields.as_slice().to_vec())
        };
        // Fields that are not named are looked for under their own names.
        let mut texts = vec![self.input.as_deref().unwrap_or("input").to_owned()];
        texts.push(self.id.as_deref().unwrap_or("id").to_owned());
        texts.extend(several(&self.target, "target"));
        texts.extend(several(&self.choices, "choices"));
        match &self.metadata {
            Some(entries) => texts.extend(entries.values().cloned()),
            None => texts.push("metadata".to_owned()),
        }
        texts.extend(self.filter.clone());
        let mut columns = Vec::new();
        for text in texts {
            let used = Expression::possible_columns(&text, &self.lookup);
            // A text that is no expression can still be the name of a column.
            columns.extend(used.unwrap_or_default());
            columns.push(text);
        }
        let mut seen = HashSet::new();
        columns.retain(|column| seen.insert(column.clone()));
        Some(columns)
    }

    setters! {
        /// The question.
        input: impl Into<String> => Some(input.into());

        /// What would be right.
        target: impl Into<OneOrMany> => Some(target.into());

        /// The choices.
        choices: impl Into<OneOrMany> => Some(choices.into());

        /// The sample's id.
        id: impl Into<String> => Some(id.into());

        /// The condition that records must meet.
        filter: impl Into<String> => Some(filter.into());
    }

    /// Columns to keep as metadata, under their own names.
    #[must_use]
    pub fn metadata(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let named = names.into_iter().map(Into::into).map(|name: String| (name.clone(), name));
        self.metadata.get_or_insert_default().extend(named);
        self
    }

    /// A key of the metadata, and the column, template or expression that its value is.
    #[must_use]
    pub fn metadata_field(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata.get_or_insert_default().insert(key.into(), text.into());
        self
    }

    /// A lookup table, which expressions use as `name[field]`.
    #[must_use]
    pub fn lookup(
        mut self,
        name: impl Into<String>,
        table: impl IntoIterator<Item = (impl Into<String>, impl Into<Json>)>,
    ) -> Self {
        let entries = table.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self.lookup.insert(name.into(), Json::Object(entries));
        self
    }
}

/// Refuses a record because of expressions that cannot be read over its columns.
fn refuse(record: &Record, invalid: &[InvalidField]) {
    // The plain name of a column that is not there is the most frequent mistake, and known for what it is.
    let missing = invalid.iter().find(|field| field.is_missing_column());
    match missing {
        Some(field) => record.miss(&field.error.text),
        None => record.refuse_with(|| DatasetError::Fields {
            place: record.place().clone(),
            known: record.names().map(str::to_owned).collect(),
            invalid: invalid.to_vec(),
        }),
    }
}

/// What a field of a sample is made of.
#[derive(Debug)]
pub(super) struct CompiledFields {
    input: FieldExpression,
    target: Option<OneOrMany<FieldExpression>>,
    choices: Option<OneOrMany<FieldExpression>>,
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
            let parsed = Expression::parse(text, columns, &fields.lookup);
            let expression =
                parsed.map_err(|error| invalid.push(InvalidField { field: field.to_owned(), error })).ok()?;
            Some(FieldExpression { field, expression })
        };
        let input = read("input", fields.input.as_deref().unwrap_or("input"));
        let mut several = |field: &'static str, texts: &Option<OneOrMany>| {
            Some(match texts.as_ref()? {
                OneOrMany::One(text) => OneOrMany::One(read(field, text)?),
                OneOrMany::Many(texts) => {
                    let all: Vec<_> = texts.iter().map(|text| read(field, text)).collect();
                    OneOrMany::Many(all.into_iter().collect::<Option<_>>()?)
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
            Some(field) => field.make(record, target)?,
            None => by_name("target", record, target)?.unwrap_or_default(),
        };
        let choices_by_name = |name: &str, value: Cow<'_, Json>| {
            choices(name, value).map_err(|problem| {
                let without = "choices = [] if the task has none";
                let hint = match &problem.hint {
                    Some(hint) => format!("{hint} Or {without}"),
                    None => without.to_owned(),
                };
                problem.hint(hint)
            })
        };
        sample.choices = match &self.choices {
            Some(field) => field.make(record, choices)?,
            None => by_name("choices", record, choices_by_name)?.unwrap_or_default(),
        };
        sample.id = match &self.id {
            Some(field) => Some(field.make(record, id)?),
            None => by_name("id", record, id)?,
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

/// A part of a sample, made of the column that is called as it is, if a record has a value there.
fn by_name<T>(
    name: &str,
    record: &Record,
    part: impl FnOnce(&str, Cow<'_, Json>) -> std::result::Result<T, ExpressionError>,
) -> Result<Option<T>> {
    let value = record.get(name).filter(|value| !value.is_null());
    let made = value.map(|value| part(name, Cow::Borrowed(value))).transpose();
    made.map_err(|problem| Error::custom(format!("`{name}`: {problem}")))
}

impl OneOrMany<FieldExpression> {
    fn make<T: From<Vec<String>>>(
        &self,
        record: &Record,
        part: impl FnOnce(&str, Cow<'_, Json>) -> std::result::Result<T, ExpressionError>,
    ) -> Result<T> {
        match self {
            OneOrMany::One(field) => field.make(record, part),
            OneOrMany::Many(fields) => texts(fields, record).map(T::from),
        }
    }
}

impl FieldExpression {
    /// The value for a record. What is wrong is left with the record, which knows its place.
    fn eval<'v>(&'v self, record: &'v Record) -> Result<Cow<'v, Json>> {
        self.expression.eval(|name| record.get(name)).map_err(|error| {
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
        part: impl FnOnce(&str, Cow<'_, Json>) -> std::result::Result<T, ExpressionError>,
    ) -> Result<T> {
        let value = self.eval(record)?;
        part(self.text(), value).map_err(|error| self.refuse(record, error.at(0..self.text().len())))
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

fn is_kept(name: &str, value: Cow<'_, Json>) -> std::result::Result<bool, ExpressionError> {
    match &*value {
        Json::Bool(is_kept) => Ok(*is_kept),
        other => {
            let problem = format!("the condition gives {}, not true or false", shown(other));
            Err(ExpressionError::new(problem).hint(match other {
                Json::Null => format!("default({name}, False) is false where it is None"),
                Json::String(_) | Json::Number(_) => {
                    format!("compare it with something, as in {name} == {}", shown(other))
                }
                _ => "compare it with something, as in x == 'yes'".to_owned(),
            }))
        }
    }
}

fn input(name: &str, value: Cow<'_, Json>) -> std::result::Result<Input, ExpressionError> {
    match &*value {
        Json::Null => Err(none(name, "''")),
        // A conversation of one message.
        message if is_message(message) => conversation(name, vec![value.into_owned()]),
        Json::Object(entries) => Err(map(name, entries)),
        Json::Array(messages) => conversation(name, messages.clone()),
        _ => Ok(Input::Text(into_text(value))),
    }
}

fn target(name: &str, value: Cow<'_, Json>) -> std::result::Result<Target, ExpressionError> {
    match &*value {
        Json::Object(entries) => Err(map(name, entries)),
        Json::Array(items) => match items.iter().find_map(Json::as_object) {
            Some(entries) => {
                let key = entries.keys().next().map_or("text", String::as_str);
                let problem = format!("`{name}` is a list of maps, and a target is a string");
                Err(ExpressionError::new(problem)
                    .hint(format!("take one of their keys: [x.{key} for x in {name}]")))
            }
            None => Ok(items.iter().map(text).collect::<Vec<_>>().into()),
        },
        Json::Null => Ok(Target::from(String::new())),
        _ => Ok(Target::from(into_text(value))),
    }
}

/// A field that is None, and must not be.
fn none(name: &str, other: &str) -> ExpressionError {
    ExpressionError::new(format!("`{name}` is null"))
        .hint(format!("default({name}, {other}) gives another value in place of it"))
}

/// A map where a string is meant: as text it would be Python's, which no answer is like.
fn map(name: &str, entries: &serde_json::Map<String, Json>) -> ExpressionError {
    const SHOWN: usize = 12;
    const USUAL: [&str; 4] = ["text", "value", "answer", "content"];
    let usual = USUAL.into_iter().find(|key| entries.contains_key(*key));
    let keys: Vec<&str> = entries.keys().take(SHOWN).map(String::as_str).collect();
    let near = usual.or(keys.first().copied()).map(|key| format!("did you mean {name}.{key}?"));
    let problem = format!("`{name}` is a map with the keys {}, and not a string", keys.join(", "));
    ExpressionError { hint: near, ..ExpressionError::new(problem) }
}

fn choices(name: &str, value: Cow<'_, Json>) -> std::result::Result<Vec<String>, ExpressionError> {
    match &*value {
        Json::Array(items) => match items.iter().position(|item| item.is_null() || item.is_object()) {
            Some(at) if items.get(at).is_some_and(Json::is_null) => {
                Err(ExpressionError::new(format!("`{name}` has None as choice {}", at + 1)))
            }
            Some(at) => {
                let key = items.get(at).and_then(Json::as_object).and_then(|entries| entries.keys().next());
                let key = key.map_or("text", String::as_str);
                let problem = format!("`{name}` has a map as choice {}", at + 1);
                Err(ExpressionError::new(problem)
                    .hint(format!("take one of their keys: [x.{key} for x in {name}]")))
            }
            None => Ok(items.iter().map(text).collect()),
        },
        Json::Object(entries) => {
            let list = entries.iter().find(|(_, value)| value.is_array()).map(|(key, _)| key);
            let problem = format!("`{name}` is a map, not a list");
            let hint = list.map(|key| format!("did you mean {name}.{key}?"));
            Err(ExpressionError { hint, ..ExpressionError::new(problem) })
        }
        Json::String(text) if text.trim_start().starts_with(['[', '(']) => {
            Err(ExpressionError::new(format!("`{name}` is no list, but a string that holds one"))
                .hint(format!("read it: choices = \"list({name})\"")))
        }
        _ => Err(ExpressionError::new(format!("`{name}` is no list"))
            .hint("name the field of each choice: choices = [\"a\", \"b\", …]")),
    }
}

/// The strings of several fields.
fn texts(fields: &[FieldExpression], record: &Record) -> Result<Vec<String>> {
    let one = |field: &FieldExpression| {
        field.make(record, |name, value| match &*value {
            Json::Array(_) => {
                Err(ExpressionError::new(format!("`{name}` holds a list, and each field here is one string"))
                    .hint(format!("write {} = \"{name}\"", field.field)))
            }
            Json::Object(entries) => Err(map(name, entries)),
            Json::Null => Ok(String::new()),
            _ => Ok(into_text(value)),
        })
    };
    fields.iter().map(one).collect()
}

fn id(name: &str, value: Cow<'_, Json>) -> std::result::Result<SampleId, ExpressionError> {
    match &*value {
        Json::String(id) if id.is_empty() => Err(ExpressionError::new("the id is empty")),
        Json::String(id) => Ok(SampleId::from(id.as_str())),
        Json::Null => Err(none(name, "'…'")),
        value => match value.as_i64() {
            Some(number) => Ok(SampleId::Int(number)),
            None if value.is_u64() => Ok(SampleId::Str(value.to_string())),
            // As in tables: pandas writes integers beside absent values as floats.
            None => match value.as_f64().and_then(whole_number) {
                Some(number) => Ok(SampleId::Int(number)),
                None => Err(ExpressionError::new(format!("an id is a string or an integer, found {value}"))),
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

/// The keys of a message that are read, and those that say nothing to a model.
const KNOWN: [&str; 10] = [
    "role",
    "content",
    "id",
    "source",
    "model",
    "metadata",
    "internal",
    "tool_call_id",
    "tool_calls",
    "error",
];
/// The same of a part that is text.
const KNOWN_OF_PART: [&str; 7] =
    ["type", "text", "metadata", "internal", "citations", "annotations", "cache_control"];
/// How words in keys start whose strings are a part of the message.
const CONTENTS: [&str; 19] = [
    "base64",
    "b64",
    "screenshot",
    "png",
    "jpg",
    "jpeg",
    "voice",
    "image",
    "audio",
    "video",
    "file",
    "document",
    "attachment",
    "reasoning",
    "thinking",
    "picture",
    "photo",
    "media",
    "function",
];

/// Whether an object is a message.
pub(super) fn is_message(value: &Json) -> bool {
    value.get("role").is_some_and(Json::is_string) && value.get("content").is_some()
}

/// A list of messages; each names what it holds beside its text.
pub(super) fn conversation(name: &str, list: Vec<Json>) -> Result<Input, ExpressionError> {
    if list.iter().any(|part| part.get("type").is_some() && part.get("role").is_none()) {
        let problem = format!("`{name}` is a list of the parts of a message, and not of messages");
        return Err(ExpressionError::new(problem).hint("name the field that holds the whole message"));
    }
    let omitted: Vec<Vec<String>> = list.iter().map(omitted_keys).collect();
    let is_empty = |(message, omitted): (&Json, &Vec<String>)| {
        let has = |field| message.get(field).is_some_and(|value| !value.is_null());
        message.is_object() && omitted.is_empty() && !has("content") && !has("tool_calls")
    };
    if let Some(at) = list.iter().zip(&omitted).position(is_empty) {
        return Err(ExpressionError::new(format!("`{name}` has no `content` in message {}", at + 1)));
    }
    let read: Result<Vec<Message>, _> = serde_json::from_value(Json::Array(list));
    let mut messages = read.map_err(|error| {
        ExpressionError::new(format!(
            "`{name}` is a list, but not of messages {{\"role\": \"user\", \"content\": \"…\"}}: {error}"
        ))
    })?;
    for (message, keys) in messages.iter_mut().zip(omitted) {
        message.omitted.extend(keys);
    }
    Ok(Input::Messages(messages))
}

/// The keys of a message, and of those of its parts that are text, whose values are a part of what it says.
fn omitted_keys(message: &Json) -> Vec<String> {
    let is_text = |part: &&Json| part.get("text").is_some_and(Json::is_string);
    let parts = message.get("content").and_then(Json::as_array).into_iter().flatten().filter(is_text);
    let of_parts = parts.flat_map(|part| unknown_keys(part, &KNOWN_OF_PART));
    let mut keys: Vec<String> = unknown_keys(message, &KNOWN).chain(of_parts).map(str::to_owned).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Keys of messages that servers know, and that are not sent.
const NOT_SENT: [&str; 2] = ["name", "refusal"];
/// A longer string is more than an id or a date.
const LONGEST_LABEL: usize = 128;

/// The keys of an object that are not known and have a list, an object or, if their name or the string itself says so, a
/// string as content.
fn unknown_keys<'j>(object: &'j Json, known: &'j [&str]) -> impl Iterator<Item = &'j str> {
    let holds = |key: &str, value: &Json| match value {
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
        Json::String(text) => {
            !text.is_empty() && (NOT_SENT.contains(&key) || names_content(key) || is_content(text))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    };
    let entries = object.as_object().into_iter().flatten();
    let entries = entries.filter(move |(key, value)| !known.contains(&key.as_str()) && holds(key, value));
    entries.map(|(key, _)| key.as_str())
}

fn names_content(key: &str) -> bool {
    // In camel case a word starts with its capital.
    let is_capital = |at: usize, c: char| at > 0 && c.is_ascii_uppercase();
    let spaced =
        key.char_indices().flat_map(|(at, c)| is_capital(at, c).then_some(' ').into_iter().chain([c]));
    let key = spaced.collect::<String>().to_ascii_lowercase();
    let compact = key.replace(' ', "");
    let mut words = key.split(['_', '-', '.', ' ']).chain([compact.as_str()]);
    words.any(|word| CONTENTS.iter().any(|content| word.starts_with(content)))
}

/// Whether a string is an address, data within one, or longer than a label.
fn is_content(text: &str) -> bool {
    let has_scheme =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    text.len() > LONGEST_LABEL || has_scheme("data:") || is_url(Path::new(text))
}
