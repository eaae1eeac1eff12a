//! `errorbar score`: metrics from the scores of logs and tables.
//!
//! The options are built and checked before any file is opened; then each file is read with only the metadata
//! that the metrics need, several at a time. What can be computed is printed; everything else is reported on
//! standard error, and in the exit code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_core::{Evaluation, Order, Plan, Reducers, Results, ScoreParts, ScoreResult};
use errorbar_log::eval::metrics_to_log;
use errorbar_log::inspect::scorer_metrics;
use errorbar_report::Report;
use errorbar_table::ScoreTable;

use super::common::{OutputArgs, one_of};
use super::error_args::{ErrorArgs, check_clusters};
use super::files::InputFiles;
use super::findings::findings_with;
use super::logs::{OpenedLog, ReadArgs, ReadProgress, ScoreRequest, check_new};
use super::models::GraderArgs;
use super::requirements::RequirementArgs;
use super::specs::PlanOverrides;
use super::table_scores::{self, CellContext, UnconvertiblePolicy};
use super::tables::TableArgs;
use super::{CommandResult, Context, Outcome, explain, files, logs, rescore, unused_clusters};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  Recompute what a log records; or all logs of a folder:
    errorbar score logs/run.eval
    errorbar score logs

  With other error bars, written into the log: questions on one passage belong together
    errorbar score logs/run.eval --cluster passage --write

  Accuracy with its error and interval, from the columns `id` and `score`:
    errorbar score scores.csv

  The same by category, the best first, with errors clustered by passage:
    errorbar score scores.csv --metric accuracy --metric 'grouped(accuracy(), \"category\")' \\
      --cluster passage --sort value

  Scores from 0 to 10, with 90 % bootstrap intervals:
    errorbar score grades.csv --range 0 10 --interval bootstrap --level 0.9

  A table with other columns and cells; how it is read, and the same without options the next time:
    errorbar score results.csv --score-column verdict --correct good --incorrect bad --explain
    errorbar score results.csv --score-column verdict --correct good --incorrect bad --save-mapping m.toml
    errorbar score results.csv --mapping m.toml

  Several epochs: did at least 2 of them succeed, and what would pass@1 be?
    errorbar score scores.csv --reducer at_least_2 --reducer pass_at_1

  Score the outputs that a log holds with another scorer, and write the log with both:
    errorbar score logs/run.eval --with 'match(location=\"any\")' --append -o logs/rescored.eval
    errorbar score logs/run.eval --with 'model_graded_qa()' --model-role grader=openai/NAME --write

  Fail unless the figures are good enough, as a check of a build does:
    errorbar score logs/run.eval --require 'lower(accuracy) >= 0.75' --require 'n(accuracy) == 200'

  Scores that are maps, metrics by key, as JSON:
    errorbar score graded.jsonl --metric '{\"*\": [mean(), ci()]}' --format json

A table has a row per sample and epoch: the columns `id`, `epoch` (optional), `score` or `value`, or
common spellings of them, or those that options name; any others are metadata. --explain shows what
is read as what. An empty score or NA is missing, NaN is unscored; grades (C, P, I, N), numbers,
percentages, pass/fail, correct/incorrect, yes/no and true/false are understood; other strings are
an error unless a metric such as frequency takes them, or --correct, --incorrect, --scale, --na or
--unconvertible says what they mean.

In a table of results, ± is one standard error, […] the interval, and ├─●─┤ draws the interval. The
error of a metric (stderr, ci) is shown with its figure, unless an option for errors and intervals
is given. `with the 3 absent: 0.70 as wrong, 0.80 at best` is what the figure would be if each of
the 3 samples without a score counted as 0, or had the best score. `± 0.02 for the same samples
again` is the error over runs of these very samples, where ± beside the value is for samples like
these.

Exit code: 0 if all is well, 1 if no sample has a score or a requirement is not met, 2 if something
could not be read or computed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArgs {
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), and tables of
    /// scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// A metric to compute, with its arguments; may be repeated [default: those that a log records;
    /// for a table accuracy and stderr, or mean and stderr if a score is outside of 0 to 1]
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: as a log
    /// records; mean for a table]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Do not reduce epochs: metrics get every score
    #[arg(long, conflicts_with = "reducers")]
    no_reduce: bool,
    /// Only this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME", conflicts_with = "with")]
    scorers: Vec<String>,
    /// Score the outputs that the logs hold with this scorer; may be repeated. The model that was evaluated is not
    /// called. The results of the new scores are shown, and written with --write or --output
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["skip_bad_samples", "score_columns"])]
    pub(super) with: Vec<String>,
    /// Put new scores beside those that a log has (the default); one of the same name gets a number
    #[arg(long, requires = "with")]
    pub(super) append: bool,
    /// Replace the scores that a log has with new ones
    #[arg(long, requires = "with", conflicts_with = "append")]
    pub(super) overwrite: bool,
    /// The column of a table whose values tell its parts apart, such as models: each has results of its own
    #[arg(long, value_name = "COLUMN", value_parser = clap::builder::NonEmptyStringValueParser::new(),
        conflicts_with = "with")]
    by: Option<String>,
    /// Seed for random numbers (bootstrap) [default: as a log records; 0 for a table]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// The order of groups, shares and scorers in all formats: of first appearance, or by key, so that it does not
    /// depend on the order of rows. Figures are the same in any order
    #[arg(long, value_name = "ORDER", default_value = "appearance", value_parser = one_of(Order::ALL.map(|order| (order.name(), order))))]
    order: Order,
    #[command(flatten)]
    pub(super) output_as: OutputArgs,
    /// Write results and reduced scores into the logs, replacing those that they have; everything else
    /// in them stays as it is. With --with, new scores too
    #[arg(long, conflicts_with_all = ["scorers", "skip_bad_samples"])]
    pub(super) write: bool,
    /// Write the log with its new results to this file
    #[arg(long, short, value_name = "LOG", conflicts_with_all = ["write", "scorers", "skip_bad_samples"])]
    pub(super) output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// Skip samples that cannot be read; they are reported and counted
    #[arg(long)]
    skip_bad_samples: bool,
    #[command(flatten)]
    pub(super) errors: ErrorArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    #[command(flatten)]
    pub(super) graders: GraderArgs,
    #[command(flatten)]
    requirements: RequirementArgs,
}

pub(crate) fn run(args: &ScoreArgs, context: &Context<'_>) -> CommandResult {
    let (overrides, requirements) = (args.overrides(context)?, args.requirements.parse()?);
    let input = args.input()?;
    if !args.with.is_empty() {
        return rescore::run(args, &overrides, &requirements, input, context);
    }
    if args.tables.explain {
        let mapping = args.tables.mapping(args.by.as_deref())?;
        let options = args.tables.options(&mapping, args.read.limits().max_memory);
        return explain::run(&input.files, &args.tables, &options, args.output_as.format, input.diagnostics);
    }
    let (reports, mut diagnostics) = compute(args, input, &overrides, context);
    diagnostics.extend(requirements.check("score", &reports));
    Ok(shown(reports, diagnostics, args))
}

/// What is computed of each file, with everything that there is to report about it: all but `--with`, `--explain` and
/// `--require`.
pub(crate) fn results(
    args: &ScoreArgs,
    context: &Context<'_>,
) -> Result<(Vec<Report>, Diagnostics), Diagnostics> {
    let (overrides, input) = (args.overrides(context)?, args.input()?);
    Ok(compute(args, input, &overrides, context))
}

fn compute(
    args: &ScoreArgs,
    input: InputFiles,
    overrides: &PlanOverrides,
    context: &Context<'_>,
) -> (Vec<Report>, Diagnostics) {
    let progress = ReadProgress::new(context.quiet);
    // Once, however many files there are.
    let first = input.files.first().filter(|_| !context.quiet).cloned();
    let (reports, diagnostics) = input.map(|path, warnings| {
        let has_hint = first.as_deref() == Some(path);
        match args.tables.is_log(path) {
            true => score_log(path, overrides, args, &progress, context, has_hint, warnings)
                .map(|report| vec![report]),
            false => {
                score_table(path, overrides, args, context, has_hint, warnings).map_err(Diagnostics::from)
            }
        }
    });
    let reports: Vec<Report> = reports.into_iter().flatten().collect();
    drop(progress);
    let diagnostics = with_findings(&reports, diagnostics, overrides, args);
    (reports, diagnostics)
}

/// The results as they are printed.
pub(super) fn shown(reports: Vec<Report>, diagnostics: Diagnostics, args: &ScoreArgs) -> Outcome {
    let output = if reports.is_empty() { Output::Nothing } else { args.output_as.reports(reports) };
    Outcome { output, diagnostics, ..Outcome::default() }
}

/// What a reader of the results should know, besides what came up on the way to them.
pub(super) fn with_findings(
    reports: &[Report],
    mut diagnostics: Diagnostics,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
) -> Diagnostics {
    let mut scores = reports.iter().flat_map(|report| &report.results.scores).peekable();
    if scores.peek().is_some() && scores.all(|score| score.counts.scored == 0) {
        diagnostics.extend(reports.iter().map(|report| {
            Diagnostic::failure("nothing could be scored: no sample has a score").about(&report.log)
        }));
    }
    for report in reports {
        diagnostics.extend(findings_with(report, args.tables.unconvertible == UnconvertiblePolicy::Zero));
        if report.results.scores.iter().all(|block| block.metrics.is_empty() && block.failures.is_empty()) {
            let names_none =
                overrides.metrics.as_ref().is_some_and(|metrics| metrics.iter().next().is_none());
            let why = match names_none {
                true => "--metric names no metric",
                false => "none of the metrics applies to these scores",
            };
            diagnostics.push(Diagnostic::warning(format!("nothing was computed: {why}")).about(&report.log));
        }
    }
    diagnostics
}

impl ScoreArgs {
    /// What the options give in place of recorded metrics and reducers, if all options are valid.
    pub(super) fn overrides(&self, context: &Context<'_>) -> Result<PlanOverrides, Diagnostics> {
        let overrides = PlanOverrides::new(&self.metrics, &self.reducers, self.no_reduce, context)?;
        let overrides = overrides.in_order(self.order);
        self.errors.check()?;
        Ok(overrides.in_order(self.order))
    }

    /// The files that the arguments mean, if the log can be written where it should.
    fn input(&self) -> Result<InputFiles, Diagnostics> {
        let mut input = files::expand_with(&self.files, &self.tables.memory);
        match check_output(self, &input.files) {
            Ok(()) => Ok(input),
            Err(error) => {
                input.diagnostics.push(error);
                Err(input.diagnostics)
            }
        }
    }
}

/// Checks that a log can be written to `--output`.
fn check_output(args: &ScoreArgs, files: &[PathBuf]) -> Result<(), Diagnostic> {
    let Some(output) = &args.output else { return Ok(()) };
    let [log] = files else {
        return Err(Diagnostic::error("--output is for one log").hint("give one log, or --write"));
    };
    let form = |path: &Path| path.extension().map(|extension| extension.to_ascii_lowercase());
    let Some(wanted) = form(log) else { return Ok(()) };
    if form(output).as_ref() != Some(&wanted) {
        let hint =
            format!("end the name in .{}, or use `log convert` for the other format", wanted.display());
        let problem = "the copy of a log has its format, and its name must end like that of the log";
        return Err(Diagnostic::error(problem).about(output.display()).hint(hint));
    }
    check_new(output, args.force)
}

fn score_table(
    path: &Path,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
    context: &Context<'_>,
    has_hint: bool,
    warnings: &mut Diagnostics,
) -> Result<Vec<Report>, Diagnostic> {
    let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
    if args.write || args.output.is_some() {
        let problem = about(Diagnostic::error("results cannot be written into a table"));
        return Err(problem.hint("omit --write and --output, or give a log"));
    }
    let mut plan = Plan::new();
    plan.default_metrics = scorer_metrics();
    let plan = overrides.apply(plan, args.seed, &args.errors);
    check_clusters(&plan).map_err(about)?;
    let mapping = args.tables.mapping(args.by.as_deref())?;
    let options = args
        .tables
        .options(&mapping, args.read.limits().max_memory)
        .metadata(plan.metadata_keys())
        .details(plan.score_parts() == ScoreParts::All);
    let tables = table_scores::read(path, &options, &plan, args.tables.unconvertible)?;
    warnings.extend(table_scores::numbered_rows(&tables, path));
    warnings.extend(table_scores::pooled_rows(&tables, path));
    warnings.extend(table_scores::split_tasks(&tables, path));
    if let Some(table) = tables.first() {
        warnings.extend(args.tables.save(&table.mapping)?);
    }
    // Cells that are skipped would be other scores there.
    let skips_cells = args.tables.unconvertible == UnconvertiblePolicy::Missing;
    let hint = (has_hint && !skips_cells)
        .then(|| unused_clusters::of_table(path, &tables, &options, &plan))
        .flatten();
    let are_several = tables.len() > 1;
    let score = |table: ScoreTable| {
        // A table of several logs has a report for each.
        let part = table.part.as_ref().or(table.log.as_ref().filter(|_| are_several));
        let name =
            part.map_or_else(|| path.display().to_string(), |part| format!("{}: {part}", path.display()));
        score_rows(&name, path, table, plan.clone(), args, context, warnings)
    };
    let reports: Vec<Report> = tables.into_iter().map(score).collect::<Result<_, _>>()?;
    warnings.extend(hint);
    Ok(reports)
}

/// The results of a table, or of those of its rows that are of one log.
pub(super) fn score_rows(
    name: &str,
    path: &Path,
    mut table: ScoreTable,
    mut plan: Plan,
    args: &ScoreArgs,
    context: &Context<'_>,
    warnings: &mut Diagnostics,
) -> Result<Report, Diagnostic> {
    let about = |diagnostic: Diagnostic| diagnostic.about(name);
    table_scores::choose_metrics(&mut plan, &table.columns);
    let cells = CellContext {
        mode: args.tables.unconvertible,
        registry: context.registry,
        path,
        words: &table.words,
        is_unordered: table.is_unordered,
        has_no_reduce: true,
    };
    let results = table_scores::compute(&mut table.columns, &plan, cells);
    let mut results = results.map_err(about)?;
    warnings.extend(too_few_epochs(&results, &plan).map(about));
    warnings.extend(table_scores::below_threshold_problem(&plan, &table.columns).map(about));
    results.name_metadata_keys(table.metadata_keys.iter().map(String::as_str));
    let scorers: Vec<String> = results.scores.iter().map(|block| block.scorer.clone()).collect();
    if let Some(name) = args.scorers.iter().find(|name| !scorers.contains(name)) {
        return Err(about(logs::unknown_scorer(name, &scorers)));
    }
    results.scores.retain(|block| args.scorers.is_empty() || args.scorers.contains(&block.scorer));
    let mut report = Report::new(name, results);
    (report.task, report.model, report.rows) = (table.task, table.model, Some(table.rows));
    Ok(report)
}

fn score_log(
    path: &Path,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
    progress: &ReadProgress,
    context: &Context<'_>,
    has_hint: bool,
    warnings: &mut Diagnostics,
) -> Result<Report, Diagnostics> {
    let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
    if args.by.is_some() {
        let problem = "--by is about tables, and this is an eval log";
        let hint = "omit it; a metric such as grouped(accuracy(), \"topic\") has a figure for each group";
        return Err(about(Diagnostic::error(problem).hint(hint)).into());
    }
    let request = ScoreRequest {
        scorers: &args.scorers,
        skip_bad_samples: args.skip_bad_samples,
        records_scores: args.write || args.output.is_some(),
        reads_metadata: has_hint,
        ..ScoreRequest::default()
    };
    let log = args.read.open(path)?;
    if log.sample_count() == 0 {
        if args.write || args.output.is_some() {
            let problem = Diagnostic::error("the log has no samples to compute results from");
            return Err(about(problem.hint("omit --write and --output")).into());
        }
        let (header, results) = logs::recorded_figures(&log, &args.scorers, overrides, &args.errors)?;
        let mut report = logs::report(path, &header, (0, BTreeMap::new()), results);
        report.recorded = true;
        return Ok(report);
    }
    let mut opened =
        logs::read(&log, &request, progress, context, |plan| overrides.apply(plan, args.seed, &args.errors))?;
    opened.replace_metrics(overrides);
    check_clusters(&opened.plan).map_err(about)?;
    warnings.extend(opened.warnings());
    let evaluation = opened.plan.evaluate(&opened.scores.columns).map_err(|error| about(error.into()))?;
    warnings.extend(too_few_epochs(&evaluation.results, &opened.plan).map(about));
    if has_hint {
        warnings.extend(unused_clusters::of_columns(&opened.plan, &opened.scores.columns, path));
    }
    if args.write || args.output.is_some() {
        warnings.push(write(&opened, &evaluation, overrides, args, context).unwrap_or_else(|error| error));
    }
    Ok(opened.report(evaluation.results))
}

/// Writes results into a log, or into a copy of it; but not fewer than it has. Returns a note with the path.
fn write(
    opened: &OpenedLog<'_>,
    evaluation: &Evaluation,
    overrides: &PlanOverrides,
    args: &ScoreArgs,
    context: &Context<'_>,
) -> Result<Diagnostic, Diagnostic> {
    opened.check_writable(&evaluation.results, "name the metrics to write with --metric")?;
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
    let written = args.output.as_deref().unwrap_or(opened.log.path());
    let file = match &args.output {
        Some(path) => revision.write_to(path)?,
        None => revision.write_back()?,
    };
    let note = || Diagnostic::note(format!("the results are in {}", written.display()));
    Ok(logs::owner_warning(file, written).unwrap_or_else(note))
}

/// A table has the epochs it has, so a k beyond them is no error; but its figures mean nothing.
pub(super) fn too_few_epochs(results: &Results, plan: &Plan) -> impl Iterator<Item = Diagnostic> {
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
