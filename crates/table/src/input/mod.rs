//! How bytes become a table: where they come from, how they are compressed and encoded, and what format they are in.
//!
//! Everything is decided by the bytes themselves where they are clear, then by the name of the file; what a user says
//! wins over both. What the readers get is always UTF-8 that can be read from the start again.

mod bytes;
mod compression;
mod json;
mod sniff;
mod tools;

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
#[cfg(feature = "arrow")]
use std::{collections::HashMap, path::PathBuf, sync::Arc};

pub use bytes::InputBytes;
pub use compression::{BUFFER_BYTES, Compression, DecompressedFile, STDIN, Utf16};
pub use sniff::TableDialect;

#[cfg(feature = "arrow")]
use super::arrow::ArrowTable;
use super::mapping::{DecimalMark, TableMapping};
use super::{TableError, TableErrorKind, TableLimits, TableLocation, TableOptions, spellings};
use sniff::Content;

/// The format of a table, as its reader gets it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TableFormat {
    /// CSV, TSV and their kin.
    Delimited(TableDialect),
    /// An object per line.
    JsonLines,
    /// Parquet.
    Parquet,
    /// Columns in memory.
    #[cfg(feature = "arrow")]
    Arrow(Arc<ArrowTable>),
}

/// An open table: its bytes, decompressed and as UTF-8, and what they are.
#[derive(Debug)]
pub struct TableInput {
    bytes: InputBytes,
    format: TableFormat,
    description: InputDescription,
}

/// What a table was found to be, for people and for what its cells mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputDescription {
    /// The name of the format, such as `CSV` or `JSON`.
    pub format: &'static str,
    /// How it is compressed.
    pub compression: Option<&'static str>,
    /// Its encoding, if that is not UTF-8.
    pub encoding: Option<&'static str>,
    /// What is between its fields.
    pub delimiter: Option<char>,
    /// What is between the integer and the fraction of its numbers, where a user or the first rows say it.
    pub decimal: Option<DecimalMark>,
    /// The number of lines before the header: comments, and a title.
    pub skipped_lines: usize,
    /// The tool that wrote it, if it is the results of one.
    pub tool: Option<&'static str>,
    /// The columns that hold scores, if the tool says so.
    pub score_columns: Vec<String>,
    /// Figures of the tool that are no numbers per sample, and so no scores.
    pub unread: Vec<String>,
    /// Whether rows were made out of other parts of the file than lines.
    pub is_converted: bool,
}

impl std::fmt::Display for InputDescription {
    /// In words, such as `CSV (gzip, UTF-16LE, delimiter ;, decimal comma, 2 lines skipped above the header)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let delimiter =
            self.delimiter.filter(|delimiter| *delimiter != ',').map(|delimiter| match delimiter {
                '\t' => "delimiter tab".to_owned(),
                delimiter => format!("delimiter {delimiter}"),
            });
        let decimal = self.decimal.map(|decimal| match decimal {
            DecimalMark::Comma => "decimal comma".to_owned(),
            DecimalMark::Point => "decimal point".to_owned(),
        });
        let skipped = (self.skipped_lines > 0)
            .then(|| format!("{} line(s) skipped above the header", self.skipped_lines));
        let unread =
            (!self.unread.is_empty()).then(|| format!("no number per sample: {}", self.unread.join(", ")));
        let details = [
            self.compression.map(str::to_owned),
            self.encoding.map(str::to_owned),
            delimiter,
            decimal,
            skipped,
            unread,
        ];
        let details: Vec<String> = details.into_iter().flatten().collect();
        match self.tool {
            Some(tool) => write!(f, "results of {tool}")?,
            None => f.write_str(self.format)?,
        }
        if details.is_empty() { Ok(()) } else { write!(f, " ({})", details.join(", ")) }
    }
}

impl InputDescription {
    /// Notes how a delimited table is written.
    fn delimited(
        &mut self,
        head: &[u8],
        is_whole: bool,
        usual: Option<u8>,
        mapping: &TableMapping,
    ) -> Result<TableDialect, TableErrorKind> {
        let named = mapping.delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
        let mut dialect = sniff::sniff(head, is_whole, named, usual)?;
        dialect.decimal = mapping.decimal.or(dialect.decimal);
        let preamble =
            usize::try_from(dialect.preamble).ok().and_then(|end| head.get(..end)).unwrap_or_default();
        self.skipped_lines = preamble.iter().filter(|byte| **byte == b'\n').count();
        self.delimiter = Some(char::from(dialect.delimiter));
        self.decimal = dialect.decimal;
        self.format = if dialect.delimiter == b'\t' { "TSV" } else { "CSV" };
        Ok(dialect)
    }
}

/// How much of a file is looked at to find out what it is.
const HEAD_BYTES: u64 = 1 << 16;

impl TableInput {
    /// Opens a table; `-` is the standard input.
    ///
    /// # Errors
    /// A file that cannot be opened or decompressed, is no table, or could be read in more than one way.
    pub fn open(path: &Path, mapping: &TableMapping, limits: &TableLimits) -> Result<Self, TableError> {
        let bytes = match path == Path::new(STDIN) {
            true => compression::stdin_bytes(limits)?,
            false => {
                let bytes = InputBytes::open(path).map_err(TableErrorKind::Open)?;
                match bytes.size() {
                    Some(_) => bytes,
                    // A pipe can be read once, and tables are read from the start several times.
                    None => compression::spool(bytes, limits)?,
                }
            }
        };
        let mut input = TableInput::new(bytes, sniff::extension(path).as_deref(), mapping, limits)?;
        if input.description.compression.is_some() {
            input.bytes = input.bytes.expanded();
        }
        Ok(input)
    }

    fn new(
        mut bytes: InputBytes,
        extension: Option<&str>,
        mapping: &TableMapping,
        limits: &TableLimits,
    ) -> Result<Self, TableError> {
        let mut description = InputDescription::default();
        let mut head = bytes.head(HEAD_BYTES).map_err(TableErrorKind::Read)?;
        if let Some(compression) = Compression::of(&head) {
            bytes = compression::decompress(bytes, compression, limits.max_memory)?;
            head = bytes.head(HEAD_BYTES).map_err(TableErrorKind::Read)?;
            description.compression = Some(compression.name());
        }
        if let Some(encoding) = Utf16::of(&head) {
            bytes = compression::to_utf8(bytes, encoding)?;
            head = bytes.head(HEAD_BYTES).map_err(TableErrorKind::Read)?;
            description.encoding = Some(encoding.name());
        }
        let is_whole = bytes.size() == Some(head.len() as u64);
        let content = match sniff::content(&head, is_whole, extension, mapping.format) {
            // Who names the delimiter says that there is one.
            Err(TableErrorKind::UnknownFormat { .. }) if mapping.delimiter.is_some() => {
                Content::Delimited(None)
            }
            content => content?,
        };
        let tool = if content == Content::JsonLines { tools::of_lines(&head) } else { None };
        let (bytes, format) = match content {
            Content::Parquet => {
                description.format = "Parquet";
                match bytes.shares_position() {
                    // Its columns are read on several threads, each with a position of its own.
                    true => (InputBytes::from_memory(all(bytes, limits)?), TableFormat::Parquet),
                    false => (bytes, TableFormat::Parquet),
                }
            }
            Content::Delimited(usual) => {
                let dialect = description.delimited(&head, is_whole, usual, mapping)?;
                let mut bytes = bytes.blank_before(dialect.preamble);
                // Who names the column of ids knows them.
                if mapping.id_columns.is_empty() {
                    let head = bytes.head(HEAD_BYTES).map_err(TableErrorKind::Read)?;
                    refuse_summary(&mut bytes, &head)?;
                }
                (bytes, TableFormat::Delimited(dialect))
            }
            Content::Markdown => {
                let csv = sniff::to_csv(&all(bytes, limits)?);
                let dialect = description.delimited(&csv, true, Some(b','), mapping)?;
                (description.is_converted, description.format) = (true, "Markdown");
                let bytes = InputBytes::from_memory(csv).blank_before(dialect.preamble);
                (bytes, TableFormat::Delimited(dialect))
            }
            Content::JsonLines if tool.is_none() => {
                description.format = "JSON lines";
                (bytes, TableFormat::JsonLines)
            }
            Content::JsonLines | Content::JsonDocument => {
                let text = all(bytes, limits)?;
                let records = match tool {
                    Some(tool) => json::lines(&text, tool, &mapping.id_columns)?,
                    None => json::document(&text, &mapping.id_columns)?,
                };
                (description.tool, description.is_converted) = (records.tool, true);
                description.format = if records.tool.is_some() { "" } else { "JSON" };
                (description.score_columns, description.unread) = (records.score_columns, records.unread);
                (InputBytes::from_memory(records.lines), TableFormat::JsonLines)
            }
        };
        Ok(TableInput { bytes, format, description })
    }

    /// A table that is in memory.
    #[cfg(feature = "arrow")]
    pub(super) fn of_arrow(table: Arc<ArrowTable>) -> Self {
        let description = InputDescription { format: "Arrow", ..InputDescription::default() };
        TableInput {
            bytes: InputBytes::from_memory(Vec::new()),
            format: TableFormat::Arrow(table),
            description,
        }
    }

    /// Makes sure that the rows can be read twice: those of a file can.
    pub(super) fn keep_rows(&self) {
        #[cfg(feature = "arrow")]
        if let TableFormat::Arrow(table) = &self.format {
            table.keep();
        }
    }

    /// The format of the bytes.
    pub fn format(&self) -> &TableFormat {
        &self.format
    }

    /// What the table was found to be.
    pub fn description(&self) -> &InputDescription {
        &self.description
    }

    /// The options for this table: the first rows show the mark of decimals, and a tool's results say which of their
    /// columns are scores, unless a user does.
    pub(super) fn adapt(&self, options: &TableOptions) -> TableOptions {
        let mut options = options.clone();
        options.mapping.decimal = options.mapping.decimal.or(self.description.decimal);
        match self.description.tool {
            Some(_) if options.score_columns.is_empty() => {
                options.score_columns(&self.description.score_columns)
            }
            _ => options,
        }
    }

    /// An error where the user finds it: rows that were made out of something else have no lines.
    pub(super) fn locate(&self, error: TableError) -> TableError {
        error.locate(|location| match location {
            TableLocation::Line(line) if self.description.is_converted => TableLocation::Row(line),
            location => location,
        })
    }

    /// The bytes from the start, for a reader of the format.
    ///
    /// # Errors
    /// Those of opening the file again.
    pub fn bytes(&self) -> io::Result<InputBytes> {
        self.bytes.reopen()
    }
}

/// Refuses a delimited table in which a row, the first or one of the last, starts with the name of one that sums up others.
fn refuse_summary(bytes: &mut InputBytes, head: &[u8]) -> Result<(), TableErrorKind> {
    const TAIL_BYTES: u64 = 4096;
    let size = bytes.size().unwrap_or(0);
    let start = size.saturating_sub(TAIL_BYTES);
    let mut tail = Vec::new();
    bytes.seek(SeekFrom::Start(start)).map_err(TableErrorKind::Read)?;
    bytes.append_to(&mut tail, TAIL_BYTES).map_err(TableErrorKind::Read)?;
    bytes.rewind().map_err(TableErrorKind::Read)?;
    // A quote may go over several lines.
    let has_open_quote = |text: &[u8]| text.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
    let last = match has_open_quote(&tail) {
        true => Vec::new(),
        false => spellings::lines(&tail),
    };
    // The header is no row, and the tail may start in the middle of one.
    let last = last.get(1..).unwrap_or_default();
    let first = spellings::lines(head).get(1).copied().filter(|line| !has_open_quote(line));
    let rows = first.into_iter().chain(last.iter().rev().take(spellings::LAST_ROWS).copied());
    for row in rows {
        if let Some(name) = spellings::summary_of_line(row) {
            return Err(TableErrorKind::SummaryRow(name.to_owned()));
        }
    }
    Ok(())
}

/// The limit on a document that has to be in memory as a whole.
const MAX_DOCUMENT: u64 = 2 << 30;

/// All bytes, in memory.
fn all(mut bytes: InputBytes, limits: &TableLimits) -> Result<Vec<u8>, TableErrorKind> {
    let limit = limits.max_memory.unwrap_or(MAX_DOCUMENT);
    let mut text = Vec::new();
    (&mut bytes).take(limit.saturating_add(1)).read_to_end(&mut text).map_err(TableErrorKind::Read)?;
    if text.len() as u64 > limit { Err(TableErrorKind::InputTooLarge { limit }) } else { Ok(text) }
}

/// Tables in memory, by the names that they have in place of a path. Without the feature `arrow` there are none.
#[derive(Clone, Debug, Default)]
pub struct MemoryTables {
    #[cfg(feature = "arrow")]
    tables: Arc<HashMap<PathBuf, Arc<ArrowTable>>>,
}

impl MemoryTables {
    /// Whether this is the name of one.
    pub fn contains(&self, name: &Path) -> bool {
        #[cfg(feature = "arrow")]
        return self.tables.contains_key(name);
        #[cfg(not(feature = "arrow"))]
        {
            let _ = name;
            false
        }
    }

    /// The table of this name.
    pub(super) fn open(&self, name: &Path) -> Option<TableInput> {
        #[cfg(feature = "arrow")]
        return self.tables.get(name).cloned().map(TableInput::of_arrow);
        #[cfg(not(feature = "arrow"))]
        {
            let _ = name;
            None
        }
    }
}

#[cfg(feature = "arrow")]
impl<N: Into<PathBuf>> FromIterator<(N, ArrowTable)> for MemoryTables {
    fn from_iter<T: IntoIterator<Item = (N, ArrowTable)>>(tables: T) -> Self {
        let named = tables.into_iter().map(|(name, table)| (name.into(), Arc::new(table)));
        MemoryTables { tables: Arc::new(named.collect()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_names_what_is_unusual() {
        let open = |bytes: &[u8], extension: Option<&str>| {
            let (mapping, limits) = (TableMapping::default(), TableLimits::default());
            let input =
                TableInput::new(InputBytes::from_memory(bytes.to_vec()), extension, &mapping, &limits);
            input.map(|input| input.description().to_string())
        };
        assert_eq!(open(b"id,score\na,1\n", Some("csv")).unwrap(), "CSV");
        assert_eq!(
            open(b"# x\nid;score\na;0,5\n", None).unwrap(),
            "CSV (delimiter ;, decimal comma, 1 line(s) skipped above the header)"
        );
        assert_eq!(
            open(b"{\"doc_id\": 0, \"filtered_resps\": [], \"acc\": 1.0, \"bleu\": [1]}\n", Some("jsonl"))
                .unwrap(),
            "results of lm-evaluation-harness (no number per sample: bleu)"
        );
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, b"[{\"id\": 1}]").unwrap();
        assert_eq!(open(&gzip.finish().unwrap(), None).unwrap(), "JSON (gzip)");
        let error = open(b"id,score\na,1\nTotal,1\n", Some("csv")).unwrap_err();
        assert!(matches!(error.kind(), TableErrorKind::SummaryRow(name) if name == "Total"), "{error}");
        let error = open(b"id,score\nTOTAL (2),1\na,1\nb,1\n", Some("csv")).unwrap_err();
        assert!(matches!(error.kind(), TableErrorKind::SummaryRow(name) if name == "TOTAL (2)"), "{error}");
        assert!(open(b"# x\naccuracy,score\na,1\n", Some("csv")).is_ok());
        assert!(open(b"id,score\na,1\n\"b\nTotal\",1\nmax_depth,1\n", Some("csv")).is_ok());
        let error = open(&[0x1f, 0x8b, 8, 0, 1, 2, 3], Some("csv")).unwrap_err();
        assert!(error.kind().to_string().starts_with("cannot decompress the file: "), "{error}");
    }
}
