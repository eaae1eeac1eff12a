//! `generate`: how the model generates.

use errorbar_core::Metadata;
use serde_json::Value as Json;

use super::mistake::Mistakes;
use super::options;
use super::section::{Keys, TomlField, TomlSection};
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

pub(super) fn read(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<GenerateConfig> {
    let Some(section) = TomlSection::of_field(field, KEYS, mistakes) else {
        field.expected("a table such as { temperature = 0, max_tokens = 512 }", mistakes);
        return None;
    };
    let mut fields = Metadata::new();
    for key in KEYS {
        if let Some(field) = section.get(key)
            && let Some(value) = options::json(field, mistakes)
            && is_good(key, &value, field, mistakes)
        {
            fields.insert((*key).to_owned(), value);
        }
    }
    // Nobody wants to know of how many tokens without wanting to know of any.
    if fields.contains_key("top_logprobs") && !fields.contains_key("logprobs") {
        fields.insert("logprobs", Json::Bool(true));
    }
    config(fields)
}

/// Whether a value is one that the key can have; if not, it is told.
fn is_good(key: &str, value: &Json, field: TomlField<'_>, mistakes: &mut Mistakes) -> bool {
    let alone = config(Metadata::from_iter([(key.to_owned(), value.clone())]));
    match alone.map(|config| config.check()) {
        Some(Ok(())) => return true,
        Some(Err(problem)) => mistakes.add(field.place(), problem.to_string(), None),
        None => field.expected(wanted(key), mistakes),
    }
    false
}

fn config(fields: Metadata) -> Option<GenerateConfig> {
    serde_json::from_value(Json::from(fields)).ok()
}

/// The kind of value that a key has, in words.
fn wanted(key: &str) -> &'static str {
    match key {
        "system_message" => "a text in quotes",
        "max_tokens" | "seed" | "top_logprobs" => "a whole number",
        "stop_seqs" => "a list of texts",
        "logprobs" => "true or false",
        "extra_body" => "a table such as { top_k = 40 }",
        _ => "a number",
    }
}
