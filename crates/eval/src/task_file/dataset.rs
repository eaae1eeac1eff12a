//! `dataset`: the file, which field of it is what, how much of it and in which order.

use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::path::Path;

use errorbar_core::spec::nearest;
use toml::de::DeValue;

use super::mistake::Mistakes;
use super::section::{Field, Section};
use super::text::Text;
use crate::{Dataset, DatasetError, Fields, OneOrMany, csv_dataset, json_dataset};

const KEYS: &[&str] = &[
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
enum Format {
    Csv,
    Json,
}

/// The dataset, if there is one whose samples can be used.
pub(super) fn read(field: Field<'_>, folder: &Path, mistakes: &mut Mistakes) -> Option<Dataset> {
    if let Some(path) = field.as_text() {
        let source = Source { path, format: None, named: Vec::new(), table: field.place() };
        return source.read(folder, Fields::new(), None, Changes::default(), mistakes);
    }
    let Some(section) = Section::of_field(field, KEYS, mistakes) else {
        field.expected("a table such as { path = \"questions.csv\", input = \"question\" }", mistakes);
        return None;
    };
    let path = match section.get("path") {
        Some(path) => path.text(mistakes),
        None => {
            let hint = "say where it is, relative to the task file: path = \"questions.csv\"";
            mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            None
        }
    };
    let mut named = Vec::new();
    let fields = fields(&section, &mut named, mistakes);
    let format = format(&section, mistakes);
    let changes = Changes::read(&section, mistakes);
    let source = Source { path: path?, format: format?, named, table: field.place() };
    source.read(folder, fields?, section.get("id"), changes?, mistakes)
}

/// The fields of the file that are named, each with its place.
fn fields<'d>(
    section: &Section<'d>,
    named: &mut Vec<Text<'d>>,
    mistakes: &mut Mistakes,
) -> Option<Fields> {
    let before = mistakes.count();
    let mut several = |key: &str, wanted: &str| -> Option<OneOrMany> {
        let field = section.get(key)?;
        let texts = field.texts(wanted, mistakes)?;
        named.extend(texts.iter().cloned());
        let mut names = texts.iter().map(|text| text.value.to_owned());
        Some(match field.as_text() {
            Some(_) => OneOrMany::One(names.next()?),
            None => OneOrMany::Many(names.collect()),
        })
    };
    let target = several("target", "the name of a field, or a list of names");
    let choices = several("choices", "a list with the field of each choice, or the field that holds them all");
    let metadata = several("metadata", "a list of fields to keep").map(|names| match names {
        OneOrMany::One(name) => vec![name],
        OneOrMany::Many(names) => names,
    });
    let mut one = |key: &str| -> Option<String> {
        let text = section.get(key)?.text(mistakes)?;
        named.push(text.clone());
        Some(text.value.to_owned())
    };
    let input = one("input");
    let id = one("id");
    (mistakes.count() == before).then_some(Fields { input, target, choices, id, metadata })
}

/// The format, if one is said; nothing at all if what is said is none.
fn format(section: &Section<'_>, mistakes: &mut Mistakes) -> Option<Option<Format>> {
    let Some(field) = section.get("format") else { return Some(None) };
    match field.value().as_str() {
        Some("csv") => Some(Some(Format::Csv)),
        Some("json") => Some(Some(Format::Json)),
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
struct Changes {
    shuffle: Option<u64>,
    shuffle_choices: Option<u64>,
    limit: Option<usize>,
}

impl Changes {
    fn read(section: &Section<'_>, mistakes: &mut Mistakes) -> Option<Self> {
        let before = mistakes.count();
        let limit = section.get("limit");
        let limit = limit.and_then(|limit| limit.whole_number(1, "a whole number, 1 or more", mistakes));
        let shuffle = section.get("shuffle").and_then(|field| seed(field, mistakes));
        let shuffle_choices = section.get("shuffle_choices").and_then(|field| seed(field, mistakes));
        (mistakes.count() == before).then_some(Changes { shuffle, shuffle_choices, limit })
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
fn seed(field: Field<'_>, mistakes: &mut Mistakes) -> Option<u64> {
    const WANTED: &str = "a seed, which is a whole number, 0 or more";
    match field.value() {
        DeValue::Boolean(false) => None,
        DeValue::Boolean(true) => {
            let hint = format!("the order must be the same in every run, so say a number: {} = 7", field.key());
            field.expected_with_hint(WANTED, Some(hint), mistakes);
            None
        }
        _ => field.whole_number(0, WANTED, mistakes),
    }
}

/// Where a dataset is read from.
struct Source<'d> {
    path: Text<'d>,
    format: Option<Format>,
    /// The fields that the task file names.
    named: Vec<Text<'d>>,
    /// The place of all that is said about the dataset.
    table: Range<usize>,
}

impl Source<'_> {
    fn read(
        &self,
        folder: &Path,
        fields: Fields,
        id: Option<Field<'_>>,
        changes: Changes,
        mistakes: &mut Mistakes,
    ) -> Option<Dataset> {
        let path = folder.join(self.path.value);
        let Some(format) = self.format.or_else(|| format_of(&path)) else {
            let hint = "a name ends in .csv, .tsv, .json or .jsonl; or say it: format = \"csv\"".to_owned();
            let message = format!("the format of {} is not known", path.display());
            mistakes.add(self.path.span.clone(), message, Some(hint));
            return None;
        };
        let dataset = match format {
            Format::Csv => csv_dataset(&path, fields.reader()),
            Format::Json => json_dataset(&path, fields.reader()),
        };
        let dataset = changes.apply(dataset);
        let problem = dataset.samples().err();
        match problem {
            None => Some(dataset),
            Some(problem) => {
                self.tell(&path, &problem, id.map(|id| id.place()), mistakes);
                None
            }
        }
    }

    /// Says what is wrong with the dataset, at the place in the task file that it is the fault of.
    fn tell(&self, path: &Path, problem: &DatasetError, id: Option<Range<usize>>, mistakes: &mut Mistakes) {
        let at_path = self.path.span.clone();
        match problem {
            DatasetError::Read { .. } => {
                let near = nearest_file(path).map(|near| format!("did you mean `{near}`?"));
                mistakes.add(at_path, problem.to_string(), near);
            }
            DatasetError::MissingField { place, field, known, .. } => {
                let hint = |name: &str| match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are: {}", known.join(", ")),
                };
                // The record lacks one of them for sure; those behind it were not looked for.
                let missing = self.named.iter().filter(|text| known.iter().all(|known| known != text.value));
                let mut told = false;
                for text in missing {
                    let message = format!("no field `{}` in {place}", text.value);
                    mistakes.add(text.span.clone(), message, Some(hint(text.value)));
                    told = true;
                }
                if !told {
                    let hint = format!("say which one it is, as in {field} = \"…\"; {}", hint(field));
                    mistakes.add(self.table.clone(), format!("no field `{field}` in {place}"), Some(hint));
                }
            }
            DatasetError::Record { problem: wrong, .. } => {
                let about = |text: &&Text<'_>| wrong.starts_with(&format!("`{}`", text.value));
                let place = self.named.iter().find(about).map_or(at_path, |text| text.span.clone());
                mistakes.add(place, problem.to_string(), None);
            }
            DatasetError::DuplicateId { .. } => mistakes.add(id.unwrap_or(at_path), problem.to_string(), None),
            _ => mistakes.add(at_path, problem.to_string(), None),
        }
    }
}

fn format_of(path: &Path) -> Option<Format> {
    match path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase().as_str() {
        "csv" | "tsv" => Some(Format::Csv),
        "json" | "jsonl" => Some(Format::Json),
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
