//! The samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, which `lm_eval --log_samples` writes.
//!
//! A record per document and filter. The id is `doc_id`; every metric is a scorer, and where there are several filters,
//! every metric under every filter, by the name that the tool's own table has: `exact_match,strict-match`.

use indexmap::IndexSet;
use jiter::JsonValue;

use super::rows::{RowKey, ToolRows};
use super::{problem, text};
use crate::error::TableError;
use crate::input::json::{Records, get, text_of};

const NAME: &str = "lm-evaluation-harness";

/// The hash of a document.
const HASH: &str = "doc_hash";

/// The keys of a record that are no metrics.
const OTHER: [&str; 15] = [
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "input",
    "task_name",
    "prompt",
    "repeats",
];

pub(super) fn rows(records: &[JsonValue<'_>], ids: &[String]) -> Result<Records, TableError> {
    let filter_of = |record: &JsonValue<'_>| text(record, "filter").unwrap_or_else(|| "none".to_owned());
    let filters: IndexSet<String> = records.iter().map(filter_of).collect();
    let first = records.first();
    let named = ids.iter().find(|name| first.is_some_and(|record| value_at(record, name).is_some()));
    let id_name = named.map_or("doc_id", String::as_str);
    let mut rows = ToolRows::named(named.cloned());
    for (at, record) in records.iter().enumerate() {
        let Some(id) = value_at(record, id_name).and_then(text_of) else {
            return Err(problem(NAME, at, format!("a record has no `{id_name}`")));
        };
        let key = RowKey { id: id.into_owned(), epoch: 1, log: None };
        rows.touch(&key, at);
        for (name, value) in metrics(record) {
            let name = match filters.len() {
                0 | 1 => name.to_owned(),
                _ => format!("{name},{}", filter_of(record)),
            };
            match value {
                JsonValue::Int(_) | JsonValue::Float(_) | JsonValue::Bool(_) | JsonValue::Null => rows
                    .score(&key, at, &name, value)
                    .map_err(|kind| kind.in_row(at as u64 + 1).of_sample(&key.id).apart(apart(records)))?,
                // Such as the pairs that corpus BLEU is computed from.
                _ => drop(rows.unread.insert(name)),
            }
        }
        if let Some(target) = get(record, "target") {
            rows.metadata(&key, at, "target".to_owned(), target);
        }
        if let Some(JsonValue::Object(doc)) = get(record, "doc") {
            doc.iter().for_each(|(name, value)| rows.metadata(&key, at, format!("doc.{name}"), value));
        }
    }
    if rows.has_no_scores() {
        let unread: Vec<&str> = rows.unread.iter().map(String::as_str).collect();
        let found = match unread.as_slice() {
            [] => "no record has a metric".to_owned(),
            unread => format!("no metric has a number per sample: {}", unread.join(", ")),
        };
        return Err(problem(NAME, 0, found));
    }
    Ok(rows.finish(NAME))
}

/// What a record has under a name, which may be that of a part of its document: `doc.question`.
fn value_at<'r, 'j>(record: &'r JsonValue<'j>, name: &str) -> Option<&'r JsonValue<'j>> {
    let in_doc = || name.strip_prefix("doc.").and_then(|name| get(get(record, "doc")?, name));
    get(record, name).or_else(in_doc)
}

/// What tells records apart, where documents of several tasks have the same numbers.
fn apart(records: &[JsonValue<'_>]) -> Option<(String, bool)> {
    let mut seen = IndexSet::new();
    let is_new = |record: &JsonValue<'_>| {
        text(record, HASH).is_some_and(|hash| seen.insert((hash, text(record, "filter"))))
    };
    records.iter().all(is_new).then(|| (HASH.to_owned(), false))
}

/// The metrics of a record: those that it names, or all keys that no version of the tool uses for something else.
fn metrics<'r, 'j>(record: &'r JsonValue<'j>) -> Vec<(&'r str, &'r JsonValue<'j>)> {
    let JsonValue::Object(entries) = record else { return Vec::new() };
    let named: Option<Vec<&str>> = match get(record, "metrics") {
        Some(JsonValue::Array(names)) => Some(
            names
                .iter()
                .filter_map(|name| if let JsonValue::Str(name) = name { Some(name.as_ref()) } else { None })
                .collect(),
        ),
        _ => None,
    };
    let is_metric = |key: &str| match &named {
        Some(named) => named.contains(&key),
        None => !OTHER.contains(&key),
    };
    let is_number = |value: &JsonValue<'_>| !matches!(value, JsonValue::Str(_));
    entries
        .iter()
        .filter(|(key, value)| is_metric(key) && (named.is_some() || is_number(value)))
        .map(|(key, value)| (key.as_ref(), value))
        .collect()
}
