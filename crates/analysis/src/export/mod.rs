//! The samples of eval logs as a table: CSV, JSON lines or Parquet.
//!
//! A row is a sample, an epoch and a scorer; a sample without scores has one row with neither scorer nor value, so
//! that nothing is dropped on the way. With [`ExportOptions::wide`] a row is a sample and an epoch, and each scorer has
//! its own columns. The logs are read twice: first for the metadata keys of the samples,
//! which become columns, then row by row into the file. Reading once and holding the rows in memory was rejected, as
//! a log may be larger than memory. One log is open at a time.
//!
//! The columns, in order: `log` (of several logs), `task`, `model`, `id`, `epoch`, `scorer`, `value`, `answer`,
//! `explanation`, `reason`, `error`, `limit`, `number` (the value as the metrics of its scorer convert it), `input`,
//! `target`, `output`, `started_at`, `completed_at`, `total_time`, `working_time`, `input_tokens`, `output_tokens`,
//! `total_tokens`, and then the metadata of the samples. Maps in the metadata become
//! columns with dots in their names (`a.b`); a name that is taken, or is `score`, has `metadata.` before it.
//! [`ExportOptions::columns`] chooses some of them. In the wide form `value` is a column with the name of the scorer,
//! and the other parts of its score have that name before theirs (`match.answer`).
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
//! use errorbar_analysis::export::{Export, ExportFormat, ExportOptions};
//! # use errorbar_log::eval::*;
//! # use errorbar_core::Score;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.eval");
//! # let eval = EvalInfo::new("quiz", "mock/x");
//! # let mut writer = LogWriter::create(&path, &StartRecord::new(eval, PlanRecord::default()))?;
//! # let (id, scores) = (SampleId::from("q1"), [("match".to_owned(), Score::new("C"))]);
//! # writer.append_sample(&SampleRecord { scores: &scores, ..SampleRecord::new(&id, 1) })?;
//! let export = Export::of([&path], ExportOptions::default().columns(["model", "id", "scorer", "value", "number"]))?;
//! let mut csv = Vec::new();
//! export.write(ExportFormat::Csv, &mut csv)?;
//! assert_eq!(String::from_utf8(csv)?, "model,id,scorer,value,number\nmock/x,q1,match,C,1.0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::export::columns::{ExportRow, LogContext, SampleCells};
use columns::{ColumnSource, ExportColumn, ExportKind, MetadataTree, SamplePart, ScorePart, ScorerColumns};
use errorbar_core::engine::unique_names;
use errorbar_core::spec::nearest;
use errorbar_core::{Conversion, MetadataKeys, Registry, Score, ScoreParts};
use errorbar_files::{AtomicFile, WrittenFile};
use errorbar_log::eval::{
    EvalLog, Header, LogError, LogLimits, SampleFields, StoredSample, plan_from_header,
};
use errorbar_macros::Setters;
use errorbar_table::error_text::list;
use errorbar_table::write::{ExportCell, WriteError, WrittenColumn, row_sink};
use indexmap::IndexMap;

use crate::diagnostic::Diagnostic;
use crate::text::Text;

pub use errorbar_log::{JsonLayout, StrictWriter, strict_json};
pub use errorbar_table::write::{ExportFormat, spreadsheet_cell};

/// What to write out.
#[derive(Clone, Debug, Setters)]
#[non_exhaustive]
pub struct ExportOptions {
    /// Only the scores by these scorers; all if there are none. A sample that lacks them still has a row.
    pub scorers: Vec<String>,
    /// Whether to write inputs, targets, outputs, answers and explanations.
    pub texts: bool,
    /// Whether a row is a sample and an epoch, with columns for each scorer.
    pub wide: bool,
    /// Only these columns, in this order; all if there are none. `metadata` stands for all metadata, and in the wide form
    /// the name of a part of scores for that part of all of them.
    pub columns: Vec<String>,
    /// What the metrics in logs are built with, for the way in which they convert values.
    pub registry: Registry,
    /// How large a log may be.
    pub limits: LogLimits,
}

impl Default for ExportOptions {
    fn default() -> Self {
        ExportOptions {
            scorers: Vec::new(),
            texts: true,
            wide: false,
            columns: Vec::new(),
            registry: Registry::built_in(),
            limits: LogLimits::default(),
        }
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
    /// What became of the file, if it is one.
    pub file: WrittenFile,
}

/// The samples of logs, with the columns that they need.
///
/// See [the module](self) for an example.
#[derive(Debug)]
#[non_exhaustive]
pub struct Export {
    logs: Vec<PathBuf>,
    options: ExportOptions,
    /// The scorers, in the order in which they were met.
    scorers: Vec<String>,
    keys: MetadataTree,
    columns: Vec<ExportColumn>,
    /// The logs that had no directory: their runs are going on or were interrupted.
    pub recovered: Vec<PathBuf>,
    /// The logs that no row is of.
    pub without_samples: Vec<PathBuf>,
    /// The logs of runs that have not ended, as they were when they were read for the columns: a sample that came later may
    /// need another.
    growing: Vec<EvalLog>,
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
        let mut keys = MetadataTree::default();
        let mut kinds = IndexMap::<String, Option<ExportKind>>::new();
        let (mut recovered, mut without_samples, mut growing) = (Vec::new(), Vec::new(), Vec::new());
        let fields = SampleFields::scores(MetadataKeys::All).score_parts(ScoreParts::Value);
        for path in &logs {
            let log = EvalLog::open_with(path, options.limits)?;
            if log.was_recovered() {
                recovered.push(path.clone());
            }
            let mut samples = log.samples_with(fields.clone())?.peekable();
            if samples.peek().is_none() {
                without_samples.push(path.clone());
            }
            for sample in samples {
                let sample = sample?;
                keys.learn(path, &sample.metadata)?;
                for (scorer, score) in &sample.scores {
                    let known = match kinds.get_mut(scorer) {
                        Some(known) => known,
                        None => kinds.entry(scorer.clone()).or_default(),
                    };
                    let Some(kind) = ExportKind::of_value(&score.value) else { continue };
                    *known = Some(known.map_or(kind, |known| known.and(kind)));
                }
            }
            if !log.has_header() {
                growing.push(log);
            }
        }
        if let Some(scorer) = options.scorers.iter().find(|name| !kinds.contains_key(*name)) {
            let known: Vec<String> = kinds.into_keys().collect();
            let problem = format!("no sample has a score by `{scorer}`; {}", known_scorers(&known));
            return Err(ExportError::unknown(problem, scorer, &known, "name one of them, or none for all"));
        }
        kinds.retain(|scorer, _| options.scorers.is_empty() || options.scorers.contains(scorer));
        let scorers: Vec<String> = kinds.keys().cloned().collect();
        // Unscored alone is a number too.
        let number = |kind: Option<ExportKind>| kind.unwrap_or(ExportKind::Float);
        let form = match options.wide {
            true => ScorerColumns::Each(kinds.into_iter().map(|(name, kind)| (name, number(kind))).collect()),
            false => ScorerColumns::One(number(kinds.into_values().flatten().reduce(ExportKind::and))),
        };
        let columns = chosen_columns(keys.columns(&form), logs.len(), &options)?;
        Ok(Export { logs, options, scorers, keys, columns, recovered, without_samples, growing })
    }

    /// The names of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Reads the logs again and writes the rows.
    pub fn write(
        &self,
        format: ExportFormat,
        out: &mut (dyn Write + Send),
    ) -> Result<ExportCounts, ExportError> {
        let columns = self.columns.as_slice();
        let written_columns: Vec<WrittenColumn> = columns.iter().map(ExportColumn::written).collect();
        let mut sink = row_sink(format, out, &written_columns)?;
        let mut written = ExportCounts::default();
        for path in &self.logs {
            self.write_log(path, |row| {
                written.rows += 1;
                let cells: Vec<ExportCell<'_>> =
                    columns.iter().map(|column| row.cell(column.source)).collect();
                match format {
                    ExportFormat::JsonLines => {
                        written.nulled += cells.iter().filter(|cell| cell.loses_inside()).count() as u64;
                    }
                    ExportFormat::Parquet => row.check_epoch(path)?,
                    _ => {}
                }
                sink.row(&cells).map_err(|error| ExportError::of_row(error, path))
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
        let opened;
        let log = match self.growing.iter().find(|log| log.path() == path) {
            Some(log) => log,
            None => {
                opened = EvalLog::open_with(path, self.options.limits)?;
                &opened
            }
        };
        let header = log.header()?;
        let run = LogContext {
            log: path.display().to_string(),
            conversions: conversions(&header, &self.options.registry),
            task: header.eval.task,
            model: header.eval.model,
            scorers: self.scorers.clone(),
        };
        for sample in log.samples_with(self.fields())? {
            let sample = &sample?;
            let changed = || ExportError::changed(path);
            let metadata = self.keys.cells(&sample.metadata).ok_or_else(changed)?;
            let is_known = |scorer: &String| self.scorers.contains(scorer);
            if self.options.scorers.is_empty() && !sample.scores.keys().all(is_known) {
                return Err(changed());
            }
            let cells = &SampleCells::new(sample, metadata);
            let mut scores = wanted_scores(sample, &self.scorers).peekable();
            if self.options.wide || scores.peek().is_none() {
                write(&ExportRow { run: &run, sample, scored: None, cells })?;
                continue;
            }
            for scored in scores {
                write(&ExportRow { run: &run, sample, scored: Some(scored), cells })?;
            }
        }
        Ok(())
    }

    /// What the columns need of a sample.
    fn fields(&self) -> SampleFields {
        let sources = || self.columns.iter().map(|column| column.source);
        let has_metadata = sources().any(|source| matches!(source, ColumnSource::Metadata(_)));
        let texts =
            |source| matches!(source, ColumnSource::Score(_, ScorePart::Answer | ScorePart::Explanation));
        let mut fields =
            SampleFields::scores(if has_metadata { MetadataKeys::All } else { MetadataKeys::NONE });
        if !sources().any(texts) {
            fields = fields.score_parts(ScoreParts::Value);
        }
        let has = |part| sources().any(|source| matches!(source, ColumnSource::Sample(of, _) if of == part));
        fields.texts = has(SamplePart::Texts);
        fields.completion = has(SamplePart::Completion);
        fields.details = has(SamplePart::Details);
        fields
    }

    /// Writes a file, which takes the place of one of that name when it is whole and on the disk.
    ///
    /// # Errors
    /// As [`Export::write`]; an output that is one of the logs.
    pub fn save(&self, format: ExportFormat, path: &Path) -> Result<ExportCounts, ExportError> {
        let place = fs::canonicalize(path).ok();
        if place.is_some() && self.logs.iter().any(|log| fs::canonicalize(log).ok() == place) {
            let problem =
                Diagnostic::error("the output would replace the log that is read").about(path.display());
            return Err(problem.hint("choose another name for the output").into());
        }
        let save = || {
            let mut file = AtomicFile::create_private(path)?;
            let written = self.write(format, &mut file)?;
            Ok(ExportCounts { file: file.commit()?, ..written })
        };
        save().map_err(|error: ExportError| error.at(path))
    }
}

/// The columns that the options want; `log` only if there are several, or it is named.
fn chosen_columns(
    all: Vec<ExportColumn>,
    logs: usize,
    options: &ExportOptions,
) -> Result<Vec<ExportColumn>, ExportError> {
    const TEXTS: [&str; 5] = ["answer", "explanation", "input", "target", "output"];
    if options.columns.is_empty() {
        let is_wanted = |column: &ExportColumn| match column.family {
            columns::LOG => logs > 1,
            family => options.texts || !TEXTS.contains(&family),
        };
        return Ok(all.into_iter().filter(is_wanted).collect());
    }
    columns::chosen(&all, &options.columns).map_err(|column| {
        let known: Vec<String> = all.into_iter().map(|column| column.name).collect();
        let problem = format!("there is no column `{column}`; the columns are {}", list(&known));
        ExportError::unknown(problem, &column, &known, "name some of them, or none for all")
    })
}

/// How the metrics of each scorer convert its values: as the first of them that converts any. A log whose metrics cannot
/// be built has grades.
fn conversions(header: &Header, registry: &Registry) -> HashMap<String, Conversion> {
    let Ok((plan, _)) = plan_from_header(header, registry) else { return HashMap::new() };
    let conversion = |metrics: &errorbar_core::Metrics| {
        metrics.iter().find_map(|metric| metric.subject()?.conversions.first().cloned())
    };
    let names = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
    let of_scorer = |(scorer, name): (&errorbar_core::ScorerPlan, String)| {
        let metrics = plan.task_metrics.as_ref().unwrap_or(&scorer.metrics);
        Some((name, conversion(metrics)?))
    };
    plan.scorers.iter().zip(names).filter_map(of_scorer).collect()
}

/// The scores of a sample that are to be written.
fn wanted_scores<'s>(
    sample: &'s StoredSample,
    scorers: &'s [String],
) -> impl Iterator<Item = (&'s str, &'s Score)> {
    let wanted = |name: &String| scorers.contains(name);
    sample.scores.iter().filter(move |(name, _)| wanted(name)).map(|(name, score)| (name.as_str(), score))
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The output cannot be written.
    #[error("{}cannot write: {error}", path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default())]
    Write {
        /// The output, where it is a file.
        path: Option<PathBuf>,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// Anything else, with what to do about it.
    #[error("{}", .0.text)]
    Other(Box<Diagnostic>),
}

impl From<Diagnostic> for ExportError {
    fn from(problem: Diagnostic) -> Self {
        ExportError::Other(Box::new(problem))
    }
}

impl From<LogError> for ExportError {
    fn from(error: LogError) -> Self {
        Diagnostic::from(error).into()
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        ExportError::Write { path: None, error }
    }
}

impl From<WriteError> for ExportError {
    fn from(error: WriteError) -> Self {
        let problem = Diagnostic::error(error.to_string());
        match error {
            WriteError::Io(error) => return error.into(),
            WriteError::NoParquet => {
                problem.hint("build with the feature `parquet`, or export to CSV or JSON lines")
            }
            WriteError::Parquet(_) | WriteError::CellKind => problem.hint("export to CSV or JSON lines"),
        }
        .into()
    }
}

impl From<ExportError> for Diagnostic {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Other(problem) => *problem,
            error => Diagnostic::error(error.to_string()).hint_if(error.hint()),
        }
    }
}

impl ExportError {
    /// The error of a log that is not what it was when its columns were found.
    fn changed(log: &Path) -> Self {
        let problem = Diagnostic::error("the log changed while it was read").about(log.display());
        problem.hint("wait until the run has ended, or copy the log first").into()
    }

    /// The error of a name that is none of these.
    fn unknown(problem: String, name: &str, known: &[String], hint: &str) -> Self {
        let hint = match nearest(name, known.iter().map(String::as_str)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => hint.to_owned(),
        };
        Diagnostic::error(problem).hint(hint).into()
    }

    /// The error of a row of this log: a cell that is not of the kind of its column was not there when the columns were
    /// found.
    fn of_row(error: WriteError, log: &Path) -> Self {
        match error {
            WriteError::CellKind => ExportError::changed(log),
            other => other.into(),
        }
    }

    /// The same about an output file.
    fn at(mut self, output: &Path) -> Self {
        if let ExportError::Write { path, .. } = &mut self {
            path.get_or_insert_with(|| output.to_owned());
        }
        self
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<Text> {
        match self {
            ExportError::Other(problem) => problem.hint.clone(),
            ExportError::Write { error, .. } => Some(match error.kind() {
                io::ErrorKind::NotFound => "make the folder first".into(),
                io::ErrorKind::IsADirectory => "give the name of a file in it".into(),
                io::ErrorKind::StorageFull => "free some space".into(),
                _ => "choose a file that you may write to".into(),
            }),
        }
    }
}

/// The scorers that there are, in words.
fn known_scorers(known: &[String]) -> String {
    match known.is_empty() {
        true => "there are no scores".to_owned(),
        false => format!("there are scores by {}", list(known)),
    }
}
