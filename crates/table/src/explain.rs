//! How a table is read: which column is what and why, and what its cells mean.

use std::path::Path;

use errorbar_core::{IndexMap, LeafRef, MetadataKeys};

use super::input::InputDescription;
use super::layout::{ColumnRole, LONG_SCORES, SCORER};
use super::mapping::TableMapping;
use super::options::TableSplit;
use super::preview::{TablePreview, text_of};
use super::resolve::{self, ColumnReason};
use super::spellings;
use super::values::{CellMeaning, CellReader};
use super::{ScoreTable, TableError, TableOptions, read_resolved};

/// How a table is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TableExplanation {
    /// What the file was found to be.
    pub input: InputDescription,
    /// What options say, and what was found out.
    pub mapping: TableMapping,
    /// The columns, in the order of the file.
    pub columns: Vec<ExplainedColumn>,
    /// What the cells of the score columns mean, by scorer.
    pub scores: IndexMap<String, ExplainedScores>,
    /// The number of rows of scores; 0 if the table was not read.
    pub rows: usize,
    /// The parts of the table, if it is split.
    pub parts: Vec<String>,
    /// Whether the file counts epochs from 0.
    pub epochs_from_zero: bool,
    /// Whether rows are numbered, because no column identifies the samples.
    pub has_synthetic_ids: bool,
}

/// What a column is read as.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExplainedColumn {
    /// Its name.
    pub name: String,
    /// What it is read as: `id`, `epoch`, `score`, `metadata` and so on.
    pub role: &'static str,
    /// Why.
    pub reason: ColumnReason,
    /// Its first cells, as they are written.
    pub cells: Vec<String>,
}

/// What the cells of a scorer mean.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainedScores {
    /// The distinct ones with their numbers, in order of first appearance.
    pub values: Vec<(String, CellMeaning, usize)>,
    /// The number of scores beyond those.
    pub others: usize,
    /// The lowest and the highest number, as it is written.
    pub range: Option<(f64, f64)>,
    /// The number of empty cells.
    pub empty: usize,
    /// The number of scores that are not-a-number.
    pub unscored: usize,
}

/// How many cells of a column, and how many distinct cells of a scorer, are shown.
const CELLS: usize = 3;
const DISTINCT: usize = 1000;

/// Says how a table is read, without computing anything.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// std::fs::write(&path, "question_id,passed\nq1,PASS\nq2,FAIL\n")?;
/// let found = errorbar_table::explain_table(&path, &errorbar_table::TableOptions::new())?;
/// let roles: Vec<_> = found.columns.iter().map(|column| (column.name.as_str(), column.role)).collect();
/// assert_eq!(roles, [("question_id", "id"), ("passed", "score")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of reading it.
pub fn explain_table(path: impl AsRef<Path>, options: &TableOptions) -> Result<TableExplanation, TableError> {
    explain(path.as_ref(), options).map_err(|error| error.at_path(path.as_ref()))
}

fn explain(path: &Path, options: &TableOptions) -> Result<TableExplanation, TableError> {
    let mut options = options.clone();
    if options.split == TableSplit::Whole {
        options.split = TableSplit::ByLog;
    }
    options.check()?;
    let input = options.open(path)?;
    let options = input.adapt(&options).metadata(MetadataKeys::NONE);
    let mut resolution = resolve::resolve(&input, &options)?;
    let tables = read_resolved(&input, &resolution)?;
    let preview = TablePreview::rows(&input, &options)?;
    let mapping =
        tables.first().map_or_else(|| resolution.options.mapping.clone(), |table| table.mapping.clone());
    if let Some(epoch) = mapping.epoch_column.as_ref().filter(|_| resolution.epoch.is_none()) {
        (resolution.options.epoch_column, resolution.epoch) = (epoch.clone(), Some(ColumnReason::Spelling));
    }
    let options = &resolution.options;
    let names_scorers = preview.has(SCORER) && options.score_columns.is_empty();
    let is_split = options.split_column().is_some_and(|column| preview.has(column));
    let long = LONG_SCORES.iter().find(|name| preview.has(name)).map(|name| (*name).to_owned());
    let scores = if names_scorers { Vec::from_iter(long) } else { mapping.score_columns.clone() };
    let column = |name: &String| {
        let role = ColumnRole::of(name, &scores, names_scorers || is_split, options, 0);
        let reason = match role {
            ColumnRole::Id => resolution.id.unwrap_or(ColumnReason::Rest),
            ColumnRole::Epoch => resolution.epoch.unwrap_or(ColumnReason::Rest),
            ColumnRole::Score(_) => resolution.scores,
            ColumnRole::Log if options.required_column().is_some() => ColumnReason::Option,
            ColumnRole::Metadata(_) | ColumnRole::Skipped => ColumnReason::Rest,
            _ => ColumnReason::Name,
        };
        let cells = first_cells(&preview, name);
        ExplainedColumn { name: name.clone(), role: role_name(role, options), reason, cells }
    };
    let columns = preview.names.iter().map(column).collect();
    Ok(TableExplanation {
        input: input.description().clone(),
        columns,
        scores: explained_scores(&tables, &mapping),
        rows: tables.iter().map(|table| table.rows).sum(),
        parts: tables.iter().filter_map(|table| table.log.clone()).collect(),
        epochs_from_zero: tables.iter().any(|table| table.epochs_from_zero),
        has_synthetic_ids: tables.iter().any(|table| table.has_synthetic_ids),
        mapping,
    })
}

/// What can be known of a table that is not read, because it is unclear which column is what or rows repeat: its columns,
/// and what each may be by its name.
///
/// # Errors
/// Those of opening it.
pub fn outline_table(path: impl AsRef<Path>, options: &TableOptions) -> Result<TableExplanation, TableError> {
    let at_path = |error: TableError| error.at_path(path.as_ref());
    let input = options.open(path.as_ref()).map_err(at_path)?;
    let preview = TablePreview::rows(&input, options).map_err(|kind| at_path(kind.into()))?;
    let column = |name: &String| {
        let is_score = options.score_columns.contains(name) || spellings::scores(name).is_some();
        let role = match name.as_str() {
            "" => "ignored",
            name if name == options.id_column || spellings::is_id(name) => "id?",
            name if name == options.epoch_column || spellings::is_epoch(name) => "epoch?",
            _ if is_score => "score?",
            _ => "metadata",
        };
        let cells = first_cells(&preview, name);
        ExplainedColumn { name: name.clone(), role, reason: ColumnReason::Rest, cells }
    };
    Ok(TableExplanation {
        input: input.description().clone(),
        columns: preview.names.iter().map(column).collect(),
        mapping: options.mapping.clone(),
        ..TableExplanation::default()
    })
}

fn first_cells(preview: &TablePreview, name: &str) -> Vec<String> {
    preview.column(name).take(CELLS).map(|cell| cell.map(text_of).unwrap_or_default()).collect()
}

fn role_name(role: ColumnRole, options: &TableOptions) -> &'static str {
    match role {
        ColumnRole::Id => "id",
        ColumnRole::Epoch => "epoch",
        ColumnRole::Score(_) => "score",
        ColumnRole::Scorer => "scorer",
        ColumnRole::Answer => "answer",
        ColumnRole::Explanation => "explanation",
        ColumnRole::Reason => "reason",
        ColumnRole::Error => "error",
        ColumnRole::Log if options.required_column().is_some() => "part",
        ColumnRole::Log => "log",
        ColumnRole::Task => "task",
        ColumnRole::Model => "model",
        ColumnRole::Bucket => "bucket",
        ColumnRole::Metadata(_) | ColumnRole::Skipped => "metadata",
        ColumnRole::Unread => "ignored",
    }
}

fn explained_scores(tables: &[ScoreTable], mapping: &TableMapping) -> IndexMap<String, ExplainedScores> {
    let cells = CellReader::new(mapping);
    let mut scores: IndexMap<String, ExplainedScores> = IndexMap::new();
    for table in tables {
        for scorer in table.columns.scorer_names() {
            let found = table.columns.distinct_scores(scorer, DISTINCT);
            let explained = scores.entry(scorer.to_owned()).or_default();
            for (leaf, count) in &found.values {
                let text = match leaf.view() {
                    // As tables have them, not as Python does.
                    LeafRef::Bool(value) => value.to_string(),
                    LeafRef::Null => "null".to_owned(),
                    leaf => leaf.text(),
                };
                match explained.values.iter_mut().find(|(known, _, _)| *known == text) {
                    Some((_, _, known)) => *known += count,
                    None => explained.values.push((text, cells.meaning(leaf.view()), *count)),
                }
            }
            explained.others += found.others;
            explained.empty += found.missing;
            explained.unscored += found.unscored;
            if let Some((low, high)) = found.range {
                let (least, most) = explained.range.unwrap_or((low, high));
                explained.range = Some((least.min(low), most.max(high)));
            }
        }
    }
    scores
}
