//! Metrics from the scores of logs and tables.

use std::path::{Path, PathBuf};

use errorbar_core::{Evaluation, Order, Plan, Reducers, Results, ScoreResult};
use errorbar_log::eval::metrics_to_log;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::findings::findings_with;
use crate::read::{self, Reader, RunRequest};
use crate::report::Report;
use crate::request::{
    ErrorRequest, PlanChanges, ReadRequest, TableRequest, UnconvertiblePolicy, as_text_order, one_or_many,
};
use crate::run::Run;
use crate::source::{self, InputFiles};
use crate::text::Opt;
use crate::{Analysis, Answer, text};

/// What to compute of logs and tables, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[serde(with = "as_text_order")]
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
            let problem = text!("{NoReduce} and {Reducer} do not go together");
            return Err(Diagnostic::error(problem).hint(text!("omit {NoReduce} or {Reducer}")).into());
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
        let input = source::expand_with(sources, self.memory());
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
        let mut results = run.compute(request.tables.unconvertible, self.registry(), true).map_err(about)?;
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
            revision.set_metrics(&metrics_to_log(metrics, self.registry()))?;
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
