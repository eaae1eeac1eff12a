//! The samples of eval logs as a table: CSV, JSON lines or Parquet.
//!
//! A row is a sample, an epoch and a scorer; a sample without scores has one row with neither scorer nor value, so
//! that nothing is dropped on the way. The logs are read twice: first for the metadata keys of the samples,
//! which become columns, then row by row into the file. Reading once and holding the rows in memory was rejected, as
//! a log may be larger than memory. One log is open at a time.
//!
//! The columns, in order: `log` (of several logs), `task`, `model`, `id`, `epoch`, `scorer`, `value`, `answer`,
//! `explanation`, `reason`, `error`, `limit`, and then the metadata of the samples. Maps in the metadata become
//! columns with dots in their names (`a.b`); a name that is taken, or is `score`, has `metadata.` before it.
//!
//! | | CSV | JSON lines | Parquet |
//! |---|---|---|---|
//! | nothing | empty | no such key, or null | null |
//! | unscored | `NaN` | null | NaN among numbers, else `NaN` |
//! | infinite | `Infinity` | null | infinite among numbers, else `Infinity` |
//! | a list or map | JSON text, `NaN` bare | a list or map | JSON text, `NaN` bare |
//! | types | strings | those of JSON | `value` DOUBLE if all scores are numbers; metadata DOUBLE, INT64 or BOOLEAN if all are; else strings |
//!
//! ```
//! use errorbar_log::export::{Export, ExportFormat, ExportOptions};
//! # use errorbar_core::Score;
//! # use errorbar_log::eval::*;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.eval");
//! # let eval = EvalInfo::new("quiz", "mock/x");
//! # let mut writer = LogWriter::create(&path, &StartRecord::new(eval, PlanRecord::default()))?;
//! # let (id, scores) = (SampleId::from("q1"), [("match".to_owned(), Score::new("C"))]);
//! # writer.append_sample(&SampleRecord::new(&id, 1).scores(&scores))?;
//! let export = Export::of([&path], ExportOptions::default().texts(false))?;
//! let mut csv = Vec::new();
//! export.write(ExportFormat::Csv, &mut csv)?;
//! assert_eq!(String::from_utf8(csv)?, "task,model,id,epoch,scorer,value,reason,error,limit\nquiz,mock/x,q1,1,match,C,,,\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod columns;
mod csv;
mod error;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_pages;
mod rows;
mod strict_json;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use errorbar_core::spec::nearest;
use errorbar_core::{MetadataKeys, Score};
use indexmap::IndexSet;

use columns::{ColumnSource, ExportColumn, ExportKind, MetadataTree};
pub use error::ExportError;
use rows::{ExportRow, LogContext};
pub use strict_json::{JsonLayout, StrictWriter, strict_json};

use crate::atomic_file::AtomicFile;
use crate::eval::{EvalLog, LogLimits, SampleFields, StoredSample};

/// What rows are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// Comma-separated values.
    Csv,
    /// A JSON object a line. Strict: a number that is not finite is null.
    JsonLines,
    /// Parquet, compressed with zstd; only with the feature `parquet`.
    Parquet,
}

impl ExportFormat {
    /// The format by the extension of a file: `.csv`, `.jsonl` or `.ndjson`, `.parquet`.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        match extension.as_str() {
            "csv" => Some(ExportFormat::Csv),
            "jsonl" | "ndjson" => Some(ExportFormat::JsonLines),
            "parquet" => Some(ExportFormat::Parquet),
            _ => None,
        }
    }
}

/// What to write out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExportOptions {
    /// Only the scores by these scorers; all if there are none. A sample that lacks them still has a row.
    pub scorers: Vec<String>,
    /// Whether to write answers and explanations.
    pub texts: bool,
    /// How large a log may be.
    pub limits: LogLimits,
}

impl Default for ExportOptions {
    fn default() -> Self {
        ExportOptions { scorers: Vec::new(), texts: true, limits: LogLimits::default() }
    }
}

impl ExportOptions {
    /// Writes only the scores by these scorers.
    #[must_use]
    pub fn scorers(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scorers = names.into_iter().map(Into::into).collect();
        self
    }

    /// Whether to write answers and explanations.
    #[must_use]
    pub fn texts(self, texts: bool) -> Self {
        ExportOptions { texts, ..self }
    }

    /// Refuses a log that goes beyond these limits.
    #[must_use]
    pub fn limits(self, limits: LogLimits) -> Self {
        ExportOptions { limits, ..self }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportCounts {
    /// Rows without the header.
    pub rows: u64,
    /// Scores that are lists or maps and have null where they held a number that is not finite; only in JSON
    /// lines. Read again, such a null is not unscored but counts as 0.
    pub nulled: u64,
}

/// The samples of logs, with the columns that they need.
///
/// See [the module](self) for an example.
#[derive(Debug)]
pub struct Export {
    logs: Vec<PathBuf>,
    scorers: Vec<String>,
    limits: LogLimits,
    keys: MetadataTree,
    columns: Vec<ExportColumn>,
    recovered: Vec<PathBuf>,
}

/// Somewhere that rows go.
trait RowSink {
    fn row(&mut self, row: &ExportRow<'_>) -> Result<(), ExportError>;
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

impl Export {
    /// Reads the logs once, for the columns.
    ///
    /// # Errors
    /// A log that cannot be read; a scorer that is in none of them.
    pub fn of(
        logs: impl IntoIterator<Item = impl Into<PathBuf>>,
        options: ExportOptions,
    ) -> Result<Self, ExportError> {
        let logs: Vec<PathBuf> = logs.into_iter().map(Into::into).collect();
        let (mut keys, mut known, mut value) =
            (MetadataTree::default(), IndexSet::<String>::new(), None::<ExportKind>);
        let mut recovered = Vec::new();
        for path in &logs {
            let log = EvalLog::open_with(path, options.limits)?;
            if log.was_recovered() {
                recovered.push(path.clone());
            }
            for sample in log.samples_with(fields())? {
                let sample = sample?;
                keys.learn(path, &sample.metadata)?;
                for scorer in sample.scores.keys() {
                    if !known.contains(scorer) {
                        known.insert(scorer.clone());
                    }
                }
                for (_, score) in chosen(&sample, &options.scorers) {
                    let Some(kind) = ExportKind::of_value(&score.value) else { continue };
                    value = Some(value.map_or(kind, |value| value.and(kind)));
                }
            }
        }
        if let Some(scorer) = options.scorers.iter().find(|name| !known.contains(*name)) {
            let nearest = nearest(scorer, known.iter().map(String::as_str)).map(str::to_owned);
            let known = known.into_iter().collect();
            return Err(ExportError::UnknownScorer { scorer: scorer.clone(), known, nearest });
        }
        let wanted = |source| match source {
            ColumnSource::Log => logs.len() > 1,
            ColumnSource::Answer | ColumnSource::Explanation => options.texts,
            _ => true,
        };
        // Unscored alone is a number too.
        let columns = keys.columns(wanted, value.unwrap_or(ExportKind::Float));
        Ok(Export { logs, scorers: options.scorers, limits: options.limits, keys, columns, recovered })
    }

    /// The names of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The logs that had no directory: their runs are going on or were interrupted.
    pub fn recovered(&self) -> &[PathBuf] {
        &self.recovered
    }

    /// Reads the logs again and writes the rows.
    pub fn write(
        &self,
        format: ExportFormat,
        out: &mut (dyn Write + Send),
    ) -> Result<ExportCounts, ExportError> {
        let columns = self.columns.as_slice();
        let mut sink: Box<dyn RowSink + '_> = match format {
            ExportFormat::Csv => Box::new(csv::CsvSink::new(out, columns)?),
            ExportFormat::JsonLines => Box::new(jsonl::JsonlSink::new(out, columns)),
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet => Box::new(parquet::ParquetSink::new(out, columns)?),
            #[cfg(not(feature = "parquet"))]
            ExportFormat::Parquet => return Err(ExportError::NoParquet),
        };
        let mut written = ExportCounts::default();
        for path in &self.logs {
            self.write_log(path, |row| {
                written.rows += 1;
                let loses = format == ExportFormat::JsonLines && row.cell(ColumnSource::Value).loses_inside();
                written.nulled += u64::from(loses);
                sink.row(row)
            })?;
        }
        sink.finish()?;
        Ok(written)
    }

    fn write_log(
        &self,
        path: &Path,
        mut write: impl FnMut(&ExportRow<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let log = EvalLog::open_with(path, self.limits)?;
        let eval = log.header()?.eval;
        let run = LogContext { log: path.display().to_string(), task: eval.task, model: eval.model };
        for sample in log.samples_with(fields())? {
            let sample = &sample?;
            let cells = self.keys.cells(&sample.metadata);
            let metadata = &cells.ok_or_else(|| ExportError::Changed { path: path.to_owned() })?;
            let mut scores = chosen(sample, &self.scorers).peekable();
            if scores.peek().is_none() {
                write(&ExportRow { run: &run, sample, scored: None, metadata })?;
            }
            for scored in scores {
                write(&ExportRow { run: &run, sample, scored: Some(scored), metadata })?;
            }
        }
        Ok(())
    }

    /// Writes a file, which takes the place of one of that name when it is whole and on the disk.
    ///
    /// # Errors
    /// As [`Export::write`]; an output that is one of the logs.
    pub fn save(&self, format: ExportFormat, path: &Path) -> Result<ExportCounts, ExportError> {
        let place = fs::canonicalize(path).ok();
        if place.is_some() && self.logs.iter().any(|log| fs::canonicalize(log).ok() == place) {
            return Err(ExportError::OutputIsInput { path: path.to_owned() });
        }
        let save = || {
            let mut file = AtomicFile::create(path)?;
            let written = self.write(format, &mut file)?;
            file.commit()?;
            Ok(written)
        };
        save().map_err(|error: ExportError| error.at(path))
    }
}

/// What is read of a sample: neither input nor messages.
fn fields() -> SampleFields {
    SampleFields::scores(MetadataKeys::All)
}

/// The scores of a sample that are to be written.
fn chosen<'s>(sample: &'s StoredSample, scorers: &'s [String]) -> impl Iterator<Item = (&'s str, &'s Score)> {
    let wanted = |name: &String| scorers.is_empty() || scorers.contains(name);
    sample.scores.iter().filter(move |(name, _)| wanted(name)).map(|(name, score)| (name.as_str(), score))
}
