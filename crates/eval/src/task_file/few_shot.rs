//! `few_shot`: solved examples before the question.

use std::borrow::Cow;
use std::ops::Range;

use errorbar_core::spec::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::args::TableEntry;
use super::dataset;
use super::section::{Keys, TomlField, TomlSection, TomlString, did_you_mean};
use crate::Dataset;
use crate::few_shot::{ExamplesPlace, FewShot};
use crate::task_check::keys_of;
use crate::template::placeholders;

/// The keys beside those of a dataset.
const KEYS: Keys = &["count", "seed", "template", "as", "separator", "message", "group"];

/// What of the dataset is not that of the examples.
const NOT_SHARED: [&str; 3] = ["limit", "shuffle", "shuffle_choices"];
/// What of the dataset is about its file.
const OF_FILE: [&str; 6] = ["format", "header", "columns", "delimiter", "subset", "split"];

/// The dataset of the examples: that of the task, with what `few_shot` gives in place of it.
pub(super) fn dataset_entry<'t>(table: &DeTable<'t>) -> Option<TableEntry<'t>> {
    let (key, value) = table.get_key_value("few_shot")?;
    let own = value.get_ref().as_table()?;
    let mut entries = match table.get("dataset").map(Spanned::get_ref) {
        Some(DeValue::Table(dataset)) => dataset.clone(),
        Some(DeValue::String(path)) => {
            let path = Spanned::new(value.span(), DeValue::String(path.clone()));
            DeTable::from_iter([(Spanned::new(key.span(), Cow::Borrowed("path")), path)])
        }
        _ => DeTable::new(),
    };
    let has_path = own.contains_key("path");
    NOT_SHARED.iter().chain(OF_FILE.iter().filter(|_| has_path)).for_each(|key| drop(entries.remove(*key)));
    for (key, value) in own {
        let name = key.get_ref().as_ref();
        if dataset::KEYS.contains(&name) {
            entries.remove(name);
            entries.insert(key.clone(), value.clone());
        }
    }
    Some((key.clone(), Spanned::new(value.span(), DeValue::Table(entries))))
}

/// The examples, and where their number is given; `None` if they cannot be used, which is reported.
pub(super) fn read(
    field: TomlField<'_>,
    examples: Option<TomlField<'_>>,
    questions: Option<&Dataset>,
) -> Option<(Range<usize>, FewShot)> {
    const EXAMPLE: &str =
        "{ path = \"train.csv\", count = 5, seed = 1, template = \"{input}\\n\\n{target}\" }";
    let mistakes = &field.file.mistakes;
    let before = mistakes.count();
    let Some(section) = field.as_section_beside(KEYS, dataset::KEYS) else {
        return field.expected(&format!("a table such as {EXAMPLE}"));
    };
    let count_field = section.get("count").or_else(|| {
        let hint = "set how many examples there are: count = 5";
        mistakes.missing(field.place(), "`few_shot` has no `count`", hint);
        None
    });
    let count = count_field.and_then(|count| match count.value() {
        DeValue::Boolean(false) => Some(0),
        _ => count.whole_number(0_usize, "an integer, 0 or more"),
    });
    let seed = section.get("seed");
    let seed = seed.and_then(|seed| seed.whole_number(0_u64, "a seed, which is an integer, 0 or more"));
    let place = place(&section);
    let templates = templates(&section, place);
    let (separator, message) = (text(&section, "separator"), text(&section, "message"));
    let group = section.get("group").and_then(|group| group.string());
    let (count, place, templates) = (count?, place?, templates?);
    let dataset = dataset::read(examples?, None)?;
    let samples = dataset.samples().ok()?;

    let mut keys = keys_of(samples);
    let is_everywhere = |key: &String| samples.iter().all(|(_, sample)| sample.metadata.contains_key(key));
    keys.retain(is_everywhere);
    let before_names = mistakes.count();
    for string in templates.iter().flatten() {
        check_names(string, &["input", "target", "choices"], &keys);
    }
    if let Some(message) = &message {
        let names: &[&str] = match place {
            ExamplesPlace::User => &["examples", "prompt"],
            _ => &["examples"],
        };
        check_names(message, names, &[]);
        check_message(message, names);
    }
    if let Some(group) = &group
        && !keys.iter().any(|key| key == group.value)
    {
        let hint = did_you_mean(nearest(group.value, keys.iter().map(String::as_str)));
        let hint = hint.unwrap_or_else(|| "name it under `metadata` of the dataset".to_owned());
        group.report(
            0..group.value.len(),
            format!("not all examples have the metadata `{}`", group.value),
            Some(hint),
        );
    }
    if mistakes.count() > before_names {
        return None;
    }
    let few_shot = FewShot::new(&dataset).map_err(|error| field.report(error.to_string(), None)).ok()?;
    // What was wrong before that is reported.
    if mistakes.count() > before {
        return None;
    }
    let [question, answer] = templates.map(|string| string.map(|string| string.value.to_owned()));
    let is_same_file = questions.is_some_and(|questions| {
        questions.location() == dataset.location() && questions.provenance() == dataset.provenance()
    });
    let few_shot = FewShot {
        count,
        seed,
        place,
        question,
        answer,
        separator: separator.map_or(few_shot.separator, |separator| separator.value.to_owned()),
        message: message.map(|message| message.value.to_owned()),
        group: group.map(|group| group.value.to_owned()),
        is_same_file,
        ..few_shot
    };
    let few_shot = few_shot.chosen().map_err(|error| field.report(error.to_string(), None)).ok()?;
    let place = count_field.map_or_else(|| field.place(), |count| count.place());
    Some((place, few_shot))
}

fn place(section: &TomlSection<'_>) -> Option<ExamplesPlace> {
    let Some(field) = section.get("as") else {
        // Two templates are those of two messages.
        let is_pair = section.get("template").is_some_and(|template| template.as_table().is_some());
        return Some(if is_pair { ExamplesPlace::Messages } else { ExamplesPlace::System });
    };
    field.one_of(&ExamplesPlace::NAMES, "\"system\", \"user\" or \"messages\"")
}

/// The templates of the question and of the answer, where they are given; `None` if they are wrong.
fn templates<'d>(
    section: &TomlSection<'d>,
    place: Option<ExamplesPlace>,
) -> Option<[Option<TomlString<'d>>; 2]> {
    let Some(field) = section.get("template") else { return Some([None, None]) };
    if place == Some(ExamplesPlace::Messages) {
        let example = "{ user = \"{input}\", assistant = \"{target}\" }";
        let table = field.section(&["user", "assistant"], example)?;
        let part = |key: &str| table.get(key).map_or(Some(None), |field| field.string().map(Some));
        let (user, assistant) = (part("user"), part("assistant"));
        return Some([user?, assistant?]);
    }
    if field.as_table().is_some() {
        return field.expected("one string in quotes; two are for examples as messages: as = \"messages\"");
    }
    Some([Some(field.string()?), None])
}

/// A string, which may be empty.
fn text<'d>(section: &TomlSection<'d>, key: &str) -> Option<TomlString<'d>> {
    let field = section.get(key)?;
    field.as_string().or_else(|| field.expected("a string in quotes"))
}

/// Reports names in braces that no example has.
fn check_names(string: &TomlString<'_>, own: &[&str], keys: &[String]) {
    let known = || own.iter().copied().chain(keys.iter().map(String::as_str));
    for name in placeholders(string.value) {
        if known().any(|known| known == name) {
            continue;
        }
        let place = string
            .value
            .find(&format!("{{{name}}}"))
            .map_or(0..string.value.len(), |at| at..at + name.len() + 2);
        let hint = did_you_mean(nearest(name, known()))
            .unwrap_or_else(|| format!("there are: {}", known().collect::<Vec<_>>().join(", ")));
        string.report(place, format!("examples have no `{name}`"), Some(hint));
    }
}

/// Reports a message without the examples or without the question.
fn check_message(message: &TomlString<'_>, names: &[&str]) {
    let found = placeholders(message.value);
    for name in names.iter().filter(|name| !found.contains(name)) {
        message.report(0..message.value.len(), format!("`message` must have {{{name}}} in it"), None);
    }
}
