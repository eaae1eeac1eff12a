//! `dataset`: where samples come from, which field of a record is what, how many samples and in which order.

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
    let (section, paths) = match field.as_string() {
        Some(path) => (TomlSection::default(), Some(vec![path])),
        None => {
            let section = field.section(KEYS, "{ path = \"questions.csv\", input = \"question\" }")?;
            let path = section.get("path");
            if path.is_none() {
                let hint = "set where it is, relative to the task file: path = \"questions.csv\"";
                field.file.mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            }
            (section, path.and_then(paths))
        }
    };
    let source = source(&section);
    let number = |key: &str| section.get(key).and_then(seed);
    let limit = section.get("limit").and_then(|limit| limit.whole_number(1, "an integer, 1 or more"));
    let (shuffle, shuffle_choices) = (number("shuffle"), number("shuffle_choices"));
    let before = field.file.mistakes.count();
    let fields = fields(&section);
    let tables = section.get("lookup").and_then(tables).unwrap_or_default();
    let lookup = tables.iter().filter_map(|table| Some((table.key().to_owned(), entries(*table)?)));
    let fields = Fields { lookup: lookup.collect(), ..fields };
    let are_known = field.file.mistakes.count() == before;
    let keys = DatasetKeys { field, section, paths: paths?, fields, are_known };

    let is_right = keys.check_names(source.format);
    let registry = field.file.registry;
    let allowed_paths = registry.allowed_paths().filter(|_| field.file.is_of_log).map(<[_]>::to_vec);
    let paths = keys.paths.iter().map(|path| path.value.into()).collect();
    let source = RecordSource { paths, folder: registry.folder().to_owned(), allowed_paths, ..source };
    // In this order: a limit takes the first samples of those that are shuffled.
    let mut dataset = source.fields(keys.fields.clone());
    dataset = shuffle.into_iter().fold(dataset, Dataset::shuffle);
    dataset = shuffle_choices.into_iter().fold(dataset, Dataset::shuffle_choices);
    dataset = limit.into_iter().chain(at_most).fold(dataset, Dataset::limit);
    if let Err(problem) = dataset.samples() {
        keys.report_problem(&problem);
        return None;
    }
    let are_free = check_tables(&tables, dataset.fields());
    (are_free && is_right && are_known).then_some(dataset)
}

/// One path or several.
fn paths(field: TomlField<'_>) -> Option<Vec<TomlString<'_>>> {
    let wanted = "a path in quotes, or a list of paths";
    let paths = field.strings(wanted)?;
    if paths.is_empty() { field.expected(wanted) } else { all(paths.into_iter()) }
}

/// What a task file specifies about the files.
fn source(section: &TomlSection<'_>) -> RecordSource {
    let wanted = "\"csv\", \"tsv\", \"json\", \"jsonl\" or \"parquet\"";
    RecordSource {
        format: section.get("format").and_then(|field| field.one_of(&FileFormat::NAMES, wanted)),
        header: section.get("header").and_then(|header| match header.value() {
            DeValue::Boolean(header) => Some(*header),
            _ => header.expected("true or false"),
        }),
        columns: section.get("columns").and_then(|field| {
            let wanted = "a list with the name of each column";
            match field.as_list().is_none_or(|names| names.is_empty()) {
                true => field.expected(wanted),
                false => field.texts(wanted),
            }
        }),
        // One ASCII character between the fields of a row.
        delimiter: section.get("delimiter").and_then(|field| {
            match field.value().as_str().map(str::as_bytes) {
                Some([delimiter]) if delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r') => {
                    Some(*delimiter)
                }
                _ => field.expected("one character, such as \";\" or \"\\t\""),
            }
        }),
        subset: section.text("subset"),
        split: section.text("split"),
        ..RecordSource::default()
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

/// What a task file specifies about a dataset, with its places.
struct DatasetKeys<'d> {
    /// All of it, as it is in the file.
    field: TomlField<'d>,
    section: TomlSection<'d>,
    /// At least one.
    paths: Vec<TomlString<'d>>,
    fields: Fields,
    /// Whether they are named without mistakes.
    are_known: bool,
}

impl<'d> DatasetKeys<'d> {
    /// The columns, templates and expressions that samples are made of.
    fn named(&self) -> impl Iterator<Item = TomlString<'d>> {
        let keys = ["target", "choices", "metadata", "input", "id", "where"];
        let strings =
            keys.into_iter().filter_map(|key| self.section.get(key)).flat_map(|key| key.strings_within());
        strings.filter(|string| !string.value.is_empty())
    }

    /// Reports keys that are about CSV, if the files are something else.
    fn check_names(&self, format: Option<FileFormat>) -> bool {
        let format = |path: &TomlString<'_>| format.or_else(|| FileFormat::of(Path::new(path.value)));
        let is_other = |format: &FileFormat| !matches!(format, FileFormat::Csv | FileFormat::Tsv);
        let Some(format) = self.paths.iter().filter_map(format).find(is_other) else { return true };
        let about_csv =
            ["header", "columns", "delimiter"].into_iter().filter_map(|key| self.section.get(key));
        let report = |field: TomlField<'_>| {
            let message = format!("`{}` is for CSV and TSV, and the dataset is {format}", field.key());
            field.report(message, Some("records have the names of their fields; remove it".to_owned()));
        };
        about_csv.map(report).count() == 0
    }

    /// Reports what is wrong with the dataset, at the place in the task file that it is the fault of: the value of a key,
    /// or else the path.
    fn report_problem(&self, problem: &DatasetError) {
        let mistakes = &self.field.file.mistakes;
        let path = || self.paths.first().map_or_else(|| self.field.place(), |path| path.span.clone());
        let (key, hint) = match problem {
            DatasetError::MissingField { place, field, known, .. } => {
                // All rows of a table have the same columns.
                let file = match place.path.as_deref() {
                    Some(path) if FileFormat::of(path) != Some(FileFormat::Json) => {
                        path.display().to_string()
                    }
                    _ => place.to_string(),
                };
                return self.report_missing(field, known, &file);
            }
            DatasetError::Fields { place, known, .. } => {
                return self.report_missing("input", known, &place.to_string());
            }
            DatasetError::Expression { text, error, .. } => {
                // The hint stands beside the message here, not in it.
                let message = problem.to_string();
                let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
                let message = message.strip_suffix(&hint).unwrap_or(&message);
                return match self.named().find(|string| string.value == text) {
                    Some(string) => string.report(error.span.clone(), message, error.hint.clone()),
                    None => self.field.report(message, error.hint.clone()),
                };
            }
            DatasetError::Record { problem: wrong, .. } => {
                let about = |name: &TomlString<'_>| wrong.starts_with(&format!("`{}`", name.value));
                let place = self.named().find(about).map_or_else(path, |name| name.span);
                return mistakes.add(place, problem.to_string(), None);
            }
            DatasetError::Read { path, .. } => {
                let near = if path.exists() { None } else { nearest_file(path) };
                (None, did_you_mean(near.as_deref()))
            }
            DatasetError::OutsideFolder { path: file } => {
                return mistakes.add_outside(path(), problem.to_string(), file);
            }
            // What is given for it was reported already.
            DatasetError::UnknownFormat { .. } if self.section.get("format").is_some() => return,
            DatasetError::UnknownFormat { .. } => {
                let hint = "a name ends in .csv, .tsv, .json, .jsonl or .parquet, with .gz or .zst behind it if it is \
                            compressed; or name the format: format = \"csv\"";
                (None, Some(hint.to_owned()))
            }
            DatasetError::Other { key, hint, .. } => {
                let path = self.paths.first().map_or("data", |path| path.value.trim_end_matches('/'));
                (*key, hint.as_ref().map(|hint| hint.replace("{path}", path)))
            }
        };
        let field = key.and_then(|key| self.section.get(key));
        mistakes.add(field.map_or_else(path, |field| field.place()), problem.to_string(), hint);
    }

    /// Reports everything that is wrong with the fields if the file has these columns: the reader stops at the first.
    /// `first` is what it found, `file` where.
    fn report_missing(&self, first: &str, known: &[String], file: &str) {
        let before = self.field.file.mistakes.count();
        let columns: HashSet<&str> = known.iter().map(String::as_str).collect();
        for string in self.named() {
            let invalid = Expression::parse(string.value, &columns, &self.fields.lookup).err();
            for problem in invalid.into_iter().flat_map(|invalid| invalid.problems) {
                report(&string, problem, file);
            }
        }
        if self.field.file.mistakes.count() == before && self.are_known {
            let near = did_you_mean(nearest(first, known.iter().map(String::as_str)));
            let advice = near.unwrap_or_else(|| format!("there are: {}", known.join(", ")));
            let hint = format!("name it, as in {first} = \"…\"; {advice}");
            self.field.report(format!("no field `{first}` in {file}"), Some(hint));
        }
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

/// The columns, templates and expressions that samples are made of.
fn fields(section: &TomlSection<'_>) -> Fields {
    let one_or_many = |key: &str, wanted: &str| -> Option<OneOrMany> {
        let field = section.get(key)?;
        let mut names = field.texts(wanted)?;
        Some(match field.as_string() {
            Some(_) => OneOrMany::One(names.pop()?),
            None => OneOrMany::Many(names),
        })
    };
    let metadata = section.get("metadata").and_then(|field| match field.as_table() {
        Some(entries) => {
            let entry =
                |entry: TomlField<'_>| Some((entry.key().to_owned(), entry.string()?.value.to_owned()));
            all(entries.into_iter().map(entry))
        }
        None => {
            let names = field.texts("a list of fields to keep, or a table of them")?;
            Some(names.into_iter().map(|name| (name.clone(), name)).collect::<IndexMap<_, _>>())
        }
    });
    let choices = "a list with the field of each choice, or the field that holds them all";
    Fields {
        input: section.text("input"),
        target: one_or_many("target", "the name of a field, or a list of names"),
        choices: one_or_many("choices", choices),
        id: section.text("id"),
        metadata,
        filter: section.text("where"),
        lookup: IndexMap::default(),
    }
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

/// Reports lookup tables that are called as columns are.
fn check_tables(tables: &[TomlField<'_>], columns: &[String]) -> bool {
    let taken = tables.iter().filter(|table| columns.iter().any(|name| name == table.key()));
    let report = |table: &TomlField<'_>| {
        let message = format!("the file has a column `{}`, so no table can be called so", table.key());
        table.report(message, Some("give the table another name".to_owned()));
    };
    taken.map(report).count() == 0
}
