//! Score tables: a row per sample and epoch, as CSV, TSV, JSON lines or Parquet.

mod cell;
mod delimited;
mod error;
mod jsonl;
mod layout;
mod limits;
mod long;
mod long_parts;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

use std::fs::File;
use std::path::Path;

use errorbar_core::spec::nearest;
use errorbar_core::{MetadataKeys, ScoreColumns};

pub(crate) use error::{excerpt, list};
use layout::{EPOCH, ID, LOG};

pub use error::{TableError, TableErrorKind, TableLocation};
pub use limits::TableLimits;
#[cfg(feature = "parquet")]
pub use parquet::ParquetRecords;

/// Which columns of a table to read as what.
///
/// ```
/// use errorbar_core::MetadataKeys;
/// use errorbar_log::TableOptions;
/// let options = TableOptions::new().score_columns(["judge", "human"]).metadata(MetadataKeys::one("topic"));
/// ```
#[derive(Clone, Debug)]
pub struct TableOptions {
    score_columns: Vec<String>,
    metadata: MetadataKeys,
    details: bool,
    /// The column that names the sample.
    id_column: String,
    /// Those to look for if there is none of that name.
    other_id_columns: Vec<String>,
    /// Whether rows without a column of ids may be numbered.
    number_rows: bool,
    /// Whether they are, because there is none.
    is_numbered: bool,
    split: TableSplit,
    limits: TableLimits,
}

/// What a table is split by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TableSplit {
    /// It is one table.
    Whole,
    /// The log that rows are of, if a column names it.
    ByLog,
    /// This column, which must be there; and the task, if a column names it.
    By(String),
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions::new()
    }
}

impl TableOptions {
    /// The scores in the column `score`, else `value`; every other column is metadata.
    pub fn new() -> Self {
        TableOptions {
            score_columns: Vec::new(),
            metadata: MetadataKeys::All,
            details: true,
            id_column: ID.to_owned(),
            other_id_columns: Vec::new(),
            number_rows: false,
            is_numbered: false,
            split: TableSplit::Whole,
            limits: TableLimits::default(),
        }
    }

    /// Reads these columns as scores, each as a separate scorer. None means the default.
    #[must_use]
    pub fn score_columns(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.score_columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// Fetches only this metadata.
    #[must_use]
    pub fn metadata(mut self, keys: MetadataKeys) -> Self {
        self.metadata = keys;
        self
    }

    /// Whether answers and explanations in the long form are held; they are long, and few metrics read them.
    #[must_use]
    pub fn details(mut self, details: bool) -> Self {
        self.details = details;
        self
    }

    /// The samples are named in this column; by default in `id`.
    #[must_use]
    pub fn id_column(mut self, name: impl Into<String>) -> Self {
        (self.id_column, self.other_id_columns) = (name.into(), Vec::new());
        self
    }

    /// The samples are named in the first of these columns that a table has. None means the default.
    #[must_use]
    pub fn id_columns(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names = names.into_iter().map(Into::into);
        self.id_column = names.next().unwrap_or_else(|| ID.to_owned());
        self.other_id_columns = names.collect();
        self
    }

    /// Numbers the rows of a text file that has no column of ids: each is then a sample. By default that is an error,
    /// because the same number is not the same sample in another table.
    #[must_use]
    pub fn number_rows(mut self, number_rows: bool) -> Self {
        self.number_rows = number_rows;
        self
    }

    /// [`read_tables`] gives a table for each value of this column, and for each task if there is a column `task` that
    /// is not fetched as metadata; by default for each value of the column `log`.
    #[must_use]
    pub fn split_by(mut self, column: impl Into<String>) -> Self {
        self.split = TableSplit::By(column.into());
        self
    }

    /// The column that the table is split by.
    fn split_column(&self) -> Option<&str> {
        match &self.split {
            TableSplit::Whole => None,
            TableSplit::ByLog => Some(LOG),
            TableSplit::By(column) => Some(column),
        }
    }

    /// The column that the table is split by, which it must have.
    fn required_column(&self) -> Option<&str> {
        self.split_column().filter(|_| self.split != TableSplit::ByLog)
    }

    /// Refuses a table that goes beyond these limits.
    #[must_use]
    pub fn limits(mut self, limits: TableLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Refuses names that cannot all be scores, before any file is opened.
    fn check(&self) -> Result<(), TableErrorKind> {
        for (at, name) in self.score_columns.iter().enumerate() {
            if *name == self.id_column || name == EPOCH || self.required_column() == Some(name) {
                return Err(TableErrorKind::NotAScoreColumn(name.clone()));
            }
            if self.score_columns.iter().skip(at + 1).any(|other| other == name) {
                return Err(TableErrorKind::ScoreColumnTwice(name.clone()));
            }
        }
        match self.required_column() {
            Some(name) if name == self.id_column || name == EPOCH => {
                Err(TableErrorKind::NotASplitColumn(name.to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// A table that was read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScoreTable {
    /// The scores, and the metadata that the options name.
    pub columns: ScoreColumns,
    /// All metadata that the table has, fetched or not, for messages.
    pub metadata_keys: Vec<String>,
    /// What the rows have in the column that [`TableOptions::split_by`] names.
    pub part: Option<String>,
    /// The log that the rows are of, where a column names it; only with [`read_tables`], as are task and model.
    pub log: Option<String>,
    /// The task of that log.
    pub task: Option<String>,
    /// The model of that log.
    pub model: Option<String>,
}

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableFormat {
    Delimited(u8),
    JsonLines,
    Parquet,
}

impl TableFormat {
    fn of(path: &Path) -> Result<Self, TableErrorKind> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(TableFormat::Delimited(b',')),
            Some("tsv") => Ok(TableFormat::Delimited(b'\t')),
            Some("jsonl" | "ndjson") => Ok(TableFormat::JsonLines),
            Some("parquet") => Ok(TableFormat::Parquet),
            Some("eval" | "json") => Err(TableErrorKind::EvalLog),
            _ => Err(TableErrorKind::UnknownFormat { extension }),
        }
    }
}

/// Reads a score table; the file's extension gives the format (`.csv`, `.tsv`, `.jsonl`,
/// `.ndjson`, and `.parquet` with the feature of that name).
///
/// The column `id` names the sample, `epoch` (if there is one) counts its runs from 1, the score
/// columns give a scorer each, and everything else is sample metadata. A score cell that is empty,
/// null in Parquet, or a key that a JSON line lacks, is a missing score; not-a-number, and null in
/// JSON, is unscored. Columns of a Parquet file that are not needed are not read, whatever their type.
///
/// A table that has a column `scorer` is in the long form, unless score columns are named: a row per
/// sample, epoch and scorer, as logs are exported. The score is in `value`, else `score`; text that
/// starts like a list or a map is one. `answer`, `explanation` and `reason` belong to the score, a string
/// in `error` means that the sample errored, and the first row of a sample and epoch gives its metadata.
/// A row without scorer and score is a sample without any.
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
/// column `log`, or of the one that [`TableOptions::split_by`] names, in the order in which they come. Samples of different logs may have the same id. A table without
/// that column, or without rows, is one table.
///
/// # Errors
/// As [`read_table`]; more than ten thousand logs.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// std::fs::write(&path, "log,model,id,scorer,value\na.eval,x,q1,match,C\nb.eval,y,q1,match,I\n")?;
/// let options = errorbar_log::TableOptions::new().metadata(errorbar_core::MetadataKeys::NONE);
/// let tables = errorbar_log::read_tables(&path, &options)?;
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

/// Reads a table by the first column of ids that it has.
fn read(path: &Path, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let first = match read_by_id(path, options) {
        Err(error) if error.kind().is_missing_id() => error,
        read => return read,
    };
    for name in &options.other_id_columns {
        let options = TableOptions { id_column: name.clone(), ..options.clone() };
        match read_by_id(path, &options) {
            Err(error) if error.kind().is_missing_id() => {}
            read => return read,
        }
    }
    let is_text = !matches!(TableFormat::of(path), Ok(TableFormat::Parquet));
    if options.number_rows && is_text {
        return read_by_id(path, &TableOptions { is_numbered: true, ..options.clone() });
    }
    Err(first)
}

fn read_by_id(path: &Path, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let read = || {
        options.check()?;
        // That a file does not exist matters more than what it is called.
        let file = File::open(path).map_err(TableErrorKind::Open);
        let format = match (TableFormat::of(path), &file) {
            (Err(TableErrorKind::UnknownFormat { .. }), Err(_)) => TableFormat::JsonLines,
            (format, _) => format?,
        };
        let file = file?;
        match format {
            TableFormat::Delimited(delimiter) => delimited::read(file, delimiter, options),
            TableFormat::JsonLines => jsonl::read(file, options),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => parquet::read(file, path, options),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => Err(TableErrorKind::NoParquet.into()),
        }
    };
    read().map_err(|error: TableError| error.at_path(path))
}

/// The error of missing score columns. A name from the options has a nearest one among all columns; the
/// default names have none, or the hint for every table would be its first column.
fn no_score_column(wanted: &[&str], found: Vec<String>) -> TableError {
    let nearest = match wanted {
        [name] => nearest(name, found.iter().map(String::as_str)).map(str::to_owned),
        _ => None,
    };
    let wanted = wanted.iter().map(|name| (*name).to_owned()).collect();
    TableErrorKind::NoScoreColumn { wanted, found, nearest }.into()
}

/// The error of a column that the table should be split by and that it does not have.
fn no_split_column(column: &str, found: Vec<String>) -> TableError {
    let nearest = nearest(column, found.iter().map(String::as_str)).map(str::to_owned);
    TableErrorKind::NoSplitColumn { column: column.to_owned(), found, nearest }.into()
}

/// The table, if no sample has an epoch twice.
///
/// The engine refuses a repeated epoch too, but it cannot report where the two rows are.
fn finish(columns: ScoreColumns, metadata_keys: Vec<String>) -> Result<Vec<ScoreTable>, TableError> {
    if let Some((row, first)) = columns.repeated_row() {
        let (epoch, first) = (columns.epoch(row), TableLocation::Row(first as u64 + 1));
        let kind = TableErrorKind::DuplicateRow { epoch, first };
        return Err(kind.in_row(row as u64 + 1).of_sample(columns.id(row)));
    }
    Ok(vec![ScoreTable { columns, metadata_keys, ..ScoreTable::default() }])
}
