//! The conversation that a record holds: read whole, or what would be lost is named.

use std::path::Path;

use errorbar_files::is_url;
use errorbar_log::eval::Wire;
use serde_json::Value as Json;

use super::compiled::Unsuitable;
use crate::{Input, Message};

/// The keys of a message that are read, and those that say nothing to a model.
const KNOWN: [&str; 10] = [
    "role",
    "content",
    "id",
    "source",
    "model",
    "metadata",
    "internal",
    "tool_call_id",
    "tool_calls",
    "error",
];
/// The same of a part that is text.
const KNOWN_OF_PART: [&str; 7] =
    ["type", "text", "metadata", "internal", "citations", "annotations", "cache_control"];
/// How words in keys start whose strings are a part of the message.
const CONTENTS: [&str; 19] = [
    "base64",
    "b64",
    "screenshot",
    "png",
    "jpg",
    "jpeg",
    "voice",
    "image",
    "audio",
    "video",
    "file",
    "document",
    "attachment",
    "reasoning",
    "thinking",
    "picture",
    "photo",
    "media",
    "function",
];

/// Whether an object is a message.
pub(super) fn is_message(value: &Json) -> bool {
    value.get("role").is_some_and(Json::is_string) && value.get("content").is_some()
}

/// A list of messages; each names what it holds beside its text.
pub(super) fn conversation(name: &str, list: Vec<Json>) -> Result<Input, Unsuitable> {
    if list.iter().any(|part| part.get("type").is_some() && part.get("role").is_none()) {
        let problem = format!("`{name}` is a list of the parts of a message, and not of messages");
        return Err(Unsuitable::new(problem).hint("name the field that holds the whole message"));
    }
    let omitted: Vec<Vec<String>> = list.iter().map(omitted_keys).collect();
    let is_empty = |(message, omitted): (&Json, &Vec<String>)| {
        let has = |field| message.get(field).is_some_and(|value| !value.is_null());
        message.is_object() && omitted.is_empty() && !has("content") && !has("tool_calls")
    };
    if let Some(at) = list.iter().zip(&omitted).position(is_empty) {
        return Err(Unsuitable::new(format!("`{name}` has no `content` in message {}", at + 1)));
    }
    let read: Result<Wire<Vec<Message>>, _> = serde_json::from_value(Json::Array(list));
    let Wire(mut messages) = read.map_err(|error| {
        Unsuitable::new(format!(
            "`{name}` is a list, but not of messages {{\"role\": \"user\", \"content\": \"…\"}}: {error}"
        ))
    })?;
    for (message, keys) in messages.iter_mut().zip(omitted) {
        message.omitted.extend(keys);
    }
    Ok(Input::Messages(messages))
}

/// The keys of a message, and of those of its parts that are text, whose values are a part of what it says.
fn omitted_keys(message: &Json) -> Vec<String> {
    let is_text = |part: &&Json| part.get("text").is_some_and(Json::is_string);
    let parts = message.get("content").and_then(Json::as_array).into_iter().flatten().filter(is_text);
    let of_parts = parts.flat_map(|part| unknown_keys(part, &KNOWN_OF_PART));
    let mut keys: Vec<String> = unknown_keys(message, &KNOWN).chain(of_parts).map(str::to_owned).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Keys of messages that servers know, and that are not sent.
const NOT_SENT: [&str; 2] = ["name", "refusal"];
/// A longer string is more than an id or a date.
const LONGEST_LABEL: usize = 128;

/// The keys of an object that are not known and have a list, an object or, if their name or the string itself says so, a
/// string as content.
fn unknown_keys<'j>(object: &'j Json, known: &'j [&str]) -> impl Iterator<Item = &'j str> {
    let holds = |key: &str, value: &Json| match value {
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
        Json::String(text) => {
            !text.is_empty() && (NOT_SENT.contains(&key) || names_content(key) || is_content(text))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    };
    let entries = object.as_object().into_iter().flatten();
    let entries = entries.filter(move |(key, value)| !known.contains(&key.as_str()) && holds(key, value));
    entries.map(|(key, _)| key.as_str())
}

fn names_content(key: &str) -> bool {
    // In camel case a word starts with its capital.
    let is_capital = |at: usize, c: char| at > 0 && c.is_ascii_uppercase();
    let spaced =
        key.char_indices().flat_map(|(at, c)| is_capital(at, c).then_some(' ').into_iter().chain([c]));
    let key = spaced.collect::<String>().to_ascii_lowercase();
    let compact = key.replace(' ', "");
    let mut words = key.split(['_', '-', '.', ' ']).chain([compact.as_str()]);
    words.any(|word| CONTENTS.iter().any(|content| word.starts_with(content)))
}

/// Whether a string is an address, data within one, or longer than a label.
fn is_content(text: &str) -> bool {
    let has_scheme =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    text.len() > LONGEST_LABEL || has_scheme("data:") || is_url(Path::new(text))
}
