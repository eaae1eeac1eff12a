//! Why a table could not be read: the location, the problem and a hint.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use errorbar_files::{is_url, url_hint};

use super::error_text::{bytes, excerpt, list, or, or_chars, too_long};
pub use super::location::TableLocation;
use super::unfit::{self, UnfitCells};

/// Why a table could not be read.
///
/// Its `Display` is one line: file, line, problem and hint. [`TableError::problem`] and
/// [`TableError::hint`] give the two parts.
// Boxed, so that the results which carry it stay small.
#[derive(Debug)]
pub struct TableError(Box<ErrorContext>);

#[derive(Debug)]
struct ErrorContext {
    /// Empty until the error leaves the reader, which does not know the file's name.
    path: PathBuf,
    location: Option<TableLocation>,
    sample: Option<String>,
    part: Option<String>,
    apart: Option<(String, bool)>,
    kind: TableErrorKind,
}

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableErrorKind {
    /// The file cannot be opened.
    #[error("cannot open the file: {0}")]
    Open(#[source] io::Error),
    /// Reading the file failed.
    #[error("cannot read the file: {0}")]
    Read(#[source] io::Error),
    /// The extension is not that of a known format.
    #[error("{}", match extension { Some(e) => format!("unknown kind of table `.{e}`"), None => "neither the name nor the content says what kind of table this is".to_owned() })]
    UnknownFormat {
        /// The extension, without the dot.
        extension: Option<String>,
    },
    /// A file of another kind, in words.
    #[error("this is {found}, not a score table")]
    NotATable {
        /// What it is.
        found: &'static str,
    },
    /// A compressed file that is damaged.
    #[error("cannot decompress the file: {0}")]
    Decompress(#[source] io::Error),
    /// Input that is larger than what may be held or spooled of it.
    #[error("the input has more than {}", bytes(*limit))]
    InputTooLarge {
        /// How many bytes it may have.
        limit: u64,
    },
    /// Text that starts as UTF-16 and is not.
    #[error("the text starts as UTF-16, but is not valid UTF-16")]
    InvalidUtf16,
    /// Rows have the same number of fields with each of these delimiters.
    #[error("the delimiter may be {}: rows have the same number of fields with each", or_chars(candidates))]
    AmbiguousDelimiter {
        /// The delimiters.
        candidates: Vec<char>,
    },
    /// A JSON value without rows.
    #[error("this JSON is no table: {problem}")]
    JsonDocument {
        /// What it is instead.
        problem: String,
    },
    /// Figures of a whole run of a tool, where scores of samples are read.
    #[error("these are figures of a whole run of {tool}, without the scores of its samples")]
    AggregatedResults {
        /// The tool.
        tool: &'static str,
        /// The file that has the scores.
        wanted: &'static str,
    },
    /// Results of a tool that are not as it writes them.
    #[error("these are results of {tool}, but {problem}")]
    ToolResults {
        /// The tool.
        tool: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Results of a tool in which some questions come more often than others.
    #[error("results of {tool}: some questions come more often than others: samples, or repeats?")]
    UnevenRepeats {
        /// The tool.
        tool: &'static str,
    },
    /// A row that sums up the others, by its first cell or its id.
    #[error("the row {} sums up the others, and is no sample", excerpt(_0))]
    SummaryRow(String),
    /// It is unclear what the table holds.
    #[error(transparent)]
    Doubt(#[from] super::doubt::TableDoubt),
    /// An eval log where a table is read.
    #[error("this is an eval log, not a score table")]
    EvalLog,
    /// The file has no header and no row.
    #[error("the file is empty")]
    Empty,
    /// No column names the samples.
    #[error("there is no column `{name}`; columns found: {}", list(found))]
    NoIdColumn {
        /// The column that was looked for: `id`, unless another was named.
        name: String,
        /// The columns there are.
        found: Vec<String>,
    },
    /// The column of epochs that was named is missing.
    #[error("there is no column `{name}`; columns found: {}", list(found))]
    NoEpochColumn {
        /// The column that was looked for.
        name: String,
        /// The columns there are.
        found: Vec<String>,
        /// The column whose name is closest.
        nearest: Option<String>,
    },
    /// A column numbers the epochs of samples, and none identifies the samples.
    #[error(
        "the column `{epoch}` numbers epochs, but no column identifies the samples; columns found: {}",
        list(found)
    )]
    EpochsWithoutIds {
        /// The column of epochs.
        epoch: String,
        /// The columns there are.
        found: Vec<String>,
    },
    /// Several columns may identify the samples.
    #[error("these columns may identify the samples: {}", list(candidates))]
    AmbiguousIdColumn {
        /// The columns.
        candidates: Vec<String>,
    },
    /// Several columns may number the epochs.
    #[error("these columns may number the epochs: {}", list(candidates))]
    AmbiguousEpochColumn {
        /// The columns.
        candidates: Vec<String>,
    },
    /// Several columns may hold the scores.
    #[error("these columns may hold the scores: {}", list(candidates))]
    AmbiguousScoreColumn {
        /// The columns.
        candidates: Vec<String>,
    },
    /// Columns have names of scores, and cells that are none.
    #[error("no column holds scores: {}", unfit::describe(columns, cells.as_ref()))]
    UnfitScoreColumns {
        /// The columns, each with a cell that is no score under that name; empty if all cells are.
        columns: Vec<(String, String)>,
        /// All cells of the column, if there is one that other cells make likely to hold scores.
        cells: Option<UnfitCells>,
    },
    /// The column that the table should be split by is missing.
    #[error("there is no column `{column}`; columns found: {}", list(found))]
    NoSplitColumn {
        /// The column that was looked for.
        column: String,
        /// The columns there are.
        found: Vec<String>,
        /// The column whose name is closest.
        nearest: Option<String>,
    },
    /// A table cannot be split by the column of ids or epochs.
    #[error("a table cannot be split by its column `{0}`")]
    NotASplitColumn(String),
    /// A row is empty in the column that the table is split by.
    #[error("the row has no value in the column `{0}`, by which the table is split")]
    EmptySplit(String),
    /// A score column is missing.
    #[error("there is no score column {}; columns found: {}", or(wanted), list(found))]
    NoScoreColumn {
        /// The columns that were looked for.
        wanted: Vec<String>,
        /// The columns there are.
        found: Vec<String>,
        /// The column whose name is closest.
        nearest: Option<String>,
    },
    /// A score column, by its name, that the options name twice.
    #[error("the score column `{0}` is named twice")]
    ScoreColumnTwice(String),
    /// A column, by its name, that the options name as a score and that has another meaning.
    #[error("the column `{0}` cannot be a score: it identifies the rows")]
    NotAScoreColumn(String),
    /// Two columns of this name, or this key twice in a JSON line.
    #[error("the column `{0}` occurs twice")]
    DuplicateColumn(String),
    /// A row with too few or too many fields.
    #[error("the row has {found} field(s), the header has {expected}")]
    FieldCount {
        /// What the header has.
        expected: usize,
        /// What the row has.
        found: usize,
    },
    /// A quote that runs to the end of the file, and would swallow all rows in between.
    #[error("a quote that opens in this row is never closed")]
    UnclosedQuote,
    /// A row without a usable id, and what is there instead.
    #[error("the id is {0}")]
    BadId(String),
    /// An epoch that is not 1, 2, …, but this.
    #[error("the epoch is {0}")]
    BadEpoch(String),
    /// A hash bucket that is no number below [`BUCKETS`](errorbar_core::engine::BUCKETS), in this column.
    #[error("a hash bucket in the column `{0}` is no number from 0 to 4095")]
    BadBucket(String),
    /// Two rows for one epoch of a sample.
    #[error("epoch {epoch} of this sample is already {first}")]
    DuplicateRow {
        /// The epoch.
        epoch: u32,
        /// Where the first of the two rows is.
        first: TableLocation,
    },
    /// Two rows for one epoch of a sample and one scorer, where scorers have their own rows.
    #[error("epoch {epoch} of this sample by the scorer {} is already {first}", excerpt(scorer))]
    DuplicateScore {
        /// The epoch.
        epoch: u32,
        /// The scorer; empty where the rows name none.
        scorer: String,
        /// Where the first of the two rows is.
        first: TableLocation,
    },
    /// A row with a score in this column but without a scorer, where scorers have their own rows.
    #[error("the row has a score in `{0}`, but its `scorer` is empty")]
    NoScorer(String),
    /// A scorer that is not a string, but this.
    #[error("the scorer is {0}")]
    BadScorer(String),
    /// More scorers than a table may have.
    #[error("the column `scorer` names more than {limit} scorers")]
    TooManyScorers {
        /// How many there may be.
        limit: usize,
    },
    /// More logs than a table may be of.
    #[error("the column `{column}` has more than {limit} different values, each of which would be a run")]
    TooManyLogs {
        /// The column that the table is split by.
        column: String,
        /// How many there may be.
        limit: usize,
    },
    /// A score that starts like a list or a map but is not one.
    #[error("the score in `{column}` starts like a list or map, but is not valid JSON: {problem}")]
    BadStructure {
        /// The column.
        column: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// Metadata of the type JSON that is not valid JSON.
    #[error("the string in column `{column}` is not valid JSON: {problem}")]
    BadJsonCell {
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// A Parquet file that cannot be read, and why.
    #[error("this is not a Parquet file that can be read: {0}")]
    Parquet(String),
    /// A column of a Parquet file that cannot be understood.
    #[error("the column `{column}` cannot be read: {problem}")]
    ParquetColumn {
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// A stream of rows in memory that could not be read to its end.
    #[error("its rows could not be read: {0}")]
    Stream(String),
    /// This row of a stream, from 1, is null as a whole: none of its fields has a value.
    #[error("the row is null as a whole: it has neither an id nor a score")]
    NullRow(u64),
    /// A table in memory without a column.
    #[error("there are no columns")]
    NoColumns,
    /// An array that is not as Arrow has it.
    #[error("the column `{column}` is no valid Arrow array: {problem}")]
    InvalidArray {
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// A column of a type that it cannot have.
    #[error("the column `{column}` holds {found}; it is read as {role}, which takes {takes}")]
    ColumnType {
        /// The column.
        column: String,
        /// What it holds.
        found: String,
        /// What it is read as: `id`, `epoch`, a score, metadata.
        role: &'static str,
        /// What that may be.
        takes: &'static str,
    },
    /// A Parquet file, in a build without the feature `parquet`.
    #[error("this build of errorbar does not read Parquet")]
    NoParquet,
    /// A string that is not UTF-8, and its column, where there is one.
    #[error("{} is not valid UTF-8", match .0 { Some(c) => format!("the string in column `{c}`"), None => "the text".to_owned() })]
    InvalidUtf8(Option<String>),
    /// A line that is not JSON.
    #[error("this is not valid JSON: {problem} at column {column}")]
    Json {
        /// The column in the line, from 1.
        column: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A JSON line that is not an object, but this.
    #[error("a line of the table is a JSON object, this one is {0}")]
    NotAnObject(&'static str),
    /// A score nested deeper than a list or map of scalars.
    #[error("the score in `{column}` holds {found} inside a list or map")]
    NestedScore {
        /// The column.
        column: String,
        /// What was found inside.
        found: &'static str,
    },
    /// Epochs that differ from sample to sample: with a row for each epoch of each sample the table would not fit into
    /// memory.
    #[error("{rows} rows have {epochs} different epochs, so nearly every sample lacks nearly every epoch")]
    ScatteredEpochs {
        /// How many epochs there are.
        epochs: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// The columns refused a score.
    #[error(transparent)]
    Columns(#[from] errorbar_core::Error),
    /// A line that is longer than lines may be.
    #[error("{}", too_long(*limit, *is_header, *in_quote))]
    LineTooLong {
        /// How many bytes it may have.
        limit: u64,
        /// Whether it is the header.
        is_header: bool,
        /// Whether a quote is open all along.
        in_quote: bool,
    },
    /// A page of a Parquet file that is too large once it is decompressed.
    #[error("the column `{column}` has a page of {} decompressed; at most {} are read", self::bytes(*bytes), self::bytes(*limit))]
    PageTooLarge {
        /// The column.
        column: String,
        /// The size that the page claims.
        bytes: u64,
        /// The size that it may have.
        limit: u64,
    },
    /// The pages of a Parquet file that decompress to far more than a file of its size holds.
    #[error("the pages of this table have more than {} decompressed", bytes(*limit))]
    TooDense {
        /// How many bytes they may have together.
        limit: u64,
    },
    /// A footer of a Parquet file that is too large.
    #[error("the footer has {}; at most {} are read", self::bytes(*bytes), self::bytes(*limit))]
    FooterTooLarge {
        /// The size that it claims.
        bytes: u64,
        /// The size that it may have.
        limit: u64,
    },
    /// More columns than a table may have.
    #[error("there are more than {limit} columns")]
    TooManyColumns {
        /// How many there may be.
        limit: usize,
    },
    /// What would be held of the table takes more memory than it may.
    #[error("the ids, scores and metadata of this table take more than {} of memory", bytes(*limit))]
    TooMuchMemory {
        /// How many bytes it may take.
        limit: u64,
    },
    /// More rows than the columns can number.
    #[error("there are more than {} rows", u32::MAX)]
    TooManyRows,
}

/// What a line has in place of an id that it lacks.
pub(super) const MISSING: &str = "missing";

impl TableError {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Where in the file it is, if it is somewhere.
    pub fn location(&self) -> Option<TableLocation> {
        self.0.location
    }

    /// The line, from 1, where the problem has one.
    pub fn line(&self) -> Option<u64> {
        match self.location() {
            Some(TableLocation::Line(line)) => Some(line),
            _ => None,
        }
    }

    /// The sample, where it is known.
    pub fn sample(&self) -> Option<&str> {
        self.0.sample.as_deref()
    }

    /// What is wrong.
    pub fn kind(&self) -> &TableErrorKind {
        &self.0.kind
    }

    /// Of rows that repeat, the column that tells them apart, and whether it holds integers: epochs, perhaps.
    pub fn told_apart_by(&self) -> Option<(&str, bool)> {
        self.0.apart.as_ref().map(|(column, are_integers)| (column.as_str(), *are_integers))
    }

    /// The same of a table of this name, if it does not know the name yet.
    #[must_use]
    pub fn in_table(self, name: &Path) -> Self {
        if self.0.path.as_os_str().is_empty() { self.at_path(name) } else { self }
    }

    /// File, line and problem, without the hint.
    pub fn problem(&self) -> String {
        let mut text = self.path().display().to_string();
        match self.location() {
            Some(TableLocation::Line(line)) => text += &format!(":{line}"),
            Some(TableLocation::Row(row)) => text += &format!(": row {row}"),
            Some(TableLocation::Offset(offset)) => text += &format!(": byte {offset}"),
            Some(TableLocation::Unordered) | None => {}
        }
        if let Some(sample) = self.sample() {
            text += &format!(": sample {}", excerpt(sample));
        }
        // Strings from the file may hold escape sequences.
        format!("{text}: {}", self.kind().to_string().replace(char::is_control, "\u{fffd}"))
    }

    /// What to do about it.
    pub fn hint(&self) -> Cow<'static, str> {
        match self.kind() {
            TableErrorKind::Open(_) if is_url(self.path()) => url_hint(self.path()).into(),
            kind => kind.hint().into(),
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem(), self.hint())
    }
}

impl std::error::Error for TableError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(self.kind())
    }
}

impl TableError {
    pub(super) fn at_path(mut self, path: &Path) -> Self {
        self.0.path = path.to_owned();
        self
    }

    pub(super) fn apart(mut self, apart: Option<(String, bool)>) -> Self {
        self.0.apart = apart;
        self
    }

    /// Replaces locations by those of the file's own kind, which are looked up only for an error.
    pub(super) fn locate(mut self, mut location: impl FnMut(TableLocation) -> TableLocation) -> Self {
        self.0.location = self.0.location.map(&mut location);
        if let TableErrorKind::DuplicateRow { first, .. } | TableErrorKind::DuplicateScore { first, .. } =
            &mut self.0.kind
        {
            *first = location(*first);
        }
        self
    }

    /// The same, of the part of a table that its row is in.
    pub(super) fn of_part(mut self, part: Option<&str>) -> Self {
        self.0.part = part.map(str::to_owned);
        self
    }

    pub(super) fn part(&self) -> Option<&str> {
        self.0.part.as_deref()
    }

    pub(super) fn of_sample(mut self, id: &str) -> Self {
        self.0.sample = (!id.is_empty()).then(|| id.to_owned());
        self
    }
}

impl From<TableErrorKind> for TableError {
    fn from(kind: TableErrorKind) -> Self {
        let location = match kind {
            TableErrorKind::NullRow(row) => Some(TableLocation::Row(row)),
            _ => None,
        };
        TableError(Box::new(ErrorContext {
            path: PathBuf::new(),
            location,
            sample: None,
            part: None,
            apart: None,
            kind,
        }))
    }
}

impl TableErrorKind {
    fn at(self, location: TableLocation) -> TableError {
        let mut error = TableError::from(self);
        error.0.location = Some(location);
        error
    }

    pub(super) fn on_line(self, line: u64) -> TableError {
        self.at(TableLocation::Line(line))
    }

    pub(super) fn in_row(self, row: u64) -> TableError {
        self.at(TableLocation::Row(row))
    }

    /// In this row, which is about this sample; but what is wrong with the file is wrong with no row.
    #[cfg(feature = "parquet")]
    pub(super) fn in_row_of(self, row: u64, sample: &str) -> TableError {
        match self {
            TableErrorKind::ParquetColumn { .. }
            | TableErrorKind::PageTooLarge { .. }
            | TableErrorKind::TooDense { .. }
            | TableErrorKind::TooMuchMemory { .. }
            | TableErrorKind::Read(_)
            | TableErrorKind::Open(_) => self.into(),
            kind => kind.in_row(row).of_sample(sample),
        }
    }

    pub(super) fn at_offset(self, offset: u64) -> TableError {
        self.at(TableLocation::Offset(offset))
    }
}
