//! Cells that have a type, in files and in memory: what their columns may hold, and what a cell means.

use std::fmt::Write;

use errorbar_core::Value;
use errorbar_core::engine::{MetadataColumn, TextColumn};
use errorbar_files::json_value;
use jiter::JiterError;
use serde_json::Value as Json;

use super::layout::ColumnRole;
use super::limits::Budget;
use super::{TableErrorKind, cell};

/// The types that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Bool,
    Int,
    /// Unsigned integers, which the file stores as the bits of signed ones.
    Unsigned,
    Float,
    /// Decimal numbers of up to 38 digits, with a fraction, which are read as floating-point numbers.
    Decimal,
    Text,
    /// Strings that hold JSON.
    Json,
    /// Lists and maps, which only columns in memory are read as.
    #[cfg(feature = "arrow")]
    Nested,
}

impl ValueKind {
    pub(super) fn describe(self) -> &'static str {
        match self {
            ValueKind::Bool => "booleans",
            ValueKind::Int | ValueKind::Unsigned => "integers",
            ValueKind::Float => "floating-point numbers",
            ValueKind::Decimal => "decimals",
            ValueKind::Text => "strings",
            ValueKind::Json => "JSON",
            #[cfg(feature = "arrow")]
            ValueKind::Nested => "lists or maps",
        }
    }
}

impl ColumnRole {
    /// What it is called, and what it may hold, in words and as kinds.
    pub(super) fn takes(self) -> (&'static str, &'static str, &'static [ValueKind]) {
        use ValueKind::{Bool, Decimal, Float, Int, Json, Text, Unsigned};
        const ANY: (&str, &[ValueKind]) =
            ("numbers, booleans, strings or JSON", &[Bool, Int, Unsigned, Float, Decimal, Text, Json]);
        match self {
            ColumnRole::Id => ("the id", "strings or integers", &[Int, Unsigned, Text]),
            ColumnRole::Epoch => ("the epoch", "integers", &[Int, Unsigned, Float]),
            ColumnRole::Bucket => ("the hash bucket", "integers", &[Int, Unsigned]),
            ColumnRole::Scorer => ("the scorer", "strings", &[Text]),
            ColumnRole::Score(_) => ("a score", ANY.0, ANY.1),
            ColumnRole::Metadata(_) | ColumnRole::Task | ColumnRole::Model => ("metadata", ANY.0, ANY.1),
            ColumnRole::Log => ("the log", "strings", &[Text]),
            _ => ("what is recorded with a score", "strings", &[Text, Json]),
        }
    }
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TypedCell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    /// An integer beyond 64 bits, of a column of decimals.
    Wide(i128),
    Float(f64),
    Text(&'a str),
}

impl TypedCell<'_> {
    /// A number or a boolean as text.
    fn digits(self) -> Option<String> {
        match self {
            TypedCell::Bool(bool) => Some(bool.to_string()),
            TypedCell::Int(int) => Some(int.to_string()),
            TypedCell::Unsigned(int) => Some(int.to_string()),
            TypedCell::Wide(int) => Some(int.to_string()),
            TypedCell::Float(float) => Some(float.to_string()),
            TypedCell::Null | TypedCell::Text(_) => None,
        }
    }

    /// A decimal without a fraction.
    pub(super) fn integer(int: i128) -> Self {
        i64::try_from(int).map_or(TypedCell::Wide(int), TypedCell::Int)
    }
}

/// Appends an id; `digits` is memory to write a number to.
#[inline]
pub(super) fn push_id(
    ids: &mut TextColumn,
    cell: TypedCell<'_>,
    digits: &mut String,
) -> Result<(), TableErrorKind> {
    digits.clear();
    match cell {
        TypedCell::Text(id) if !id.is_empty() => {
            ids.push(id);
            return Ok(());
        }
        TypedCell::Int(int) => drop(write!(digits, "{int}")),
        TypedCell::Unsigned(int) => drop(write!(digits, "{int}")),
        TypedCell::Wide(int) => drop(write!(digits, "{int}")),
        _ => return Err(TableErrorKind::bad_id("empty")),
    }
    ids.push(digits);
    Ok(())
}

/// Appends what a column holds that is neither a score nor metadata. A null or an empty string is absent.
#[inline]
pub(super) fn push_text(texts: &mut MetadataColumn, cell: TypedCell<'_>) {
    match cell {
        TypedCell::Null | TypedCell::Text("") => texts.push_absent(),
        TypedCell::Text(text) => texts.push_text(text),
        number => texts.push_text(&number.digits().unwrap_or_default()),
    }
}

/// Appends the number of a row whose error is some string, and counts the row.
#[inline]
pub(super) fn push_error(errored: &mut Vec<u32>, cell: TypedCell<'_>, row: &mut u32) {
    if !matches!(cell, TypedCell::Null | TypedCell::Text("")) {
        errored.push(*row);
    }
    *row += 1;
}

/// Appends metadata of a column of this kind and name.
#[inline]
pub(super) fn push_metadata(
    values: &mut MetadataColumn,
    cell: TypedCell<'_>,
    kind: ValueKind,
    column: &str,
    budget: Budget,
) -> Result<(), TableErrorKind> {
    match cell {
        TypedCell::Text(text) if kind != ValueKind::Json => values.push_text(text),
        cell => values.push(&metadata_of(cell, column, budget)?),
    }
    Ok(())
}

#[inline]
pub(super) fn epoch_of(of: TypedCell<'_>) -> Result<u32, TableErrorKind> {
    let epoch = match of {
        TypedCell::Int(int) => u32::try_from(int).ok(),
        TypedCell::Unsigned(int) => u32::try_from(int).ok(),
        // As data frames write integers if some are missing.
        TypedCell::Float(float) => cell::whole_number(float).and_then(|int| u32::try_from(int).ok()),
        _ => None,
    };
    epoch.ok_or_else(|| {
        let is_number = !matches!(of, TypedCell::Bool(_));
        let found = of.digits().filter(|digits| is_number && digits != "NaN");
        TableErrorKind::bad_epoch(found.as_deref().unwrap_or("empty"))
    })
}

/// A score that is no string; `None` for a null.
pub(super) fn score_of(cell: TypedCell<'_>) -> Option<Value> {
    match cell {
        TypedCell::Null => None,
        TypedCell::Bool(b) => Some(Value::Bool(b)),
        TypedCell::Int(int) => Some(Value::Int(int)),
        TypedCell::Wide(int) => Some(Value::Float(int as f64)),
        TypedCell::Unsigned(int) => Some(i64::try_from(int).map_or(Value::Float(int as f64), Value::Int)),
        TypedCell::Float(float) => Some(Value::from(float)),
        TypedCell::Text(text) => Some(Value::from(text)),
    }
}

/// An integer beyond `i64` as the readers of JSON have it: one beyond 64 bits is the text of its digits.
pub(super) fn wide_json(int: i128) -> Json {
    u64::try_from(int).map_or_else(|_| Json::from(int.to_string()), Json::from)
}

/// Metadata; a string is JSON.
fn metadata_of(cell: TypedCell<'_>, column: &str, budget: Budget) -> Result<Json, TableErrorKind> {
    Ok(match cell {
        TypedCell::Null => Json::Null,
        TypedCell::Bool(b) => Json::from(b),
        TypedCell::Int(int) => Json::from(int),
        TypedCell::Unsigned(int) => Json::from(int),
        TypedCell::Wide(int) => wide_json(int),
        TypedCell::Float(float) => Json::from(float),
        TypedCell::Text(text) => {
            let invalid = |error: JiterError| {
                let problem =
                    format!("the string in column `{column}` is not valid JSON: {}", error.error_type);
                TableErrorKind::invalid(problem, "write JSON, or make it a column of strings")
            };
            cell::parse_json(text, budget, json_value::any_within, invalid)?
        }
    })
}
