//! What can be wrong with a dataset, with the place and the way out.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_files::url_hint;

use super::hub::HubProblem;
use super::source::FileFormat;
use crate::expression::{ExpressionError, ExpressionErrorKind, InvalidExpression};

/// Where a record is: its file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordLocation {
    /// The file; none for samples made in code.
    pub path: Option<Arc<Path>>,
    /// The line; for a JSON list the number of the record, for Parquet the number of the row.
    pub line: Option<RecordPosition>,
}

/// A place within a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordPosition {
    /// The line, from 1.
    Line(u64),
    /// The number of the record in a list, from 1.
    Record(usize),
    /// The number of the row in a Parquet file, from 1.
    Row(u64),
}

impl RecordLocation {
    /// The place of samples made in code.
    pub const NOWHERE: RecordLocation = RecordLocation { path: None, line: None };
}

impl fmt::Display for RecordLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
        }
        match self.line {
            Some(RecordPosition::Line(line)) => write!(f, ", line {line}"),
            Some(RecordPosition::Record(number)) => write!(f, ", record {number}"),
            Some(RecordPosition::Row(number)) => write!(f, ", row {number}"),
            None => Ok(()),
        }
    }
}

/// A field of samples whose expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {error}")]
#[non_exhaustive]
pub struct InvalidField {
    /// What the expression is for: `input`, `target`, `where` and so on.
    pub field: String,
    /// What is wrong with it.
    pub error: InvalidExpression,
}

impl InvalidField {
    /// Whether it is nothing but the name of a column that is not there.
    pub(crate) fn is_missing_column(&self) -> bool {
        let is_whole = |problem: &ExpressionError| matches!(&problem.kind, ExpressionErrorKind::UnknownColumn { name } if *name == self.error.text);
        self.error.problems.iter().all(is_whole)
    }
}

/// Why a dataset cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file cannot be opened or read.
    #[error("cannot read the dataset {}: {problem}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// An address, which is not opened.
    #[error("cannot read the dataset {url}: {}; a dataset of the Hugging Face hub is hf:ORG/NAME", url_hint(url.as_ref()))]
    Url {
        /// The address.
        url: String,
    },
    /// A file outside of the folder that the dataset must be in.
    #[error(
        "{} is outside of the folder of the task file, which only a log names",
        path.display()
    )]
    OutsideFolder {
        /// The file.
        path: PathBuf,
    },
    /// A folder or a pattern with more files than are looked at.
    #[error(
        "{} stands for more than {limit} files and folders; name a folder further down, or fewer files",
        path.display()
    )]
    TooManyFiles {
        /// The folder or the pattern.
        path: PathBuf,
        /// How many are looked at.
        limit: usize,
    },
    /// A pattern that no file matches.
    #[error(
        "no file matches {pattern}{}",
        problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default()
    )]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// What is wrong with it, if it is none.
        problem: Option<String>,
        /// The file whose name is closest to it.
        nearest: Option<String>,
    },
    /// A folder without a file that can be read.
    #[error("{}", no_data_files(folder, *format, found))]
    NoDataFiles {
        /// The folder.
        folder: PathBuf,
        /// The format that was asked for.
        format: Option<FileFormat>,
        /// What it has instead.
        found: Vec<String>,
    },
    /// A folder with data of several formats.
    #[error(
        "the folder {} has files of several formats: {}; name those that are meant",
        folder.display(),
        formats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    SeveralFormats {
        /// The folder.
        folder: PathBuf,
        /// The formats.
        formats: Vec<FileFormat>,
    },
    /// A file whose name does not tell its format.
    #[error("the format of {} is not known", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Files of one dataset with different columns.
    #[error(
        "{} has no column `{column}`, which {} has; files of one dataset have the same columns",
        lacks.display(), has.display()
    )]
    MixedColumns {
        /// A file.
        lacks: PathBuf,
        /// Another file.
        has: PathBuf,
        /// The column that only one of them has.
        column: String,
    },
    /// A subset or split of one file, which has neither.
    #[error("`{key}` chooses among the files of a folder or a pattern, and {} is one file", path.display())]
    ChoiceOfFile {
        /// The file.
        path: PathBuf,
        /// `split` or `subset`.
        key: &'static str,
    },
    /// A dataset of the Hugging Face hub that cannot be found among those that were downloaded.
    #[error("{dataset}: {problem}")]
    Hub {
        /// The dataset.
        dataset: String,
        /// Why.
        problem: HubProblem,
    },
    /// A record that is not in the form of its file.
    #[error("{place}: {problem}")]
    Record {
        /// Where.
        place: RecordLocation,
        /// What is wrong with it.
        problem: String,
    },
    /// A field that the mapping names and the record lacks.
    #[error("{place}: no field `{field}`; {}", known_fields(known, nearest.as_deref()))]
    MissingField {
        /// Where.
        place: RecordLocation,
        /// The field.
        field: String,
        /// The fields that there are.
        known: Vec<String>,
        /// The one closest to it.
        nearest: Option<String>,
    },
    /// No sample.
    #[error(
        "the dataset{} is empty; an evaluation needs at least one sample",
        location.as_ref().map(|path| format!(" {path}")).unwrap_or_default()
    )]
    Empty {
        /// The file.
        location: Option<String>,
    },
    /// Expressions that cannot be read over the columns of the file.
    #[error("{place}: {}", invalid.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Fields {
        /// The first record.
        place: RecordLocation,
        /// The fields that there are.
        known: Vec<String>,
        /// At least one.
        invalid: Vec<InvalidField>,
    },
    /// An expression that has no value for a record.
    #[error("{place}: `{field}`: {error}")]
    Expression {
        /// The record.
        place: RecordLocation,
        /// What the expression is for: `input`, `target`, `where` and so on.
        field: String,
        /// The text of the expression.
        text: String,
        /// Why.
        error: Box<ExpressionError>,
    },
    /// Records, and none of them is a sample.
    #[error("none of the {records} records of {location} is used: the condition is false for all of them")]
    AllSkipped {
        /// The file.
        location: String,
        /// How many records there are.
        records: usize,
    },
    /// Two samples of one id.
    #[error("{}", duplicate(id, first, second, *numbered))]
    DuplicateId {
        /// The id.
        id: String,
        /// Number and place of the first sample of that id.
        first: (usize, RecordLocation),
        /// Number and place of the second.
        second: (usize, RecordLocation),
        /// Whether one of them got its id by counting.
        numbered: bool,
    },
    /// A message that is not text alone, which is all that models are sent.
    #[error(
        "{}sample {sample:?}: message {message} {problem}, and only text is sent to models; replace it with text, or \
         leave the sample out",
        before(place)
    )]
    NotText {
        /// Where.
        place: RecordLocation,
        /// The sample's id.
        sample: String,
        /// The number of the message, from 1.
        message: usize,
        /// What it is beside text.
        problem: String,
    },
    /// Choices that cannot be shuffled.
    #[error("sample {sample:?}: {problem}")]
    Choices {
        /// The sample's id.
        sample: String,
        /// What is wrong.
        problem: String,
    },
}

/// The place before a message; nothing for samples made in code.
fn before(place: &RecordLocation) -> String {
    if *place == RecordLocation::NOWHERE { String::new() } else { format!("{place}: ") }
}

fn no_data_files(folder: &Path, format: Option<FileFormat>, found: &[String]) -> String {
    let folder = folder.display();
    let what = match format {
        Some(format) => format!("{format} file"),
        None => "data file (.csv, .tsv, .json, .jsonl, .parquet)".to_owned(),
    };
    match found {
        [] => format!("the folder {folder} is empty; it should have at least one {what}"),
        found => format!("the folder {folder} has no {what}; it has {}", shown(found)),
    }
}

/// The first of many names.
pub(super) fn shown(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let first: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

fn known_fields(known: &[String], nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "the record has no field at all".to_owned(),
        None => format!("there are: {}", shown(known)),
    }
}

fn duplicate(
    id: &str,
    first: &(usize, RecordLocation),
    second: &(usize, RecordLocation),
    numbered: bool,
) -> String {
    let name = |(number, place): &(usize, RecordLocation)| match place.line {
        Some(_) => place.to_string(),
        None => format!("sample number {number}"),
    };
    let (first, second) = (name(first), name(second));
    let advice = if numbered {
        "give every sample an id, or none"
    } else {
        "ids must differ; to run a sample several times, use epochs"
    };
    format!("two samples have the id {id:?} ({first}; {second}); {advice}")
}
