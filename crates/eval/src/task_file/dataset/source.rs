//! Where a dataset is: `path`, `format`, `header`, `columns`, `subset` and `split`; how much of it and in which
//! order: `limit` and the shuffles.

use std::path::Path;

use errorbar_core::spec::nearest;
use toml::de::DeValue;

use super::fields::FieldKeys;
use crate::dataset::nearest_file;
use crate::task_file::section::{TomlField, TomlSection, all, did_you_mean};
use crate::task_file::text::TomlString;
use crate::{Dataset, DatasetError, FileFormat, HubProblem, RecordSource};

/// What a task file specifies about the files and the order of the samples.
pub(super) struct SourceKeys {
    format: Option<FileFormat>,
    header: Option<bool>,
    columns: Option<Vec<String>>,
    delimiter: Option<u8>,
    subset: Option<String>,
    split: Option<String>,
    limit: Option<usize>,
    shuffle: Option<u64>,
    shuffle_choices: Option<u64>,
}

impl SourceKeys {
    pub(super) fn read(section: &TomlSection<'_>) -> Self {
        let string = |key: &str| Some(section.get(key)?.string()?.value.to_owned());
        let limit = section.get("limit").and_then(|limit| limit.whole_number(1, "an integer, 1 or more"));
        let [shuffle, shuffle_choices] =
            ["shuffle", "shuffle_choices"].map(|key| section.get(key).and_then(seed));
        SourceKeys {
            format: format(section),
            header: section.get("header").and_then(|header| match header.value() {
                DeValue::Boolean(header) => Some(*header),
                _ => header.expected("true or false"),
            }),
            columns: section.get("columns").and_then(columns),
            delimiter: section.get("delimiter").and_then(delimiter),
            subset: string("subset"),
            split: string("split"),
            limit,
            shuffle,
            shuffle_choices,
        }
    }

    fn source(&self, paths: &[TomlString<'_>], folder: &Path) -> RecordSource {
        let mut source = RecordSource::several(paths.iter().map(|path| path.value)).folder(folder);
        source = self.format.into_iter().fold(source, RecordSource::format);
        source = self.header.into_iter().fold(source, RecordSource::header);
        source = self.columns.iter().cloned().fold(source, RecordSource::columns);
        source = self.delimiter.into_iter().fold(source, RecordSource::delimiter);
        source = self.subset.iter().fold(source, RecordSource::subset);
        self.split.iter().fold(source, RecordSource::split)
    }

    /// In this order: a limit takes the first samples of those that are shuffled.
    fn apply(&self, mut dataset: Dataset) -> Dataset {
        dataset = self.shuffle.into_iter().fold(dataset, Dataset::shuffle);
        dataset = self.shuffle_choices.into_iter().fold(dataset, Dataset::shuffle_choices);
        self.limit.into_iter().fold(dataset, Dataset::limit)
    }
}

/// The names of columns.
fn columns(field: TomlField<'_>) -> Option<Vec<String>> {
    let wanted = "a list with the name of each column";
    if field.as_list().is_none_or(|names| names.is_empty()) {
        return field.expected(wanted);
    }
    all(field.strings(wanted)?.into_iter().map(|name| Some(name?.value.to_owned())))
}

/// One ASCII character between the fields of a row.
fn delimiter(field: TomlField<'_>) -> Option<u8> {
    let found = field.value().as_str().map(str::as_bytes);
    match found {
        Some([delimiter]) if delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r') => {
            Some(*delimiter)
        }
        _ => field.expected("one character, such as \";\" or \"\\t\""),
    }
}

/// The format that is named.
fn format(section: &TomlSection<'_>) -> Option<FileFormat> {
    let field = section.get("format")?;
    let named =
        |name: &str| FileFormat::NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format);
    field.value().as_str().and_then(named).or_else(|| {
        let names = FileFormat::NAMES.iter().map(|(name, _)| *name);
        let near = field.value().as_str().and_then(|other| nearest(other, names));
        let wanted = "\"csv\", \"tsv\", \"json\", \"jsonl\" or \"parquet\"";
        field.expected_with_hint(wanted, did_you_mean(near))
    })
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
pub(super) struct DatasetSource<'d> {
    /// At least one.
    pub(super) paths: Vec<TomlString<'d>>,
    pub(super) fields: FieldKeys<'d>,
    /// All of it, as it is in the file.
    pub(super) field: TomlField<'d>,
    pub(super) section: TomlSection<'d>,
}

impl DatasetSource<'_> {
    pub(super) fn read(&self, keys: &SourceKeys, at_most: Option<usize>) -> Option<Dataset> {
        let is_known = self.check_names(keys);
        let registry = self.field.file.registry;
        let source = keys.source(&self.paths, registry.folder());
        let source = match registry.allowed_paths().filter(|_| self.field.file.is_of_log) {
            Some(allowed) => source.confined(allowed),
            None => source,
        };
        let dataset = keys.apply(source.fields(self.fields.fields.clone()));
        let dataset = at_most.into_iter().fold(dataset, Dataset::limit);
        if let Err(problem) = dataset.samples() {
            self.report_problem(&problem);
            return None;
        }
        let is_known = self.fields.check_tables(dataset.fields()) && is_known;
        is_known.then_some(dataset)
    }

    /// Reports keys that are about CSV, if the files are something else.
    fn check_names(&self, keys: &SourceKeys) -> bool {
        let format = |path: &TomlString<'_>| keys.format.or_else(|| FileFormat::of(Path::new(path.value)));
        let other = self
            .paths
            .iter()
            .filter_map(format)
            .find(|format| !matches!(format, FileFormat::Csv | FileFormat::Tsv));
        let about_csv =
            ["header", "columns", "delimiter"].into_iter().filter_map(|key| self.section.get(key));
        let wrong: Vec<TomlField<'_>> = about_csv.filter(|_| other.is_some()).collect();
        for field in &wrong {
            let format = other.map(|format| format.to_string()).unwrap_or_default();
            let message = format!("`{}` is for CSV and TSV, and the dataset is {format}", field.key());
            field.report(message, Some("records have the names of their fields; remove it".to_owned()));
        }
        wrong.is_empty()
    }

    /// Reports a mistake at the value of this key, or else at the path.
    fn report(&self, key: Option<&str>, message: String, hint: Option<String>) {
        let path = || self.paths.first().map_or_else(|| self.field.place(), |path| path.span.clone());
        let field = key.and_then(|key| self.section.get(key));
        let place = field.map_or_else(path, |field| field.place());
        self.field.file.mistakes.add(place, message, hint);
    }

    /// Reports what is wrong with the dataset, at the place in the task file that it is the fault of.
    fn report_problem(&self, problem: &DatasetError) {
        let (key, hint) = match problem {
            DatasetError::MissingField { place, field, known, .. } => {
                // All rows of a table have the same columns.
                let file = match place.path.as_deref() {
                    Some(path) if FileFormat::of(path) != Some(FileFormat::Json) => {
                        path.display().to_string()
                    }
                    _ => place.to_string(),
                };
                return self.fields.report_missing(field, known, &file);
            }
            DatasetError::Fields { place, known, .. } => {
                return self.fields.report_missing("input", known, &place.to_string());
            }
            DatasetError::Expression { text, error, .. } => {
                // The hint stands beside the message here, not in it.
                let message = problem.to_string();
                let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
                let message = message.strip_suffix(&hint).unwrap_or(&message).to_owned();
                return self.fields.report_value(text, error, message);
            }
            DatasetError::AllSkipped { .. } => (Some("where"), None),
            DatasetError::Record { problem: wrong, .. } => {
                let about = |name: &&TomlString<'_>| wrong.starts_with(&format!("`{}`", name.value));
                let place = self.fields.named.iter().find(about).or(self.paths.first());
                let place = place.map_or_else(|| self.field.place(), |name| name.span.clone());
                return self.field.file.mistakes.add(place, problem.to_string(), None);
            }
            DatasetError::Read { path, .. } => {
                let near = if path.exists() { None } else { nearest_file(path) };
                (None, did_you_mean(near.as_deref()))
            }
            DatasetError::OutsideFolder { path } => {
                let place = self.paths.first().map_or_else(|| self.field.place(), |path| path.span.clone());
                return self.field.file.mistakes.add_outside(place, problem.to_string(), path);
            }
            DatasetError::NoMatch { nearest, .. } => (None, did_you_mean(nearest.as_deref())),
            DatasetError::UnknownFormat { .. } => {
                // Not, if what is given for it was reported already.
                if self.section.get("format").is_some() {
                    return;
                }
                let hint = "a name ends in .csv, .tsv, .json, .jsonl or .parquet, with .gz or .zst behind it if it is \
                            compressed; or name the format: format = \"csv\"";
                (None, Some(hint.to_owned()))
            }
            DatasetError::SeveralFormats { .. } => {
                let folder = self.paths.first().map_or("data", |path| path.value.trim_end_matches('/'));
                let hint = format!(
                    "name the format, as in format = \"csv\", or a pattern: path = \"{folder}/*.csv\""
                );
                (None, Some(hint))
            }
            DatasetError::Hub { problem: HubProblem::Subset { .. }, .. } => (Some("subset"), None),
            DatasetError::Hub { problem: HubProblem::Split { .. } | HubProblem::Shards { .. }, .. } => {
                (Some("split"), None)
            }
            DatasetError::ChoiceOfFile { key, .. } => {
                let hint = format!("remove `{key}`, or name the file or folder that has it as `path`");
                (Some(*key), Some(hint))
            }
            DatasetError::DuplicateId { .. } => (Some("id"), None),
            DatasetError::NotText { .. } => (Some("input"), None),
            DatasetError::Choices { .. } => (Some("shuffle_choices"), None),
            _ => (None, None),
        };
        self.report(key, problem.to_string(), hint);
    }
}
