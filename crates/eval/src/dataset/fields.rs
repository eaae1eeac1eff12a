//! Which field of a record is what.

use errorbar_core::{Error, Metadata, Result};
use errorbar_log::eval::Wire;
use serde_json::Value as Json;

use super::record::Record;
use crate::setters::setters;
use crate::{Input, Sample, SampleId, Target};

/// One field, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OneOrMany {
    /// One field, which may hold a list.
    One(String),
    /// Several, in order.
    Many(Vec<String>),
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
/// ```no_run
/// use errorbar_eval::{Fields, csv_dataset};
/// let fields = Fields::new().input("question").target("answer").choices(["a", "b", "c", "d"]).metadata(["category"]);
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
    /// Fields to keep as metadata; by default a field `metadata` that holds an object.
    pub metadata: Option<Vec<String>>,
}

impl Fields {
    /// The fields that are called what they are.
    pub fn new() -> Self {
        Fields::default()
    }

    /// The function from record to sample that [`csv_dataset`](super::csv_dataset) takes.
    pub fn reader(self) -> impl Fn(&Record) -> Result<Sample> {
        move |record| self.sample(record)
    }

    /// The columns that samples are made of, if they are known without a record: a reader then need not read
    /// the others.
    pub fn columns(&self) -> Option<Vec<String>> {
        // Fields that are not named are looked for under their own names.
        let own = |name: &Option<String>, default: &str| name.clone().unwrap_or_else(|| default.to_owned());
        let several = |fields: &Option<OneOrMany>, default: &str| match fields {
            None => vec![default.to_owned()],
            Some(OneOrMany::One(name)) => vec![name.clone()],
            Some(OneOrMany::Many(names)) => names.clone(),
        };
        let mut columns = vec![own(&self.input, "input"), own(&self.id, "id")];
        columns.extend(several(&self.target, "target"));
        columns.extend(several(&self.choices, "choices"));
        columns.extend(self.metadata.clone().unwrap_or_else(|| vec!["metadata".to_owned()]));
        Some(columns)
    }

    fn sample(&self, record: &Record) -> Result<Sample> {
        let mut sample = Sample::new(self.read_input(record)?);
        sample.target = self.read_target(record)?;
        sample.choices = self.read_choices(record)?;
        sample.id = self.read_id(record)?;
        match &self.metadata {
            Some(fields) => {
                for field in fields {
                    if let Some(value) = required(record, field) {
                        sample.metadata.insert(field.clone(), value.clone());
                    }
                }
            }
            None => sample.metadata = read_metadata(record)?,
        }
        Ok(sample)
    }

    fn read_input(&self, record: &Record) -> Result<Input> {
        let field = self.input.as_deref().unwrap_or("input");
        match required(record, field) {
            Some(Json::Null) => Err(Error::custom(format!("the input (field `{field}`) is null"))),
            Some(Json::Array(_)) => {
                let value = record.get(field).cloned().unwrap_or_default();
                serde_json::from_value(value).map(|Wire(messages)| Input::Messages(messages)).map_err(|error| {
                    Error::custom(format!(
                        "`{field}` is a list, but not of messages {{\"role\": \"user\", \"content\": \"…\"}}: {error}"
                    ))
                })
            }
            _ => Ok(Input::Text(record[field].to_owned())),
        }
    }

    fn read_target(&self, record: &Record) -> Result<Target> {
        match &self.target {
            None if record.get("target").is_none() => Ok(Target::default()),
            None => texts(record, "target"),
            Some(OneOrMany::One(field)) => texts(record, field),
            Some(OneOrMany::Many(fields)) => {
                Ok(fields.iter().map(|field| record[field.as_str()].to_owned()).collect::<Vec<_>>().into())
            }
        }
    }

    fn read_choices(&self, record: &Record) -> Result<Vec<String>> {
        let list = |field: &str| match required(record, field) {
            Some(Json::Array(items)) => Ok(items.iter().map(text).collect()),
            None => Ok(Vec::new()),
            Some(_) => Err(Error::custom(format!(
                "`{field}` is no list; name the field of each choice: choices = [\"a\", \"b\", …]"
            ))),
        };
        match &self.choices {
            None => match record.get("choices") {
                None | Some(Json::Null) => Ok(Vec::new()),
                Some(_) => list("choices"),
            },
            Some(OneOrMany::One(field)) => list(field),
            Some(OneOrMany::Many(fields)) => {
                Ok(fields.iter().map(|field| record[field.as_str()].to_owned()).collect())
            }
        }
    }

    fn read_id(&self, record: &Record) -> Result<Option<SampleId>> {
        let value = match &self.id {
            Some(field) => required(record, field),
            None => record.get("id").filter(|value| !value.is_null()),
        };
        match value {
            None => Ok(None),
            Some(Json::String(id)) if id.is_empty() => Err(Error::custom(format!(
                "the id (field `{}`) is empty",
                self.id.as_deref().unwrap_or("id")
            ))),
            Some(Json::String(id)) => Ok(Some(SampleId::from(id.as_str()))),
            Some(value) => match value.as_i64() {
                Some(number) => Ok(Some(SampleId::Int(number))),
                None => Err(Error::custom(format!("an id is a string or an integer, found {value}"))),
            },
        }
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

        /// Fields to keep as metadata.
        metadata: impl IntoIterator<Item = impl Into<String>> => Some(metadata.into_iter().map(Into::into).collect());
    }
}

/// The field `metadata`: an object, or the JSON of one, as a CSV cell holds it.
fn read_metadata(record: &Record) -> Result<Metadata> {
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

fn required<'r>(record: &'r Record, field: &str) -> Option<&'r Json> {
    let value = record.get(field);
    if value.is_none() {
        record.miss(field);
    }
    value
}

fn texts(record: &Record, field: &str) -> Result<Target> {
    Ok(match required(record, field) {
        Some(Json::Array(items)) => items.iter().map(text).collect::<Vec<_>>().into(),
        _ => Target::from(&record[field]),
    })
}

fn text(value: &Json) -> String {
    crate::template::text_of(value).into_owned()
}
