//! Options of commands that read tables: which column is what, what cells mean, and limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use errorbar_table::{
    DecimalMark, InputFormat, MappingError, MappingProblem, MemoryTables, ScoreScale, TableLimits,
    TableMapping, TableOptions,
};

use errorbar_log::eval::is_log_file;

use super::common::{one_of, parse_bytes};
use super::table_scores::UnconvertiblePolicy;
use crate::diagnostic::Diagnostic;

/// How tables are read, which may be hostile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub(crate) struct TableArgs {
    /// The column of a table that identifies the samples; may be repeated, and of each table the first that it
    /// has is taken [default: `id`, else a common spelling such as `question_id`, else the rows are numbered]
    #[arg(long = "id-column", alias = "id", value_name = "COLUMN", value_parser = NonEmptyStringValueParser::new())]
    id_columns: Vec<String>,
    /// The column of a table that numbers the epochs of a sample, from 1 or 0 [default: `epoch`, else a common
    /// spelling such as `attempt`]
    #[arg(long, value_name = "COLUMN", value_parser = NonEmptyStringValueParser::new())]
    epoch_column: Option<String>,
    /// A column of a table that holds scores; may be repeated [default: `score`, else `value`, else the only one
    /// with a common name such as `passed` whose cells are scores]
    #[arg(long = "score-column", value_name = "COLUMN", value_parser = NonEmptyStringValueParser::new())]
    score_columns: Vec<String>,
    /// A cell that counts as 1, such as `good`; may be repeated. Cells that are neither correct nor incorrect nor
    /// missing are then an error
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    correct: Vec<String>,
    /// A cell that counts as 0; may be repeated
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    incorrect: Vec<String>,
    /// The highest possible score, or the lowest and the highest: with `--scale 10` a score of 7, or the cell
    /// `7/10`, is 0.7
    #[arg(long, value_name = "[LOW] HIGH", num_args = 1..=2, allow_negative_numbers = true,
        conflicts_with_all = ["correct", "incorrect"])]
    scale: Vec<f64>,
    /// Cells that mean a missing score, separated by commas, in place of NA, N/A, None, null and -; an empty
    /// cell always does
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    na: Option<Vec<String>>,
    /// What to do with other cells of a table that are no scores: fail, count them as 0, or treat them as missing
    #[arg(long, value_enum, value_name = "ACTION", default_value_t)]
    pub(super) unconvertible: UnconvertiblePolicy,
    /// What is between the fields of a row: a character, or `tab` [default: by the file]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// What is between the integer and the fraction of a number: `.` or `,` [default: by the file]
    #[arg(long, value_name = "CHAR", value_parser = decimals())]
    decimal: Option<DecimalMark>,
    /// The format of tables [default: by the name of the file and its first bytes]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    input_format: Option<InputFormat>,
    /// Read what the options above say from this file; options that are given win
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Write how the table was read to this file, for --mapping; a file that says something else is not
    /// replaced, unless --mapping reads it
    #[arg(long, value_name = "FILE")]
    save_mapping: Option<PathBuf>,
    /// Show which column of the table is read as what, and what its cells mean, and compute nothing
    #[arg(long)]
    pub(super) explain: bool,
    /// Whether the mapping has been saved: of several tables, that of the first is.
    #[arg(skip)]
    is_saved: AtomicBool,
    /// Tables that are no files, from a program that calls the command.
    #[arg(skip)]
    pub(crate) memory: MemoryTables,
    /// The maximum length of a line of a table; for Parquet, the maximum decompressed size of a page
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_bytes)]
    max_line: u64,
    /// The maximum number of columns of a table
    #[arg(long, value_name = "N", default_value_t = TableLimits::default().max_columns)]
    max_columns: usize,
}

fn decimals() -> impl TypedValueParser<Value = DecimalMark> {
    one_of([(".", DecimalMark::Point), (",", DecimalMark::Comma)])
}

fn formats() -> impl TypedValueParser<Value = InputFormat> {
    one_of(InputFormat::ALL)
}

/// A delimiter: a character, or the name of one that shells make hard to type.
fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some('"' | '\r' | '\n'), None) => {
            Err("a quotation mark and line ends cannot be delimiters".to_owned())
        }
        (_, Some(character), None) if character.is_ascii() => Ok(character),
        _ => Err("expected one ASCII character, such as `;`, or `tab`".to_owned()),
    }
}

impl TableArgs {
    /// What the options say about tables, over what the file of `--mapping` says; `by` is the column that tells the
    /// parts of a table apart.
    pub(super) fn mapping(&self, by: Option<&str>) -> Result<TableMapping, Diagnostic> {
        let scale = match self.scale.as_slice() {
            [] => None,
            [high] => Some((0.0, *high)),
            [low, high, ..] => Some((*low, *high)),
        };
        let scale = scale.map(|(low, high)| ScoreScale::new(low, high)).transpose();
        let scale = scale.map_err(|problem| {
            Diagnostic::error(problem)
                .about("--scale")
                .hint("give the highest possible score, or the lowest and it")
        })?;
        let mut mapping = TableMapping::default();
        mapping.format = self.input_format;
        mapping.delimiter = self.delimiter;
        mapping.decimal = self.decimal;
        mapping.id_columns = self.id_columns.clone();
        mapping.epoch_column = self.epoch_column.clone();
        mapping.score_columns = self.score_columns.clone();
        mapping.by = by.map(str::to_owned);
        mapping.na = self.na.clone();
        mapping.correct = self.correct.clone();
        mapping.incorrect = self.incorrect.clone();
        mapping.scale = scale;
        if let Some(path) = &self.mapping {
            mapping = mapping.or(&TableMapping::read(path)?);
        }
        mapping.check().map_err(|problem| Diagnostic::error(problem.to_string()).hint(hint(&problem)))?;
        Ok(mapping)
    }

    /// Whether a path is that of a log, and not the name of a table in memory.
    pub(super) fn is_log(&self, path: &Path) -> bool {
        !self.memory.contains(path) && is_log_file(path)
    }

    /// Writes how a table was read to the file of `--save-mapping`, if it is given. Returns a note with the path.
    pub(super) fn save(&self, mapping: &TableMapping) -> Result<Option<Diagnostic>, Diagnostic> {
        let Some(path) = &self.save_mapping else { return Ok(None) };
        if self.is_saved.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        // A file that was read may be brought up to date; another may be of a different table.
        if self.mapping.as_ref() != Some(path) && has_other_content(path, &mapping.to_toml()) {
            let problem = "the file exists, and says something else";
            return Err(Diagnostic::error(problem)
                .about(path.display())
                .hint("choose another name for --save-mapping, or remove the file"));
        }
        mapping.write(path)?;
        Ok(Some(Diagnostic::note(format!("how the table is read is in {}", path.display()))))
    }

    /// Whether the column of ids is named.
    pub(super) fn names_ids(&self) -> bool {
        !self.id_columns.is_empty()
    }

    /// The first option that is given and is about tables, but limits.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--id-column", !self.id_columns.is_empty()),
            ("--epoch-column", self.epoch_column.is_some()),
            ("--score-column", !self.score_columns.is_empty()),
            ("--correct", !self.correct.is_empty()),
            ("--incorrect", !self.incorrect.is_empty()),
            ("--scale", !self.scale.is_empty()),
            ("--na", self.na.is_some()),
            ("--delimiter", self.delimiter.is_some()),
            ("--decimal", self.decimal.is_some()),
            ("--input-format", self.input_format.is_some()),
            ("--mapping", self.mapping.is_some()),
            ("--save-mapping", self.save_mapping.is_some()),
            ("--explain", self.explain),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// How a table is read, within the limits; memory is limited for logs too. Rows without a column of ids are numbered.
    pub(super) fn options(&self, mapping: &TableMapping, max_memory: Option<u64>) -> TableOptions {
        let mut limits = TableLimits::default();
        (limits.max_line, limits.max_columns, limits.max_memory) =
            (self.max_line, self.max_columns, max_memory);
        TableOptions::new().mapping(mapping).number_rows(true).limits(limits).memory(&self.memory)
    }
}

/// Whether it is a file with another content. What is no file, such as `/dev/stdout`, has none.
fn has_other_content(path: &Path, content: &str) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    metadata.is_file()
        && metadata.len() > 0
        && (metadata.len() != content.len() as u64
            || fs::read(path).is_ok_and(|old| old != content.as_bytes()))
}

/// What to do about a mapping.
fn hint(problem: &MappingProblem) -> String {
    match problem {
        MappingProblem::Read(_) => "check the path; --save-mapping writes such a file",
        MappingProblem::Write(_) => "choose a location that you may write to",
        MappingProblem::UnknownKey { nearest: Some(nearest), .. } => {
            return format!("did you mean `{nearest}`?");
        }
        MappingProblem::ScaleAndNames => "remove `scale`, or `correct` and `incorrect`",
        MappingProblem::NamedTwice(_) => "name each cell once, with --correct or with --incorrect",
        _ => "--save-mapping writes such a file, with the keys that there are",
    }
    .to_owned()
}

impl From<MappingError> for Diagnostic {
    fn from(error: MappingError) -> Self {
        let hint = hint(&error.problem);
        Diagnostic::error(error.problem.to_string()).about(error.path.display()).hint(hint)
    }
}
