//! The results of simple-evals: `EVAL_MODEL_allresults.json`.
//!
//! Lists side by side: `htmls` (what each example looks like), `convos` (its messages), and `metadata` with what some
//! evaluations record per example. The score is the one in the metadata; else the one that the page of the example shows.
//! Nothing names the examples, so the id is made of the question, the options of which may be shuffled; questions that all
//! come equally often are repeats. Where they do not, a user says what a sample is: with the name `question` of the column
//! of ids, or `example`.

use jiter::JsonValue;

use super::rows::{RowKey, ToolRows, are_unique, fingerprint, occurrences, repeats};
use super::{json_text, problem, text};
use crate::TableErrorKind;
use crate::error::TableError;
use crate::input::json::{Records, get};

const NAME: &str = "simple-evals";
/// The name of the column of ids that makes examples with the same question repeats of it.
const QUESTION: &str = "question";
/// The name of the column of ids that makes every example a sample.
const EXAMPLE: &str = "example";

pub(super) fn rows(results: &JsonValue<'_>, ids: &[String]) -> Result<Records, TableError> {
    let list = |value: Option<&JsonValue<'_>>| match value {
        Some(JsonValue::Array(items)) => items.iter().map(JsonValue::to_static).collect(),
        _ => Vec::new(),
    };
    let (pages, messages) = (list(get(results, "htmls")), list(get(results, "convos")));
    let details = list(get(results, "metadata").and_then(|metadata| get(metadata, "example_level_metadata")));
    if pages.len() != messages.len() || (!details.is_empty() && details.len() != messages.len()) {
        let found = format!(
            "it has {} pages, {} conversations and {} records of examples",
            pages.len(),
            messages.len(),
            details.len()
        );
        return Err(problem(NAME, 0, found));
    }
    let id_name = ids.iter().find(|name| [QUESTION, EXAMPLE].contains(&name.as_str())).cloned();
    let questions: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(at, convo)| {
            if id_name.as_deref() == Some(EXAMPLE) {
                return (at + 1).to_string();
            }
            let named = details.get(at).and_then(|details| text(details, "prompt_id"));
            named.unwrap_or_else(|| fingerprint(&question(convo)))
        })
        .collect();
    let of = || questions.iter().map(String::as_str);
    let epochs = match repeats(of()) {
        Some(epochs) => epochs,
        None if are_unique(of()) => vec![1; questions.len()],
        None if id_name.is_some() => occurrences(of()),
        None => return Err(TableErrorKind::UnevenRepeats { tool: NAME }.into()),
    };
    let mut rows = ToolRows::named(id_name);
    for (at, (id, epoch)) in questions.iter().zip(epochs).enumerate() {
        let key = RowKey { id: id.clone(), epoch, log: None };
        rows.touch(&key, at);
        let recorded = details.get(at).and_then(|details| get(details, "score"));
        let score = match recorded {
            Some(JsonValue::Null) => continue,
            Some(score) => Some(score.to_static()),
            None => pages.get(at).and_then(shown_score),
        };
        let Some(score) = score else {
            return Err(problem(NAME, at, "neither the metadata nor the page of an example has its score"));
        };
        if !matches!(score, JsonValue::Null) {
            rows.score(&key, at, "score", &score).map_err(|kind| kind.in_row(at as u64 + 1))?;
        }
    }
    if rows.has_no_scores() {
        return Err(problem(NAME, 0, "no example has a score"));
    }
    Ok(rows.finish(NAME))
}

/// The first message, without the letters and the order of its options.
fn question(convo: &JsonValue<'_>) -> String {
    let JsonValue::Array(messages) = convo else { return json_text(convo) };
    let prompt: Vec<String> = messages
        .iter()
        .filter(|message| text(message, "role").as_deref() != Some("assistant"))
        .map(|message| match get(message, "content") {
            Some(JsonValue::Str(content)) => content.to_string(),
            content => content.map(json_text).unwrap_or_default(),
        })
        .collect();
    let prompt = prompt.join("\n");
    let is_option = |line: &&str| {
        let mut characters = line.chars();
        matches!((characters.next(), characters.next()), (Some('A'..='J'), Some(')' | '.')))
    };
    let lines: Vec<&str> = prompt.lines().collect();
    let mut options: Vec<&str> = lines
        .iter()
        .filter(|line| is_option(line))
        .map(|line| line.get(2..).unwrap_or_default().trim())
        .collect();
    options.sort_unstable();
    let rest: Vec<&str> = lines.iter().filter(|line| !is_option(line)).copied().collect();
    format!("{}\n{}", rest.join("\n"), options.join("\n"))
}

/// The score at the end of the page of an example: `<p>Score: 1.0</p>`.
fn shown_score(page: &JsonValue<'_>) -> Option<JsonValue<'static>> {
    let JsonValue::Str(page) = page else { return None };
    let (_, rest) = page.rsplit_once("<p>Score: ")?;
    let (score, _) = rest.split_once("</p>")?;
    match score.trim() {
        "True" => Some(JsonValue::Bool(true)),
        "False" => Some(JsonValue::Bool(false)),
        "None" => Some(JsonValue::Null),
        score => score.parse().ok().map(JsonValue::Float),
    }
}
