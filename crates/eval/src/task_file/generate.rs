//! `generate`: how the model generates.

use errorbar_core::Metadata;
use serde_json::Value as Json;

use super::section::{Keys, TomlField};
use crate::GenerateConfig;

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
    config(fields)
}

/// Whether a value is one that the key can have; if not, it is reported.
fn is_good(key: &str, field: TomlField<'_>, value: &Json) -> bool {
    let alone = config(Metadata::from_iter([(key.to_owned(), value.clone())]));
    match alone.map(|config| config.check()) {
        Some(Ok(())) => return true,
        Some(Err(problem)) => field.report(problem.to_string(), None),
        None => field.expected(wanted(key)).unwrap_or_default(),
    }
    false
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
