//! Records from JSON files: a list of objects, or an object a line.

use std::path::Path;

use serde_json::{Map, Value as Json};

use super::error::{DatasetError, RecordLocation, RecordPosition};
use super::limits::{FileText, ListProblem, for_each_record, read_text, record};
use super::record::Record;

pub(super) fn read(
    path: &Path,
    take: &mut dyn FnMut(Record) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let unreadable = |problem: String| DatasetError::Read { path: path.to_owned(), problem };
    let FileText { text, .. } = read_text(path, true).map_err(unreadable)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let place = |line: RecordPosition| RecordLocation { path: Some(path.to_owned()), line: Some(line) };
    let object = |value: Json, place: &RecordLocation| match value {
        Json::Object(fields) => Ok(fields),
        other => Err(DatasetError::Record {
            place: place.clone(),
            problem: format!("a record is an object {{\"input\": …, \"target\": …}}, found {}", kind(&other)),
        }),
    };
    if text.trim_start().starts_with('[') {
        let read = for_each_record(text, |number, value| {
            let place = place(RecordPosition::Record(number));
            let fields: Map<String, Json> = object(value, &place)?;
            take(Record::new(place, fields))
        });
        return read.map_err(|problem| match problem {
            ListProblem::Json(error) => unreadable(error.to_string()),
            ListProblem::Record(problem) => problem,
        });
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let place = place(RecordPosition::Line(number));
        let value = record(line).map_err(|error| DatasetError::Record {
            place: place.clone(),
            problem: format!(
                "{}; the file holds one JSON object a line, or one list of objects",
                json_problem(&error)
            ),
        })?;
        let fields = object(value, &place)?;
        take(Record::new(place, fields))?;
    }
    Ok(())
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// What is wrong with one line of JSON; its line is known, so only the column is said.
pub(crate) fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match error.column() {
        0 => text.to_owned(),
        column => format!("{text} at column {column}"),
    }
}
