//! What to do about a table that could not be read.

use std::io;

use super::{TableError, TableErrorKind, spellings};

impl TableError {
    /// Of rows that repeat, another column of ids that tells them apart.
    pub fn identified_by(&self) -> Option<&str> {
        let is_id = |column: &&str| spellings::is_id(column) || *column == "doc_hash";
        self.told_apart_by().map(|(column, _)| column).filter(is_id)
    }
}

impl TableErrorKind {
    /// Whether a row repeats the sample and epoch of another.
    pub(super) fn is_repeated_row(&self) -> bool {
        matches!(self, TableErrorKind::DuplicateRow { .. } | TableErrorKind::DuplicateScore { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        use TableErrorKind as Kind;
        match self {
            Kind::Open(error) if error.kind() == io::ErrorKind::NotFound => "check the path",
            Kind::Open(_) | Kind::Read(_) => "check that the path is a file that you may read",
            Kind::UnknownFormat { .. } => "name it .csv, .tsv, .jsonl or .parquet, after what it holds",
            Kind::NotATable { found: "an Excel workbook" | "an OpenDocument spreadsheet" } => {
                "save the sheet as CSV"
            }
            Kind::NotATable { found: "a web page" } => {
                "give the results as JSON or CSV, which most tools write too"
            }
            Kind::NotATable { found: "a bzip2 file" | "an xz file" | "a zip archive" } => {
                "decompress it, or compress it with gzip or zstd"
            }
            Kind::NotATable { found: "a table as a database client prints it" } => {
                "let it write CSV: `psql --csv`, `mysql --batch`, which separates with tabs"
            }
            Kind::NotATable { .. } => "give a table as CSV, JSON lines, JSON or Parquet",
            Kind::Decompress(_) => "check that the file was written to its end",
            Kind::InputTooLarge { .. } => "check that the file is what its name says, or raise `max_memory`",
            Kind::InvalidUtf16 => "save the table as UTF-8",
            Kind::AmbiguousDelimiter { .. } => "name the delimiter",
            Kind::JsonDocument { .. } => "write a list of objects, one per sample",
            Kind::AggregatedResults { wanted, .. } => wanted,
            Kind::ToolResults { .. } => "check that the file is complete and as the tool wrote it",
            Kind::UnevenRepeats { .. } => {
                "name what a sample is: `question`, or `example` for each by itself"
            }
            Kind::SummaryRow(_) => {
                "remove the row; if it is a sample, rename it or name the column that identifies the samples"
            }
            Kind::Doubt(doubt) => doubt.hint(),
            Kind::EvalLog => "read it as a log, or export its scores as a table",
            Kind::Empty => "a table starts with a header (.csv) or a JSON object (.jsonl)",
            Kind::NoIdColumn { .. } => "name the column that identifies the samples `id`",
            Kind::NoEpochColumn { .. } => "name the column that numbers the epochs",
            Kind::EpochsWithoutIds { .. } | Kind::AmbiguousIdColumn { .. } => {
                "name the column that identifies the samples"
            }
            Kind::AmbiguousEpochColumn { .. } => "name the column that numbers the epochs",
            Kind::AmbiguousScoreColumn { .. } | Kind::UnfitScoreColumns { .. } => {
                "name the column that holds the scores"
            }
            Kind::NoSplitColumn { .. } | Kind::NotASplitColumn(_) => {
                "name a column whose values tell the parts of the table apart"
            }
            Kind::EmptySplit(_) => "fill it in, or remove the row",
            Kind::NoScoreColumn { .. } => "name the column that holds the scores",
            Kind::ScoreColumnTwice(_) => "name each column once",
            Kind::NotAScoreColumn(_) => "name a column that holds scores",
            Kind::DuplicateColumn(_) => "rename or remove one of the two",
            Kind::FieldCount { .. } => {
                "look for a missing or unquoted delimiter, or a quote that is never closed"
            }
            Kind::UnclosedQuote => {
                "close it, or double a quotation mark that is meant as such, in a quoted field"
            }
            Kind::BadId(_) => "give every row the id of its sample, a string or an integer",
            Kind::BadBucket(_) => "compute the bucket of every row from group and id alone",
            Kind::BadEpoch(_) => {
                "epochs are counted 1, 2, … or 0, 1, …; leave the column out if there is only one"
            }
            Kind::ScatteredEpochs { .. } => {
                "number the runs of each sample 1, 2, …, or leave the column out if there is only one"
            }
            Kind::DuplicateRow { .. } => {
                "number the runs of a sample in a column `epoch`, or give different samples different ids"
            }
            Kind::DuplicateScore { .. } => {
                "give each scorer one row per sample and epoch, and number the epochs in a column `epoch`"
            }
            Kind::NoScorer(_) => "name the scorer in every row with a score, or remove the column `scorer`",
            Kind::BadScorer(_) => "name the scorer with a string",
            Kind::TooManyScorers { .. } => "if the column is no scorer but metadata, rename it",
            Kind::TooManyLogs { column, .. } if column == "log" => {
                "if the column is no log but metadata, rename it"
            }
            Kind::TooManyLogs { .. } => {
                "name a column with fewer values, or split the table into several files"
            }
            Kind::BadStructure { .. } => "write it as JSON, such as {\"a\": 1} or [1, 0]",
            Kind::BadJsonCell { .. } => "write JSON, or make it a column of strings",
            Kind::Parquet(_) | Kind::ParquetColumn { .. } => {
                "check that the file was written to its end, or write it again"
            }
            Kind::Stream(_) => "check what the rows come from, and give a stream that was not read before",
            Kind::NullRow(_) => "leave out the rows that are null",
            Kind::NoColumns => "give the table a column of ids, `id`, and one of scores, `score`",
            Kind::InvalidArray { .. } => "make the column anew; strings must be UTF-8",
            Kind::ColumnType { .. } => "convert the column, or leave it out",
            Kind::NoParquet => "build it with the feature `parquet`, or save the table as .csv or .jsonl",
            Kind::InvalidUtf8(_) => {
                "save the table as UTF-8; if it is in Windows-1252 (or Latin-1), `iconv -f WINDOWS-1252 -t UTF-8` converts it"
            }
            Kind::Json { .. } | Kind::NotAnObject(_) => {
                "write one object a line, such as {\"id\": \"q1\", \"score\": 1}"
            }
            Kind::NestedScore { .. } => "a score is a scalar, or a list or map of scalars",
            Kind::Columns(_) => "give each sample one score per column",
            Kind::TooManyRows => "split the table",
            Kind::LineTooLong { in_quote: true, .. } => {
                "look for a quote that is never closed, or raise `max_line`"
            }
            Kind::LineTooLong { .. } => "check that the file is what its name says, or raise `max_line`",
            Kind::PageTooLarge { .. } => "write the table with smaller pages, or raise `max_line`",
            Kind::FooterTooLarge { .. } => "write the table with fewer row groups, or raise `max_line`",
            Kind::TooManyColumns { .. } => "remove columns that no metric needs, or raise `max_columns`",
            Kind::TooMuchMemory { .. } | Kind::TooDense { .. } => {
                "check that the file is what its name says, or raise `max_memory`"
            }
        }
    }
}
