//! What a user says about a table: which column is what, and what its cells mean.
//!
//! A mapping is a value that can be saved as TOML: a table that needed options once is read without them the next time.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, io};

use errorbar_core::spec::nearest;
use errorbar_files::read_small;
use errorbar_files::{FileAccess, write_file};
use serde::{Deserialize, Serialize};

use super::values::is_same_cell;

/// What a user says about a table. Everything may be left open; what is, is found out from the table.
///
/// ```
/// use errorbar_table::TableMapping;
/// let mapping: TableMapping = "id_column = \"question\"\nscore_column = [\"judge\", \"human\"]\nscale = 10\n".parse()?;
/// assert_eq!(mapping.id_columns, ["question"]);
/// assert_eq!(mapping.scale.map(|scale| (scale.low, scale.high)), Some((0.0, 10.0)));
/// assert_eq!(mapping.to_toml().parse::<TableMapping>()?, mapping);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TableMapping {
    /// The format of the file; by its name and first bytes if it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<InputFormat>,
    /// What is between the fields of a row of a delimited table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What is between the integer and the fraction of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalMark>,
    /// The columns that may identify the samples; of each table the first that it has is taken.
    #[serde(rename = "id_column", skip_serializing_if = "Vec::is_empty", with = "one_or_many")]
    pub id_columns: Vec<String>,
    /// The column that numbers the epochs of a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_column: Option<String>,
    /// The columns that hold scores, each of them a scorer.
    #[serde(rename = "score_column", skip_serializing_if = "Vec::is_empty", with = "one_or_many")]
    pub score_columns: Vec<String>,
    /// The column whose values tell the parts of the table apart, such as its models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The cells that mean that there is no score, in place of the usual ones.
    #[serde(skip_serializing_if = "Option::is_none", with = "optional_list")]
    pub na: Option<Vec<String>>,
    /// The cells that count as 1. If these or the incorrect ones are given, there are no others.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "one_or_many")]
    pub correct: Vec<String>,
    /// The cells that count as 0.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "one_or_many")]
    pub incorrect: Vec<String>,
    /// The lowest and the highest possible score; scores become shares of the way between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScoreScale>,
}

/// The format of a file with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InputFormat {
    /// A header and delimited fields.
    Csv,
    /// The same, with tabs.
    Tsv,
    /// A JSON object per line.
    Jsonl,
    /// A JSON array of objects, or the results of another tool.
    Json,
    /// Parquet.
    Parquet,
}

impl InputFormat {
    /// All of them, with their names.
    pub const ALL: [(&'static str, InputFormat); 5] = [
        ("csv", InputFormat::Csv),
        ("tsv", InputFormat::Tsv),
        ("jsonl", InputFormat::Jsonl),
        ("json", InputFormat::Json),
        ("parquet", InputFormat::Parquet),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for InputFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let format = Self::ALL.iter().find(|(known, _)| *known == name);
        format.map(|(_, format)| *format).ok_or_else(|| format!("there is no format of tables called {name}"))
    }
}

/// What is between the integer and the fraction of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DecimalMark {
    /// `0.5`
    #[default]
    #[serde(rename = ".")]
    Point,
    /// `0,5`
    #[serde(rename = ",")]
    Comma,
}

impl FromStr for DecimalMark {
    type Err = String;

    fn from_str(mark: &str) -> Result<Self, String> {
        match mark {
            "." => Ok(DecimalMark::Point),
            "," => Ok(DecimalMark::Comma),
            _ => Err(format!("expected `.` or `,`, found {mark}")),
        }
    }
}

/// The lowest and the highest possible score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ScaleForm", into = "(f64, f64)")]
pub struct ScoreScale {
    /// The lowest, which becomes 0.
    pub low: f64,
    /// The highest, which becomes 1.
    pub high: f64,
}

impl ScoreScale {
    /// A scale between two numbers.
    ///
    /// # Errors
    /// If they are not finite, or the second is not above the first.
    pub fn new(low: f64, high: f64) -> Result<Self, String> {
        match low.is_finite() && high.is_finite() && low < high {
            true => Ok(ScoreScale { low, high }),
            false => Err(format!("a scale goes from a number to a higher one, not from {low} to {high}")),
        }
    }

    /// A score as a share of the way from the lowest to the highest; none if it is not between them.
    pub fn share(self, score: f64) -> Option<f64> {
        // Not a product with the inverse: 7 of 10 is 0.7 to the last bit.
        (self.low..=self.high).contains(&score).then(|| (score - self.low) / (self.high - self.low))
    }
}

/// A scale in a file: its highest score, or both.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the highest score, or a list of the lowest and the highest")]
enum ScaleForm {
    High(f64),
    Both([f64; 2]),
}

impl TryFrom<ScaleForm> for ScoreScale {
    type Error = String;

    fn try_from(form: ScaleForm) -> Result<Self, String> {
        match form {
            ScaleForm::High(high) => ScoreScale::new(0.0, high),
            ScaleForm::Both([low, high]) => ScoreScale::new(low, high),
        }
    }
}

impl From<ScoreScale> for (f64, f64) {
    fn from(scale: ScoreScale) -> Self {
        (scale.low, scale.high)
    }
}

/// A list, or a string in place of a list of one.
mod one_or_many {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a list of strings; numbers have quotes, too")]
    pub(super) enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }

    impl From<OneOrMany> for Vec<String> {
        fn from(names: OneOrMany) -> Self {
            match names {
                OneOrMany::One(name) => vec![name],
                OneOrMany::Many(names) => names,
            }
        }
    }

    pub(super) fn serialize<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        match names {
            [name] => name.serialize(serializer),
            names => names.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        OneOrMany::deserialize(deserializer).map(Into::into)
    }
}

/// The same, where an empty list is not the same as none.
mod optional_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::one_or_many::OneOrMany;

    pub(super) fn serialize<S: Serializer>(
        names: &Option<Vec<String>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        names.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<String>>, D::Error> {
        OneOrMany::deserialize(deserializer).map(|names| Some(names.into()))
    }
}

/// What is wrong with a file of a mapping.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
#[non_exhaustive]
pub struct MappingError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: MappingProblem,
}

/// What is wrong with a mapping.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MappingProblem {
    /// It cannot be read.
    #[error("cannot read the file: {0}")]
    Read(#[source] io::Error),
    /// It cannot be written.
    #[error("cannot write the file: {0}")]
    Write(#[source] io::Error),
    /// It is no TOML, or a value is not what it should be.
    #[error("{}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Invalid {
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// A scale is given, and what is correct or incorrect, too.
    #[error("a mapping has a scale, or it names correct and incorrect cells; not both")]
    ScaleAndNames,
    /// A cell is named correct and incorrect.
    #[error("{0:?} is named both correct and incorrect")]
    NamedTwice(String),
    /// A key that mappings do not have.
    #[error("a mapping has no key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The one that is closest.
        nearest: Option<&'static str>,
    },
}

/// The keys of a mapping, in the order in which they are written.
pub(super) const KEYS: [&str; 11] = [
    "format",
    "delimiter",
    "decimal",
    "id_column",
    "epoch_column",
    "score_column",
    "by",
    "na",
    "correct",
    "incorrect",
    "scale",
];

impl FromStr for TableMapping {
    type Err = MappingProblem;

    fn from_str(text: &str) -> Result<Self, MappingProblem> {
        let invalid = |error: toml::de::Error| MappingProblem::Invalid {
            line: error
                .span()
                .map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1),
            problem: error.message().to_owned(),
        };
        let table: toml::Table = toml::from_str(text).map_err(invalid)?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(MappingProblem::UnknownKey { key: key.clone(), nearest: nearest(key, KEYS) });
        }
        let mapping: TableMapping = toml::from_str(text).map_err(invalid)?;
        mapping.check()?;
        Ok(mapping)
    }
}

/// The text of a small file. The name may come from elsewhere than the user, so nothing is opened that could wait for ever.
fn read_text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("a mapping must be a regular file"));
    }
    String::from_utf8(read_small(path)?).map_err(io::Error::other)
}

impl TableMapping {
    /// Reads a mapping from a file.
    ///
    /// # Errors
    /// If it cannot be read, is no file of at most 4 MiB, is no TOML, or has unknown keys.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MappingError> {
        let path = path.as_ref();
        let read = || read_text(path).map_err(MappingProblem::Read)?.parse();
        read().map_err(|problem| MappingError { path: path.to_owned(), problem })
    }

    /// Writes a mapping to a file, replacing what it has.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), MappingError> {
        let path = path.as_ref();
        write_file(path, self.to_toml().as_bytes(), FileAccess::Umask)
            .map(drop)
            .map_err(|error| MappingError { path: path.to_owned(), problem: MappingProblem::Write(error) })
    }

    /// Checks that what it says about cells is no contradiction.
    ///
    /// # Errors
    /// If it has a scale and names correct or incorrect cells, or if it names a cell both correct and incorrect; numbers are
    /// compared by their value.
    pub fn check(&self) -> Result<(), MappingProblem> {
        if self.scale.is_some() && !(self.correct.is_empty() && self.incorrect.is_empty()) {
            return Err(MappingProblem::ScaleAndNames);
        }
        let is_incorrect = |name: &&String| self.incorrect.iter().any(|other| is_same_cell(name, other));
        match self.correct.iter().find(is_incorrect) {
            Some(name) => Err(MappingProblem::NamedTwice(name.clone())),
            None => Ok(()),
        }
    }

    /// The mapping as TOML: what is open is left out.
    pub fn to_toml(&self) -> String {
        // JSON strings and lists are TOML too, but for DEL, which TOML wants escaped.
        let Ok(serde_json::Value::Object(keys)) = serde_json::to_value(self) else { return String::new() };
        let mut text = String::new();
        for key in KEYS {
            if let Some(value) = keys.get(key) {
                let value = value.to_string().replace('\u{7f}', "\\u007f");
                text += &format!("{key} = {value}\n");
            }
        }
        text
    }

    /// This mapping, with what it leaves open taken from another.
    #[must_use]
    pub fn or(self, other: &TableMapping) -> Self {
        let first = |own: Vec<String>, other: &Vec<String>| if own.is_empty() { other.clone() } else { own };
        // What counts as right and what as wrong belong together, and a scale takes their place.
        let has_meaning = !self.correct.is_empty() || !self.incorrect.is_empty() || self.scale.is_some();
        let (correct, incorrect, scale) = match has_meaning {
            true => (self.correct, self.incorrect, self.scale),
            false => (other.correct.clone(), other.incorrect.clone(), other.scale),
        };
        TableMapping {
            format: self.format.or(other.format),
            delimiter: self.delimiter.or(other.delimiter),
            decimal: self.decimal.or(other.decimal),
            id_columns: first(self.id_columns, &other.id_columns),
            epoch_column: self.epoch_column.or_else(|| other.epoch_column.clone()),
            score_columns: first(self.score_columns, &other.score_columns),
            by: self.by.or_else(|| other.by.clone()),
            na: self.na.or_else(|| other.na.clone()),
            correct,
            incorrect,
            scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> TableMapping {
        TableMapping {
            format: Some(InputFormat::Csv),
            delimiter: Some('\t'),
            decimal: Some(DecimalMark::Comma),
            id_columns: vec!["question \"id\"".to_owned()],
            epoch_column: Some("run".to_owned()),
            score_columns: vec!["a".to_owned(), "b\\\n\u{7f}".to_owned()],
            by: Some("model".to_owned()),
            na: Some(vec![]),
            correct: vec!["✓".to_owned()],
            incorrect: vec!["✗".to_owned(), "?".to_owned()],
            scale: Some(ScoreScale { low: 1.0, high: 5.0 }),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let scaled = TableMapping { correct: vec![], incorrect: vec![], ..full() };
        for mapping in [TableMapping { scale: None, ..full() }, scaled, TableMapping::default()] {
            let text = mapping.to_toml();
            assert_eq!(text.parse::<TableMapping>().unwrap(), mapping, "{text}");
            let json = serde_json::to_string(&mapping).unwrap();
            assert_eq!(serde_json::from_str::<TableMapping>(&json).unwrap(), mapping);
        }
        // Every key is written, so none can be forgotten in the list.
        assert_eq!(full().to_toml().lines().count(), KEYS.len());
    }

    #[test]
    fn mistakes_are_found() {
        let problem = |text: &str| text.parse::<TableMapping>().unwrap_err();
        assert!(matches!(
            problem("score_colum = \"a\""),
            MappingProblem::UnknownKey { key, nearest: Some("score_column") } if key == "score_colum"
        ));
        assert!(matches!(problem("\nby = 3"), MappingProblem::Invalid { line: Some(2), .. }));
        assert!(matches!(problem("scale = [5, 1]"), MappingProblem::Invalid { line: Some(1), .. }));
        assert!(matches!(problem("decimal = \"x\""), MappingProblem::Invalid { .. }));
        assert!(matches!(problem("by = "), MappingProblem::Invalid { .. }));
        let readable = "line 1: expected a string or a list of strings; numbers have quotes, too";
        assert_eq!(problem("correct = 1").to_string(), readable);
        assert!(problem("scale = \"x\"").to_string().contains("the highest score"));
        assert!(matches!(problem("scale = 10\ncorrect = \"yes\""), MappingProblem::ScaleAndNames));
        for same in ["correct = \"001\"\nincorrect = \"1\"", "correct = \"no\"\nincorrect = [\"x\", \" no\"]"]
        {
            assert!(matches!(problem(same), MappingProblem::NamedTwice(_)), "{same}");
        }
        assert_eq!(problem("\n\nby = 3").to_string(), "line 3: invalid type: integer `3`, expected a string");
    }

    #[test]
    fn what_is_given_wins() {
        let mut given = TableMapping { correct: vec!["yes".to_owned()], ..TableMapping::default() };
        given.by = Some("system".to_owned());
        let both = given.or(&full());
        assert_eq!((both.by.as_deref(), both.delimiter), (Some("system"), Some('\t')));
        // A scale and grades do not go together.
        assert_eq!((both.correct.len(), both.incorrect.len(), both.scale), (1, 0, None));
    }

    #[test]
    fn a_score_is_a_share_of_its_scale() {
        let scale = ScoreScale::new(0.0, 10.0).unwrap();
        assert_eq!(scale.share(7.0), Some(0.7));
        assert_eq!(scale.share(11.0), None);
        assert_eq!(scale.share(f64::NAN), None);
        assert_eq!(ScoreScale::new(1.0, 5.0).unwrap().share(3.0), Some(0.5));
        assert!(ScoreScale::new(5.0, 5.0).is_err() && ScoreScale::new(0.0, f64::INFINITY).is_err());
    }
}
