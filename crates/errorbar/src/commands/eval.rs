//! `errorbar eval`: runs tasks and writes their logs.
//!
//! Every task is built and checked before the first one runs, and everything that is wrong is told at once.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use errorbar_core::ScoreResult;
use errorbar_eval::{
    CallCounts, CancelToken, FailOnError, FinishedRun, LogFormat, ModelChoice, PreparedTask, Provider,
    ResumableLog, RunOptions, StopReason, Task, UsageLimits, block_on, cancel_on_interrupt,
    open_resumable_with, shown_cost,
};
use errorbar_log::eval::{LogError, LogErrorKind};
use errorbar_report::{PartialRun, Report, SideBySide};
use futures_util::future::join_all;

use super::common::{Format, GlobalArgs, OutputArgs, seconds, show, table};
use super::diagnostics::{Diagnostics, findings};
use super::error_args::ErrorArgs;
use super::logs::LimitArgs;
use super::models::ModelArgs;
use super::{Context, Status, logs, output, servers, specs, tasks};
use crate::progress::Watcher;
use crate::{hints, message};

const EXAMPLES: &str = "\
Examples:
  A task file, with the model that it names:
    errorbar eval almanac.toml

  The same with recorded outputs of another model, 20 samples, 3 epochs each:
    errorbar eval almanac.toml --model replay/outputs/wren.jsonl --limit 20 --epochs 3 --reducer mode

  A task of this program, with arguments:
    errorbar eval gpqa -T subset=main

  Go on with a run that was interrupted:
    errorbar eval --resume logs/2026-11-15T06-09-13+00-00_almanac_1f0c….eval

Every sample is in the log before it is counted. Ctrl-C ends the run and computes the results over
what is done; a second one ends it at once.

Exit code: 0 if all is well, 1 if a run did not reach its end, no sample succeeded or no answer could
be scored, 2 if something could not be read, run or computed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// Task files (.toml), or tasks of this program
    #[arg(required_unless_present = "resume", value_name = "TASK")]
    tasks: Vec<String>,
    /// An argument of the task; may be repeated
    #[arg(short = 'T', value_name = "KEY=VALUE")]
    task_args: Vec<String>,
    /// Run the first N samples only
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Run the samples of these ids only; may be repeated, or a list with commas
    #[arg(long = "sample-id", value_name = "ID", value_delimiter = ',')]
    sample_ids: Vec<String>,
    /// How often each sample is run [default: as the task says, else 1]
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// How to make one score of a sample's epochs; may be repeated [default: as the task says, else mean]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Give every epoch to the metrics, unreduced
    #[arg(long, conflicts_with = "reducers")]
    no_reduce: bool,
    /// A metric to compute in place of the task's; may be repeated
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// How many samples run at once
    #[arg(long, value_name = "N")]
    max_samples: Option<NonZeroUsize>,
    /// Where random figures (bootstrap) start from [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The folder of the log
    #[arg(long, value_name = "DIR", default_value = "logs", env = "ERRORBAR_LOG_DIR")]
    log_dir: PathBuf,
    /// The form of the log: an archive that grows while the task runs, or JSON made of it at the end
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    log_format: LogForm,
    /// End the run when a sample fails, or when a share (0.1) or number (5) of them have failed
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fail_on_error: Option<FailOnError>,
    /// How many seconds one sample may take; then it is judged as it is, and its scorers have half of that time or what is left
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    /// Go on with the run of this log: keep what it holds, run what is missing or failed
    #[arg(long, value_name = "LOG", conflicts_with_all = [
        "task_args", "limit", "sample_ids", "epochs", "reducers", "no_reduce", "metrics", "seed",
    ])]
    resume: Option<PathBuf>,
    /// How often to say how far the run is, where there is no terminal to show it on
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    progress_every: Duration,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    errors: ErrorArgs,
    #[command(flatten)]
    asking: ModelArgs,
    #[command(flatten)]
    read_limits: LimitArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum LogForm {
    #[default]
    Eval,
    Json,
}

impl From<LogForm> for LogFormat {
    fn from(form: LogForm) -> Self {
        match form {
            LogForm::Eval => LogFormat::Eval,
            LogForm::Json => LogFormat::Json,
        }
    }
}

/// A task that is ready with one model, and the log that it goes on with.
type PreparedRun = (PreparedTask, Option<ResumableLog>);

pub(crate) fn run(args: &EvalArgs, global: &GlobalArgs, context: &Context<'_>) -> anyhow::Result<Status> {
    if let Err((problem, hint)) = args.errors.check() {
        message::error(problem);
        message::hint(hint);
        return Ok(Status::InputError);
    }
    let watcher = Arc::new(Watcher::new(global.quiet, args.progress_every));
    let ready = match &args.resume {
        Some(log) => resumed(log.clone(), args, &watcher, context).map(|ready| vec![vec![ready]]),
        None => prepared(args, &watcher, context),
    };
    let Some(ready) = ready else { return Ok(Status::InputError) };
    let calls = ready.first().and_then(|models| models.first()).map(|(first, _)| Arc::clone(first.calls()));
    if !global.quiet {
        servers::note(ready.iter().flatten().flat_map(|(run, _)| run.servers()));
        if let Some(calls) = &calls {
            args.asking.calling.note_fewer(calls);
        }
        // What is to be said of a task does not depend on the model.
        for (prepared, _) in ready.iter().filter_map(|models| models.first()) {
            for warning in prepared.warnings() {
                message::warning(format!("{}: {warning}", prepared.name()));
            }
        }
    }
    let outcomes = block_on(run_all(ready, &watcher))?;
    let status = conclude(outcomes, args, global, context)?;
    if let Some(calls) = calls.filter(|_| !global.quiet) {
        report_calls(&calls.counts());
    }
    Ok(status)
}

/// Says how many tokens a run has used.
fn report_usage(finished: &FinishedRun, task: &str, diagnostics: &mut Diagnostics) {
    for (model, usage) in &finished.usage {
        let cached = match usage.input_tokens_cache_read {
            Some(cached) if cached > 0 => format!(" (and {} from the server's cache)", grouped(cached)),
            _ => String::new(),
        };
        let cost =
            usage.total_cost.map(|cost| format!(", at a cost of {}", shown_cost(cost))).unwrap_or_default();
        let (read, written) = (grouped(usage.input_tokens), grouped(usage.output_tokens));
        diagnostics
            .note(format!("{task}: {model} has read {read} tokens{cached} and written {written}{cost}"));
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Says what was out of the ordinary with calls of models.
fn report_calls(counts: &CallCounts) {
    let plural =
        |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut said = Vec::new();
    if counts.cached > 0 {
        said.push(format!("{} kept from before", plural(counts.cached, "answer was", "answers were")));
    }
    if counts.retried > 0 {
        let requests = plural(counts.retried, "request was", "requests were");
        said.push(format!("{requests} made again, of {} in all", counts.requests));
    }
    for (model, least) in &counts.lowered {
        said.push(format!("{model} had as few as {least} connections, because it refused more"));
    }
    if !said.is_empty() {
        message::note(said.join("; "));
    }
    if let Some(problem) = &counts.cache_problem {
        message::warning(format!("answers could not be kept in the cache: {problem}"));
    }
}

/// What became of a task.
enum TaskOutcome {
    Ended(Box<errorbar_eval::Result<FinishedRun>>),
    /// It was not begun, because the user had ended the one before.
    NotRun(String),
}

/// Runs one task after the other, each with all its models at once, until the user ends it all.
async fn run_all(ready: Vec<Vec<PreparedRun>>, watcher: &Arc<Watcher>) -> Vec<TaskOutcome> {
    let cancel = CancelToken::new();
    let talk = Arc::clone(watcher);
    cancel_on_interrupt(cancel.clone(), move || talk.interrupted());
    let mut outcomes = Vec::new();
    for models in ready {
        if cancel.is_stopped() {
            outcomes
                .extend(models.iter().map(|(prepared, _)| TaskOutcome::NotRun(prepared.name().to_owned())));
            continue;
        }
        let observers = watcher.watch(models.len());
        let runs = models.into_iter().zip(observers).map(|((prepared, log), observer)| {
            let cancel = cancel.clone();
            async move {
                TaskOutcome::Ended(Box::new(match &log {
                    Some(log) => prepared.resume(log, observer, cancel).await,
                    None => prepared.run(observer, cancel).await,
                }))
            }
        });
        outcomes.extend(join_all(runs).await);
    }
    outcomes
}

/// The options that the command line gives; nothing if one is wrong, which then was told.
fn options(args: &EvalArgs, watcher: &Arc<Watcher>, context: &Context<'_>) -> Option<RunOptions> {
    let overrides = specs::overrides(&args.metrics, &args.reducers, args.no_reduce, context)?;
    let mut options = RunOptions {
        limit: args.limit,
        sample_ids: args.sample_ids.clone(),
        epochs: args.epochs,
        reducers: overrides.reducers,
        metrics: overrides.metrics,
        max_samples: args.max_samples.map(NonZeroUsize::get),
        seed: args.seed,
        log_dir: args.log_dir.clone(),
        log_format: args.log_format.into(),
        fail_on_error: args.fail_on_error,
        limits: UsageLimits { time: args.time_limit, ..UsageLimits::default() },
        ..RunOptions::default()
    };
    args.asking.apply(&mut options, watcher)?;
    Some(options)
}

/// All tasks with each of the models, checked; nothing if one is wrong, which then was told.
fn prepared(args: &EvalArgs, watcher: &Arc<Watcher>, context: &Context<'_>) -> Option<Vec<Vec<PreparedRun>>> {
    let options = options(args, watcher, context);
    if let Some(list) = args.asking.models.iter().find(|model| is_list(model, context)) {
        message::error(format!(
            "--model names one model, and `{list}` is a list; give --model once for each"
        ));
        return None;
    }
    let models: Vec<Option<ModelChoice>> = match args.asking.models.as_slice() {
        [] => vec![None],
        models => models.iter().map(|model| Some(ModelChoice::from(model.as_str()))).collect(),
    };
    let prepare = |named: &String| -> Option<Vec<PreparedRun>> {
        let task = tasks::task(named, &args.task_args, context)?;
        let options = options.as_ref()?;
        let with_model = |model: &Option<ModelChoice>| {
            let errors = Some(args.errors.over(task.error_plan()));
            let options = RunOptions { model: model.clone(), errors, ..options.clone() };
            prepare(named, &task, &options, context).map(|prepared| (prepared, None))
        };
        let ready: Vec<Option<PreparedRun>> = models.iter().map(with_model).collect();
        ready.into_iter().collect()
    };
    // Every task is looked at, whatever is wrong with the one before.
    let all: Vec<Option<Vec<PreparedRun>>> = args.tasks.iter().map(prepare).collect();
    all.into_iter().collect()
}

/// Whether a model is a list of models, as some other programs take it. A script of `mock` may look like one.
fn is_list(model: &str, context: &Context<'_>) -> bool {
    let providers = || context.registry.list::<Provider>().map(|listing| listing.name.as_str());
    let is_model = |part: &str| {
        part.trim().split_once('/').is_some_and(|(provider, _)| providers().any(|known| known == provider))
    };
    !model.starts_with("mock/") && model.contains(',') && model.split(',').skip(1).any(is_model)
}

fn prepare(named: &str, task: &Task, options: &RunOptions, context: &Context<'_>) -> Option<PreparedTask> {
    match task.prepare(options, context.registry) {
        Ok(prepared) => Some(prepared),
        Err(error) => {
            for problem in error.problems {
                message::error(format!("{named}: {problem}"));
            }
            None
        }
    }
}

/// The task of a log, checked, with the options that the log records.
fn resumed(
    path: PathBuf,
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Option<PreparedRun> {
    let refuse = |problem: errorbar_eval::Error| {
        message::error(problem);
        None
    };
    let log = match open_resumable_with(&path, args.read_limits.limits()) {
        Ok(log) => log,
        Err(problem) => return refuse(problem),
    };
    let task = match args.tasks.as_slice() {
        [] => tasks::task_of_log(&log, context)?,
        [named] => tasks::task_as_logged(named, &log, context)?,
        _ => {
            message::error("--resume goes on with one log, of one task");
            return None;
        }
    };
    let recorded = match log.options(&task, context.registry) {
        Ok(recorded) => recorded,
        Err(problem) => return refuse(problem),
    };
    let mut options = RunOptions {
        errors: recorded.errors.as_ref().map(|recorded| args.errors.over(recorded)),
        max_samples: args.max_samples.map(NonZeroUsize::get).or(recorded.max_samples),
        fail_on_error: args.fail_on_error.or(recorded.fail_on_error),
        limits: UsageLimits { time: args.time_limit.or(recorded.limits.time), ..recorded.limits },
        log_format: args.log_format.into(),
        // Another server than that of the log is refused later.
        base_url: args.asking.base_url.clone(),
        role_base_urls: args.asking.role_base_urls.clone(),
        ..recorded
    };
    let unnamed = log.unnamed_servers(&task, &options, context.registry);
    if !unnamed.is_empty() {
        servers::refuse_unnamed(&unnamed, &log, &args.tasks, context);
        return None;
    }
    args.asking.calling.apply(&mut options, watcher)?;
    let named = format!("{}: {}", path.display(), log.task());
    let prepared = prepare(&named, &task, &options, context)?;
    Some((prepared, Some(log)))
}

/// Prints what came out, tells what went wrong, and says how it all ended.
fn conclude(
    outcomes: Vec<TaskOutcome>,
    args: &EvalArgs,
    global: &GlobalArgs,
    context: &Context<'_>,
) -> anyhow::Result<Status> {
    let mut diagnostics = Diagnostics::new(global.quiet);
    let (mut reports, mut tokens, mut ended_early) = (Vec::new(), Vec::new(), false);
    let several = outcomes.len() > 1;
    for task in outcomes {
        match task {
            TaskOutcome::NotRun(name) => {
                diagnostics.warning(format!("{name}: not run, because the run was cancelled before"));
                ended_early = true;
            }
            TaskOutcome::Ended(ended) => {
                let finished = match *ended {
                    Ok(finished) => finished,
                    Err(error) => {
                        diagnostics.error(error.to_string(), hints::eval::hint(&error));
                        continue;
                    }
                };
                let label = match several {
                    true => format!("{} with {}", finished.task, finished.model),
                    false => finished.task.clone(),
                };
                ended_early |= !reached_its_end(&finished, &label, context, &mut diagnostics);
                report_usage(&finished, &label, &mut diagnostics);
                let partial_run = logs::status_of_unfinished(finished.status);
                let (status, planned) = (partial_run.map(str::to_owned), Some(finished.total));
                let partial_run = status.map(|status| PartialRun { status, planned });
                let used = finished.usage.get(&finished.model).map(|usage| usage.total_tokens);
                let FinishedRun { log, task, model, results, limits, self_graded, .. } = finished;
                tokens.extend(results.as_ref().map(|_| used));
                reports.extend(results.map(|results| {
                    let report = Report::new(log.display().to_string(), results).of_run(task, model);
                    report.partial_run(partial_run).limits(limits).self_graded(self_graded)
                }));
            }
        }
    }
    if !reports.is_empty() {
        args.output.write(&reports)?;
        side_by_side(&reports, &tokens, args.output.format)?;
    }
    for report in &reports {
        findings(report, &mut diagnostics);
    }
    Ok(match diagnostics.print() {
        Status::Fine if ended_early => Status::Negative,
        status => status,
    })
}

/// Models that did one task, side by side, where people read it.
fn side_by_side(reports: &[Report], tokens: &[Option<u64>], format: Format) -> io::Result<()> {
    let tables = SideBySide::of(reports, tokens);
    let joined = |write: &dyn Fn(&SideBySide) -> String| -> String {
        tables.iter().map(|table| format!("\n{}", write(table))).collect()
    };
    match format {
        Format::Table => show(|color| joined(&|tables| tables.to_table(&table().color(color)))),
        Format::Markdown => output::print(joined(&SideBySide::to_markdown).as_bytes()),
        Format::Latex => output::print(joined(&SideBySide::to_latex).as_bytes()),
        Format::Json | Format::Csv => Ok(()),
    }
}

/// Whether there is no log any more to go on with.
fn is_lost(error: &LogError) -> bool {
    matches!(error.kind(), LogErrorKind::Gone | LogErrorKind::Displaced)
}

/// Whether a run did all it should; what it did not is told.
fn reached_its_end(
    finished: &FinishedRun,
    task: &str,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let FinishedRun { log, archive, total, done, failed, .. } = finished;
    let resume =
        format!("go on with `{}`", servers::resume_command(context.program, &[], archive, &finished.servers));
    match &finished.log_error {
        Some(errorbar_eval::Error::Log(error)) if is_lost(error) => {
            let problem = error.problem();
            diagnostics.failure(
                format!("{task}: after {done} of {total} samples: {problem}"),
                hints::log::hint(error),
            );
            return false;
        }
        Some(error) => {
            diagnostics.error(
                format!("{task}: {error}; {done} of {total} samples are in it"),
                Some(format!("when that is mended, {resume}")),
            );
            return false;
        }
        None => {}
    }
    if let Some(error) = &finished.results_error {
        diagnostics.error(
            format!("{task}: the results cannot be computed: {error}"),
            Some(format!("the samples are in {}; score them with other metrics or reducers", log.display())),
        );
    }
    match &finished.stopped {
        Some(StopReason::AccessRefused { model, problem }) => {
            diagnostics.failure(
                format!("{task}: ended after {done} of {total} samples, because {model} refuses the key: {problem}"),
                Some(format!("when the key is mended, {resume}")),
            );
            return false;
        }
        Some(StopReason::Unreachable { model, problem }) => {
            diagnostics.failure(
                format!(
                    "{task}: ended after {done} of {total} samples, because the server of {model} has never answered: {problem}"
                ),
                Some(format!("when the server runs, {resume}")),
            );
            return false;
        }
        Some(StopReason::Cancelled) => {
            diagnostics.warning(format!("{task}: cancelled after {done} of {total} samples; {resume}"));
            return false;
        }
        Some(StopReason::LimitReached { limit }) => {
            diagnostics
                .warning(format!("{task}: ended after {done} of {total} samples, because {limit}; {resume}"));
            return false;
        }
        Some(StopReason::TooManyErrors { failed, sample, problem, .. }) => {
            diagnostics.warning(format!(
                "{task}: ended after {done} of {total} samples, because {failed} failed; sample {sample:?}: {problem}; {resume}"
            ));
            return false;
        }
        _ => {}
    }
    if *failed > 0 {
        diagnostics.warning(format!(
            "{task}: {failed} of {total} samples failed and are not in the figures; {resume} to run them again"
        ));
    }
    if finished.limited() > 0 {
        diagnostics.warning(format!(
            "{task}: {} of {total} samples met a limit and were judged as they were; the log says which",
            finished.limited()
        ));
    }
    let reasons =
        format!("the log has the reasons: `{} log dump {} --samples`", context.program, log.display());
    let blocks = finished.results.as_ref().map_or(&[][..], |results| &results.scores);
    if failed < total && !blocks.is_empty() && blocks.iter().all(|block| block.counts.scored == 0) {
        let mut scorers: Vec<String> = Vec::new();
        for name in blocks.iter().map(|block| format!("`{}`", block.scorer)) {
            if !scorers.contains(&name) {
                scorers.push(name);
            }
        }
        let scorers = scorers.join(", ");
        diagnostics.failure(
            format!("{task}: no answer could be scored by {scorers}, so the figures say nothing"),
            Some(reasons),
        );
        return false;
    }
    let is_unscored = |block: &&ScoreResult| block.counts.scored == 0 && block.counts.unscored > 0;
    for block in blocks.iter().filter(is_unscored) {
        diagnostics
            .warning(format!("{task}: `{}` could not score any of the answers; {reasons}", block.name()));
    }
    failed < total
}
