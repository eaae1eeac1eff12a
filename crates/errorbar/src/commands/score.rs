//! `errorbar score`: metrics from the scores of logs and tables.
//!
//! What was asked for is built and checked before any file is opened; then each file is read with only
//! the metadata that the metrics need, several at a time. What can be computed is printed; everything that
//! cannot is told on stderr, and the exit code says so.

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_core::{Error, Evaluation, Plan, Reducers, Results, ScoreParts, ScoreResult};
use errorbar_log::eval::{LogWarning, metrics_to_log, scorer_metrics};
use errorbar_log::{TableOptions, read_table};
use errorbar_report::Report;
use rayon::prelude::*;

use super::common::{GlobalArgs, OutputArgs};
use super::diagnostics::{Diagnostics, findings};
use super::error_args::{ErrorArgs, without_clusters};
use super::logs::{OpenedLog, ReadArgs, ReadProgress, ScoreRequest};
use super::specs::PlanOverrides;
use super::table_scores::{self, TableScoreError, UnconvertiblePolicy};
use super::tables::TableArgs;
use super::{Context, Status, files, logs, specs};
use crate::hints;

const EXAMPLES: &str = "\
Examples:
  What a log records, computed again; or all logs of a folder:
    errorbar score logs/run.eval
    errorbar score logs

  With other error bars, put back into the log: questions on one passage belong together
    errorbar score logs/run.eval --cluster passage --write

  Accuracy with its error and interval, from the columns `id` and `score`:
    errorbar score scores.csv

  The same by category, the best first, with errors clustered by passage:
    errorbar score scores.csv --metric accuracy --metric 'grouped(accuracy(), \"category\")' \\
      --cluster passage --sort value

  Scores from 0 to 10, with 90 % bootstrap intervals:
    errorbar score grades.csv --range 0 10 --interval bootstrap --level 0.9

  Several epochs: did at least 2 of them succeed, and what would pass@1 be?
    errorbar score scores.csv --reducer at_least_2 --reducer pass_at_1

  Scores that are maps, metrics by key, as JSON:
    errorbar score graded.jsonl --metric '{\"*\": [mean(), ci()]}' --format json

A table has a row per sample and epoch: the columns `id`, `epoch` (optional, from 1), `score` or
`value` (or those named with --score-column), and any others as metadata. An empty score is
missing, NaN is unscored; grades (C, P, I, N), numbers, yes/no and true/false are understood, and
other texts are an error unless a metric such as frequency takes them or --unconvertible is given.

In a table of results, ± is one standard error, […] the interval, and ├─●─┤ draws the interval. An
error that a metric gives (stderr, ci) is shown with its figure, unless the options below say how
errors are computed. `0.70 … 0.80 with the 3 absent` is what the figure would be if each of the 3
samples without a score had the worst score, or the best.

Exit code: 0 if all is well, 2 if something could not be read or computed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArgs {
    /// Eval logs (.eval, .json), folders and patterns of them, and tables of scores (.csv, .tsv,
    /// .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A metric to compute, with its arguments; may be repeated [default: those that a log records;
    /// for a table accuracy and stderr, or mean and stderr if a score lies outside of 0 to 1]
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// How to make one score of a sample's epochs; may be repeated [default: as a log
    /// records; mean for a table]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Give every epoch to the metrics, unreduced
    #[arg(long, conflicts_with = "reducers")]
    no_reduce: bool,
    /// Only this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// A column of a table that holds scores; may be repeated [default: `score`, else `value`]
    #[arg(long = "score-column", value_name = "NAME")]
    score_columns: Vec<String>,
    /// What cells of a table that are no scores become: an error, the score 0, or missing scores
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    unconvertible: UnconvertiblePolicy,
    /// Where random figures (bootstrap) start from [default: as a log records; 0 for a table]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    output_as: OutputArgs,
    /// Put results and reduced scores into the logs, in the place of those that they have; everything
    /// else in them stays as it is
    #[arg(long, conflicts_with_all = ["scorers", "skip_bad_samples"])]
    write: bool,
    /// Write the log with its new results to this file
    #[arg(long, short, value_name = "LOG", conflicts_with_all = ["write", "scorers", "skip_bad_samples"])]
    output: Option<PathBuf>,
    /// Replace a file of the name that --output gives
    #[arg(long, requires = "output")]
    force: bool,
    /// Go on without samples that cannot be read; they are told and counted
    #[arg(long)]
    skip_bad_samples: bool,
    #[command(flatten)]
    errors: ErrorArgs,
    #[command(flatten)]
    tables: TableArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &ScoreArgs, global: &GlobalArgs, context: &Context<'_>) -> anyhow::Result<Status> {
    let Some(overrides) = specs::overrides(&args.metrics, &args.reducers, args.no_reduce, context) else {
        return Ok(Status::InputError);
    };
    let mut diagnostics = Diagnostics::new(global.quiet);
    if let Err((problem, hint)) = args.errors.check() {
        diagnostics.error(problem, Some(hint));
        return Ok(diagnostics.print());
    }
    let files::InputFiles { files, problems } = files::expand(&args.files);
    problems.into_iter().for_each(|(problem, hint)| diagnostics.error(problem, Some(hint)));
    if args.output.is_some() && files.len() != 1 {
        diagnostics.error("--output is for one log".to_owned(), Some("give one log, or --write".to_owned()));
        return Ok(diagnostics.print());
    }
    if let Some((problem, hint)) =
        args.output.as_deref().and_then(|output| refuse_output(output, &files, args.force))
    {
        diagnostics.error(problem, Some(hint));
        return Ok(diagnostics.print());
    }
    let progress = ReadProgress::new(global.quiet);
    let score = |path: &PathBuf| {
        let mut diagnostics = Diagnostics::new(global.quiet);
        let report = if logs::is_log(path) {
            score_log(path, &overrides, args, &progress, context, &mut diagnostics)
        } else {
            score_table(path, &overrides, args, context, &mut diagnostics)
        };
        (report, diagnostics)
    };
    let scored: Vec<(Option<Report>, Diagnostics)> = files.par_iter().map(score).collect();
    drop(progress);
    let mut reports = Vec::new();
    for (report, about) in scored {
        diagnostics.append(about);
        reports.extend(report);
    }
    if !reports.is_empty() {
        args.output_as.write(&reports)?;
    }
    let mut counts =
        reports.iter().flat_map(|report| &report.results.scores).map(|score| score.counts.scored);
    if reports.iter().any(|report| !report.results.scores.is_empty()) && counts.all(|scored| scored == 0) {
        for report in &reports {
            diagnostics
                .failure(format!("{}: nothing could be scored: no sample has a score", report.log), None);
        }
    }
    for report in &reports {
        findings(report, &mut diagnostics);
        if report.results.scores.iter().all(|block| block.metrics.is_empty() && block.failures.is_empty()) {
            let asked_for_none = overrides.metrics.as_ref().is_some_and(|m| m.iter().next().is_none());
            let why = match asked_for_none {
                true => "--metric names no metric",
                false => "no metric that was asked for is about these scores",
            };
            diagnostics.warning(format!("{}: nothing was computed: {why}", report.log));
        }
    }
    Ok(diagnostics.print())
}

/// Why a log cannot be written there, and the way out.
fn refuse_output(output: &Path, files: &[PathBuf], force: bool) -> Option<(String, String)> {
    let place = output.display();
    let form = |path: &Path| path.extension().map(|extension| extension.to_ascii_lowercase());
    let wanted = files.first().and_then(|log| form(log))?;
    if form(output).as_ref() != Some(&wanted) {
        let problem = format!("{place}: the copy of a log has its form, and its name must say so");
        let wanted = wanted.display();
        return Some((
            problem,
            format!("end the name in .{wanted}, and use `log convert` for the other form"),
        ));
    }
    let problem = format!("{place}: a file of that name is there already");
    (output.exists() && !force).then(|| (problem, "replace it with --force".to_owned()))
}

/// The plan with everything that was asked for put in.
fn with_overrides(mut plan: Plan, overrides: &PlanOverrides, args: &ScoreArgs) -> Plan {
    if let Some(metrics) = &overrides.metrics {
        plan.task_metrics = Some(metrics.clone());
        // What the user asks for takes the time that it takes.
        plan.max_draws = None;
    }
    if let Some(reducers) = &overrides.reducers {
        plan.reducers = reducers.clone();
    }
    if let Some(seed) = args.seed {
        plan.seed = seed;
    }
    if args.errors.asks_for_draws() {
        plan.max_draws = None;
    }
    plan.errors = args.errors.over(&plan.errors);
    plan
}

fn score_table(
    path: &Path,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Report> {
    let log = path.display().to_string();
    if args.write || args.output.is_some() {
        let way_out = "leave out --write and --output, or give a log".to_owned();
        diagnostics.error(format!("{log}: results cannot be put into a table"), Some(way_out));
        return None;
    }
    let mut plan = Plan::new();
    plan.default_metrics = scorer_metrics();
    let mut plan = with_overrides(plan, overrides, args);
    if let Some((problem, hint)) = without_clusters(&plan) {
        diagnostics.error(format!("{log}: {problem}"), Some(hint));
        return None;
    }
    let options = TableOptions::new()
        .score_columns(&args.score_columns)
        .metadata(plan.metadata_keys())
        .limits(args.tables.limits(args.read.limits().max_memory))
        .details(plan.score_parts() == ScoreParts::All);
    let mut table = match read_table(path, &options) {
        Ok(table) => table,
        Err(error) => {
            diagnostics.error(error.problem(), hints::table::hint(&error));
            return None;
        }
    };
    if table.columns.is_empty() {
        let hint = "give it a row for each sample, below the names of the columns".to_owned();
        diagnostics.error(format!("{log}: the table has no rows"), Some(hint));
        return None;
    }
    table_scores::choose_metrics(&mut plan, &table.columns);
    match table_scores::compute(&mut table.columns, &plan, args.unconvertible, context.registry) {
        Err(TableScoreError::Core(error)) => {
            diagnostics.error(format!("{log}: {error}"), hints::core::hint(&error));
            None
        }
        Err(TableScoreError::NoScores { problem, hint }) => {
            diagnostics.error(format!("{log}: {problem}"), Some(hint));
            None
        }
        Ok(mut results) => {
            too_few_epochs(&log, &results, &plan, diagnostics);
            name_columns(&mut results.scores, &table.metadata_keys);
            let scorers: Vec<String> = results.scores.iter().map(|block| block.scorer.clone()).collect();
            if let Some(name) = args.scorers.iter().find(|name| !scorers.contains(name)) {
                let (problem, hint) = logs::unknown_scorer(&log, name, &scorers);
                diagnostics.error(problem, hint);
                return None;
            }
            results.scores.retain(|block| args.scorers.is_empty() || args.scorers.contains(&block.scorer));
            Some(Report::new(log, results))
        }
    }
}

fn score_log(
    path: &Path,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
    progress: &ReadProgress,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Report> {
    let name = path.display().to_string();
    let request = ScoreRequest {
        scorers: &args.scorers,
        skip_bad_samples: args.skip_bad_samples,
        records_scores: args.write || args.output.is_some(),
        edited: None,
    };
    let log = match args.read.open(path) {
        Ok(log) => log,
        Err(error) => {
            diagnostics.log_error(&error);
            return None;
        }
    };
    let opened = logs::read(&log, &request, progress, context, |plan| with_overrides(plan, overrides, args));
    let mut opened = match opened {
        Ok(opened) => opened,
        Err((problem, hint)) => {
            diagnostics.error(problem, hint);
            return None;
        }
    };
    if overrides.metrics.is_some() {
        // What the log records is not asked for.
        opened.left_out.retain(|warning| matches!(warning, LogWarning::ErrorPlan { .. }));
    }
    if let Some((problem, hint)) = without_clusters(&opened.plan) {
        diagnostics.error(format!("{name}: {problem}"), Some(hint));
        return None;
    }
    opened.tell(diagnostics);
    match opened.plan.evaluate(&opened.scores.columns) {
        Err(error) => {
            diagnostics.error(format!("{name}: {error}"), hints::core::hint(&error));
            None
        }
        Ok(evaluation) => {
            too_few_epochs(&name, &evaluation.results, &opened.plan, diagnostics);
            if args.write || args.output.is_some() {
                write(&opened, &evaluation, overrides, args, context, diagnostics);
            }
            Some(opened.report(evaluation.results))
        }
    }
}

/// Puts results into a log, or into a copy of it; but not fewer than it has.
fn write(
    opened: &OpenedLog<'_>,
    evaluation: &Evaluation,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) {
    let log = opened.log.path().display();
    if let Some(why) = opened.cannot_write(&evaluation.results) {
        let hint = "name the metrics to write with --metric".to_owned();
        diagnostics.error(format!("{log}: nothing was written: {why}"), Some(hint));
        return;
    }
    let write = || {
        let mut revision = opened.log.revise()?;
        if let Some(metrics) = &overrides.metrics {
            revision.set_metrics(&metrics_to_log(metrics, context.registry))?;
        }
        if let Some(reducers) = &overrides.reducers {
            revision.set_reducers(reducers)?;
        }
        if args.errors.is_given() {
            revision.set_errors(&opened.plan.errors)?;
        }
        revision.set_results(evaluation, &opened.scores.columns)?;
        match args.output.as_deref() {
            Some(path) => revision.write_to(path),
            None => revision.write_back(),
        }
    };
    match write() {
        Ok(()) => {
            let written = args.output.as_deref().unwrap_or(opened.log.path());
            diagnostics.note(format!("the results are in {}", written.display()));
        }
        Err(error) => diagnostics.log_error(&error),
    }
}

/// A table has the epochs it has, so a k beyond them is no error; but its figures say nothing.
fn too_few_epochs(log: &str, results: &Results, plan: &Plan, diagnostics: &mut Diagnostics) {
    let Reducers::Explicit(reducers) = &plan.reducers else { return };
    let epochs = results.scores.iter().map(|score| score.counts.epochs).max().unwrap_or(0);
    for reducer in reducers {
        let Some(k) = reducer.needs_epochs().filter(|k| *k > epochs as u64) else { continue };
        let name = reducer.log_name();
        let mut reduced = results.scores.iter().filter(|score| score.reducer.as_deref() == Some(&name));
        let outcome = match reduced.all(|score| score.counts.scored == 0) {
            true => "every sample is unscored",
            false => "every sample counts 0",
        };
        diagnostics.warning(format!("{log}: {name} asks for {k} epochs, there are {epochs}; {outcome}"));
    }
}

/// The reader fetched only the metadata that was asked for, so an error about a key that is not there
/// knows of no other; the table does.
fn name_columns(scores: &mut [ScoreResult], metadata_keys: &[String]) {
    for failure in scores.iter_mut().flat_map(|score| &mut score.failures) {
        if let Error::MissingKey { known, .. } = &mut failure.error {
            *known = metadata_keys.iter().take(12).cloned().collect();
        }
    }
}
