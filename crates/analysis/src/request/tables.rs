//! How tables are read: which column is what, what cells mean, and limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use errorbar_macros::Setters;
use errorbar_table::{
    DecimalMark, InputFormat, MappingError, MappingProblem, MemoryTables, NoScorePolicy, ScoreScale,
    TableLimits, TableMapping, TableOptions,
};
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

use super::{ByteSize, OneOrMany, one_or_many};
use crate::diagnostic::Diagnostic;
use crate::text;
use crate::text::Opt;
use crate::text::Text;

/// What to do with cells that are no scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnconvertiblePolicy {
    /// Refuse the table.
    #[default]
    Error,
    /// Count them as 0.
    Zero,
    /// Treat them as missing.
    Missing,
}

impl FromStr for UnconvertiblePolicy {
    type Err = serde::de::value::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::deserialize(name.into_deserializer())
    }
}

impl From<UnconvertiblePolicy> for NoScorePolicy {
    fn from(policy: UnconvertiblePolicy) -> Self {
        match policy {
            UnconvertiblePolicy::Error => NoScorePolicy::Refuse,
            UnconvertiblePolicy::Zero => NoScorePolicy::Zero,
            UnconvertiblePolicy::Missing => NoScorePolicy::Missing,
        }
    }
}

/// How tables are read: which column is what, what cells mean, and limits, because tables may be hostile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Reading tables"))]
pub struct TableRequest {
    /// The column of a table that identifies the samples; may be repeated, and of each table the first that it
    /// has is taken [default: `id`, else a common spelling such as `question_id`, else the rows are numbered]
    #[serde(rename = "id", deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "id-column", alias = "id", value_name = "COLUMN", value_parser = named()))]
    pub id_columns: Vec<String>,
    /// The column of a table that numbers the epochs of a sample, from 1 or 0 [default: `epoch`, else a common
    /// spelling such as `attempt`]
    #[serde(rename = "epoch")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", value_parser = named()))]
    pub epoch_column: Option<String>,
    /// A column of a table that holds scores; may be repeated [default: `score`, else `value`, else the only one
    /// with a common name such as `passed` whose cells are scores]
    #[serde(rename = "score", deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "score-column", value_name = "COLUMN", value_parser = named()))]
    pub score_columns: Vec<String>,
    /// A cell that counts as 1, such as `good`; may be repeated. Cells that are neither correct nor incorrect nor
    /// missing are then an error
    #[serde(deserialize_with = "cells")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "VALUE", allow_hyphen_values = true))]
    pub correct: Vec<String>,
    /// A cell that counts as 0; may be repeated
    #[serde(deserialize_with = "cells")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "VALUE", allow_hyphen_values = true))]
    pub incorrect: Vec<String>,
    /// The highest possible score, or the lowest and the highest: with `--scale 10` a score of 7, or the cell
    /// `7/10`, is 0.7
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "[LOW] HIGH", num_args = 1..=2, allow_negative_numbers = true,
        conflicts_with_all = ["correct", "incorrect"]))]
    pub scale: Vec<f64>,
    /// Cells that mean a missing score, separated by commas, in place of NA, N/A, None, null and -; an empty
    /// cell always does
    #[serde(deserialize_with = "optional_cells")]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)
    )]
    pub na: Option<Vec<String>>,
    /// What to do with other cells of a table that are no scores: fail, count them as 0, or treat them as missing
    #[cfg_attr(feature = "clap", arg(long, value_name = "ACTION", default_value = "error", value_parser = policies()))]
    pub unconvertible: UnconvertiblePolicy,
    /// What is between the fields of a row: a character, or `tab` [default: by the file]
    #[serde(deserialize_with = "delimiter_form")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "CHAR", value_parser = delimiter))]
    pub delimiter: Option<char>,
    /// What is between the integer and the fraction of a number: `.` or `,` [default: by the file]
    #[cfg_attr(feature = "clap", arg(long, value_name = "CHAR", value_parser = decimals()))]
    pub decimal: Option<DecimalMark>,
    /// The format of tables [default: by the name of the file and its first bytes]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FORMAT", value_parser = super::one_of(InputFormat::ALL)))]
    pub input_format: Option<InputFormat>,
    /// Read what the options above say from this file; options that are given win
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub mapping: Option<PathBuf>,
    /// Write how the table was read to this file, for --mapping; a file that says something else is not
    /// replaced, unless --mapping reads it
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub save_mapping: Option<PathBuf>,
    /// The maximum length of a line of a table; for Parquet, the maximum decompressed size of a page
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value = "64M"))]
    pub max_line: ByteSize,
    /// The maximum number of columns of a table
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TableLimits::default().max_columns))]
    pub max_columns: usize,
}

impl Default for TableRequest {
    fn default() -> Self {
        let TableLimits { max_line, max_columns, .. } = TableLimits::default();
        TableRequest {
            id_columns: Vec::new(),
            epoch_column: None,
            score_columns: Vec::new(),
            correct: Vec::new(),
            incorrect: Vec::new(),
            scale: Vec::new(),
            na: None,
            unconvertible: UnconvertiblePolicy::default(),
            delimiter: None,
            decimal: None,
            input_format: None,
            mapping: None,
            save_mapping: None,
            max_line: ByteSize(max_line),
            max_columns,
        }
    }
}

#[cfg(feature = "clap")]
fn named() -> clap::builder::NonEmptyStringValueParser {
    clap::builder::NonEmptyStringValueParser::new()
}

#[cfg(feature = "clap")]
fn policies() -> impl clap::builder::TypedValueParser<Value = UnconvertiblePolicy> {
    super::one_of([
        ("error", UnconvertiblePolicy::Error),
        ("zero", UnconvertiblePolicy::Zero),
        ("missing", UnconvertiblePolicy::Missing),
    ])
}

#[cfg(feature = "clap")]
fn decimals() -> impl clap::builder::TypedValueParser<Value = DecimalMark> {
    super::one_of([(".", DecimalMark::Point), (",", DecimalMark::Comma)])
}

/// A cell: Python may give the number or the boolean that a column holds.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl From<Cell> for String {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Text(text) => text,
            Cell::Bool(true) => "True".to_owned(),
            Cell::Bool(false) => "False".to_owned(),
            Cell::Int(int) => int.to_string(),
            Cell::Float(float) => format!("{float:?}"),
        }
    }
}

fn cells<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let cells = Vec::from(OneOrMany::<Cell>::deserialize(deserializer)?);
    Ok(cells.into_iter().map(String::from).collect())
}

fn optional_cells<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let cells = Option::<OneOrMany<Cell>>::deserialize(deserializer)?;
    Ok(cells.map(|cells| Vec::from(cells).into_iter().map(String::from).collect()))
}

fn delimiter_form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<char>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| delimiter(&text).map_err(serde::de::Error::custom)).transpose()
}

/// A delimiter: a character, or the name of one that shells make hard to type.
fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some('"' | '\r' | '\n'), None) => {
            Err("a quotation mark and line ends cannot be delimiters".to_owned())
        }
        (_, Some(character), None) if character.is_ascii() => Ok(character),
        _ => Err("expected one ASCII character, such as `;`, or `tab`".to_owned()),
    }
}

impl TableRequest {
    /// What the options say about tables, over what the file of `--mapping` says; `by` is the column that tells the
    /// parts of a table apart.
    ///
    /// # Errors
    /// A scale that is none, a file that cannot be read, and values that exclude each other.
    pub fn mapping(&self, by: Option<&str>) -> Result<TableMapping, Diagnostic> {
        let scale = match self.scale.as_slice() {
            [] => None,
            [high] => Some((0.0, *high)),
            [low, high, ..] => Some((*low, *high)),
        };
        let scale = scale.map(|(low, high)| ScoreScale::new(low, high)).transpose();
        let scale = scale.map_err(|problem| {
            Diagnostic::error(problem)
                .about_option(Opt::Scale)
                .hint("give the highest possible score, or the lowest and it")
        })?;
        let mut mapping = TableMapping::default();
        mapping.format = self.input_format;
        mapping.delimiter = self.delimiter;
        mapping.decimal = self.decimal;
        mapping.id_columns = self.id_columns.clone();
        mapping.epoch_column = self.epoch_column.clone();
        mapping.score_columns = self.score_columns.clone();
        mapping.by = by.map(str::to_owned);
        mapping.na = self.na.clone();
        mapping.correct = self.correct.clone();
        mapping.incorrect = self.incorrect.clone();
        mapping.scale = scale;
        if let Some(path) = &self.mapping {
            mapping = mapping.or(&TableMapping::read(path)?);
        }
        mapping.check().map_err(|problem| Diagnostic::error(problem.to_string()).hint(hint(&problem)))?;
        Ok(mapping)
    }

    /// Writes how a table was read to a file, if that is asked for. Returns a note with the path.
    pub(crate) fn save(&self, mapping: &TableMapping) -> Result<Option<Diagnostic>, Diagnostic> {
        let Some(path) = &self.save_mapping else { return Ok(None) };
        // A file that was read may be brought up to date; another may be of a different table.
        if self.mapping.as_ref() != Some(path) && has_other_content(path, &mapping.to_toml()) {
            let problem = "the file exists, and says something else";
            return Err(Diagnostic::error(problem)
                .about(path.display())
                .hint(text!("choose another name for {SaveMapping}, or remove the file")));
        }
        mapping.write(path)?;
        Ok(Some(Diagnostic::note(format!("how the table is read is in {}", path.display()))))
    }

    /// Whether the column of ids is named.
    pub(crate) fn names_ids(&self) -> bool {
        !self.id_columns.is_empty()
    }

    /// The first option that is given and is about tables, but limits.
    pub(crate) fn first_given(&self) -> Option<Opt> {
        let given = [
            (Opt::IdColumn, !self.id_columns.is_empty()),
            (Opt::EpochColumn, self.epoch_column.is_some()),
            (Opt::ScoreColumn, !self.score_columns.is_empty()),
            (Opt::Correct, !self.correct.is_empty()),
            (Opt::Incorrect, !self.incorrect.is_empty()),
            (Opt::Scale, !self.scale.is_empty()),
            (Opt::Na, self.na.is_some()),
            (Opt::Delimiter, self.delimiter.is_some()),
            (Opt::Decimal, self.decimal.is_some()),
            (Opt::InputFormat, self.input_format.is_some()),
            (Opt::Mapping, self.mapping.is_some()),
            (Opt::SaveMapping, self.save_mapping.is_some()),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// How a table is read, within the limits; memory is limited for logs too. Rows without a column of ids are numbered.
    pub fn options(
        &self,
        mapping: &TableMapping,
        max_memory: Option<u64>,
        memory: &MemoryTables,
    ) -> TableOptions {
        let mut limits = TableLimits::default();
        (limits.max_line, limits.max_columns, limits.max_memory) =
            (self.max_line.0, self.max_columns, max_memory);
        TableOptions::new().mapping(mapping).number_rows(true).limits(limits).memory(memory)
    }
}

/// Whether it is a file with another content. What is no file, such as `/dev/stdout`, has none.
fn has_other_content(path: &Path, content: &str) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    metadata.is_file()
        && metadata.len() > 0
        && (metadata.len() != content.len() as u64
            || fs::read(path).is_ok_and(|old| old != content.as_bytes()))
}

/// What to do about a mapping.
fn hint(problem: &MappingProblem) -> Text {
    match problem {
        MappingProblem::Read(_) => text!("check the path; {SaveMapping} writes such a file"),
        MappingProblem::Write(_) => "choose a location that you may write to".into(),
        MappingProblem::UnknownKey { nearest: Some(nearest), .. } => {
            format!("did you mean `{nearest}`?").into()
        }
        MappingProblem::ScaleAndNames => "remove `scale`, or `correct` and `incorrect`".into(),
        MappingProblem::NamedTwice(_) => {
            text!("name each cell once, with {Correct} or with {Incorrect}")
        }
        _ => text!("{SaveMapping} writes such a file, with the keys that there are"),
    }
}

impl From<MappingError> for Diagnostic {
    fn from(error: MappingError) -> Self {
        let hint = hint(&error.problem);
        Diagnostic::error(error.problem.to_string()).about(error.path.display()).hint(hint)
    }
}
