//! What can be wrong with a dataset, with the place and the way out.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// A file outside of the folder that the dataset must be in.
    #[error(
        "{} is outside of the folder of the task file, which only a log names",
        path.display()
    )]
    OutsideFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file whose name does not tell its format.
    #[error("the format of {} is not known", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
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
    /// Anything else.
    #[error("{message}")]
    Other {
        /// What is wrong.
        message: String,
        /// The key of the task file that it is about, if it is not the path.
        key: Option<&'static str>,
        /// What would be right, where that is known.
        hint: Option<String>,
    },
}

impl DatasetError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        DatasetError::Other { message: message.into(), key: None, hint: None }
    }

    /// What is wrong with the value of a key, or with what it leads to.
    pub(super) fn of_key(key: &'static str, message: String) -> Self {
        DatasetError::Other { message, key: Some(key), hint: None }
    }

    #[must_use]
    pub(super) fn hint(mut self, advice: Option<String>) -> Self {
        if let DatasetError::Other { hint, .. } = &mut self {
            *hint = advice;
        }
        self
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
