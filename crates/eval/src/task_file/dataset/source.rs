//! Where a dataset is: `path` and `format`; how much of it and in which order: `limit` and the shuffles.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use errorbar_core::spec::nearest;
use toml::de::DeValue;

use super::fields::FieldKeys;
use crate::task_file::section::{TomlField, TomlSection, did_you_mean};
use crate::task_file::text::TomlString;
use crate::{Dataset, DatasetError, csv_dataset, json_dataset};

#[derive(Clone, Copy)]
enum FileFormat {
    Csv,
    Json,
}

/// What a task file specifies about the files and the order of the samples.
pub(super) struct SourceKeys {
    format: Option<FileFormat>,
    limit: Option<usize>,
    shuffle: Option<u64>,
    shuffle_choices: Option<u64>,
}

impl SourceKeys {
    pub(super) fn read(section: &TomlSection<'_>) -> Self {
        let limit = section.get("limit").and_then(|limit| limit.whole_number(1, "an integer, 1 or more"));
        let [shuffle, shuffle_choices] =
            ["shuffle", "shuffle_choices"].map(|key| section.get(key).and_then(seed));
        SourceKeys { format: format(section), limit, shuffle, shuffle_choices }
    }

    /// In this order: a limit takes the first samples of those that are shuffled.
    fn apply(&self, mut dataset: Dataset) -> Dataset {
        dataset = self.shuffle.map_or(dataset.clone(), |seed| dataset.shuffle(seed));
        dataset = self.shuffle_choices.map_or(dataset.clone(), |seed| dataset.shuffle_choices(seed));
        self.limit.map_or(dataset.clone(), |limit| dataset.limit(limit))
    }
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
pub(super) struct DatasetSource<'d> {
    pub(super) path: TomlString<'d>,
    pub(super) fields: FieldKeys<'d>,
    /// All of it, as it is in the file.
    pub(super) field: TomlField<'d>,
    pub(super) section: TomlSection<'d>,
}

impl DatasetSource<'_> {
    pub(super) fn read(&self, keys: &SourceKeys) -> Option<Dataset> {
        let path = self.field.file.registry.folder().join(self.path.value);
        let Some(format) = keys.format.or_else(|| format_of(&path)) else {
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
        let fields = self.fields.fields.clone();
        let dataset = match format {
            FileFormat::Csv => csv_dataset(&path, fields.reader()),
            FileFormat::Json => json_dataset(&path, fields.reader()),
        };
        let dataset = keys.apply(dataset);
        if let Err(problem) = dataset.samples() {
            self.report_problem(&path, format, &problem);
            return None;
        }
        if !self.fields.check_tables(dataset.fields()) {
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
                let place = self.fields.named.iter().find(about).unwrap_or(&self.path).span.clone();
                return self.field.file.mistakes.add(place, problem.to_string(), None);
            }
            DatasetError::Read { .. } => (None, did_you_mean(nearest_file(path).as_deref())),
            DatasetError::DuplicateId { .. } => (Some("id"), None),
            DatasetError::Choices { .. } => (Some("shuffle_choices"), None),
            _ => (None, None),
        };
        self.report(key, problem.to_string(), hint);
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
