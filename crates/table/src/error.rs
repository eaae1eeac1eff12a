//! Why a table could not be read: the location, the problem and a hint.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use errorbar_files::{is_url, url_hint};

use super::error_text::{self, bytes, excerpt, list, or, or_chars, too_long};
use super::location::TableLocation;
use super::spellings;
use super::values::{NoScores, UnfitCells};

/// How many distinct cells of a column without scores a message lists.
const UNFIT_LISTED: usize = 5;

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
    /// Something in the file, or in what was asked for, is not as it must be.
    #[error("{problem}")]
    Invalid {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A Parquet file, or a column of one, that cannot be read.
    #[error("{}: {problem}", match column { Some(column) => format!("the column `{column}` cannot be read"), None => "this is not a Parquet file that can be read".to_owned() })]
    Parquet {
        /// The column.
        column: Option<String>,
        /// What is wrong.
        problem: String,
    },
    /// Rows have the same number of fields with each of these delimiters.
    #[error("the delimiter may be {}: rows have the same number of fields with each", or_chars(candidates))]
    AmbiguousDelimiter {
        /// The delimiters.
        candidates: Vec<char>,
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
    Doubt(#[from] TableDoubt),
    /// A column is missing.
    #[error("there is no {} {}; columns found: {}", if *role == WantedColumn::Score { "score column" } else { "column" }, or(wanted), list(found))]
    NoColumn {
        /// What it was to be read as.
        role: WantedColumn,
        /// The columns that were looked for.
        wanted: Vec<String>,
        /// The columns there are.
        found: Vec<String>,
        /// The column whose name is closest.
        nearest: Option<String>,
    },
    /// Several columns may be the one that is wanted.
    #[error("these columns may {}: {}", match role { WantedColumn::Epoch => "number the epochs", WantedColumn::Score => "hold the scores", _ => "identify the samples" }, list(candidates))]
    AmbiguousColumn {
        /// What they may be read as.
        role: WantedColumn,
        /// The columns.
        candidates: Vec<String>,
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
    /// Columns have names of scores, and cells that are none.
    #[error("no column holds scores: {}", unfit(columns, cells.as_ref()))]
    UnfitScoreColumns {
        /// The columns, each with a cell that is no score under that name; empty if all cells are.
        columns: Vec<(String, String)>,
        /// All cells of the column, if there is one that other cells make likely to hold scores.
        cells: Option<UnfitCells>,
    },
    /// Cells that are no scores.
    #[error("{problem}")]
    NoScores {
        /// The cells, by scorer and reason.
        found: Vec<NoScores>,
        /// All of it in words.
        problem: String,
    },
    /// A table cannot be split by the column of ids or epochs.
    #[error("a table cannot be split by its column `{0}`")]
    NotASplitColumn(String),
    /// Two rows for one epoch of a sample; and of one scorer, where scorers have their own rows.
    #[error("epoch {epoch} of this sample{} is already {first}", match scorer { Some(scorer) => format!(" by the scorer {}", excerpt(scorer)), None => String::new() })]
    DuplicateRow {
        /// The epoch.
        epoch: u32,
        /// The scorer, where scorers have their own rows; empty where these rows name none.
        scorer: Option<String>,
        /// Where the first of the two rows is.
        first: TableLocation,
    },
    /// This row of a stream, from 1, is null as a whole: none of its fields has a value.
    #[error("the row is null as a whole: it has neither an id nor a score")]
    NullRow(u64),
    /// More scorers than a table may have.
    #[error("the column `scorer` names more than {limit} scorers")]
    TooManyScorers {
        /// How many there may be.
        limit: usize,
    },
    /// More columns than a table may have.
    #[error("there are more than {limit} columns")]
    TooManyColumns {
        /// How many there may be.
        limit: usize,
    },
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
    /// A footer of a Parquet file that is too large.
    #[error("the footer has {}; at most {} are read", self::bytes(*bytes), self::bytes(*limit))]
    FooterTooLarge {
        /// The size that it claims.
        bytes: u64,
        /// The size that it may have.
        limit: u64,
    },
    /// Input that is larger than what may be held or spooled of it.
    #[error("the input has more than {}", bytes(*limit))]
    InputTooLarge {
        /// How many bytes it may have.
        limit: u64,
    },
    /// The pages of a Parquet file that decompress to far more than a file of its size holds.
    #[error("the pages of this table have more than {} decompressed", bytes(*limit))]
    TooDense {
        /// How many bytes they may have together.
        limit: u64,
    },
    /// What would be held of the table takes more memory than it may.
    #[error("the ids, scores and metadata of this table take more than {} of memory", bytes(*limit))]
    TooMuchMemory {
        /// How many bytes it may take.
        limit: u64,
    },
}

/// What a column is read as that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedColumn {
    /// It identifies the samples.
    Id,
    /// It numbers the epochs.
    Epoch,
    /// It holds scores.
    Score,
    /// The table is split by it.
    Split,
}

/// Columns, each with a cell; or with all cells that are no scores.
fn unfit(columns: &[(String, String)], cells: Option<&UnfitCells>) -> String {
    if let (Some(cells), [(name, _)]) = (cells, columns) {
        let value = |(value, count): &(String, usize)| format!("{} ({count})", excerpt(value));
        let listed: Vec<String> = cells.values.iter().take(UNFIT_LISTED).map(value).collect();
        let more = match cells.values.len().saturating_sub(UNFIT_LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return format!("`{name}` has cells that are none: {}{more}", listed.join(", "));
    }
    let cell = |(name, cell): &(String, String)| match cell.as_str() {
        "" => format!("`{name}` has none"),
        cell => format!("`{name}` has {}", excerpt(cell)),
    };
    columns.iter().take(4).map(cell).collect::<Vec<_>>().join(", ")
}

const ONE_OBJECT: &str = "write one object a line, such as {\"id\": \"q1\", \"score\": 1}";

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

    /// Of rows that repeat, another column of ids that tells them apart.
    pub fn identified_by(&self) -> Option<&str> {
        let is_id = |column: &&str| spellings::is_id(column) || *column == "doc_hash";
        self.told_apart_by().map(|(column, _)| column).filter(is_id)
    }

    /// The same of a table of this name, if it does not know the name yet.
    #[must_use]
    pub fn in_table(self, name: &Path) -> Self {
        if self.0.path.as_os_str().is_empty() { self.at_path(name) } else { self }
    }

    /// File, line and problem, without the hint.
    pub fn problem(&self) -> String {
        let mut text = self.path().display().to_string();
        if let TableErrorKind::NoScores { problem, .. } = self.kind() {
            return format!("{text}: {problem}");
        }
        match self.location() {
            Some(TableLocation::Line(line)) => text += &format!(":{line}"),
            Some(TableLocation::Row(row)) => text += &format!(": row {row}"),
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

    /// The line or the number of the row.
    pub(super) fn number(&self) -> Option<u64> {
        match self.location() {
            Some(TableLocation::Line(number) | TableLocation::Row(number)) => Some(number),
            Some(TableLocation::Unordered) | None => None,
        }
    }

    /// Replaces the number of the first of two rows by where it is.
    pub(super) fn locate_first(mut self, location: impl Fn(usize) -> TableLocation) -> Self {
        if let TableErrorKind::DuplicateRow { first, .. } = &mut self.0.kind
            && let TableLocation::Row(row) = *first
        {
            *first = location(row as usize);
        }
        self
    }

    /// Replaces locations by others.
    pub(super) fn locate(mut self, mut location: impl FnMut(TableLocation) -> TableLocation) -> Self {
        self.0.location = self.0.location.map(&mut location);
        if let TableErrorKind::DuplicateRow { first, .. } = &mut self.0.kind {
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
    pub(super) fn invalid(problem: impl Into<String>, hint: &'static str) -> Self {
        TableErrorKind::Invalid { problem: problem.into(), hint }
    }

    pub(super) fn empty() -> Self {
        Self::invalid("the file is empty", "a table starts with a header (.csv) or a JSON object (.jsonl)")
    }

    /// A row without a usable id, and what is there instead.
    pub(super) fn bad_id(found: &str) -> Self {
        let hint = "give every row the id of its sample, a string or an integer";
        Self::invalid(format!("the id is {found}"), hint)
    }

    /// An epoch that is not 1, 2, …, but this.
    pub(super) fn bad_epoch(found: &str) -> Self {
        let hint = "epochs are counted 1, 2, … or 0, 1, …; leave the column out if there is only one";
        Self::invalid(format!("the epoch is {found}"), hint)
    }

    /// A row with too few or too many fields.
    pub(super) fn field_count(expected: usize, found: usize) -> Self {
        let problem = format!("the row has {found} field(s), the header has {expected}");
        Self::invalid(problem, "look for a missing or unquoted delimiter, or a quote that is never closed")
    }

    /// A quote that runs to the end of the file, and would swallow all rows in between.
    pub(super) fn unclosed_quote() -> Self {
        let hint = "close it, or double a quotation mark that is meant as such, in a quoted field";
        Self::invalid("a quote that opens in this row is never closed", hint)
    }

    /// Two columns of this name, or this key twice in a JSON line.
    pub(super) fn duplicate_column(name: &str) -> Self {
        Self::invalid(format!("the column `{name}` occurs twice"), "rename or remove one of the two")
    }

    /// A string that is not UTF-8, and its column, where there is one.
    pub(super) fn not_utf8(column: Option<&str>) -> Self {
        let text = column.map_or("the text".to_owned(), |column| format!("the string in column `{column}`"));
        let hint = "save the table as UTF-8; if it is in Windows-1252 (or Latin-1), `iconv -f WINDOWS-1252 -t UTF-8` converts it";
        Self::invalid(format!("{text} is not valid UTF-8"), hint)
    }

    /// A line that is not JSON, at a column from 1.
    pub(super) fn json(column: usize, problem: impl fmt::Display) -> Self {
        Self::invalid(format!("this is not valid JSON: {problem} at column {column}"), ONE_OBJECT)
    }

    /// A JSON line that is not an object, but this.
    pub(super) fn not_an_object(found: &str) -> Self {
        Self::invalid(format!("a line of the table is a JSON object, this one is {found}"), ONE_OBJECT)
    }

    /// A score nested deeper than a list or map of scalars.
    pub(super) fn nested_score(column: &str, found: &str) -> Self {
        let problem = format!("the score in `{column}` holds {found} inside a list or map");
        Self::invalid(problem, "a score is a scalar, or a list or map of scalars")
    }

    /// A column of a type that it cannot have.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn column_type(column: &str, found: &str, (role, takes): (&str, &str)) -> Self {
        let problem =
            format!("the column `{column}` holds {found}; it is read as {role}, which takes {takes}");
        Self::invalid(problem, "convert the column, or leave it out")
    }

    /// More rows than the columns can number.
    pub(super) fn too_many_rows() -> Self {
        Self::invalid(format!("there are more than {} rows", u32::MAX), "split the table")
    }

    /// A Parquet file that cannot be read.
    #[cfg(feature = "parquet")]
    pub(super) fn parquet(problem: impl Into<String>) -> Self {
        TableErrorKind::Parquet { column: None, problem: problem.into() }
    }

    /// Cells that are no scores.
    pub(super) fn no_scores(found: Vec<NoScores>) -> Self {
        let about = |one: &NoScores| {
            let count = one.values.iter().map(|(_, count)| count).sum();
            let values = one.values.iter().map(|(value, count)| (excerpt(value), *count));
            let first = one.sample.as_deref().map(|sample| (one.location, sample));
            error_text::no_scores((&one.scorer, None), count, values, first, &one.why)
        };
        let problem = found.iter().map(about).collect::<Vec<_>>().join("; ");
        TableErrorKind::NoScores { found, problem }
    }

    /// Whether a row repeats the sample and epoch of another.
    pub(super) fn is_repeated_row(&self) -> bool {
        matches!(self, TableErrorKind::DuplicateRow { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        use TableErrorKind as Kind;
        match self {
            Kind::Open(error) if error.kind() == io::ErrorKind::NotFound => "check the path",
            Kind::Open(_) | Kind::Read(_) => "check that the path is a file that you may read",
            Kind::UnknownFormat { .. } => "name it .csv, .tsv, .jsonl or .parquet, after what it holds",
            Kind::Invalid { hint, .. } => hint,
            Kind::InputTooLarge { .. } | Kind::TooMuchMemory { .. } | Kind::TooDense { .. } => {
                "check that the file is what its name says, or raise `max_memory`"
            }
            Kind::AmbiguousDelimiter { .. } => "name the delimiter",
            Kind::UnevenRepeats { .. } => {
                "name what a sample is: `question`, or `example` for each by itself"
            }
            Kind::SummaryRow(_) => {
                "remove the row; if it is a sample, rename it or name the column that identifies the samples"
            }
            Kind::Doubt(doubt) => doubt.hint(),
            Kind::NoColumn { role: WantedColumn::Id, .. } => {
                "name the column that identifies the samples `id`"
            }
            Kind::NoColumn { role, .. } | Kind::AmbiguousColumn { role, .. } => match role {
                WantedColumn::Id => "name the column that identifies the samples",
                WantedColumn::Epoch => "name the column that numbers the epochs",
                WantedColumn::Score => "name the column that holds the scores",
                WantedColumn::Split => "name a column whose values tell the parts of the table apart",
            },
            Kind::EpochsWithoutIds { .. } => "name the column that identifies the samples",
            Kind::UnfitScoreColumns { .. } => "name the column that holds the scores",
            Kind::NoScores { .. } => {
                "say what they mean with `correct`, `incorrect` or `na` of the mapping, or read them as labels"
            }
            Kind::NotASplitColumn(_) => "name a column whose values tell the parts of the table apart",
            Kind::DuplicateRow { scorer: None, .. } => {
                "number the runs of a sample in a column `epoch`, or give different samples different ids"
            }
            Kind::DuplicateRow { .. } => {
                "give each scorer one row per sample and epoch, and number the epochs in a column `epoch`"
            }
            Kind::NullRow(_) => "leave out the rows that are null",
            Kind::TooManyScorers { .. } => "if the column is no scorer but metadata, rename it",
            Kind::Parquet { .. } => "check that the file was written to its end, or write it again",
            Kind::LineTooLong { in_quote: true, .. } => {
                "look for a quote that is never closed, or raise `max_line`"
            }
            Kind::LineTooLong { .. } => "check that the file is what its name says, or raise `max_line`",
            Kind::PageTooLarge { .. } => "write the table with smaller pages, or raise `max_line`",
            Kind::FooterTooLarge { .. } => "write the table with fewer row groups, or raise `max_line`",
            Kind::TooManyColumns { .. } => "remove columns that no metric needs, or raise `max_columns`",
        }
    }

    pub(super) fn at(self, location: TableLocation) -> TableError {
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
            TableErrorKind::Parquet { .. }
            | TableErrorKind::PageTooLarge { .. }
            | TableErrorKind::TooDense { .. }
            | TableErrorKind::TooMuchMemory { .. }
            | TableErrorKind::Read(_)
            | TableErrorKind::Open(_) => self.into(),
            kind => kind.in_row(row).of_sample(sample),
        }
    }
}

/// Why it is unclear what a table holds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableDoubt {
    /// The name of a column of scores, as the first line has it, is a score itself.
    #[error(
        "the table seems to have no header: `{column}` in its first line is a score, not the name of a column"
    )]
    NoHeader {
        /// What is in the place of a name.
        column: String,
    },
    /// A column has the name of one of scores, and holds what another that the model's answers are in holds.
    #[error("`{column}` may hold the right answers, not scores: `{answers}` has the same values")]
    Answers {
        /// The column that has the name of one of scores.
        column: String,
        /// The one with the answers of the model.
        answers: String,
    },
    /// A column has the name of one of scores, and its numbers do not depend on whether two columns of answers are equal.
    #[error(
        "`{column}` may be a confidence, not a score: it does not give the full score wherever `{}` and `{}` are equal, and less elsewhere",
        answers[0],
        answers[1]
    )]
    Confidence {
        /// The column that has the name of one of scores.
        column: String,
        /// The one with the right answers and the one with those of the model.
        answers: [String; 2],
    },
    /// Rows of several models with the same id, which a column of epochs tells apart.
    #[error(
        "`{column}` has several values for the same sample ({}), which would be averaged as if they were the epochs that \
         `{epoch}` numbers",
        values.join(", ")
    )]
    PooledEpochs {
        /// The column of models or metrics.
        column: String,
        /// Two of its values.
        values: Vec<String>,
        /// The column of epochs.
        epoch: String,
    },
    /// Columns as figures of whole runs have them, and none that identifies samples.
    #[error(
        "these seem to be figures of whole runs, not scores of samples: {} beside the scores, and no column identifies \
         samples",
        list(columns)
    )]
    Figures {
        /// The columns that scores of samples do not have.
        columns: Vec<String>,
    },
}

impl TableDoubt {
    /// What to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            TableDoubt::NoHeader { .. } => "add a first line with the names of the columns, such as id,score",
            TableDoubt::Answers { .. } => "name the column that holds the scores",
            TableDoubt::Confidence { .. } => {
                "name the column that holds the scores, or add one that has 1 where the answers are equal and 0 elsewhere"
            }
            TableDoubt::PooledEpochs { .. } => {
                "split the table by the column, or name the column that numbers the epochs"
            }
            TableDoubt::Figures { .. } => {
                "give a table with a row per sample; if it is one, name the column that identifies the samples"
            }
        }
    }
}
