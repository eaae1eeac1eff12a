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
use crate::few_shot::{ExampleTemplate, ExamplesPlace, FewShot};
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
    let Some(section) = field.as_section_beside(KEYS, dataset::KEYS) else {
        return field.expected(&format!("a table such as {EXAMPLE}"));
    };
    let count_field = section.get("count").or_else(|| {
        let hint = "set how many examples there are: count = 5";
        field.file.mistakes.missing(field.place(), "`few_shot` has no `count`", hint);
        None
    });
    let count = count_field.and_then(|count| match count.value() {
        DeValue::Boolean(false) => Some(0),
        _ => count.whole_number(0_usize, "an integer, 0 or more"),
    });
    let seed = section.get("seed");
    let seed = seed.map(|seed| seed.whole_number(0_u64, "a seed, which is an integer, 0 or more"));
    let place = place(&section);
    let template = template(&section, place);
    let separator = text(&section, "separator");
    let message = text(&section, "message");
    let group = section.get("group").map(|group| group.string());
    let (count, place, template) = (count?, place?, template?);
    let dataset = dataset::read(examples?, None)?;
    let samples = dataset.samples().ok()?;

    let mut keys = keys_of(samples);
    let is_everywhere = |key: &String| samples.iter().all(|(_, sample)| sample.metadata.contains_key(key));
    keys.retain(is_everywhere);
    let mistakes = field.file.mistakes.count();
    for string in template.strings.iter() {
        check_names(string, &["input", "target", "choices"], &keys);
    }
    if let Some(Some(message)) = &message {
        let names: &[&str] = match place {
            ExamplesPlace::User => &["examples", "prompt"],
            _ => &["examples"],
        };
        check_names(message, names, &[]);
        check_message(message, names);
    }
    if let Some(Some(group)) = &group
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
    if field.file.mistakes.count() > mistakes {
        return None;
    }
    let few_shot = FewShot::new(&dataset);
    let mut few_shot = few_shot.map_err(|error| field.report(error.to_string(), None)).ok()?;
    (few_shot.count, few_shot.place, few_shot.template) = (count, place, template.template);
    few_shot.is_same_file = questions.is_some_and(|questions| {
        questions.location() == dataset.location() && questions.provenance() == dataset.provenance()
    });
    few_shot.seed = given(seed)?;
    few_shot.message = given(message)?.map(|text| text.value.to_owned());
    few_shot.group = given(group)?.map(|group| group.value.to_owned());
    if let Some(separator) = given(separator)? {
        separator.value.clone_into(&mut few_shot.separator);
    }
    let few_shot = few_shot.chosen().map_err(|error| field.report(error.to_string(), None)).ok()?;
    let place = count_field.map_or_else(|| field.place(), |count| count.place());
    Some((place, few_shot))
}

/// What a key gives: nothing if it is absent; `None` if it was not understood.
fn given<T>(value: Option<Option<T>>) -> Option<Option<T>> {
    value.map_or(Some(None), |value| value.map(Some))
}

fn place(section: &TomlSection<'_>) -> Option<ExamplesPlace> {
    const PLACES: [(&str, ExamplesPlace); 3] = [
        ("system", ExamplesPlace::System),
        ("user", ExamplesPlace::User),
        ("messages", ExamplesPlace::Messages),
    ];
    let Some(field) = section.get("as") else {
        // Two templates are those of two messages.
        let is_pair = section.get("template").is_some_and(|template| template.as_table().is_some());
        return Some(if is_pair { ExamplesPlace::Messages } else { ExamplesPlace::System });
    };
    field.one_of(&PLACES, "\"system\", \"user\" or \"messages\"")
}

/// The templates of an example, and the strings that they are.
struct Templates<'d> {
    template: ExampleTemplate,
    strings: Vec<TomlString<'d>>,
}

fn template<'d>(section: &TomlSection<'d>, place: Option<ExamplesPlace>) -> Option<Templates<'d>> {
    let Some(field) = section.get("template") else {
        return Some(Templates { template: ExampleTemplate::default(), strings: Vec::new() });
    };
    if place == Some(ExamplesPlace::Messages) {
        let example = "{ user = \"{input}\", assistant = \"{target}\" }";
        let table = field.section(&["user", "assistant"], example)?;
        let part = |key: &str| table.get(key).map(|field| field.string());
        let (user, assistant) = (part("user"), part("assistant"));
        let strings: Vec<TomlString<'d>> =
            [&user, &assistant].into_iter().flatten().flatten().cloned().collect();
        let text = |part: Option<Option<TomlString<'d>>>| {
            part.map_or(Some(None), |string| string.map(|string| Some(string.value.to_owned())))
        };
        let template = ExampleTemplate { question: text(user)?, answer: text(assistant)? };
        return Some(Templates { template, strings });
    }
    if field.as_table().is_some() {
        return field.expected("one string in quotes; two are for examples as messages: as = \"messages\"");
    }
    let string = field.string()?;
    let template = ExampleTemplate { question: Some(string.value.to_owned()), answer: None };
    Some(Templates { template, strings: vec![string] })
}

/// A string, which may be empty.
fn text<'d>(section: &TomlSection<'d>, key: &str) -> Option<Option<TomlString<'d>>> {
    let field = section.get(key)?;
    Some(field.as_string().or_else(|| field.expected("a string in quotes")))
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
