//! The columns of an export: the fixed ones, and one for each metadata key of the samples.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use errorbar_core::chat::{Input, Targets, Usage};
use errorbar_core::{Conversion, Metadata, Score, Value};
use errorbar_log::eval::StoredSample;
use errorbar_table::write::{ColumnKind, ExportCell, WrittenColumn};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::ExportError;
use crate::diagnostic::Diagnostic;

/// The most metadata columns: the names are held for all samples, and they may be hostile.
const MOST: usize = 20_000;

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnSource {
    /// The same for all scores of a sample.
    Sample(SamplePart, CellOf),
    Scorer,
    /// A part of a score: of the scorer of the row, or of the scorer of this number.
    Score(Option<usize>, ScorePart),
    /// Metadata, by the number of its column.
    Metadata(usize),
}

/// What stands under a column.
type CellOf = for<'a> fn(&ExportRow<'a>) -> ExportCell<'a>;

/// Which part of a sample has to be read for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SamplePart {
    /// What every sample is read with, or what is not of the sample.
    Any,
    /// Its input and target.
    Texts,
    Completion,
    /// Its times and tokens.
    Details,
}

/// What is written of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScorePart {
    Value,
    Answer,
    Explanation,
    Reason,
    /// The value as the metrics of its scorer convert it.
    Number,
}

impl ScorePart {
    /// In the order of their columns; the name of the first is that of the scorer where scorers have their own.
    pub(super) const ALL: [(ScorePart, &str); 5] = [
        (ScorePart::Value, "value"),
        (ScorePart::Answer, "answer"),
        (ScorePart::Explanation, "explanation"),
        (ScorePart::Reason, "reason"),
        (ScorePart::Number, "number"),
    ];

    fn kind(self, value: ExportKind) -> ExportKind {
        match self {
            ScorePart::Value => value,
            ScorePart::Number => ExportKind::Float,
            ScorePart::Answer | ScorePart::Explanation | ScorePart::Reason => ExportKind::Text,
        }
    }
}

/// The columns that every export has, in order; the first ones are those that the first version had.
const FIXED: [(&str, ColumnSource, ExportKind); 24] = {
    use ColumnSource::{Sample, Score, Scorer};
    use ExportKind::{Float, Int, Text};
    use SamplePart::{Any, Completion, Details, Texts};
    [
        (LOG, Sample(Any, |row| ExportCell::Text(&row.run.log)), Text),
        ("task", Sample(Any, |row| ExportCell::Text(&row.run.task)), Text),
        ("model", Sample(Any, |row| ExportCell::Text(&row.run.model)), Text),
        ("id", Sample(Any, |row| ExportCell::Id(&row.sample.id)), Text),
        (EPOCH, Sample(Any, |row| ExportCell::Epoch(row.sample.epoch)), Int),
        ("scorer", Scorer, Text),
        ("value", Score(None, ScorePart::Value), Text),
        ("answer", Score(None, ScorePart::Answer), Text),
        ("explanation", Score(None, ScorePart::Explanation), Text),
        ("reason", Score(None, ScorePart::Reason), Text),
        ("error", Sample(Any, |row| text(&row.sample.error)), Text),
        ("limit", Sample(Any, |row| text(&row.sample.limit)), Text),
        ("number", Score(None, ScorePart::Number), Float),
        ("input", Sample(Texts, |row| ExportCell::Json(&row.cells.input)), Text),
        ("target", Sample(Texts, |row| ExportCell::Json(&row.cells.target)), Text),
        ("output", Sample(Completion, |row| text(&row.sample.completion)), Text),
        ("started_at", Sample(Details, |row| text(&row.sample.started_at)), Text),
        ("completed_at", Sample(Details, |row| text(&row.sample.completed_at)), Text),
        ("total_time", Sample(Details, |row| number(row.sample.total_time)), Float),
        ("working_time", Sample(Details, |row| number(row.sample.working_time)), Float),
        ("input_tokens", Sample(Details, |row| row.tokens(|usage| usage.input_tokens)), Int),
        ("output_tokens", Sample(Details, |row| row.tokens(|usage| usage.output_tokens)), Int),
        ("total_tokens", Sample(Details, |row| row.tokens(|usage| usage.total_tokens)), Int),
        // No column, but a name that metadata may not have: readers of tables take such a column for the scores.
        (SCORE, Score(None, ScorePart::Value), Text),
    ]
};

fn text(text: &Option<String>) -> ExportCell<'_> {
    ExportCell::text_or_null(text.as_deref())
}

fn number<'a>(number: Option<f64>) -> ExportCell<'a> {
    number.map_or(ExportCell::Null, ExportCell::Number)
}

/// The path of the log.
pub(super) const LOG: &str = "log";
const EPOCH: &str = "epoch";
const SCORE: &str = "score";
/// Stands for all metadata in a choice of columns.
const METADATA: &str = "metadata";

/// What all values of a column have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportKind {
    Bool,
    /// Integers that a float holds exactly.
    Int,
    /// Integers of which a float would lose digits.
    LongInt,
    Float,
    /// Strings, structures, or of several kinds.
    Text,
}

impl ExportKind {
    fn of_int(int: i64) -> Self {
        const EXACT: u64 = 1 << 53;
        if int.unsigned_abs() <= EXACT { ExportKind::Int } else { ExportKind::LongInt }
    }

    fn of_json(json: &Json) -> Self {
        match json {
            Json::Bool(_) => ExportKind::Bool,
            Json::Number(number) => number.as_i64().map_or(ExportKind::Float, ExportKind::of_int),
            _ => ExportKind::Text,
        }
    }

    /// The kind of a score; nothing for one that is unscored, which every number column can hold.
    pub(super) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Unscored => None,
            Value::Int(int) => Some(ExportKind::of_int(*int)),
            Value::Float(_) => Some(ExportKind::Float),
            // Only numbers make a column of numbers: `true` is not 1.
            _ => Some(ExportKind::Text),
        }
    }

    /// The kind of both together.
    pub(super) fn and(self, other: ExportKind) -> ExportKind {
        match (self, other) {
            (a, b) if a == b => a,
            (ExportKind::Int | ExportKind::LongInt, ExportKind::Int | ExportKind::LongInt) => {
                ExportKind::LongInt
            }
            (ExportKind::Int, ExportKind::Float) | (ExportKind::Float, ExportKind::Int) => ExportKind::Float,
            _ => ExportKind::Text,
        }
    }
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct ExportColumn {
    pub(super) name: String,
    /// What it is called in a choice of columns, where that is not its name: the same for all scorers, or all metadata.
    pub(super) family: &'static str,
    pub(super) source: ColumnSource,
    pub(super) kind: ExportKind,
}

impl ExportColumn {
    /// The column as it is written.
    pub(super) fn written(&self) -> WrittenColumn {
        let kind = match (self.source, self.kind) {
            _ if self.family == EPOCH => ColumnKind::Int32,
            (ColumnSource::Score(_, ScorePart::Value), ExportKind::Int | ExportKind::Float) => {
                ColumnKind::Float
            }
            // Integers that a float cannot hold are better strings than other numbers.
            (ColumnSource::Score(_, ScorePart::Value), _) | (_, ExportKind::Text) => ColumnKind::Text,
            (_, ExportKind::Bool) => ColumnKind::Bool,
            (_, ExportKind::Int | ExportKind::LongInt) => ColumnKind::Int64,
            (_, ExportKind::Float) => ColumnKind::Float,
        };
        WrittenColumn { name: self.name.clone(), kind }
    }
}

/// The metadata keys of all samples, as the tree that they are.
#[derive(Debug, Default)]
pub(super) struct MetadataTree {
    root: IndexMap<String, MetadataNode>,
    count: usize,
}

/// A key, which may hold a value in one sample and a map in another.
#[derive(Debug, Default)]
struct MetadataNode {
    kind: Option<ExportKind>,
    /// The number of its column, once the columns are made.
    column: Option<usize>,
    children: IndexMap<String, MetadataNode>,
}

impl MetadataTree {
    /// Adds the metadata keys of a sample.
    pub(super) fn learn(&mut self, log: &Path, metadata: &Metadata) -> Result<(), ExportError> {
        for (key, value) in metadata {
            learn(&mut self.root, key, value, &mut self.count);
        }
        match self.count > MOST {
            true => {
                let problem = format!("the metadata of the samples has more than {MOST} different keys");
                let hint =
                    "export the logs one by one, or take the samples as they are: `log dump --samples`";
                Err(Diagnostic::error(problem).about(log.display()).hint(hint).into())
            }
            false => Ok(()),
        }
    }

    /// Makes the columns: the fixed ones, with those of a score once for all scorers or once for each, then one for each
    /// key that holds a value somewhere, or nothing but nulls.
    pub(super) fn columns(&mut self, scorers: &ScorerColumns) -> Vec<ExportColumn> {
        let mut taken: HashSet<String> = FIXED.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let mut columns = Vec::new();
        for (name, source, kind) in FIXED.into_iter().filter(|(name, ..)| *name != SCORE) {
            match (scorers, source) {
                (ScorerColumns::Each(_), ColumnSource::Scorer) => {}
                (ScorerColumns::Each(kinds), ColumnSource::Score(None, ScorePart::Value)) => {
                    columns.extend(columns_of_scorers(kinds, &mut taken));
                }
                (ScorerColumns::Each(_), ColumnSource::Score(..)) => {}
                (ScorerColumns::One(value), ColumnSource::Score(None, part)) => {
                    let kind = part.kind(*value);
                    columns.push(ExportColumn { name: name.to_owned(), family: name, source, kind });
                }
                _ => columns.push(ExportColumn { name: name.to_owned(), family: name, source, kind }),
            }
        }
        let mut count = 0;
        name_nodes(&mut self.root, "", &mut |node, path| {
            let name = free_name(path, &taken);
            taken.insert(name.clone());
            node.column = Some(count);
            let kind = node.kind.unwrap_or(ExportKind::Text);
            let source = ColumnSource::Metadata(count);
            columns.push(ExportColumn { name, family: METADATA, source, kind });
            count += 1;
        });
        columns
    }

    /// The metadata of a sample, in its columns; nothing if one of them is not known.
    pub(super) fn cells<'m>(&self, metadata: &'m Metadata) -> Option<Vec<Option<&'m Json>>> {
        let mut cells = Vec::new();
        for (key, value) in metadata {
            fill(&self.root, key, value, &mut cells)?;
        }
        Some(cells)
    }
}

/// How scores are written, with what their values have in common.
#[derive(Clone, Debug)]
pub(super) enum ScorerColumns {
    /// A row for each scorer.
    One(ExportKind),
    /// Columns for each scorer.
    Each(IndexMap<String, ExportKind>),
}

/// The columns of each scorer: its value under its own name, everything else with that name before it.
fn columns_of_scorers(
    kinds: &IndexMap<String, ExportKind>,
    taken: &mut HashSet<String>,
) -> Vec<ExportColumn> {
    let mut columns = Vec::new();
    for (at, (scorer, value)) in kinds.iter().enumerate() {
        for (part, family) in ScorePart::ALL {
            let wanted = match part {
                ScorePart::Value => scorer.clone(),
                _ => format!("{scorer}.{family}"),
            };
            let numbered = (2..).map(|number| format!("{wanted}_{number}"));
            let is_free = |name: &String| !taken.contains(name);
            let name = std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or_default();
            taken.insert(name.clone());
            let source = ColumnSource::Score(Some(at), part);
            columns.push(ExportColumn { name, family, source, kind: part.kind(*value) });
        }
    }
    columns
}

/// The columns of these names, in this order; all of a family if it is named. The name that is none of theirs is the
/// error.
pub(super) fn chosen(columns: &[ExportColumn], names: &[String]) -> Result<Vec<ExportColumn>, String> {
    let mut chosen: Vec<ExportColumn> = Vec::new();
    for name in names {
        let is_meant = |column: &&ExportColumn| {
            column.name == *name
                || (column.family == name && !columns.iter().any(|other| other.name == *name))
        };
        let mut meant = columns.iter().filter(is_meant).peekable();
        // Samples without metadata have no columns of it.
        if meant.peek().is_none() && name != METADATA {
            return Err(name.clone());
        }
        for column in meant {
            if !chosen.iter().any(|known| known.name == column.name) {
                chosen.push(column.clone());
            }
        }
    }
    Ok(chosen)
}

/// The map that a value is, if it has anything in it; an empty one is a value like others.
fn as_map(value: &Json) -> Option<&serde_json::Map<String, Json>> {
    value.as_object().filter(|map| !map.is_empty())
}

// Readers of logs limit how deep metadata may be nested, so this may recurse.
fn learn(nodes: &mut IndexMap<String, MetadataNode>, key: &str, value: &Json, count: &mut usize) {
    if !nodes.contains_key(key) {
        *count += 1;
    }
    let node = nodes.entry(key.to_owned()).or_default();
    match (as_map(value), value) {
        (Some(map), _) => map.iter().for_each(|(key, value)| learn(&mut node.children, key, value, count)),
        (None, Json::Null) => {}
        (None, value) => {
            let kind = ExportKind::of_json(value);
            node.kind = Some(node.kind.map_or(kind, |known| known.and(kind)));
        }
    }
}

fn name_nodes(
    nodes: &mut IndexMap<String, MetadataNode>,
    above: &str,
    name: &mut impl FnMut(&mut MetadataNode, &str),
) {
    for (key, node) in nodes {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        if node.kind.is_some() || node.children.is_empty() {
            name(node, &path);
        }
        name_nodes(&mut node.children, &path, name);
    }
}

/// The path itself, else with a prefix, else with a number behind it: `a.b` may be a key, or a key in a map.
fn free_name(path: &str, taken: &HashSet<String>) -> String {
    if !taken.contains(path) {
        return path.to_owned();
    }
    let prefixed = format!("metadata.{path}");
    let numbered = (2..).map(|number| format!("{prefixed}_{number}"));
    std::iter::once(prefixed.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(prefixed)
}

fn fill<'m>(
    nodes: &IndexMap<String, MetadataNode>,
    key: &str,
    value: &'m Json,
    cells: &mut Vec<Option<&'m Json>>,
) -> Option<()> {
    let node = nodes.get(key)?;
    if let Some(map) = as_map(value) {
        return map.iter().try_for_each(|(key, value)| fill(&node.children, key, value, cells));
    }
    let Some(column) = node.column else {
        // A null where other samples have a map needs no column.
        return value.is_null().then_some(());
    };
    if cells.len() <= column {
        cells.resize(column + 1, None);
    }
    *cells.get_mut(column)? = Some(value);
    Some(())
}

/// What is the same for all samples of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogContext {
    pub(super) log: String,
    pub(super) task: String,
    pub(super) model: String,
    /// How the metrics of a scorer convert its values; as grades, if unset.
    pub(super) conversions: HashMap<String, Conversion>,
    /// The scorers that have their own columns.
    pub(super) scorers: Vec<String>,
}

/// What is the same for all rows of a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleCells<'a> {
    pub(super) metadata: Vec<Option<&'a Json>>,
    input: Json,
    target: Json,
    usage: Option<Usage>,
}

impl<'a> SampleCells<'a> {
    pub(super) fn new(sample: &StoredSample, metadata: Vec<Option<&'a Json>>) -> Self {
        let mut usage: Option<Usage> = None;
        for model in sample.model_usage.values() {
            usage.get_or_insert_default().add(model);
        }
        let input = sample.input_json.clone().unwrap_or_else(|| input(&sample.input));
        SampleCells { metadata, input, target: target(&sample.target), usage }
    }
}

/// A string, or the messages with their roles; nothing if it is empty.
fn input(input: &Input) -> Json {
    match input {
        Input::Text(text) if text.is_empty() => Json::Null,
        Input::Text(text) => Json::from(text.as_str()),
        Input::Messages(messages) => {
            messages.iter().map(|message| serde_json::to_value(message).unwrap_or_default()).collect()
        }
    }
}

/// A string, or several; nothing if it is empty.
fn target(target: &Targets) -> Json {
    let json = serde_json::to_value(target).unwrap_or_default();
    if json.as_str() == Some("") { Json::Null } else { json }
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExportRow<'a> {
    pub(super) run: &'a LogContext,
    pub(super) sample: &'a StoredSample,
    /// The scorer and its score; nothing for a sample without scores, or where scorers have their own columns.
    pub(super) scored: Option<(&'a str, &'a Score)>,
    pub(super) cells: &'a SampleCells<'a>,
}

impl<'a> ExportRow<'a> {
    /// What stands under a column.
    pub(super) fn cell(&self, source: ColumnSource) -> ExportCell<'a> {
        match source {
            ColumnSource::Sample(_, cell) => cell(self),
            ColumnSource::Scorer => ExportCell::text_or_null(self.scored.map(|(scorer, _)| scorer)),
            ColumnSource::Score(None, part) => self.of_score(self.scored, part),
            ColumnSource::Score(Some(at), part) => {
                let scorer = self.run.scorers.get(at).map(String::as_str);
                let score = scorer.and_then(|scorer| Some((scorer, self.sample.scores.get(scorer)?)));
                self.of_score(score, part)
            }
            ColumnSource::Metadata(at) => {
                let value = self.cells.metadata.get(at).copied().flatten();
                value.map_or(ExportCell::Missing, ExportCell::Json)
            }
        }
    }

    /// A number of tokens, of all models.
    fn tokens(&self, count: fn(&Usage) -> u64) -> ExportCell<'a> {
        self.cells.usage.as_ref().map_or(ExportCell::Null, |usage| ExportCell::Count(count(usage)))
    }

    /// Refuses an epoch that does not fit the type of its column in Parquet; `log` is the log of the row.
    pub(super) fn check_epoch(&self, log: &Path) -> Result<(), ExportError> {
        let epoch = self.sample.epoch;
        if i32::try_from(epoch).is_err() {
            let id = self.sample.id.to_string();
            let text =
                format!("sample {id:?}: the epoch {epoch} does not fit the 32 bits of a Parquet column");
            let problem = Diagnostic::error(text).about(log.display());
            return Err(problem.hint("export to CSV or JSON lines").into());
        }
        Ok(())
    }

    fn of_score(&self, scored: Option<(&'a str, &'a Score)>, part: ScorePart) -> ExportCell<'a> {
        let Some((scorer, score)) = scored else {
            return match part {
                // Not null, which would be an answer that could not be scored.
                ScorePart::Value | ScorePart::Number => ExportCell::Missing,
                _ => ExportCell::Null,
            };
        };
        match part {
            ScorePart::Value => ExportCell::Score(&score.value),
            ScorePart::Answer => ExportCell::text_or_null(score.answer.as_deref()),
            ScorePart::Explanation => ExportCell::text_or_null(score.explanation.as_deref()),
            ScorePart::Reason => ExportCell::text_or_null(score.reason.as_deref()),
            ScorePart::Number => match (&score.value, self.run.conversions.get(scorer)) {
                (Value::Unscored, _) => ExportCell::Number(f64::NAN),
                (value, Some(conversion)) => converted(conversion, value),
                (value, None) => converted(&Conversion::default(), value),
            },
        }
    }
}

/// The number that a value is to metrics; nothing for one that has no meaning as a number, which metrics count as 0.
fn converted<'a>(conversion: &Conversion, value: &Value) -> ExportCell<'a> {
    let converted = conversion.convert(value.view());
    if converted.convertible { ExportCell::Number(converted.value) } else { ExportCell::Missing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata(json: &Json) -> Metadata {
        json.as_object().unwrap().clone().into()
    }

    fn columns(samples: &[Json]) -> Vec<(String, ExportKind)> {
        let mut keys = MetadataTree::default();
        for sample in samples {
            keys.learn(Path::new("a.eval"), &metadata(sample)).unwrap();
        }
        let columns = keys.columns(&ScorerColumns::One(ExportKind::Float));
        let columns = columns.into_iter().filter(|column| column.family == METADATA);
        columns.map(|column| (column.name, column.kind)).collect()
    }

    fn named(pairs: &[(&str, ExportKind)]) -> Vec<(String, ExportKind)> {
        pairs.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
    }

    #[test]
    fn maps_become_columns_with_dots() {
        let samples =
            [json!({"a": {"b": 1, "c": {"d": "x"}}, "e": [1, 2]}), json!({"a": {"b": 0.5}, "f": {}})];
        let found = columns(&samples);
        let wanted = [
            ("a.b", ExportKind::Float),
            ("a.c.d", ExportKind::Text),
            ("e", ExportKind::Text),
            ("f", ExportKind::Text),
        ];
        assert_eq!(found, named(&wanted));
    }

    #[test]
    fn names_that_are_taken_get_a_prefix() {
        let samples = [json!({"id": 1, "score": 2, "metadata.id": 3, "a.b": 4, "a": {"b": 5}, "log": 6})];
        let names: Vec<String> = columns(&samples).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["metadata.id", "metadata.score", "metadata.metadata.id", "a.b", "metadata.a.b", "metadata.log"]
        );
    }

    #[test]
    fn a_key_may_be_a_map_here_and_null_or_a_value_there() {
        let samples = [json!({"a": null, "b": 1, "n": null}), json!({"a": {"x": true}, "b": {"y": "t"}})];
        let wanted = [
            ("a.x", ExportKind::Bool),
            ("b", ExportKind::Int),
            ("b.y", ExportKind::Text),
            ("n", ExportKind::Text),
        ];
        assert_eq!(columns(&samples), named(&wanted));
        let mut keys = MetadataTree::default();
        for sample in &samples {
            keys.learn(Path::new("a.eval"), &metadata(sample)).unwrap();
        }
        keys.columns(&ScorerColumns::One(ExportKind::Text));
        let first = metadata(&samples[0]);
        let cells = keys.cells(&first).unwrap();
        assert_eq!(cells, [None, Some(&json!(1)), None, Some(&json!(null))]);
        assert!(keys.cells(&metadata(&json!({"new": 1}))).is_none());
        assert!(keys.cells(&metadata(&json!({"a": 1}))).is_none(), "`a` itself has no column");
    }

    #[test]
    fn kinds_together() {
        let long = json!(9_007_199_254_740_993_i64);
        let kind = |values: &[Json]| {
            let samples: Vec<Json> = values.iter().map(|value| json!({"k": value})).collect();
            columns(&samples)[0].1
        };
        assert_eq!(kind(&[json!(1), json!(null), json!(2)]), ExportKind::Int);
        assert_eq!(kind(&[json!(1), json!(2.5), json!(1)]), ExportKind::Float);
        assert_eq!(kind(&[json!(1), long.clone()]), ExportKind::LongInt);
        assert_eq!(kind(&[long.clone(), json!(0.5)]), ExportKind::Text, "a float would lose digits");
        assert_eq!(kind(&[json!(1), long, json!(0.5)]), ExportKind::Text);
        assert_eq!(kind(&[json!(true), json!(1)]), ExportKind::Text);
        assert_eq!(kind(&[json!(true), json!(false)]), ExportKind::Bool);
    }

    #[test]
    fn names_are_not_collected_without_end() {
        let mut keys = MetadataTree::default();
        let result = (0..).find_map(|i| {
            let metadata = Metadata::new().with(format!("k{i}"), i);
            keys.learn(Path::new("a.eval"), &metadata).err()
        });
        assert!(result.is_some_and(|error| error.to_string().contains("more than 20000 different keys")));
    }
}
