//! Which field of a record is what.

use std::collections::HashSet;
use std::sync::OnceLock;

use errorbar_core::{IndexMap, Result};
use serde_json::Value as Json;

use super::compiled::CompiledFields;
use super::error::{DatasetError, InvalidField};
use super::record::Record;
use crate::Sample;
use crate::expression::Expression;
use crate::macros::setters;

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
        let several = |fields: &Option<OneOrMany>, default: &str| match fields {
            None => vec![default.to_owned()],
            Some(OneOrMany::One(name)) => vec![name.clone()],
            Some(OneOrMany::Many(names)) => names.clone(),
        };
        // Fields that are not named are looked for under their own names.
        let mut texts = vec![
            self.input.clone().unwrap_or_else(|| "input".to_owned()),
            self.id.clone().unwrap_or_else(|| "id".to_owned()),
        ];
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
