//! `errors`: how errors and intervals are computed.

use errorbar_core::spec::nearest;
use errorbar_core::{ErrorMethod, ErrorPlan, IntervalChoice, IntervalSide, Metadata};
use serde_json::Value as Json;

use super::section::{Keys, TomlField, did_you_mean};

pub(super) const KEYS: Keys =
    &["cluster", "method", "interval", "level", "draws", "range", "side", "population"];

pub(super) fn read(field: TomlField<'_>) -> Option<ErrorPlan> {
    let fields = field.json_table(KEYS, "{ cluster = \"passage\" }", is_good)?;
    // Each is right by itself, so this is about how they go together.
    ErrorPlan::from_json(&Json::from(fields)).map_err(|problem| field.report(problem, None)).ok()
}

/// Whether a value is one that the key can have; if not, it is reported.
fn is_good(key: &str, field: TomlField<'_>, value: &Json) -> bool {
    let alone = Json::from(Metadata::from_iter([(key.to_owned(), value.clone())]));
    let is_empty_key =
        key == "cluster" && (value == "" || value.as_array().is_some_and(|keys| keys.contains(&"".into())));
    // A value of the right kind has its own problem; for the rest the kind is named as everywhere in the file.
    match (ErrorPlan::from_json(&alone), value.as_str()) {
        (Ok(_), _) if !is_empty_key => return true,
        (Err(problem), name) if is_of_its_kind(key, value) => {
            // With arguments, it is those that are wrong.
            let name = name.filter(|name| !name.contains('('));
            field.report(problem, did_you_mean(name.and_then(|name| nearest(name, names(key)))));
        }
        _ => field.expected(wanted(key)).unwrap_or_default(),
    }
    false
}

fn is_of_its_kind(key: &str, value: &Json) -> bool {
    let is_pair = |items: &Vec<Json>| items.len() == 2 && items.iter().all(Json::is_number);
    match key {
        "cluster" => {
            value.is_string() || value.as_array().is_some_and(|keys| keys.iter().all(Json::is_string))
        }
        "method" | "interval" | "side" => value.is_string(),
        "level" => value.is_number(),
        "draws" => value.as_u64().is_some_and(|draws| u32::try_from(draws).is_ok()),
        "population" => value.is_u64(),
        _ => value.as_array().is_some_and(is_pair),
    }
}

/// The kind of value that a key has, in words.
fn wanted(key: &str) -> &'static str {
    match key {
        "cluster" => "a metadata key such as \"passage\", or a list of two",
        "method" => "a method in quotes, such as \"CR2\"",
        "interval" => "a method in quotes, such as \"t\"",
        "level" => "a number such as 0.95",
        "draws" => "an integer",
        "side" => "\"two-sided\", \"lower\" or \"upper\"",
        "population" => "the number of samples of the whole benchmark, such as 1319",
        _ => "the lowest and the highest score, such as [0, 10]",
    }
}

fn names(key: &str) -> Vec<&'static str> {
    match key {
        "method" => ErrorMethod::CHOICES.iter().map(|method| method.name()).collect(),
        "interval" => IntervalChoice::names().collect(),
        "side" => IntervalSide::CHOICES.iter().map(|side| side.name()).collect(),
        _ => Vec::new(),
    }
}
