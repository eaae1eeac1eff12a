//! Score tables: a row per sample and epoch, as CSV, TSV, JSON lines or Parquet; read into the columns of errorbar, and
//! written.
//!
//! Readers stream: a piece of the file goes into [`ScoreColumns`] and is forgotten, so memory is that of the columns and
//! of a few pieces, the longest row at least. Mapping whole files and slicing them was rejected: it would be faster by a
//! little, but a table that is being written to would take the process down. Only the metadata that the plan needs is
//! fetched ([`TableOptions::metadata`]).
//!
//! [`read_table`] reads a table; [`mod@write`] writes rows of cells.
//!
//! ```
//! use errorbar_core::Plan;
//! use errorbar_table::{TableOptions, read_table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.csv");
//! std::fs::write(&path, "id,score\nq1,C\nq2,I\nq3,C\nq4,C\n")?;
//! let table = read_table(&path, &TableOptions::new())?;
//! let results = Plan::new().evaluate(&table.columns)?.results;
//! assert_eq!(results.estimate("accuracy")?.number(), Some(0.75));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
mod arrow;
mod blocks;
mod builder;
mod cell;
mod delimited;
mod error;
pub mod error_text;
mod explain;
#[doc(hidden)]
pub mod input;
mod jsonl;
mod layout;
mod limits;
mod location;
mod mapping;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod pieces;
mod preview;
mod resolve;
mod row_groups;
mod score_records;
mod spellings;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod typed;
mod values;
pub mod write;

use std::path::Path;

use errorbar_core::spec::nearest;
use errorbar_core::{LeafRef, ScoreColumns};
use errorbar_files::json_value::kind as json_kind;

pub(crate) use error_text::excerpt;
pub use input::{BUFFER_BYTES, DecompressedFile, MemoryTables};
use input::{InputDescription, TableFormat, TableInput};
use options::TableSplit;
use resolve::Resolution;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowTable, read_row_groups};
pub use cell::whole_number;
pub use error::{TableDoubt, TableError, TableErrorKind, WantedColumn};
pub use explain::{ExplainedColumn, ExplainedScores, TableExplanation, explain_table, outline_table};
pub use limits::TableLimits;
pub use location::{RowLocations, TableLocation};
pub use mapping::{DecimalMark, InputFormat, MappingError, MappingProblem, ScoreScale, TableMapping};
pub use options::TableOptions;
#[cfg(feature = "parquet")]
pub use parquet::ParquetRecords;
pub use pieces::QuoteState;
pub use resolve::ColumnReason;
pub use row_groups::{RowColumns, RowGroup, RowGroupError, RowLabels};
pub use score_records::{ScoreRecord, read_score_records};
pub use values::{
    CellMeaning, CellReader, CellUse, GradeMeaning, GradeProposal, MISSING_SPELLINGS, NoScore, NoScorePolicy,
    NoScores, ScoreWord, UnfitCells, is_like_missing,
};

/// A table that was read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScoreTable {
    /// The scores, and the metadata that the options name.
    pub columns: ScoreColumns,
    /// The number of samples and epochs that the file has. The columns have a row more for each epoch of a sample that
    /// only others have.
    pub rows: usize,
    /// All metadata that the table has, fetched or not, for messages.
    pub metadata_keys: Vec<String>,
    /// What the rows have in the column that [`TableOptions::split_by`] names.
    pub part: Option<String>,
    /// The log that the rows are of, where a column names it; only with [`read_tables`], as are task and model.
    pub log: Option<String>,
    /// The task of that log or part, if all rows have the same.
    pub task: Option<String>,
    /// The model of that log or part, if all rows have the same.
    pub model: Option<String>,
    /// Whether a part has a table for each of its tasks, because they have the same ids.
    pub split_by_task: bool,
    /// Whether ids are the numbers of rows, because no column has them: the same id is then no reason to believe that
    /// two rows are of the same sample.
    pub has_synthetic_ids: bool,
    /// Whether the table counts epochs from 0; the columns have them from 1 on.
    pub epochs_from_zero: bool,
    /// A column of models or metrics whose rows count as samples together, in some part if there are parts, and two of its
    /// values.
    pub pooled: Option<(String, Vec<String>)>,
    /// What the file was found to be.
    pub input: InputDescription,
    /// How the table was read: what the options say, and what was found out.
    pub mapping: TableMapping,
    /// The cells that were given a meaning, for messages.
    pub words: Vec<ScoreWord>,
    /// Where the rows of the columns are in the file.
    pub locations: RowLocations,
}

/// Reads a score table; the file's extension gives the format (`.csv`, `.tsv`, `.jsonl`,
/// `.ndjson`, and `.parquet` with the feature of that name).
///
/// The column `id` names the sample, `epoch` (if there is one) counts its runs from 1, the score
/// columns give a scorer each, and everything else is sample metadata. A score cell that is empty,
/// null in Parquet, or a key that a JSON line lacks, is a missing score; not-a-number, and null in
/// JSON, is unscored. Where there is one score column, `answer` and `explanation` belong to the score, unless they are
/// asked for as metadata. Columns of a Parquet file that are not needed are not read, whatever their type.
///
/// A table that has a column `scorer` is in the long form, unless score columns are named: a row per
/// sample, epoch and scorer, as logs are exported. The score is in `value`, else `score`; text that
/// starts like a list or a map is one. `answer`, `explanation` and `reason` belong to the score, a string
/// in `error` means that the sample errored, and the first row of a sample and epoch gives its metadata.
/// A row without scorer and score is a sample without any.
///
/// Cells have their meaning then: `PASS` is 1, `28%` is 0.28, `NA` is a missing score. One without a meaning is an error that
/// names it, unless [`TableOptions::cells`] says that labels are read, or [`TableOptions::no_scores`] what becomes of it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// use errorbar_core::Score;
/// use errorbar_table::{TableOptions, read_table};
/// std::fs::write(&path, "id,score\nq1,PASS\nq2,28%\nq3,n/a\n")?;
/// let table = read_table(&path, &TableOptions::new())?;
/// let scores: Vec<_> = (0..3).map(|row| table.columns.score(row, "score")).collect();
/// assert_eq!(scores, [Some(Score::new(1)), Some(Score::new(0.28)), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Everything that would make a number wrong is refused with the file, the line and a hint:
/// rows that are too short or too long, samples that repeat within an epoch, epochs that are no
/// integer, strings that are not UTF-8. So is everything beyond the [`TableLimits`]: a line without an end, a
/// hundred thousand columns, a page that decompresses to gigabytes.
pub fn read_table(path: impl AsRef<Path>, options: &TableOptions) -> Result<ScoreTable, TableError> {
    // It is not split, so there is one.
    let options = TableOptions { split: TableSplit::Whole, ..options.clone() };
    read(path.as_ref(), &options).map(|tables| tables.into_iter().next().unwrap_or_default())
}

/// Reads a score table that may be of several logs, as logs are exported together: one table for each value of the
/// column `log`, or of the one that [`TableOptions::split_by`] names, in the order in which they come. Samples of
/// different logs may have the same id. Each is expected to have the epochs that its own samples have. A table without that
/// column, or without rows, is one table.
///
/// # Errors
/// As [`read_table`]; more than ten thousand logs.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// std::fs::write(&path, "log,model,id,scorer,value\na.eval,x,q1,match,C\nb.eval,y,q1,match,I\n")?;
/// let options = errorbar_table::TableOptions::new().metadata(errorbar_core::MetadataKeys::NONE);
/// let tables = errorbar_table::read_tables(&path, &options)?;
/// assert_eq!(tables.len(), 2);
/// assert_eq!(tables[1].model.as_deref(), Some("y"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_tables(path: impl AsRef<Path>, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let mut options = options.clone();
    if options.split == TableSplit::Whole {
        options.split = TableSplit::ByLog;
    }
    let mut tables = read(path.as_ref(), &options)?;
    if options.required_column().is_some() {
        tables.iter_mut().for_each(|table| table.part = table.log.take());
    }
    Ok(tables)
}

/// Reads a table, once it is clear which column is what.
fn read(path: &Path, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let at_path = |error: TableError| error.at_path(path);
    options.check().map_err(|kind| at_path(kind.into()))?;
    let input = options.open(path).map_err(at_path)?;
    let options = input.adapt(options);
    let resolution = resolve::resolve(&input, &options).map_err(|kind| at_path(kind.into()))?;
    let mut tables = read_resolved(&input, &resolution).map_err(at_path)?;
    give_meaning(&mut tables, &options).map_err(|kind| at_path(kind.into()))?;
    Ok(tables)
}

/// Gives the cells of tables of a file their meaning.
fn give_meaning(tables: &mut [ScoreTable], options: &TableOptions) -> Result<(), TableErrorKind> {
    match values::give_meaning(tables, options.no_scores, options.cells) {
        found if found.is_empty() => Ok(()),
        found => Err(TableErrorKind::no_scores(found)),
    }
}

fn read_resolved(input: &TableInput, resolution: &Resolution) -> Result<Vec<ScoreTable>, TableError> {
    let mut options = resolution.options.clone();
    options.check()?;
    // What the table may be if ids repeat: tasks with the same ids; epochs that only rows behind the first ones show.
    let mut others: Vec<TableOptions> =
        options.by_task().filter(|_| resolution.has_tasks).into_iter().collect();
    others.extend(resolution.spare_epoch.as_ref().map(|epoch| options.clone().with_epochs(epoch)));
    if !others.is_empty() {
        input.keep_rows();
    }
    let mut tables = read_by_id(input, &options);
    for other in others {
        if !tables.as_ref().is_err_and(|error| error.kind().is_repeated_row()) {
            break;
        }
        if let Ok(read) = read_by_id(input, &other) {
            (options, tables) = (other, Ok(read));
        }
    }
    let mut tables = tables.map_err(|error| match error.kind().is_repeated_row() {
        true => error.apart(resolve::apart(input, &options)),
        false => error,
    })?;
    if resolution.scores == ColumnReason::Spelling {
        refuse_late_counts(&tables, &options)?;
    }
    for table in &mut tables {
        (table.has_synthetic_ids, table.mapping) = (options.is_numbered, options.mapping.clone());
        table.pooled = resolution.pooled.clone();
    }
    Ok(tables)
}

fn read_by_id(input: &TableInput, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let bytes = input.bytes().map_err(TableErrorKind::Open)?;
    let tables = match input.format() {
        #[cfg(feature = "arrow")]
        TableFormat::Arrow(table) => arrow::read(table, options),
        TableFormat::Delimited(dialect) => delimited::read(bytes, dialect.delimiter, options),
        TableFormat::JsonLines => jsonl::read(bytes, options),
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => parquet::read(bytes, options),
        #[cfg(not(feature = "parquet"))]
        TableFormat::Parquet => {
            let hint = "build it with the feature `parquet`, or save the table as .csv or .jsonl";
            Err(TableErrorKind::invalid("this build of errorbar does not read Parquet", hint).into())
        }
    };
    let mut tables = tables.map_err(|error| input.locate(error))?;
    for table in &mut tables {
        table.input = input.description().clone();
        // Those of rows that were made out of something else are not lines of the file.
        if table.input.is_converted {
            table.locations = RowLocations::default();
        }
    }
    // Who names the column of ids knows them.
    if !options.is_id_named {
        refuse_summary(&tables)?;
    }
    Ok(tables)
}

/// Refuses a table in which a row sums up the others, as spreadsheets do: it would count as a sample.
fn refuse_summary(tables: &[ScoreTable]) -> Result<(), TableError> {
    for columns in tables.iter().map(|table| &table.columns).filter(|columns| columns.len() > 1) {
        let mut rows = spellings::summary_candidates(columns.len());
        if let Some(row) = rows.find(|row| spellings::is_summary(columns.id(*row))) {
            return Err(TableErrorKind::SummaryRow(columns.id(row).to_owned()).in_row(row as u64 + 1));
        }
    }
    Ok(())
}

/// Refuses a column that was taken for its name and has numbers behind the first rows that are no shares.
fn refuse_late_counts(tables: &[ScoreTable], options: &TableOptions) -> Result<(), TableErrorKind> {
    let mapping = &options.mapping;
    // Every cell that is not named is an error there.
    if mapping.scale.is_some() || !mapping.correct.is_empty() || !mapping.incorrect.is_empty() {
        return Ok(());
    }
    let cells = CellReader::new(mapping);
    let is_off = |number: &f64| !(0.0..=1.0).contains(number);
    // A number that means a missing score is no count.
    let is_count = |leaf: LeafRef<'_>| match cells.meaning(leaf) {
        CellMeaning::Score(number) => is_off(&number),
        _ => false,
    };
    for name in options.score_columns.iter().filter(|name| spellings::holds_shares(name)) {
        for columns in tables.iter().map(|table| &table.columns) {
            let (low, high) = columns.distinct_scores(name, 1).range.unwrap_or_default();
            if ![low, high].iter().any(is_off) {
                continue;
            }
            let found = columns.distinct_scores_where(name, 1, is_count);
            if let Some((leaf, _)) = found.values.first() {
                return Err(TableErrorKind::UnfitScoreColumns {
                    columns: vec![(name.clone(), leaf.view().text())],
                    cells: None,
                });
            }
        }
    }
    Ok(())
}

/// The error of missing columns. A name from the options has a nearest one among all columns; the default names have none, or
/// the hint for every table would be its first column.
fn no_column(role: WantedColumn, wanted: &[&str], found: Vec<String>) -> TableErrorKind {
    let nearest = match wanted {
        [name] => nearest(name, found.iter().map(String::as_str)).map(str::to_owned),
        _ => None,
    };
    let wanted = wanted.iter().map(|name| (*name).to_owned()).collect();
    TableErrorKind::NoColumn { role, wanted, found, nearest }
}
