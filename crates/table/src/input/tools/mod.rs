//! Results of other tools, as they write them. Each is one file here, with the keys that it is known by.

mod helm;
mod lm_eval;
mod promptfoo;
mod rows;
mod simple_evals;

use jiter::JsonValue;

use super::json::{Records, get};
use crate::TableErrorKind;
use crate::error::TableError;

/// A tool whose results are a list of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    LmEval,
    Promptfoo,
    Helm,
}

/// The tools, and the keys that their records have; every one of them.
const TOOLS: [(Tool, &[&str]); 4] = [
    (Tool::LmEval, &["doc_id", "filtered_resps"]),
    (Tool::Promptfoo, &["success", "prompt", "provider", "vars"]),
    (Tool::Promptfoo, &["success", "prompt", "testIdx", "promptIdx"]),
    (Tool::Helm, &["instance_id", "stats"]),
];

impl Tool {
    /// The rows of its records; `ids` are the names that ids may be under, if a user names some.
    pub(super) fn rows(self, records: &[JsonValue<'_>], ids: &[String]) -> Result<Records, TableError> {
        match self {
            Tool::LmEval => lm_eval::rows(records, ids),
            Tool::Promptfoo => promptfoo::rows(records),
            Tool::Helm => helm::rows(records),
        }
    }
}

/// The tool that wrote a record.
pub(super) fn of_record(record: &JsonValue<'_>) -> Option<Tool> {
    let is_of = |keys: &[&str]| keys.iter().all(|key| get(record, key).is_some());
    TOOLS.iter().find(|(_, keys)| is_of(keys)).map(|(tool, _)| *tool)
}

/// The tool that wrote JSON lines, by the first of them.
pub(super) fn of_lines(head: &[u8]) -> Option<Tool> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    match JsonValue::parse(line, true) {
        Ok(record) => of_record(&record),
        // A line that is longer than the head; its keys are there, but for the last ones.
        Err(_) => {
            let has = |key: &str| {
                let key = format!("\"{key}\"");
                line.windows(key.len()).any(|window| window == key.as_bytes())
            };
            let is_lm_eval = has("doc_id") && has("doc") && (has("arguments") || has("resps"));
            is_lm_eval.then_some(Tool::LmEval)
        }
    }
}

/// The rows of simple-evals, whose results are lists side by side.
pub(super) fn simple_evals(results: &JsonValue<'_>, ids: &[String]) -> Result<Records, TableError> {
    simple_evals::rows(results, ids)
}

/// Whether a record is a figure of a whole run of HELM.
pub(super) fn is_helm_aggregate(record: &JsonValue<'_>) -> bool {
    get(record, "name").is_some_and(|name| get(name, "name").is_some()) && get(record, "count").is_some()
}

/// The error of figures of a whole run, where scores of samples are read.
pub(super) fn aggregate(tool: &'static str, wanted: &'static str) -> TableError {
    TableErrorKind::AggregatedResults { tool, wanted }.into()
}

/// The error of results that are not as the tool writes them.
fn problem(tool: &'static str, record: usize, problem: impl Into<String>) -> TableError {
    TableErrorKind::ToolResults { tool, problem: problem.into() }.in_row(record as u64 + 1)
}

/// The string or number under a key, as a string.
fn text(value: &JsonValue<'_>, key: &str) -> Option<String> {
    get(value, key).and_then(super::json::text_of).map(std::borrow::Cow::into_owned)
}

/// A value as JSON.
fn json_text(value: &JsonValue<'_>) -> String {
    let mut bytes = Vec::new();
    super::json::write_value(&mut bytes, value);
    String::from_utf8(bytes).unwrap_or_default()
}
