//! `dataset`: where samples come from, which field of a record is what, how many samples and in which order.
//!
//! `source.rs` has the keys of the files and of the order, `fields.rs` those of the fields of a sample.

use std::collections::HashSet;
use std::path::Path;

use errorbar_core::IndexMap;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;
use toml::de::DeValue;

use super::options;
use super::section::{Keys, TomlField, TomlSection, TomlString, all, did_you_mean};
use crate::dataset::nearest_file;
use crate::expression::{Expression, ExpressionError, ExpressionErrorKind};
use crate::{Dataset, DatasetError, Fields, FileFormat, OneOrMany, RecordSource};

pub(super) const KEYS: Keys = &[
    "path",
    "format",
    "header",
    "columns",
    "delimiter",
    "subset",
    "split",
    "input",
    "target",
    "choices",
    "id",
    "metadata",
    "where",
    "lookup",
    "limit",
    "shuffle",
    "shuffle_choices",
];

/// The dataset, if there is one whose samples can be used. A mistake in one key keeps none of the others from being
/// checked, nor the file.
///
/// No more samples are read than `at_most`, if it is given.
pub(super) fn read(field: TomlField<'_>, at_most: Option<usize>) -> Option<Dataset> {
    let mistakes = &field.file.mistakes;
    let (section, paths) = match field.as_string() {
        Some(path) => (TomlSection::default(), Some(vec![path])),
        None => {
            let section = field.section(KEYS, "{ path = \"questions.csv\", input = \"question\" }")?;
            let path = section.get("path");
            if path.is_none() {
                let hint = "set where it is, relative to the task file: path = \"questions.csv\"";
                mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            }
            (section, path.and_then(paths))
        }
    };
    let keys = SourceKeys::read(&section);
    let fields = FieldKeys::read(field, &section);
    let are_known = fields.are_known;
    let source = DatasetSource { paths: paths?, fields, field, section };
    source.read(&keys, at_most).filter(|_| are_known)
}

/// One path or several.
fn paths(field: TomlField<'_>) -> Option<Vec<TomlString<'_>>> {
    let wanted = "a path in quotes, or a list of paths";
    let paths = field.strings(wanted)?;
    if paths.is_empty() { field.expected(wanted) } else { all(paths.into_iter()) }
}

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
            DatasetError::UnknownFormat { .. } => {
                // Not, if what is given for it was reported already.
                if self.section.get("format").is_some() {
                    return;
                }
                let hint = "a name ends in .csv, .tsv, .json, .jsonl or .parquet, with .gz or .zst behind it if it is \
                            compressed; or name the format: format = \"csv\"";
                (None, Some(hint.to_owned()))
            }
            DatasetError::Other { key, hint, .. } => {
                let path = self.paths.first().map_or("data", |path| path.value.trim_end_matches('/'));
                (*key, hint.as_ref().map(|hint| hint.replace("{path}", path)))
            }
        };
        self.report(key, problem.to_string(), hint);
    }
}

/// The fields of the file that a task file names.
pub(super) struct FieldKeys<'d> {
    /// The fields.
    pub(super) fields: Fields,
    /// The same with their places in the task file.
    pub(super) named: Vec<TomlString<'d>>,
    /// Whether they are named without mistakes.
    pub(super) are_known: bool,
    /// The section that names them.
    field: TomlField<'d>,
    /// The lookup tables, whose names must not be those of columns.
    tables: Vec<TomlField<'d>>,
}

impl<'d> FieldKeys<'d> {
    pub(super) fn read(field: TomlField<'d>, section: &TomlSection<'d>) -> Self {
        let before = field.file.mistakes.count();
        let (mut fields, named) = fields(section);
        let tables = section.get("lookup").and_then(tables).unwrap_or_default();
        fields.lookup =
            tables.iter().filter_map(|table| Some((table.key().to_owned(), entries(*table)?))).collect();
        let are_known = field.file.mistakes.count() == before;
        FieldKeys { fields, named, are_known, field, tables }
    }

    /// Reports everything that is wrong with the fields if the file has these columns: the reader stops at the first.
    /// `first` is what it found, `file` where.
    pub(super) fn report_missing(&self, first: &str, known: &[String], file: &str) {
        let before = self.field.file.mistakes.count();
        let columns: HashSet<&str> = known.iter().map(String::as_str).collect();
        for string in &self.named {
            let invalid = Expression::parse(string.value, &columns, &self.fields.lookup).err();
            for problem in invalid.into_iter().flat_map(|invalid| invalid.problems) {
                report(string, problem, file);
            }
        }
        if self.field.file.mistakes.count() == before && self.are_known {
            let near = did_you_mean(nearest(first, known.iter().map(String::as_str)));
            let advice = near.unwrap_or_else(|| format!("there are: {}", known.join(", ")));
            let hint = format!("name it, as in {first} = \"…\"; {advice}");
            self.field.report(format!("no field `{first}` in {file}"), Some(hint));
        }
    }

    /// Reports that an expression has no value for a record, at the part of it that has none.
    pub(super) fn report_value(&self, text: &str, error: &ExpressionError, message: String) {
        match self.named.iter().find(|string| string.value == text) {
            Some(string) => string.report(error.span.clone(), message, error.hint.clone()),
            None => self.field.report(message, error.hint.clone()),
        }
    }

    /// Reports lookup tables that are called as columns are.
    pub(super) fn check_tables(&self, columns: &[String]) -> bool {
        let taken: Vec<_> =
            self.tables.iter().filter(|table| columns.iter().any(|name| name == table.key())).collect();
        for table in &taken {
            let message = format!("the file has a column `{}`, so no table can be called so", table.key());
            table.report(message, Some("give the table another name".to_owned()));
        }
        taken.is_empty()
    }
}

fn report(string: &TomlString<'_>, problem: ExpressionError, file: &str) {
    let message = match &problem.kind {
        ExpressionErrorKind::UnknownColumn { name } => format!("no field `{name}` in {file}"),
        kind => kind.to_string(),
    };
    match problem.span == (0..string.value.len()) {
        true => string.file.mistakes.add(string.span.clone(), message, problem.hint),
        false => string.report(problem.span, message, problem.hint),
    }
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
    let metadata = section.get("metadata").and_then(|field| match field.as_table() {
        Some(entries) => {
            let entry = |entry: TomlField<'d>| {
                let string = entry.string()?;
                named.push(string.clone());
                Some((entry.key().to_owned(), string.value.to_owned()))
            };
            all(entries.into_iter().map(entry))
        }
        None => {
            let strings = field.strings("a list of fields to keep, or a table of them")?;
            named.extend(strings.iter().flatten().cloned());
            let names = strings.into_iter().map(|string| string.map(|string| string.value.to_owned()));
            let names: Vec<String> = all(names)?;
            Some(names.into_iter().map(|name| (name.clone(), name)).collect::<IndexMap<_, _>>())
        }
    });
    let mut one = |key: &str| -> Option<String> {
        let string = section.get(key)?.string()?;
        named.push(string.clone());
        Some(string.value.to_owned())
    };
    let (input, id, filter) = (one("input"), one("id"), one("where"));
    (Fields { input, target, choices, id, metadata, filter, lookup: IndexMap::default() }, named)
}

const TABLES: &str = "a table of tables, such as { yes_no = { true = \"Yes\", false = \"No\" } }";

fn tables(field: TomlField<'_>) -> Option<Vec<TomlField<'_>>> {
    field.as_table().or_else(|| field.expected(TABLES))
}

/// The entries of a lookup table.
fn entries(table: TomlField<'_>) -> Option<Json> {
    let entries = table.as_table().or_else(|| table.expected(TABLES))?;
    let entries = entries.into_iter().map(|entry| Some((entry.key().to_owned(), options::json(entry)?)));
    all(entries).map(Json::Object)
}
