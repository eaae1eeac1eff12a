//! `dataset`: the file, which field of it is what, how much of it and in which order.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use errorbar_core::spec::nearest;
use toml::de::DeValue;

use super::section::{Keys, TomlField, TomlSection, all, did_you_mean};
use super::text::TomlString;
use crate::{Dataset, DatasetError, Fields, OneOrMany, csv_dataset, json_dataset};

pub(super) const KEYS: Keys = &[
    "path",
    "format",
    "input",
    "target",
    "choices",
    "id",
    "metadata",
    "limit",
    "shuffle",
    "shuffle_choices",
];

#[derive(Clone, Copy)]
enum FileFormat {
    Csv,
    Json,
}

/// The dataset, if there is one whose samples can be used. A mistake in one key keeps none of the others from being
/// checked, nor the file.
pub(super) fn read(field: TomlField<'_>) -> Option<Dataset> {
    let mistakes = &field.file.mistakes;
    let (section, path) = match field.as_string() {
        Some(path) => (TomlSection::default(), Some(path)),
        None => {
            let section = field.section(KEYS, "{ path = \"questions.csv\", input = \"question\" }")?;
            let path = section.get("path");
            if path.is_none() {
                let hint = "set where it is, relative to the task file: path = \"questions.csv\"";
                mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            }
            (section, path.and_then(|path| path.string()))
        }
    };
    let limit = section.get("limit").and_then(|limit| limit.whole_number(1, "an integer, 1 or more"));
    let [shuffle, shuffle_choices] =
        ["shuffle", "shuffle_choices"].map(|key| section.get(key).and_then(seed));
    // In this order: a limit takes the first samples of those that are shuffled.
    let change = |mut dataset: Dataset| {
        dataset = shuffle.map_or(dataset.clone(), |seed| dataset.shuffle(seed));
        dataset = shuffle_choices.map_or(dataset.clone(), |seed| dataset.shuffle_choices(seed));
        limit.map_or(dataset.clone(), |limit| dataset.limit(limit))
    };
    let format = format(&section);
    let before = mistakes.count();
    let (fields, named) = fields(&section);
    let fields_are_known = mistakes.count() == before;
    let source = DatasetSource { path: path?, named, fields_are_known, field, section };
    let dataset = source.read(format, fields, change);
    dataset.filter(|_| fields_are_known)
}

/// The fields of the file that are named, and the same with their places.
fn fields<'d>(section: &TomlSection<'d>) -> (Fields, Vec<TomlString<'d>>) {
    let mut named = Vec::new();
    let mut several = |key: &str, wanted: &str| -> Option<OneOrMany> {
        let field = section.get(key)?;
        let strings = field.strings(wanted)?;
        named.extend(strings.iter().flatten().cloned());
        let mut names: Vec<String> = all(strings.into_iter().map(|string| Some(string?.value.to_owned())))?;
        Some(match field.as_string() {
            Some(_) => OneOrMany::One(names.pop()?),
            None => OneOrMany::Many(names),
        })
    };
    let target = several("target", "the name of a field, or a list of names");
    let choices =
        several("choices", "a list with the field of each choice, or the field that holds them all");
    let metadata = several("metadata", "a list of fields to keep").map(|names| match names {
        OneOrMany::One(name) => vec![name],
        OneOrMany::Many(names) => names,
    });
    let mut one = |key: &str| -> Option<String> {
        let string = section.get(key)?.string()?;
        named.push(string.clone());
        Some(string.value.to_owned())
    };
    let (input, id) = (one("input"), one("id"));
    (Fields { input, target, choices, id, metadata }, named)
}

/// The format that is named.
fn format(section: &TomlSection<'_>) -> Option<FileFormat> {
    let field = section.get("format")?;
    match field.value().as_str() {
        Some("csv") => Some(FileFormat::Csv),
        Some("json") => Some(FileFormat::Json),
        other => {
            let near = other.and_then(|other| nearest(other, ["csv", "json"]));
            field.expected_with_hint("\"csv\" or \"json\"", did_you_mean(near))
        }
    }
}

/// The seed of a shuffle; `false` is no shuffle.
fn seed(field: TomlField<'_>) -> Option<u64> {
    const WANTED: &str = "a seed, which is an integer, 0 or more";
    match field.value() {
        DeValue::Boolean(false) => None,
        DeValue::Boolean(true) => {
            let hint =
                format!("the order must be the same in every run, so give a number: {} = 7", field.key());
            field.expected_with_hint(WANTED, Some(hint))
        }
        _ => field.whole_number(0, WANTED),
    }
}

/// Where a dataset is read from, and what the task file specifies about it.
struct DatasetSource<'d> {
    path: TomlString<'d>,
    /// The fields that the task file names, and whether it does so without mistakes.
    named: Vec<TomlString<'d>>,
    fields_are_known: bool,
    /// All of it, as it is in the file.
    field: TomlField<'d>,
    section: TomlSection<'d>,
}

impl DatasetSource<'_> {
    fn read(
        &self,
        format: Option<FileFormat>,
        fields: Fields,
        change: impl Fn(Dataset) -> Dataset,
    ) -> Option<Dataset> {
        let path = self.field.file.registry.folder().join(self.path.value);
        let Some(format) = format.or_else(|| format_of(&path)) else {
            // Not, if what is given for it was reported already.
            if self.section.get("format").is_none() {
                let hint = "a name ends in .csv, .tsv, .json or .jsonl; or name the format: format = \"csv\"";
                self.report(
                    None,
                    format!("the format of {} is not known", path.display()),
                    Some(hint.to_owned()),
                );
            }
            return None;
        };
        let dataset = match format {
            FileFormat::Csv => csv_dataset(&path, fields.reader()),
            FileFormat::Json => json_dataset(&path, fields.reader()),
        };
        let dataset = change(dataset);
        if let Err(problem) = dataset.samples() {
            self.report_problem(&path, format, &problem);
            return None;
        }
        Some(dataset)
    }

    /// Reports a mistake at the value of this key, or else at the path.
    fn report(&self, key: Option<&str>, message: String, hint: Option<String>) {
        let field = key.and_then(|key| self.section.get(key));
        let place = field.map_or_else(|| self.path.span.clone(), |field| field.place());
        self.field.file.mistakes.add(place, message, hint);
    }

    /// Reports what is wrong with the dataset, at the place in the task file that it is the fault of.
    fn report_problem(&self, path: &Path, format: FileFormat, problem: &DatasetError) {
        let (key, hint) = match problem {
            DatasetError::MissingField { place, field, known, .. } => {
                let file = match format {
                    // All rows have the columns of the header.
                    FileFormat::Csv => path.display().to_string(),
                    FileFormat::Json => place.to_string(),
                };
                return self.report_missing(field, known, &file);
            }
            DatasetError::Record { problem: wrong, .. } => {
                let about = |name: &&TomlString<'_>| wrong.starts_with(&format!("`{}`", name.value));
                let place = self.named.iter().find(about).unwrap_or(&self.path).span.clone();
                return self.field.file.mistakes.add(place, problem.to_string(), None);
            }
            DatasetError::Read { .. } => (None, did_you_mean(nearest_file(path).as_deref())),
            DatasetError::DuplicateId { .. } => (Some("id"), None),
            DatasetError::Choices { .. } => (Some("shuffle_choices"), None),
            _ => (None, None),
        };
        self.report(key, problem.to_string(), hint);
    }

    /// Reports every field that is named and absent: the reader stops at the first.
    fn report_missing(&self, first: &str, known: &[String], file: &str) {
        let advice = |name: &str| {
            let near = did_you_mean(nearest(name, known.iter().map(String::as_str)));
            near.unwrap_or_else(|| format!("there are: {}", known.join(", ")))
        };
        let mistakes = &self.field.file.mistakes;
        let is_missing = |name: &&TomlString<'_>| known.iter().all(|known| known != name.value);
        let missing: Vec<&TomlString<'_>> = self.named.iter().filter(is_missing).collect();
        for name in &missing {
            let message = format!("no field `{}` in {file}", name.value);
            mistakes.add(name.span.clone(), message, Some(advice(name.value)));
        }
        if missing.is_empty() && self.fields_are_known {
            let hint = format!("name it, as in {first} = \"…\"; {}", advice(first));
            self.field.report(format!("no field `{first}` in {file}"), Some(hint));
        }
    }
}

fn format_of(path: &Path) -> Option<FileFormat> {
    match path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase().as_str() {
        "csv" | "tsv" => Some(FileFormat::Csv),
        "json" | "jsonl" => Some(FileFormat::Json),
        _ => None,
    }
}

/// The file beside a missing one that was probably meant.
fn nearest_file(path: &Path) -> Option<String> {
    const LOOKED_AT: usize = 1000;
    if path.exists() {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.take(LOOKED_AT).filter_map(Result::ok);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}
