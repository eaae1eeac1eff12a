//! A JSON value as rows: a list of objects, the ways in which pandas writes a table, or the results of another tool.
//!
//! Rows become JSON lines, which have one reader.

use std::borrow::Cow;

use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, JsonValue, Peek};

use super::tools::{self, Tool};
use crate::error::TableError;
use crate::{TableErrorKind, json_kind, spellings};

/// Rows out of a JSON value.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// An object per line.
    pub(super) lines: Vec<u8>,
    pub(super) tool: Option<&'static str>,
    pub(super) score_columns: Vec<String>,
    pub(super) unread: Vec<String>,
}

/// The rows of a JSON value. What a tool wrote has its ids from the first of `ids` that its records have.
pub(super) fn document(text: &[u8], ids: &[String]) -> Result<Records, TableError> {
    let text = without_mark(text);
    let mut json = Jiter::new(text).with_allow_inf_nan();
    let first = json.peek().map_err(|error| invalid(text, &error))?;
    match first {
        Peek::Array => list(text, ids),
        Peek::Object => map(text, ids),
        other => {
            // A word that is no value at all looks like one by its first letter.
            json.known_value(other).map_err(|error| invalid(text, &error))?;
            Err(no_rows(format!("it is {}", json_kind(other))))
        }
    }
}

/// The rows of the JSON lines of a tool.
pub(super) fn lines(text: &[u8], tool: Tool, ids: &[String]) -> Result<Records, TableError> {
    let mut records = Vec::new();
    for (at, line) in without_mark(text).split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value = JsonValue::parse(line, true).map_err(|error| {
            TableErrorKind::json(error.index + 1, &error.error_type).on_line(at as u64 + 1)
        })?;
        records.push(value);
    }
    tool.rows(&records, ids)
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn no_rows(problem: String) -> TableError {
    let problem = format!("this JSON is no table: {problem}");
    TableErrorKind::invalid(problem, "write a list of objects, one per sample").into()
}

fn invalid(text: &[u8], error: &JiterError) -> TableError {
    let position = Jiter::new(text).error_position(error.index);
    TableErrorKind::json(position.column, &error.error_type).on_line(position.line as u64)
}

/// A list: of the records of a tool, or of rows.
fn list(text: &[u8], ids: &[String]) -> Result<Records, TableError> {
    let first = match first_item(text) {
        // An id, perhaps; no tool writes such integers.
        Err(error) if is_out_of_range(&error) => None,
        first => first.map_err(|error| invalid(text, &error))?,
    };
    if let Some(tool) = first.as_ref().and_then(tools::of_record) {
        // What is behind the list must be JSON, too.
        let mut json = Jiter::new(text).with_allow_inf_nan();
        json.next_skip().and_then(|()| json.finish()).map_err(|error| invalid(text, &error))?;
        return tool.rows(&items(text)?, ids);
    }
    if first.as_ref().is_some_and(tools::is_helm_aggregate) {
        return Err(tools::aggregate("HELM", "per_instance_stats.json, beside this file"));
    }
    rows(text)
}

/// Whether it is about an integer of more than 64 bits, for which this parser has no type.
fn is_out_of_range(error: &JiterError) -> bool {
    matches!(error.error_type, JiterErrorType::JsonError(JsonErrorType::NumberOutOfRange))
}

/// The first item of a list.
fn first_item(text: &[u8]) -> Result<Option<JsonValue<'_>>, JiterError> {
    let mut json = Jiter::new(text).with_allow_inf_nan();
    match json.next_array()? {
        Some(peek) => json.known_value(peek).map(Some),
        None => Ok(None),
    }
}

/// What a value of a map is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Scalar,
    Map,
    /// A list whose first item is a map.
    Rows,
    List,
}

/// An entry of a map that is not parsed.
struct Entry<'j> {
    name: String,
    kind: EntryKind,
    text: &'j [u8],
}

/// The entries of a map.
fn entries(text: &[u8]) -> Result<Vec<Entry<'_>>, JiterError> {
    let mut json = Jiter::new(text).with_allow_inf_nan();
    let mut found = Vec::new();
    let mut key = json.next_object()?.map(str::to_owned);
    while let Some(name) = key {
        let kind = match json.peek()? {
            Peek::Object => EntryKind::Map,
            Peek::Array => match json.clone().known_array()? {
                Some(Peek::Object) => EntryKind::Rows,
                _ => EntryKind::List,
            },
            _ => EntryKind::Scalar,
        };
        let start = json.current_index();
        json.next_skip()?;
        let text = text.get(start..json.current_index()).unwrap_or_default();
        found.push(Entry { name, kind, text });
        key = json.next_key()?.map(str::to_owned);
    }
    json.finish()?;
    Ok(found)
}

/// A map: the results of a tool, one list of rows among other things, or a table by columns or by ids.
fn map(text: &[u8], ids: &[String]) -> Result<Records, TableError> {
    let entries = entries(text).map_err(|error| invalid(text, &error))?;
    let has =
        |key: &str, kind: EntryKind| entries.iter().any(|entry| entry.name == key && entry.kind == kind);
    if has("htmls", EntryKind::List) && has("convos", EntryKind::List) {
        return tools::simple_evals(&whole(text)?, ids);
    }
    let results = entries.iter().find(|entry| entry.name == "results");
    let inner = match results {
        Some(Entry { kind: EntryKind::Map, text, .. }) => {
            self::entries(text).map_err(|error| invalid(text, &error))?
        }
        _ => Vec::new(),
    };
    let inner_results = inner.iter().find(|entry| entry.name == "results");
    if has("results", EntryKind::Map)
        && inner_results.is_none()
        && ["configs", "config", "versions", "n-shot"].iter().any(|key| has(key, EntryKind::Map))
    {
        return Err(tools::aggregate(
            "lm-evaluation-harness",
            "samples_*.jsonl, which `lm_eval --log_samples` writes beside this file",
        ));
    }
    for list in [inner_results, results].into_iter().flatten().filter(|list| list.kind == EntryKind::Rows) {
        let items = items(list.text)?;
        if let Some(tool) = items.first().and_then(tools::of_record) {
            return tool.rows(&items, ids);
        }
    }
    let lists: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.kind == EntryKind::Rows).collect();
    let are_all = |kind| !entries.is_empty() && entries.iter().all(|entry| entry.kind == kind);
    match lists.as_slice() {
        [only] => return rows(only.text),
        [] => {}
        several => {
            let names: Vec<String> = several.iter().map(|list| format!("`{}`", list.name)).collect();
            return Err(no_rows(format!("it has several lists of objects: {}", names.join(", "))));
        }
    }
    if has("columns", EntryKind::List) && has("data", EntryKind::List) {
        return split(&whole(text)?);
    }
    if are_all(EntryKind::Map) {
        return by_column_or_id(&whole(text)?);
    }
    if are_all(EntryKind::Scalar) {
        return Err(no_rows("it is one map of single values, such as figures of a whole run".to_owned()));
    }
    Err(no_rows("it holds no list of objects".to_owned()))
}

fn whole(text: &[u8]) -> Result<JsonValue<'_>, TableError> {
    let mut json = Jiter::new(text).with_allow_inf_nan();
    json.next_value().map_err(|error| invalid(text, &error))
}

/// The items of a list.
fn items(text: &[u8]) -> Result<Vec<JsonValue<'_>>, TableError> {
    match whole(text)? {
        JsonValue::Array(items) => Ok(items.to_vec()),
        _ => Ok(Vec::new()),
    }
}

/// The objects of a list, each on a line, as they are written.
fn rows(text: &[u8]) -> Result<Records, TableError> {
    let failed = |error: JiterError| invalid(text, &error);
    let mut json = Jiter::new(text).with_allow_inf_nan();
    let mut records = Records::default();
    let mut number = 0;
    let mut item = json.next_array().map_err(failed)?;
    while let Some(peek) = item {
        number += 1;
        if peek != Peek::Object {
            return Err(TableErrorKind::not_an_object(json_kind(peek)).in_row(number));
        }
        let at = json.current_index();
        json.known_skip(peek).map_err(failed)?;
        // Line ends within strings are escaped, so these are between values.
        let row = json
            .slice_to_current(at)
            .iter()
            .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
        records.lines.extend(row);
        records.lines.push(b'\n');
        item = json.array_step().map_err(failed)?;
    }
    json.finish().map_err(failed)?;
    Ok(records)
}

/// `{"columns": […], "data": [[…], …]}`, as `to_json(orient="split")` of pandas writes.
fn split(table: &JsonValue<'_>) -> Result<Records, TableError> {
    let (Some(JsonValue::Array(columns)), Some(JsonValue::Array(data))) =
        (get(table, "columns"), get(table, "data"))
    else {
        return Err(no_rows("it holds no list of objects".to_owned()));
    };
    let mut records = Records::default();
    for (at, row) in data.iter().enumerate() {
        let cells = match row {
            JsonValue::Array(cells) if cells.len() == columns.len() => cells,
            _ => {
                let found = if let JsonValue::Array(cells) = row { cells.len() } else { 1 };
                return Err(TableErrorKind::field_count(columns.len(), found).in_row(at as u64 + 1));
            }
        };
        let names = columns.iter().map(|name| text_of(name).unwrap_or_default());
        write_row(&mut records.lines, names.zip(cells.iter()));
    }
    Ok(records)
}

/// Maps in a map: `{"id": {"0": "q1", …}, …}`, as `to_json()` of pandas writes, or `{"q1": {"score": 1}, …}`.
fn by_column_or_id(table: &JsonValue<'_>) -> Result<Records, TableError> {
    let JsonValue::Object(outer) = table else { return Err(no_rows("it is no map".to_owned())) };
    let keys = |value: &JsonValue<'_>| match value {
        JsonValue::Object(inner) => inner.iter().map(|(key, _)| key.to_string()).collect(),
        _ => Vec::new(),
    };
    let index: Vec<String> = outer.first().map(|(_, first)| keys(first)).unwrap_or_default();
    let is_score = |name: &str| spellings::scores(name).is_some();
    let is_numbered = index.iter().all(|key| key.bytes().all(|byte| byte.is_ascii_digit()));
    // An index of strings: they are the ids.
    let has_ids = !is_numbered
        && outer.iter().any(|(name, _)| is_score(name))
        && !index.iter().any(|key| is_score(key));
    let is_by_column = !index.is_empty()
        && (is_numbered || has_ids)
        && outer.iter().all(|(_, column)| keys(column) == index);
    let mut records = Records::default();
    if is_by_column {
        let has_ids = has_ids && !outer.iter().any(|(name, _)| spellings::is_id(name));
        for (row, key) in index.iter().enumerate() {
            let id = JsonValue::Str(Cow::from(key.as_str()));
            let cells = outer.iter().filter_map(|(name, column)| match column {
                JsonValue::Object(column) => Some((name.clone(), &column.get(row)?.1)),
                _ => None,
            });
            let id = has_ids.then_some((Cow::from("id"), &id));
            write_row(&mut records.lines, id.into_iter().chain(cells));
        }
        return Ok(records);
    }
    for (id, record) in outer.iter() {
        let JsonValue::Object(record) = record else { continue };
        let id_value = JsonValue::Str(id.clone());
        let has_id = record.iter().any(|(key, _)| key == "id");
        let id = (!has_id).then_some((Cow::from("id"), &id_value));
        write_row(
            &mut records.lines,
            id.into_iter().chain(record.iter().map(|(key, value)| (key.clone(), value))),
        );
    }
    Ok(records)
}

/// The value under a key of a map.
pub(super) fn get<'v, 'j>(value: &'v JsonValue<'j>, key: &str) -> Option<&'v JsonValue<'j>> {
    match value {
        JsonValue::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
        _ => None,
    }
}

/// The string, or the number as one.
pub(super) fn text_of<'v>(value: &'v JsonValue<'_>) -> Option<Cow<'v, str>> {
    match value {
        JsonValue::Str(text) => Some(Cow::from(text.as_ref())),
        JsonValue::Int(int) => Some(Cow::from(int.to_string())),
        JsonValue::Float(float) => Some(Cow::from(float.to_string())),
        _ => None,
    }
}

/// Appends an object on a line of its own.
pub(super) fn write_row<'v, 'j: 'v>(
    lines: &mut Vec<u8>,
    cells: impl Iterator<Item = (Cow<'v, str>, &'v JsonValue<'j>)>,
) {
    write_map(lines, cells);
    lines.push(b'\n');
}

fn write_map<'v, 'j: 'v>(to: &mut Vec<u8>, entries: impl Iterator<Item = (Cow<'v, str>, &'v JsonValue<'j>)>) {
    to.push(b'{');
    for (at, (name, value)) in entries.enumerate() {
        if at > 0 {
            to.push(b',');
        }
        write_text(to, &name);
        to.push(b':');
        write_value(to, value);
    }
    to.push(b'}');
}

fn write_text(to: &mut Vec<u8>, text: &str) {
    // A string has no way to fail.
    drop(serde_json::to_writer(to, text));
}

pub(super) fn write_value(to: &mut Vec<u8>, value: &JsonValue<'_>) {
    match value {
        JsonValue::Null => to.extend_from_slice(b"null"),
        JsonValue::Bool(value) => to.extend_from_slice(if *value { b"true" } else { b"false" }),
        JsonValue::Int(int) => to.extend_from_slice(int.to_string().as_bytes()),
        JsonValue::Float(float) if float.is_nan() => to.extend_from_slice(b"NaN"),
        JsonValue::Float(float) if float.is_infinite() => {
            to.extend_from_slice(if *float > 0.0 { b"Infinity" } else { b"-Infinity" });
        }
        // `{:?}` keeps the point of 1.0, and is read back as the same number.
        JsonValue::Float(float) => to.extend_from_slice(format!("{float:?}").as_bytes()),
        JsonValue::Str(text) => write_text(to, text),
        JsonValue::Array(items) => {
            let mut open = b'[';
            for item in items.iter() {
                to.push(std::mem::replace(&mut open, b','));
                write_value(to, item);
            }
            to.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
        }
        JsonValue::Object(entries) => {
            write_map(to, entries.iter().map(|(key, value)| (key.clone(), value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> String {
        String::from_utf8(document(text.as_bytes(), &[]).unwrap().lines).unwrap()
    }

    fn refused(text: &str) -> TableError {
        document(text.as_bytes(), &[]).unwrap_err()
    }

    #[test]
    fn rows_of_lists_and_maps() {
        let rows = "{\"id\": 1,  \"score\": NaN}\n{\"id\": \"b\\n\"}\n";
        for text in [
            "[{\"id\": 1,\n \"score\": NaN},\n{\"id\": \"b\\n\"}]\n",
            "\u{feff}{\"meta\": {\"a\": [1]}, \"rows\": [{\"id\": 1,\r\"score\": NaN}, {\"id\": \"b\\n\"}], \"n\": [1, 2]}",
        ] {
            assert_eq!(lines(text).replace("  ", " "), rows.replace("  ", " "), "{text}");
        }
        assert_eq!(lines("[]"), "");
    }

    #[test]
    fn tables_of_pandas() {
        let rows = "{\"id\":\"a\",\"score\":1.0}\n{\"id\":\"b\",\"score\":null}\n";
        for text in [
            r#"{"id": {"0": "a", "1": "b"}, "score": {"0": 1.0, "1": null}}"#,
            r#"{"columns": ["id", "score"], "index": [0, 1], "data": [["a", 1.0], ["b", null]]}"#,
            r#"{"a": {"score": 1.0}, "b": {"score": null}}"#,
            r#"{"a": {"id": "a", "score": 1.0}, "x": {"id": "b", "score": null}}"#,
        ] {
            assert_eq!(lines(text), rows, "{text}");
        }
        let error = refused(r#"{"columns": ["id"], "data": [["a"], [1, 2]]}"#);
        assert_eq!(error.kind().to_string(), "the row has 2 field(s), the header has 1");
    }

    #[test]
    fn what_has_no_rows_is_refused() {
        for text in [
            "3",
            "{}",
            r#"{"accuracy": 0.5, "n": 10}"#,
            r#"{"a": [{"id": 1}], "b": [{"id": 2}]}"#,
            r#"{"a": [1, 2]}"#,
        ] {
            let error = refused(text);
            assert!(error.kind().to_string().starts_with("this JSON is no table: "), "{text}: {error}");
        }
        let error = refused("[{\"id\": 1}, 2]");
        assert!(error.kind().to_string().ends_with("this one is a number"), "{error}");
        for text in ["[{\"id\": 1},\n{\"id\": }]", "[{\"id\": 1}]\n]", "{\"a\": [{}],\n b}"] {
            let error = refused(text);
            let is_json = error.kind().to_string().starts_with("this is not valid JSON: ");
            assert!(is_json && error.line().is_some(), "{error}");
        }
        assert_eq!(refused("[{\"id\": 1},\n{\"id\": }]").line(), Some(2));
    }
}
