//! `generate`: how the model generates.

use errorbar_core::Metadata;
use serde_json::Value as Json;

use super::section::{Keys, TomlField};
use crate::{GenerateConfig, TemplateText};

pub(super) const KEYS: Keys = &[
    "system_message",
    "max_tokens",
    "top_p",
    "temperature",
    "stop_seqs",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "logprobs",
    "top_logprobs",
    "extra_body",
];

pub(super) fn read(field: TomlField<'_>) -> Option<GenerateConfig> {
    let mut fields = field.json_table(KEYS, "{ temperature = 0, max_tokens = 512 }", is_good)?;
    // Nobody wants to know of how many tokens without wanting to know of any.
    if fields.contains_key("top_logprobs") && !fields.contains_key("logprobs") {
        fields.insert("logprobs", Json::Bool(true));
    }
    if let Some(Json::String(given)) = fields.get("system_message") {
        let text = system_message(given, field)?;
        fields.insert("system_message", Json::from(text));
    }
    config(fields)
}

/// Whether a value is one that the key can have; if not, it is reported.
fn is_good(key: &str, field: TomlField<'_>, value: &Json) -> bool {
    if let ("system_message", Json::String(given)) = (key, value) {
        return system_message(given, field).is_some();
    }
    let alone = config(Metadata::from_iter([(key.to_owned(), value.clone())]));
    match alone.map(|config| config.check()) {
        Some(Ok(())) => return true,
        Some(Err(problem)) => field.report(problem.to_string(), None),
        None => field.expected(wanted(key)).unwrap_or_default(),
    }
    false
}

/// The message, or what the file holds that it names.
fn system_message(given: &str, field: TomlField<'_>) -> Option<String> {
    match TemplateText::read(given, field.file.registry) {
        Ok(message) => Some(message.text().to_owned()),
        Err(problem) => {
            field.report(format!("`system_message`: {problem}"), None);
            None
        }
    }
}

fn config(fields: Metadata) -> Option<GenerateConfig> {
    serde_json::from_value(Json::from(fields)).ok()
}

/// The kind of value that a key has, in words.
fn wanted(key: &str) -> &'static str {
    match key {
        "system_message" => "a string in quotes",
        "max_tokens" | "seed" | "top_logprobs" => "an integer",
        "stop_seqs" => "a list of strings",
        "logprobs" => "true or false",
        "extra_body" => "a table such as { top_k = 40 }",
        _ => "a number",
    }
}
