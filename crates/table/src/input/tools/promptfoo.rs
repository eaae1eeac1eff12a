//! The results of promptfoo: `promptfoo eval --output results.json` (or `.jsonl`).
//!
//! A record per test, prompt and provider, under `results.results` (`results` in old versions). The scorers are
//! `success`, `score` and every named score. Each provider (and prompt, if there are several) is a run of its own. The id
//! is the number of the test; tests that come several times with the same variables and assertions are its epochs. A
//! record that failed before it could be graded has no score.

use indexmap::{IndexMap, IndexSet};
use jiter::JsonValue;

use super::rows::{RowKey, ToolRows, are_unique, fingerprint, repeats};
use super::{json_text, problem, text};
use crate::error::TableError;
use crate::input::json::{Records, get};

const NAME: &str = "promptfoo";

/// The `failureReason` of a record that could not be graded.
const ERROR: i64 = 2;

pub(super) fn rows(records: &[JsonValue<'_>]) -> Result<Records, TableError> {
    let names: Vec<(String, String)> =
        records.iter().map(|record| (provider(record), prompt(record))).collect();
    let providers: IndexSet<&str> = names.iter().map(|(provider, _)| provider.as_str()).collect();
    let prompts: IndexSet<&str> = names.iter().map(|(_, prompt)| prompt.as_str()).collect();
    let run = |at: usize| {
        let (provider, prompt) = names.get(at)?;
        let number = prompts.get_index_of(prompt.as_str()).unwrap_or(0) + 1;
        match (providers.len() > 1, prompts.len() > 1) {
            (false, false) => None,
            (true, false) => Some(provider.clone()),
            (false, true) => Some(format!("prompt {number}")),
            (true, true) => Some(format!("{provider}, prompt {number}")),
        }
    };
    let mut runs: IndexMap<Option<String>, Vec<usize>> = IndexMap::new();
    (0..records.len()).for_each(|at| runs.entry(run(at)).or_default().push(at));
    let mut rows = ToolRows::default();
    for (log, members) in runs {
        let members: Vec<(usize, &JsonValue<'_>)> =
            members.into_iter().filter_map(|at| Some((at, records.get(at)?))).collect();
        let ids = ids(&members)?;
        for ((at, record), (id, epoch)) in members.into_iter().zip(ids) {
            let key = RowKey { log: log.clone(), id, epoch };
            rows.touch(&key, at);
            add(&mut rows, &key, at, record)?;
        }
    }
    Ok(rows.finish(NAME))
}

/// The scores and the variables of a record.
fn add(rows: &mut ToolRows, key: &RowKey, at: usize, record: &JsonValue<'_>) -> Result<(), TableError> {
    let located = |kind: crate::TableErrorKind| kind.in_row(at as u64 + 1).of_sample(&key.id);
    let is_error = match get(record, "failureReason") {
        Some(JsonValue::Int(reason)) => *reason == ERROR,
        // Old versions have the message alone, also beside a failed assertion.
        _ => {
            get(record, "error").is_some_and(|error| !matches!(error, JsonValue::Null))
                && get(record, "gradingResult").is_none_or(|result| matches!(result, JsonValue::Null))
        }
    };
    if !is_error {
        for name in ["success", "score"] {
            match get(record, name) {
                Some(value @ (JsonValue::Bool(_) | JsonValue::Int(_) | JsonValue::Float(_))) => {
                    rows.score(key, at, name, value).map_err(located)?;
                }
                _ => return Err(problem(NAME, at, format!("a record has no `{name}`"))),
            }
        }
        if let Some(JsonValue::Object(named)) = get(record, "namedScores") {
            for (name, value) in named.iter() {
                rows.score(key, at, name, value).map_err(located)?;
            }
        }
    }
    if let Some(JsonValue::Object(variables)) = get(record, "vars") {
        variables.iter().for_each(|(name, value)| rows.metadata(key, at, format!("vars.{name}"), value));
    }
    Ok(())
}

/// The ids and epochs of the records of a run.
fn ids(members: &[(usize, &JsonValue<'_>)]) -> Result<Vec<(String, u32)>, TableError> {
    let tests: Vec<String> = members.iter().map(|(_, record)| test(record)).collect();
    let numbers: Vec<Option<String>> = members.iter().map(|(_, record)| text(record, "testIdx")).collect();
    let tests_of = || tests.iter().map(String::as_str);
    if let Some(epochs) = repeats(tests_of()) {
        return Ok(tests.iter().map(|test| fingerprint(test)).zip(epochs).collect());
    }
    let numbers: Option<Vec<String>> = numbers.into_iter().collect();
    if let Some(numbers) = numbers.filter(|numbers| are_unique(numbers.iter().map(String::as_str))) {
        return Ok(numbers.into_iter().map(|number| (number, 1)).collect());
    }
    match are_unique(tests_of()) {
        true => Ok(tests.iter().map(|test| (fingerprint(test), 1)).collect()),
        false => {
            Err(problem(NAME, 0, "some tests have the same variables, and no `testIdx` tells them apart"))
        }
    }
}

/// What makes a test the same test.
fn test(record: &JsonValue<'_>) -> String {
    let case = get(record, "testCase");
    let parts = [
        get(record, "vars"),
        case.and_then(|case| get(case, "assert")),
        case.and_then(|case| get(case, "description")),
    ];
    parts.into_iter().flatten().map(json_text).collect::<Vec<_>>().join("\n")
}

fn provider(record: &JsonValue<'_>) -> String {
    match get(record, "provider") {
        Some(JsonValue::Str(id)) => id.to_string(),
        Some(provider) => {
            let label = text(provider, "label").filter(|label| !label.is_empty());
            label.or_else(|| text(provider, "id")).unwrap_or_default()
        }
        None => String::new(),
    }
}

fn prompt(record: &JsonValue<'_>) -> String {
    // The template: what is sent differs between tests.
    text(record, "promptId")
        .or_else(|| {
            let prompt = get(record, "prompt")?;
            text(prompt, "id").or_else(|| text(prompt, "label")).or_else(|| text(prompt, "display"))
        })
        .unwrap_or_default()
}
