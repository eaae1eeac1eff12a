//! Metrics from the scores of logs and tables.

use std::path::{Path, PathBuf};

use errorbar_core::{
    EstimateRow, Evaluation, Failure, IntervalChoice, IntervalMethod, Order, Plan, Reducers, Registry,
    Results, Role, ScoreColumns, ScoreParts, ScoreResult, Undefined, Warning,
};
use errorbar_log::eval::metrics_to_log;
use errorbar_log::inspect::Projection;
use errorbar_macros::Setters;
use errorbar_table::{MemoryTables, RowColumns, ScoreTable, TableError, TableErrorKind, TableOptions};
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Diagnostics, Place};
use crate::read::{self, Reader, RunRequest, cell_use};
use crate::request::{
    ErrorRequest, LimitRequest, PlanChanges, ReadRequest, TableRequest, UnconvertiblePolicy, one_or_many,
};
use crate::run::{Report, Run};
use crate::source::{self, InputFiles};
use crate::text::{Opt, counted};
use crate::{Analysis, Answer, hints, text};

/// What to compute of logs and tables, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_display_order = 1))]
pub struct ScoreRequest {
    /// A metric to compute, with its arguments; may be repeated [default: those that a log records;
    /// for a table accuracy and stderr, or mean and stderr if a score is outside of 0 to 1]
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "metric", short, value_name = "SPEC"))]
    pub metrics: Vec<String>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: as a log
    /// records; mean for a table]
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "reducer", short, value_name = "SPEC"))]
    pub reducers: Vec<String>,
    /// Do not reduce epochs: metrics get every score
    #[cfg_attr(feature = "clap", arg(long, conflicts_with = "reducers"))]
    pub no_reduce: bool,
    /// Only this scorer; may be repeated
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "scorer", value_name = "NAME"))]
    pub scorers: Vec<String>,
    /// The column of a table whose values tell its parts apart, such as models: each has results of its own
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN",
        value_parser = clap::builder::NonEmptyStringValueParser::new()))]
    pub by: Option<String>,
    /// Seed for random numbers (bootstrap) [default: as a log records; 0 for a table]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seed: Option<u64>,
    /// The order of groups, shares and scorers in all formats: of first appearance, or by key, so that it does not
    /// depend on the order of rows. Figures are the same in any order
    #[cfg_attr(feature = "clap", arg(long, value_name = "ORDER", default_value = "appearance",
        value_parser = crate::request::one_of(Order::ALL.map(|order| (order.name(), order)))))]
    pub order: Order,
    /// Skip samples that cannot be read; they are reported and counted
    #[cfg_attr(feature = "clap", arg(long))]
    pub skip_bad_samples: bool,
    /// How errors and intervals are computed.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub errors: ErrorRequest,
    /// How tables are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub tables: TableRequest,
    /// How logs are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    #[setters(LimitRequest)]
    pub read: ReadRequest,
}

/// What becomes of results besides being shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteBack<'a> {
    /// Whether they are written into the logs.
    pub in_place: bool,
    /// The copy of a log that they are written to.
    pub output: Option<&'a Path>,
}

impl WriteBack<'_> {
    fn is_wanted(self) -> bool {
        self.in_place || self.output.is_some()
    }
}

impl ScoreRequest {
    /// What is asked for in place of recorded and default metrics, reducers and errors, if all of it is valid.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn changes(&self, analysis: &Analysis<'_>) -> Result<PlanChanges, Diagnostics> {
        if self.no_reduce && !self.reducers.is_empty() {
            return Err(Diagnostic::excluded(Opt::NoReduce, Opt::Reducer).into());
        }
        let mut changes = PlanChanges::new(&self.metrics, &self.reducers, self.no_reduce, analysis.specs())?
            .errors(&self.errors)?
            .seed(self.seed);
        changes.order = self.order;
        Ok(changes)
    }
}

impl Analysis<'_> {
    /// The results of logs and tables, one for each log, table and part of a table.
    pub fn score(&self, sources: &[PathBuf], request: &ScoreRequest) -> Answer<Vec<Report>> {
        let changes = match request.changes(self) {
            Ok(changes) => changes,
            Err(diagnostics) => return Answer::failed(diagnostics),
        };
        let input = source::expand_with(sources, &self.tables);
        let (reports, diagnostics) = self.score_files(input, request, &changes, WriteBack::default());
        Answer::new(reports, diagnostics)
    }

    /// The same of files that have been found, with changes that have been built.
    pub fn score_files(
        &self,
        input: InputFiles,
        request: &ScoreRequest,
        changes: &PlanChanges,
        write: WriteBack<'_>,
    ) -> (Vec<Report>, Diagnostics) {
        // Once, however many files there are.
        let first = input.files.first().cloned();
        let run_request = RunRequest {
            scorers: &request.scorers,
            split: request.by.as_deref(),
            skip_bad_samples: request.skip_bad_samples,
            all_parts: write.is_wanted(),
            takes_recorded: !write.is_wanted(),
            takes_nothing: true,
            ..RunRequest::new(changes, &request.tables, &request.read)
        };
        let (reports, diagnostics) = input.map(|path, warnings| {
            let reader = Reader::new(self, &run_request, path).hints(first.as_deref() == Some(path));
            let about = |problem: Diagnostic| Diagnostics::from(problem.about(path.display()));
            if write.is_wanted() && !reader.is_log() {
                let problem = Diagnostic::error("results cannot be written into a table");
                let hint = text!("omit {Write} and {Output}, or give a log");
                return Err(about(problem.hint(hint)));
            }
            if request.by.is_some() && reader.is_log() {
                let problem = text!("{By} is about tables, and this is an eval log");
                let hint =
                    "omit it; a metric such as grouped(accuracy(), \"topic\") has a figure for each group";
                return Err(about(Diagnostic::error(problem).hint(hint)));
            }
            let runs = reader.runs(warnings)?;
            warnings.extend(numbered_rows(&runs, path));
            warnings.extend(pooled_rows(&runs, path));
            warnings.extend(split_tasks(&runs, path));
            let score = |run: Run| self.score_run(run, request, changes, write, warnings);
            runs.into_iter().map(score).collect::<Result<Vec<Report>, Diagnostics>>()
        });
        let reports: Vec<Report> = reports.into_iter().flatten().collect();
        let diagnostics = with_findings(&reports, diagnostics, changes, &request.tables);
        (reports, diagnostics)
    }

    /// The results of a run.
    pub(crate) fn score_run(
        &self,
        mut run: Run,
        request: &ScoreRequest,
        changes: &PlanChanges,
        write: WriteBack<'_>,
        warnings: &mut Diagnostics,
    ) -> Result<Report, Diagnostics> {
        let title = run.title();
        let about = |diagnostic: Diagnostic| diagnostic.about(&title);
        if let Some(recorded) = run.recorded() {
            let recorded = recorded.clone();
            return Ok(run.report(recorded));
        }
        if run.table().is_none() {
            let evaluation = run.plan.evaluate(&run.scores).map_err(|error| about(error.into()))?;
            warnings.extend(too_few_epochs(&evaluation.results, &run.plan).map(about));
            if write.is_wanted() {
                let written = self.write(&run, &evaluation, changes, write);
                warnings.push(written.unwrap_or_else(|error| error));
            }
            return Ok(run.report(evaluation.results));
        }
        read::choose_metrics(&mut run.plan, &run.scores);
        let mut results = run.compute(request.tables.unconvertible, self.registry, true).map_err(about)?;
        warnings.extend(too_few_epochs(&results, &run.plan).map(about));
        warnings.extend(read::below_threshold_problem(&run.plan, &run.scores).map(about));
        results.name_metadata_keys(run.known_keys().iter().map(String::as_str));
        results.scores.retain(|block| request.scorers.is_empty() || request.scorers.contains(&block.scorer));
        Ok(run.report(results))
    }

    /// Writes results into a log, or into a copy of it; but not fewer than it has. Returns a note with the path.
    fn write(
        &self,
        run: &Run,
        evaluation: &Evaluation,
        changes: &PlanChanges,
        write: WriteBack<'_>,
    ) -> Result<Diagnostic, Diagnostic> {
        let Some(source) = run.log() else {
            return Err(Diagnostic::error("only the results of a whole log can be written"));
        };
        let hint = text!("name the metrics to write with {Metric}");
        source.check_writable(&evaluation.results, hint)?;
        let mut revision = source.log.revise()?;
        if let Some(metrics) = &changes.metrics {
            revision.set_metrics(&metrics_to_log(metrics, self.registry))?;
        }
        if let Some(reducers) = &changes.reducers {
            revision.set_reducers(reducers)?;
        }
        if changes.errors.is_given() {
            revision.set_errors(&run.plan.errors)?;
        }
        revision.set_results(evaluation, &run.scores)?;
        let written = write.output.unwrap_or(source.log.path());
        let file = match write.output {
            Some(path) => revision.write_to(path)?,
            None => revision.write_back()?,
        };
        let note = || Diagnostic::note(format!("the results are in {}", written.display()));
        Ok(crate::files::owner_warning(file, written).unwrap_or_else(note))
    }
}

/// What a reader of the results should know, besides what came up on the way to them.
pub fn with_findings(
    reports: &[Report],
    mut diagnostics: Diagnostics,
    changes: &PlanChanges,
    tables: &TableRequest,
) -> Diagnostics {
    let mut scores = reports.iter().flat_map(|report| &report.results.scores).peekable();
    // Of recorded figures it may be unknown how many scores they are of.
    let is_recorded = reports.iter().any(|report| report.recorded);
    if !is_recorded && scores.peek().is_some() && scores.all(|score| score.counts.scored == 0) {
        diagnostics.extend(reports.iter().map(|report| {
            Diagnostic::failure("nothing could be scored: no sample has a score").about(&report.log)
        }));
    }
    for report in reports {
        diagnostics.extend(findings_with(report, tables.unconvertible == UnconvertiblePolicy::Zero));
        if report.results.scores.iter().all(|block| block.metrics.is_empty() && block.failures.is_empty()) {
            let names_none = changes.metrics.as_ref().is_some_and(|metrics| metrics.iter().next().is_none());
            let text = match names_none {
                true => text!("nothing was computed: {Metric} names no metric"),
                false => "nothing was computed: none of the metrics applies to these scores".into(),
            };
            diagnostics.push(Diagnostic::warning(text).about(&report.log));
        }
    }
    diagnostics
}

/// What a reader of the results of a table without ids should know.
pub(crate) fn numbered_rows(runs: &[Run], path: &Path) -> Option<Diagnostic> {
    runs.iter().any(Run::has_synthetic_ids).then(|| {
        Diagnostic::note("no column identifies the samples, so every row counts as a sample")
            .about(path.display())
            .hint(text!("if there is one, name it with {IdColumn}"))
    })
}

/// What a reader of the results of a table whose rows are of several models or metrics should know.
fn pooled_rows(runs: &[Run], path: &Path) -> Option<Diagnostic> {
    let tables = || runs.iter().filter_map(Run::table);
    let (column, values) = tables().find_map(|table| table.pooled.as_ref())?;
    let split = tables().next().and_then(|table| table.mapping.by.as_deref());
    let text = format!(
        "`{column}` has several values, such as {}, and all rows{} are scored together",
        values.join(" and "),
        if split.is_some() { " of a part" } else { "" },
    );
    let by = Opt::By.set(column);
    let hint = match split {
        Some(split) => text!("for results of each, use {} in place of {}", by, Opt::By.set(split)),
        None => text!("for results of each, add {}", by),
    };
    Some(Diagnostic::note(text).about(path.display()).hint(hint))
}

/// What a reader of the results of parts should know that are split by task as well.
fn split_tasks(runs: &[Run], path: &Path) -> Option<Diagnostic> {
    runs.iter().filter_map(Run::table).any(|table| table.split_by_task).then(|| {
        let text = "samples of several tasks have the same id, so every part is split by `task`, too";
        Diagnostic::note(text).about(path.display())
    })
}

/// A table has the epochs it has, so a k beyond them is no error; but its figures mean nothing.
pub fn too_few_epochs(results: &Results, plan: &Plan) -> impl Iterator<Item = Diagnostic> {
    let reducers = match &plan.reducers {
        Reducers::Explicit(reducers) => reducers.as_slice(),
        _ => &[],
    };
    reducers.iter().filter_map(move |reducer| {
        let (k, name) = (reducer.needs_epochs()?, reducer.log_name());
        let (few, enough): (Vec<&ScoreResult>, Vec<&ScoreResult>) = results
            .scores
            .iter()
            .filter(|score| score.reducer.as_deref() == Some(&name))
            .partition(|score| k > score.counts.epochs as u64);
        let epochs = few.iter().map(|score| score.counts.epochs).max()?;
        let outcome = match few.iter().all(|score| score.counts.scored == 0) {
            true => "every sample is unscored",
            false => "every sample counts 0",
        };
        let mut scorers: Vec<String> = few.iter().map(|score| format!("`{}`", score.scorer)).collect();
        scorers.dedup();
        let of = if enough.is_empty() { String::new() } else { format!(" of {}", scorers.join(", ")) };
        let are = if epochs == 1 { "is" } else { "are" };
        Some(Diagnostic::warning(format!("{name} needs {k} epochs, there {are} {epochs}{of}; {outcome}")))
    })
}

/// The warnings of results, and the metrics that failed.
pub fn findings(report: &Report) -> Diagnostics {
    findings_with(report, false)
}

/// The same; whether an option says that values without a meaning count as 0, which then needs no advice.
pub fn findings_with(report: &Report, is_zero_wanted: bool) -> Diagnostics {
    let projection = Projection::new(&report.results);
    let text = |warning: &Warning| match warning {
        Warning::Unconvertible { scorer, key, count, sample, example, .. } if is_zero_wanted => {
            let key = key.as_ref().map(|key| format!(" under the key {key:?}")).unwrap_or_default();
            let values = counted(*count as u64, "value");
            format!("`{scorer}`{key}: counted as 0: {values} (sample {sample:?}: {example})")
        }
        warning => warning.to_string(),
    };
    let warnings = projection.warnings().map(|warning| Diagnostic::warning(text(warning)).about(&report.log));
    let mut diagnostics: Diagnostics = warnings.collect();
    for block in &report.results.scores {
        let failed = |failure| metric_failure(&report.log, block, failure, &report.results.errors.cluster);
        diagnostics.extend(block.failures.iter().map(failed));
    }
    diagnostics.extend(unknown_range(report));
    diagnostics
}

/// The error of a metric that failed, of results that have this name and are clustered by these keys.
pub fn metric_failure(
    name: &str,
    block: &ScoreResult,
    Failure { metric, error }: &Failure,
    cluster: &[String],
) -> Diagnostic {
    let text = error.to_string();
    let text = text.strip_prefix(&format!("{metric}: ")).unwrap_or(&text);
    let field = block.field.as_ref().map(|field| format!(": {field}")).unwrap_or_default();
    let place = format!("{name}: {}{field}", block.scorer);
    let hint = hints::figure_hint(error, cluster);
    let diagnostic = Diagnostic::error(format!("{place}: {metric} failed: {text}")).hint_if(hint);
    diagnostic.at(Place::of_file(name))
}

/// The errors of figures that have none because of a cluster key that was asked for, as `score` reports them.
pub fn cluster_failures(
    name: &str,
    known: &[String],
    results: &mut Results,
    asked: &ErrorRequest,
) -> Diagnostics {
    if asked.clusters.is_empty() {
        return Diagnostics::default();
    }
    results.name_metadata_keys(known.iter().map(String::as_str));
    let cluster = &results.errors.cluster;
    let is_of_key = |failure: &&Failure| hints::cluster_hint(&failure.error, cluster).is_some();
    let of_block = |block: &ScoreResult| {
        let failed = block.failures.iter().filter(is_of_key);
        failed.map(|failure| metric_failure(name, block, failure, cluster)).collect::<Vec<_>>()
    };
    results.scores.iter().flat_map(of_block).collect()
}

/// What to do about an interval that needs the range of scores, if that is unknown: the row has the reason.
fn unknown_range(report: &Report) -> Option<Diagnostic> {
    let errors = &report.results.errors;
    let wilson = IntervalChoice::Method(IntervalMethod::Wilson);
    if errors.interval != wilson || errors.range.is_some() {
        return None;
    }
    let is_missing = |row: &EstimateRow<'_>| {
        let estimate = &row.estimate;
        let is_mean = row.role == Role::Location && estimate.value.is_ok() && estimate.error.is_ok();
        is_mean && matches!(estimate.interval, Err(Undefined::Other(_)))
    };
    let rows = report.results.rows();
    let row = rows.iter().find(|row| is_missing(row))?;
    let text =
        format!("{}: {} has no interval by {wilson}: the range of scores is unknown", row.scorer, row.metric);
    Some(
        Diagnostic::note(text)
            .about(&report.log)
            .hint(text!("name the lowest and the highest possible score: {Range=LO HI}")),
    )
}

/// What `score` does to a table whose rows are on several machines. Each machine counts the rows that it has by what the
/// [plan](DistributedScore::plan) can see of them ([`Partial`](errorbar_core::Partial)); one of them merges the counts and
/// finishes.
#[non_exhaustive]
pub struct DistributedScore {
    request: ScoreRequest,
    /// What is computed.
    pub plan: Plan,
    /// How each machine reads the rows that it has, by group: see `read_row_groups` of errorbar-table.
    pub options: TableOptions,
    changes: PlanChanges,
    registry: Registry,
}

impl std::fmt::Debug for DistributedScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistributedScore").field("options", &self.options).finish_non_exhaustive()
    }
}

impl DistributedScore {
    /// What the request means for a table whose rows are on several machines.
    ///
    /// # Errors
    /// A request that is not valid.
    pub fn new(request: ScoreRequest, registry: &Registry) -> Result<Self, Diagnostics> {
        let changes = request.changes(&Analysis::new(registry))?;
        let mut plan = changes.plan_of_table()?;
        // Rows on several machines have no other order.
        plan.order = Order::Key;
        // Errors that only the text of a plan has come up before any row is read.
        plan.to_text().map_err(Diagnostic::from)?;
        let mapping = request.tables.mapping(None)?;
        let options = request
            .tables
            .options(&mapping, request.read.limits().max_memory, &MemoryTables::default())
            .metadata(plan.metadata_keys())
            .details(plan.score_parts() == ScoreParts::All)
            .number_rows(false);
        Ok(DistributedScore { request, plan, options, changes, registry: registry.clone() })
    }

    /// What the columns of a table are. Names alone decide, because every machine must decide the same.
    ///
    /// # Errors
    /// Columns that are missing or there twice.
    pub fn columns(&self, name: &str, columns: &[String]) -> Result<RowColumns, Diagnostic> {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        RowColumns::new(&names, &self.options).map_err(|error| self.problem(name, error))
    }

    /// The same of a table in memory.
    ///
    /// # Errors
    /// As [`DistributedScore::columns`].
    #[cfg(feature = "arrow")]
    pub fn columns_of(&self, table: &errorbar_table::ArrowTable) -> Result<RowColumns, TableError> {
        let names = table.column_names(&self.options);
        RowColumns::new(&names.iter().map(String::as_str).collect::<Vec<_>>(), &self.options)
    }

    /// What is wrong with the rows of a table or a group of this name.
    pub fn problem(&self, name: &str, error: TableError) -> Diagnostic {
        let is_too_large = matches!(error.kind(), TableErrorKind::TooMuchMemory { .. });
        let diagnostic = Diagnostic::from(error.in_table(Path::new(name)));
        match is_too_large {
            true => diagnostic.hint(text!(
                "distribute the rows over more partitions, or allow more memory with {MaxMemory}"
            )),
            false => diagnostic,
        }
    }

    /// The results of a table, all of whose rows are there. `metadata_keys` are its columns that are metadata.
    ///
    /// # Errors
    /// As on one machine: cells that are no scores, epochs that cannot be completed, scores that do not fit the metrics.
    pub fn finish(
        &self,
        name: &str,
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
    ) -> (Option<Report>, Diagnostics) {
        let (report, diagnostics) = match self.report(name, columns, metadata_keys) {
            Ok((report, warnings)) => (Some(report), warnings),
            Err(diagnostics) => (None, diagnostics),
        };
        let diagnostics = with_findings(report.as_slice(), diagnostics, &self.changes, &self.request.tables);
        (report, diagnostics)
    }

    fn report(
        &self,
        name: &str,
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
    ) -> Result<(Report, Diagnostics), Diagnostics> {
        let path = Path::new(name);
        let options = self.options.clone().no_scores(self.request.tables.unconvertible.into());
        let options = options.cells(cell_use(&self.plan));
        let table = ScoreTable::of_rows(columns, metadata_keys, &options, path)?;
        let mut warnings = Diagnostics::default();
        let run = Run::of_table(table, self.plan.clone(), (path.to_owned(), name.to_owned()), (false, false));
        let analysis = Analysis::new(&self.registry);
        let report =
            analysis.score_run(run, &self.request, &self.changes, WriteBack::default(), &mut warnings)?;
        Ok((report, warnings))
    }
}
