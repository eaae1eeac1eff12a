//! `dataset`: the file, which field of it is what, how much of it and in which order.

use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::path::Path;

use errorbar_core::spec::nearest;
use toml::de::DeValue;

use super::mistake::Mistakes;
use super::section::{Keys, TomlField, TomlSection, all};
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

const FORMATS: &[&str] = &["csv", "json"];

#[derive(Clone, Copy)]
enum FileFormat {
    Csv,
    Json,
}

/// The dataset, if there is one whose samples can be used. What is wrong with one key keeps none of the others from
/// being looked at, nor the file.
pub(super) fn read(field: TomlField<'_>, folder: &Path, mistakes: &mut Mistakes) -> Option<Dataset> {
    let (section, path) = match field.as_text() {
        Some(path) => (TomlSection::default(), Some(path)),
        None => {
            let Some(section) = TomlSection::of_field(field, KEYS, mistakes) else {
                let wanted = "a table such as { path = \"questions.csv\", input = \"question\" }";
                field.expected(wanted, mistakes);
                return None;
            };
            let path = section.get("path");
            if path.is_none() {
                let hint = "say where it is, relative to the task file: path = \"questions.csv\"";
                mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            }
            (section, path.and_then(|path| path.text(mistakes)))
        }
    };
    let changes = DatasetChanges::read(&section, mistakes);
    let format = format(&section, mistakes);
    let before = mistakes.count();
    let (fields, named) = fields(&section, mistakes);
    let fields_are_known = mistakes.count() == before;
    let source = DatasetSource { path: path?, named, fields_are_known, table: field.place(), section };
    let dataset = source.read(folder, format, fields, changes, mistakes);
    dataset.filter(|_| fields_are_known)
}

/// The fields of the file that are named, and the same with their places.
fn fields<'d>(section: &TomlSection<'d>, mistakes: &mut Mistakes) -> (Fields, Vec<TomlString<'d>>) {
    let mut named = Vec::new();
    let mut several = |key: &str, wanted: &str| -> Option<OneOrMany> {
        let field = section.get(key)?;
        let texts = field.texts(wanted, mistakes)?;
        named.extend(texts.iter().flatten().cloned());
        let mut names: Vec<String> = all(texts.into_iter().map(|text| Some(text?.value.to_owned())))?;
        Some(match field.as_text() {
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
        let text = section.get(key)?.text(mistakes)?;
        named.push(text.clone());
        Some(text.value.to_owned())
    };
    let (input, id) = (one("input"), one("id"));
    (Fields { input, target, choices, id, metadata }, named)
}

/// The format that is said.
fn format(section: &TomlSection<'_>, mistakes: &mut Mistakes) -> Option<FileFormat> {
    let field = section.get("format")?;
    match field.value().as_str() {
        Some("csv") => Some(FileFormat::Csv),
        Some("json") => Some(FileFormat::Json),
        other => {
            let near = other.and_then(|other| nearest(other, FORMATS.iter().copied()));
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            field.expected_with_hint("\"csv\" or \"json\"", hint, mistakes);
            None
        }
    }
}

/// What is done to the samples once they are read, in this order.
#[derive(Clone, Copy, Default)]
struct DatasetChanges {
    shuffle: Option<u64>,
    shuffle_choices: Option<u64>,
    limit: Option<usize>,
}

impl DatasetChanges {
    fn read(section: &TomlSection<'_>, mistakes: &mut Mistakes) -> Self {
        let limit = section.get("limit");
        let limit = limit.and_then(|limit| limit.whole_number(1, "a whole number, 1 or more", mistakes));
        let shuffle = section.get("shuffle").and_then(|field| seed(field, mistakes));
        let shuffle_choices = section.get("shuffle_choices").and_then(|field| seed(field, mistakes));
        DatasetChanges { shuffle, shuffle_choices, limit }
    }

    fn apply(self, mut dataset: Dataset) -> Dataset {
        if let Some(seed) = self.shuffle {
            dataset = dataset.shuffle(seed);
        }
        if let Some(seed) = self.shuffle_choices {
            dataset = dataset.shuffle_choices(seed);
        }
        match self.limit {
            Some(limit) => dataset.limit(limit),
            None => dataset,
        }
    }
}

/// The seed of a shuffle; `false` is no shuffle.
fn seed(field: TomlField<'_>, mistakes: &mut Mistakes) -> Option<u64> {
    const WANTED: &str = "a seed, which is a whole number, 0 or more";
    match field.value() {
        DeValue::Boolean(false) => None,
        DeValue::Boolean(true) => {
            let hint =
                format!("the order must be the same in every run, so say a number: {} = 7", field.key());
            field.expected_with_hint(WANTED, Some(hint), mistakes);
            None
        }
        _ => field.whole_number(0, WANTED, mistakes),
    }
}

/// Where a dataset is read from, and what the task file says about it.
struct DatasetSource<'d> {
    path: TomlString<'d>,
    /// The fields that the task file names, and whether it says so without mistakes.
    named: Vec<TomlString<'d>>,
    fields_are_known: bool,
    /// The place of all that is said about the dataset.
    table: Range<usize>,
    section: TomlSection<'d>,
}

impl DatasetSource<'_> {
    fn read(
        &self,
        folder: &Path,
        format: Option<FileFormat>,
        fields: Fields,
        changes: DatasetChanges,
        mistakes: &mut Mistakes,
    ) -> Option<Dataset> {
        let path = folder.join(self.path.value);
        let Some(format) = format.or_else(|| format_of(&path)) else {
            // Not, if it is said in a way that was told already.
            if self.section.get("format").is_none() {
                let hint =
                    "a name ends in .csv, .tsv, .json or .jsonl; or say it: format = \"csv\"".to_owned();
                let message = format!("the format of {} is not known", path.display());
                mistakes.add(self.path.span.clone(), message, Some(hint));
            }
            return None;
        };
        let dataset = match format {
            FileFormat::Csv => csv_dataset(&path, fields.reader()),
            FileFormat::Json => json_dataset(&path, fields.reader()),
        };
        let dataset = changes.apply(dataset);
        if let Err(problem) = dataset.samples() {
            self.report(&path, format, &problem, mistakes);
            return None;
        }
        Some(dataset)
    }

    /// Where the value of this key stands, or else the path.
    fn place_of(&self, key: &str) -> Range<usize> {
        self.section.get(key).map_or_else(|| self.path.span.clone(), |field| field.place())
    }

    /// Says what is wrong with the dataset, at the place in the task file that it is the fault of.
    fn report(&self, path: &Path, format: FileFormat, problem: &DatasetError, mistakes: &mut Mistakes) {
        let at_path = self.path.span.clone();
        match problem {
            DatasetError::Read { .. } => {
                let near = nearest_file(path).map(|near| format!("did you mean `{near}`?"));
                mistakes.add(at_path, problem.to_string(), near);
            }
            DatasetError::MissingField { place, field, known, .. } => {
                let file = match format {
                    // All rows have the columns of the header.
                    FileFormat::Csv => path.display().to_string(),
                    FileFormat::Json => place.to_string(),
                };
                self.report_missing(field, known, &file, mistakes);
            }
            DatasetError::Record { problem: wrong, .. } => {
                let about = |text: &&TomlString<'_>| wrong.starts_with(&format!("`{}`", text.value));
                let place = self.named.iter().find(about).map_or(at_path, |text| text.span.clone());
                mistakes.add(place, problem.to_string(), None);
            }
            DatasetError::DuplicateId { .. } => mistakes.add(self.place_of("id"), problem.to_string(), None),
            DatasetError::Choices { .. } => {
                mistakes.add(self.place_of("shuffle_choices"), problem.to_string(), None);
            }
            _ => mistakes.add(at_path, problem.to_string(), None),
        }
    }

    /// Tells every field that is named and not there: the reader stops at the first.
    fn report_missing(&self, first: &str, known: &[String], file: &str, mistakes: &mut Mistakes) {
        let advice = |name: &str| match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", known.join(", ")),
        };
        let is_missing = |text: &&TomlString<'_>| known.iter().all(|known| known != text.value);
        let missing: Vec<&TomlString<'_>> = self.named.iter().filter(is_missing).collect();
        for text in &missing {
            let message = format!("no field `{}` in {file}", text.value);
            mistakes.add(text.span.clone(), message, Some(advice(text.value)));
        }
        if missing.is_empty() && self.fields_are_known {
            let hint = format!("say which one it is, as in {first} = \"…\"; {}", advice(first));
            mistakes.add(self.table.clone(), format!("no field `{first}` in {file}"), Some(hint));
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
