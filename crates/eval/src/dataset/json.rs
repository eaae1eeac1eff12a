//! Records from JSON files: a list of objects, or an object a line.

use std::path::Path;

use serde_json::Value as Json;

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
    let mut take_json = |json: &str, position: RecordPosition, advice: &str| {
        let place = RecordLocation { path: Some(path.into()), line: Some(position) };
        let wrong = |problem: String| DatasetError::Record { place: place.clone(), problem };
        match record(json).map_err(|problem| wrong(format!("{problem}{advice}")))? {
            Json::Object(fields) => take(Record::new(place, fields)),
            other => Err(wrong(format!(
                "a record is an object {{\"input\": …, \"target\": …}}, found {}",
                kind(&other)
            ))),
        }
    };
    if text.trim_start().starts_with('[') {
        let read = for_each_record(text, |number, json| take_json(json, RecordPosition::Record(number), ""));
        return read.map_err(|problem| match problem {
            ListProblem::Json(error) => unreadable(error.to_string()),
            ListProblem::Record(problem) => *problem,
        });
    }
    let advice = "; the file holds one JSON object a line, or one list of objects";
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.try_for_each(|(number, line)| take_json(line, RecordPosition::Line(number), advice))
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
