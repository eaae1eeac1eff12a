//! Cells that have a type, in files and in memory: what their columns may hold, and what a cell means.

use std::fmt::Write;

use errorbar_core::Value;
use jiter::JiterError;
use serde_json::Value as Json;

use super::layout::ColumnRole;
use super::limits::Budget;
use super::{TableErrorKind, cell};
use crate::json_value;

/// The types that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Bool,
    Int,
    /// Unsigned integers, which the file stores as the bits of signed ones.
    Unsigned,
    Float,
    /// Decimal numbers of up to 38 digits, which are read as floating-point numbers.
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
    Float(f64),
    Text(&'a str),
}

/// Appends an id as a string.
pub(super) fn id_into(text: &mut String, cell: TypedCell<'_>) -> Result<(), TableErrorKind> {
    match cell {
        TypedCell::Text(id) => text.push_str(id),
        TypedCell::Int(int) => drop(write!(text, "{int}")),
        TypedCell::Unsigned(int) => drop(write!(text, "{int}")),
        _ => {}
    }
    if text.is_empty() { Err(TableErrorKind::BadId("empty".to_owned())) } else { Ok(()) }
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
        TableErrorKind::BadEpoch(match of {
            TypedCell::Int(int) => int.to_string(),
            TypedCell::Unsigned(int) => int.to_string(),
            TypedCell::Float(float) if !float.is_nan() => float.to_string(),
            _ => "empty".to_owned(),
        })
    })
}

/// A score that is no string; `None` for a null.
pub(super) fn score_of(cell: TypedCell<'_>) -> Option<Value> {
    match cell {
        TypedCell::Null => None,
        TypedCell::Bool(b) => Some(Value::Bool(b)),
        TypedCell::Int(int) => Some(Value::Int(int)),
        TypedCell::Unsigned(int) => Some(i64::try_from(int).map_or(Value::Float(int as f64), Value::Int)),
        TypedCell::Float(float) => Some(Value::from(float)),
        TypedCell::Text(text) => Some(Value::from(text)),
    }
}

pub(super) fn metadata_of(
    cell: TypedCell<'_>,
    kind: ValueKind,
    column: &str,
    budget: Budget,
) -> Result<Json, TableErrorKind> {
    Ok(match cell {
        TypedCell::Null => Json::Null,
        TypedCell::Bool(b) => Json::from(b),
        TypedCell::Int(int) => Json::from(int),
        TypedCell::Unsigned(int) => Json::from(int),
        TypedCell::Float(float) => Json::from(float),
        TypedCell::Text(text) if kind == ValueKind::Json => {
            let invalid = |error: JiterError| TableErrorKind::BadJsonCell {
                column: column.to_owned(),
                problem: error.error_type.to_string(),
            };
            cell::parse_json(text, budget, json_value::any_within, invalid)?
        }
        TypedCell::Text(text) => Json::from(text),
    })
}
