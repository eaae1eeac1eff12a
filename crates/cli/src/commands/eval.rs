//! `errorbar eval`: runs tasks and writes their logs.
//!
//! Every task is built and checked before the first one runs, and everything that is wrong is reported at once.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use errorbar_analysis::{
    DEFAULT_LOG_DIR, ErrorRequest, LOG_DIR, LimitRequest, Opt, PlanChanges, beyond_threshold_problem,
    expand_folder, findings, newest_first, resolve_in, status_of_unfinished, unused_cluster_of_run,
};
use errorbar_core::engine::thousands;
use errorbar_eval::{
    CallCounts, Calls, CancelToken, EarlierRun, FailOnError, FinishedRun, LogFormat, ModelChoice,
    PreparedTask, Provider, Quiet, ResumableLog, RunOptions, StopReason, Task, Usage, UsageLimits, block_on,
    cancel_on_interrupt, open_earlier, open_resumable_with, shown_cost,
};
use errorbar_inference::{RuleMeasure, StopRule};
use errorbar_log::eval::{EvalLog, LogLimits, remove_damaged_samples};
use errorbar_report::{EvaluationSet, PartialRun, Report, SideBySide, StoppedRun};
use futures_util::future::join_all;
use rayon::prelude::*;

use super::run_diagnostics::{server_note, unnamed_servers};
use super::{CommandOutcome, CommandResult, Context, run_diagnostics, tasks};
use crate::commands::models::ModelArgs;
use crate::commands::requirements::{RequirementArgs, Requirements};
use crate::commands::tasks::NamedTask;
use crate::diagnostic::{Diagnostic, Diagnostics, Outcome, Print, all};
use crate::format::{Format, OutputArgs, counted, one_of, seconds, table};
use crate::output::{Output, Stream};
use crate::progress::Watcher;

/// A task that is ready to run with one model.
struct PreparedRun {
    task: PreparedTask,
    /// What the task is called; that of no other task is called so.
    label: String,
    start: RunStart,
}

/// What a run begins with.
enum RunStart {
    New,
    /// The samples of a log.
    Resumed(ResumableLog),
    /// A log that has all samples.
    Complete(ResumableLog),
}

pub(crate) fn run(args: &EvalArgs, context: &Context<'_>) -> CommandResult {
    args.errors.check()?;
    if let Some(path) = args.allowed_paths.iter().find(|path| !path.exists()) {
        return Err(Diagnostic::error("--allow-path: no such file or folder").about(path.display()).into());
    }
    let registry = context.registry.confined(args.allowed_paths.iter().cloned());
    let context = &Context { registry: &registry, ..*context };
    let requirements = args.requirements.parse()?;
    // Data stays by itself on standard output.
    let shown_on = if args.output.format == Format::Table { Stream::Stdout } else { Stream::Stderr };
    let watcher = Watcher::new(context.quiet, args.progress_every).showing(args.show.then_some(shown_on));
    let watcher = Arc::new(watcher);
    let mut runs = match args.resume.is_empty() {
        false => resume_all(args, &watcher, context)?,
        true => prepare_all(args, &watcher, context)?,
    };
    for run in runs.iter().flatten() {
        requirements.check_plan(&run.task.plan).map_err(|diagnostics| diagnostics.about(&run.label))?;
    }
    if args.skip_complete {
        find(&mut runs, args).print(context.quiet);
    }
    let calls = runs.first().and_then(|models| models.first()).map(|first| Arc::clone(first.task.calls()));
    // Of a task file that only a log names, the user learns the programs in any case.
    let is_named = args.resume.is_empty() || !args.tasks.is_empty();
    for program in programs(&runs) {
        program.print(context.quiet && is_named);
    }
    before(&runs, calls.as_deref(), args).print(context.quiet);
    #[cfg(feature = "view")]
    let server = match args.view {
        true => Some(super::view::start_beside(&args.log_dir, context)?),
        false => None,
    };
    let (cancel, has_ended) = (CancelToken::new(), Arc::new(AtomicBool::new(false)));
    let (reporter, is_over) = (Arc::clone(&watcher), Arc::clone(&has_ended));
    cancel_on_interrupt(cancel.clone(), move || {
        // What is served after the run has nothing to cancel.
        if !is_over.load(Ordering::Relaxed) {
            reporter.interrupted();
        }
    });
    let outcomes = block_on(run_all(runs, &watcher, cancel.clone()))?;
    let mut outcome = conclude(outcomes, &requirements, args, context);
    if let Some(calls) = calls {
        outcome.diagnostics.extend(call_notes(&calls.counts()));
    }
    #[cfg(feature = "view")]
    if let Some(server) = server.filter(|_| !cancel.is_stopped()) {
        has_ended.store(true, Ordering::Relaxed);
        outcome.after = Some(Box::new(super::view::stay(server, cancel, context.quiet)));
    }
    Ok(outcome)
}

/// The runs that go on from a log.
fn resumed(runs: &[Vec<PreparedRun>]) -> impl Iterator<Item = &PreparedRun> {
    runs.iter().flatten().filter(|run| matches!(run.start, RunStart::Resumed(_)))
}

/// The programs that resumed runs start.
fn programs(runs: &[Vec<PreparedRun>]) -> Vec<Diagnostic> {
    resumed(runs).flat_map(|run| programs_note(&run.task)).collect()
}

/// What there is to report before anything runs.
fn before(runs: &[Vec<PreparedRun>], calls: Option<&Calls>, args: &EvalArgs) -> Diagnostics {
    let to_run = || runs.iter().flatten().filter(|run| !matches!(run.start, RunStart::Complete(_)));
    let servers = server_note(to_run().flat_map(|run| run.task.servers()));
    let limits = resumed(runs).filter_map(|run| limits_note(&run.task));
    let connections = calls.and_then(|calls| args.model_args.calling.connections.note_fewer(calls));
    // The warnings of a task do not depend on the model.
    let warnings = runs.iter().filter_map(|models| models.first()).flat_map(|run| {
        let warnings = run.task.warnings.iter();
        warnings.map(|warning| Diagnostic::warning(warning.to_string()).about(&run.label))
    });
    servers.into_iter().chain(connections).chain(limits).chain(warnings).collect()
}

/// A run, and how it ended.
struct RunOutcome {
    label: String,
    model: String,
    /// None if it was not started, because the user had cancelled the one before.
    finished: Option<errorbar_eval::Result<FinishedRun>>,
    /// Whether all of it was there before.
    is_earlier: bool,
}

/// Runs one task after the other, each with all its models at once, until the user cancels.
async fn run_all(
    ready: Vec<Vec<PreparedRun>>,
    watcher: &Arc<Watcher>,
    cancel: CancelToken,
) -> Vec<RunOutcome> {
    let count = ready.len();
    let mut outcomes = Vec::new();
    for (at, models) in ready.into_iter().enumerate() {
        let position = (count > 1).then_some((at + 1, count));
        let observers = watcher.watch(models.len(), position);
        let runs = models.into_iter().zip(observers).map(|(run, observer)| {
            let cancel = cancel.clone();
            async move {
                let PreparedRun { task, label, start } = run;
                let model = task.model_name().to_owned();
                let is_earlier = matches!(start, RunStart::Complete(_));
                let finished = match &start {
                    // What is there is shown, whether the user has cancelled the others or not.
                    RunStart::Complete(log) => Some(task.skip(log, &Quiet)),
                    _ if cancel.is_stopped() => None,
                    RunStart::Resumed(log) => Some(task.resume(log, observer, cancel).await),
                    RunStart::New => Some(task.run(observer, cancel).await),
                };
                RunOutcome { label, model, finished, is_earlier }
            }
        });
        outcomes.extend(join_all(runs).await);
    }
    outcomes
}

const EXAMPLES: &str = "\
Examples:
  A task file, with the model that it names:
    errorbar eval almanac.toml

  The same with recorded outputs of another model, 20 samples, 3 epochs each:
    errorbar eval almanac.toml --model replay/outputs/wren.jsonl --limit 20 --epochs 3 --reducer mode

  One sample, to see what the model is sent and what it answers:
    errorbar eval almanac.toml --limit 1 --show

  One of the tasks of a file, with an argument that the file declares:
    errorbar eval mmlu.toml@law -T shots=5

  A task of this program, with arguments:
    errorbar eval gpqa -T subset=main

  Fail unless the figures are good enough, as a check of a build does:
    errorbar eval almanac.toml --require 'lower(accuracy) >= 0.75' --junit results.xml

  Stop when the 95 % interval of the accuracy is narrower than 4 points:
    errorbar eval almanac.toml --stop-when 'width(accuracy) < 0.04'

  A set of evaluations: every task of a folder with two models; what an earlier call has completed is
  not run again, and what it has begun is continued:
    errorbar eval tasks/ --model openai/a --model openai/b --skip-complete

  Resume a run that was interrupted or stopped early; without TASK, its file must be in this folder, unchanged:
    errorbar eval almanac.toml --resume logs/2026-11-15T06-09-13+00-00_almanac_1f0c….eval
    errorbar eval --resume latest

Every sample is in the log before it is counted. Ctrl-C ends the run and computes the results over
the samples that are done; a second one ends it at once.

Exit code: 0 if all is well, 1 if a run did not reach its end, no sample succeeded, no answer could
be scored or a requirement is not met, 2 if something could not be read, run or computed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// Task files (.toml; FILE@NAME for one of several tasks), folders of them, or tasks of this program
    #[arg(required_unless_present = "resume", value_name = "TASK")]
    tasks: Vec<String>,
    /// An argument of the task; may be repeated; of several tasks, those get it that have it; with --resume required again
    /// where it is a string, which may name a file or a program
    #[arg(short = 'T', value_name = "KEY=VALUE")]
    task_args: Vec<String>,
    /// A file or folder outside of the folder of the task file that its templates may be read from, such as that of
    /// system_message("../prompts/brief.txt"); may be repeated. Of a task that only a log names (--resume), datasets too
    #[arg(long = "allow-path", value_name = "PATH")]
    allowed_paths: Vec<PathBuf>,
    /// Run the first N samples only
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Run the samples of these ids only; may be repeated, or a list with commas
    #[arg(long = "sample-id", value_name = "ID", value_delimiter = ',')]
    sample_ids: Vec<String>,
    /// How often to run each sample [default: that of the task, else 1]
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: that of the task, else mean]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Do not reduce epochs: metrics get every score
    #[arg(long, conflicts_with = "reducers")]
    no_reduce: bool,
    /// A metric to compute in place of those of the task; may be repeated
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The maximum number of concurrent samples
    #[arg(long, value_name = "N")]
    max_samples: Option<NonZeroUsize>,
    /// Seed for random numbers (bootstrap) [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The folder of the log
    #[arg(long, value_name = "DIR", default_value = DEFAULT_LOG_DIR, env = LOG_DIR)]
    log_dir: PathBuf,
    /// The format of the log: an archive that grows while the task runs, or JSON converted from it at the end [default: eval; with --resume that of the log]
    #[arg(long, value_name = "FORMAT",
        value_parser = one_of([("eval", LogFormat::Eval), ("json", LogFormat::Json)]))]
    log_format: Option<LogFormat>,
    /// Leave events out of the log: the steps of each sample, its model calls with their times, its scores
    #[arg(long)]
    no_log_events: bool,
    /// End the run when a sample fails, or when a share (0.1) or a number (5) of samples have failed
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fail_on_error: Option<FailOnError>,
    /// The time limit of one sample; then it is scored as it is, and its scorers have half of that time or what is left
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    /// Stop early, as soon as this is certain: 'width(accuracy) < 0.04', 'decided(accuracy, 0.5)', 'better_than(LOG)' or
    /// 'worse_than(LOG)'; may be repeated, then the first that holds stops the run. Samples are taken in a random order
    /// (--seed), and the interval is valid however often it is looked at. `never` leaves out the rules of the task
    #[arg(long, value_name = "RULE")]
    stop_when: Vec<String>,
    /// Print the conversation and the verdicts of every sample when it is done, before the results
    #[arg(long)]
    show: bool,
    /// Serve the folder of logs while the run lasts and after it, until Ctrl-C, and print the address to look at it in a
    /// browser; see `view --help`
    #[cfg(feature = "view")]
    #[arg(long)]
    view: bool,
    /// Do not run again what has a complete log in the folder of logs: the same task, version, arguments, model, samples,
    /// solvers, scorers and epochs; its results are shown with the others. What is not complete there is resumed
    #[arg(long, conflicts_with = "resume")]
    skip_complete: bool,
    /// Resume the run of this log (a path, @1 or latest): keep its samples, run those that are missing or failed;
    /// several logs of a task are resumed side by side. Name the TASK too, unless its file is in this folder and has not
    /// changed since the run was started: a log may come from anywhere, and a task runs programs
    #[arg(long, value_name = "LOG", num_args = 1.., conflicts_with_all = [
        "limit", "sample_ids", "epochs", "reducers", "no_reduce", "metrics", "seed", "roles",
    ])]
    resume: Vec<PathBuf>,
    /// With --resume: run samples again whose records are damaged; the damaged log is kept beside the new one
    #[arg(long, requires = "resume")]
    skip_bad_samples: bool,
    /// The interval of progress lines, if standard error is not a terminal, or TERM is dumb
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    progress_every: Duration,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    errors: ErrorRequest,
    #[command(flatten)]
    model_args: ModelArgs,
    #[command(flatten)]
    read_limits: LimitRequest,
    #[command(flatten)]
    requirements: RequirementArgs,
}

/// The options that the command line gives.
fn options(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<RunOptions, Diagnostics> {
    let overrides =
        PlanChanges::new(&args.metrics, &args.reducers, args.no_reduce, context.analysis(&()).specs())?;
    let of_task = RunOptions {
        limit: args.limit,
        sample_ids: args.sample_ids.clone(),
        epochs: args.epochs,
        reducers: overrides.reducers,
        metrics: overrides.metrics,
        seed: args.seed,
        log_dir: args.log_dir.clone(),
        ..RunOptions::default()
    };
    let mut options = options_over(of_task, args)?;
    args.model_args.apply(&mut options, watcher)?;
    Ok(options)
}

/// Other options, with what the command line gives of those that a run and its resumption both have.
fn options_over(others: RunOptions, args: &EvalArgs) -> Result<RunOptions, Diagnostics> {
    Ok(RunOptions {
        stop_when: stop_rules(&args.stop_when, &args.log_dir)?.or(others.stop_when),
        max_samples: args.max_samples.map(NonZeroUsize::get).or(others.max_samples),
        fail_on_error: args.fail_on_error.or(others.fail_on_error),
        limits: UsageLimits { time: args.time_limit.or(others.limits.time), ..others.limits },
        log_format: args.log_format.unwrap_or(others.log_format),
        skip_events: others.skip_events || args.no_log_events,
        ..others
    })
}

/// Every task with each of the models, checked. Everything that is wrong is reported at once.
fn prepare_all(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<Vec<Vec<PreparedRun>>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let options = diagnostics.collect(options(args, watcher, context));
    if let Some(list) = args.model_args.models.iter().find(|model| is_list(model, context)) {
        let problem = format!("--model names one model, and `{list}` is a list");
        diagnostics.push(Diagnostic::error(problem).hint("give --model once for each"));
        return Err(diagnostics);
    }
    let Some(models) = diagnostics.collect(args.model_args.choices(&args.log_dir)) else {
        return Err(diagnostics);
    };
    let models: Vec<Option<ModelChoice>> = match models.is_empty() {
        true => vec![None],
        false => models.into_iter().map(Some).collect(),
    };
    // All samples are read to find those that are named.
    let limit = args.limit.filter(|limit| *limit > 0 && args.sample_ids.is_empty());
    let Some(named) = diagnostics.collect(tasks::tasks(&args.tasks, &args.task_args, limit, context)) else {
        return Err(diagnostics);
    };
    let labels = labels(&named);
    let prepare_task = |(NamedTask { named, task }, label): (&NamedTask, &String)| {
        let Some(options) = &options else { return Ok(Vec::new()) };
        all(models.iter().map(|model| {
            let errors = Some(args.errors.over(task.error_plan()));
            let options = RunOptions { model: model.clone(), errors, ..options.clone() };
            let prepared = prepare(named, task, &options, context)?;
            Ok(PreparedRun { task: prepared, label: label.clone(), start: RunStart::New })
        }))
    };
    let runs = diagnostics.collect(all(named.iter().zip(&labels).map(prepare_task)));
    runs.filter(|_| options.is_some()).ok_or(diagnostics)
}

/// What tasks are called: by their names, or as on the command line where several have one name.
fn labels(named: &[NamedTask]) -> Vec<String> {
    let names: Vec<&str> = named.iter().map(|named| named.task.log_name()).collect();
    let is_alone = |name: &str| names.iter().filter(|other| **other == name).count() == 1;
    let label = |(named, name): (&NamedTask, &&str)| match is_alone(name) {
        true => (*name).to_owned(),
        false => named.named.clone(),
    };
    named.iter().zip(&names).map(label).collect()
}

/// Whether a model is a list of models, as some other programs take it. A script of `mock` may look like one.
fn is_list(model: &str, context: &Context<'_>) -> bool {
    let providers = || context.registry.list::<Provider>().map(|listing| listing.name.as_str());
    let is_model = |part: &str| {
        part.trim().split_once('/').is_some_and(|(provider, _)| providers().any(|known| known == provider))
    };
    !model.starts_with("mock/") && model.contains(',') && model.split(',').skip(1).any(is_model)
}

fn prepare(
    named: &str,
    task: &Task,
    options: &RunOptions,
    context: &Context<'_>,
) -> Result<PreparedTask, Diagnostics> {
    task.prepare(options, context.registry).map_err(|error| {
        error.problems.into_iter().map(|problem| Diagnostic::from(problem).about(named)).collect()
    })
}

/// Finds the logs of runs that were made before, in the folder that logs are written to. Returns what there is to report of
/// them.
fn find(runs: &mut [Vec<PreparedRun>], args: &EvalArgs) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if !args.log_dir.is_dir() {
        return diagnostics;
    }
    let limits = args.read_limits.limits();
    let wanted: HashSet<(String, String)> = runs.iter().flatten().map(|run| names(&run.task)).collect();
    // A folder without logs is one in which nothing was run before.
    let logs = newest_first(expand_folder(&args.log_dir).files);
    let logs: Vec<ResumableLog> =
        logs.par_iter().filter_map(|path| of_these(path, limits, &wanted)).collect();
    let mut resumed: HashSet<PathBuf> = HashSet::new();
    let (mut complete, mut total) = (0, 0);
    for run in runs.iter_mut().flatten() {
        total += 1;
        let subject = format!("{} with {}", run.label, run.task.model_name());
        let (start, problems) = earlier(&run.task, &logs, &resumed);
        diagnostics.extend(problems.into_iter().map(|problem| problem.about(&subject)));
        match &start {
            RunStart::Complete(log) => {
                complete += 1;
                diagnostics.push(note("complete", &log.path).about(&subject));
            }
            RunStart::Resumed(log) => {
                diagnostics.push(note("not complete, and resumed", &log.path).about(&subject));
                resumed.insert(log.path.clone());
            }
            RunStart::New => {}
        }
        run.start = start;
    }
    diagnostics.push(Diagnostic::note(format!("{complete} of {} complete", counted(total, "run"))));
    diagnostics
}

fn note(state: &str, log: &Path) -> Diagnostic {
    Diagnostic::note(format!("{state}: {}", log.display()))
}

fn names(task: &PreparedTask) -> (String, String) {
    (task.name.clone(), task.model_name().to_owned())
}

/// The log, if it is of one of these tasks and models. One that cannot be read, or of another program, is none.
fn of_these(path: &Path, limits: LogLimits, wanted: &HashSet<(String, String)>) -> Option<ResumableLog> {
    let eval = EvalLog::open_with(path, limits).ok()?.short_header().ok()?.eval;
    wanted.contains(&(eval.task, eval.model)).then(|| open_earlier(path, limits).ok()).flatten()
}

/// What a run begins with: its newest complete log, or else the newest that can be resumed; and what there is to report of
/// logs that are not used.
fn earlier(
    task: &PreparedTask,
    logs: &[ResumableLog],
    resumed: &HashSet<PathBuf>,
) -> (RunStart, Vec<Diagnostic>) {
    let (mut start, mut problems) = (RunStart::New, Vec::new());
    for log in logs {
        match task.earlier_run(log) {
            Ok(EarlierRun::Complete) => return (RunStart::Complete(log.clone()), Vec::new()),
            Ok(EarlierRun::Incomplete) if matches!(start, RunStart::New) && !resumed.contains(&log.path) => {
                start = RunStart::Resumed(log.clone());
            }
            Ok(EarlierRun::Changed(change)) => {
                problems.push(note(&format!("not that of the task as it is now ({change})"), &log.path));
            }
            Ok(_) => {}
            Err(error) => {
                let problem = format!("{} is not used: {error}", log.path.display());
                problems.push(Diagnostic::warning(problem));
            }
        }
    }
    (start, problems)
}

/// The runs of all logs that are resumed, those of one task side by side. Everything that is wrong is reported at once.
fn resume_all(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<Vec<Vec<PreparedRun>>, Diagnostics> {
    let named = args.resume.iter().map(|log| resolve_in(log, &args.log_dir));
    let named: Vec<PathBuf> = all(named)?;
    // `--resume LOG TASK` names the task too, as `TASK --resume LOG` does.
    let is_task = |path: &&PathBuf| !errorbar_log::eval::is_log_file(path) && !path.is_file();
    let is_task = |path: &&PathBuf| path.extension().is_some_and(|end| end == "toml") || is_task(path);
    let (behind, logs): (Vec<&PathBuf>, Vec<&PathBuf>) = named.iter().partition(is_task);
    let behind = behind.iter().map(|path| path.display().to_string());
    let tasks: Vec<String> = args.tasks.iter().cloned().chain(behind).collect();
    if tasks.len() > 1 || logs.is_empty() {
        let problem = "--resume wants logs, and at most one task that they are of";
        return Err(Diagnostic::error(problem).hint("the logs name their tasks: leave them out").into());
    }
    let same = |a: &Path, b: &Path| {
        a == b || a.canonicalize().ok().is_some_and(|a| b.canonicalize().ok() == Some(a))
    };
    for (at, log) in logs.iter().enumerate() {
        if logs.iter().take(at).any(|other| same(other, log)) {
            return Err(Diagnostic::error("the log is named twice").about(log.display()).into());
        }
    }
    let mut calls: Option<Arc<Calls>> = None;
    let runs = all(logs.into_iter().map(|log| resume(log, &tasks, &mut calls, args, watcher, context)))?;
    let mut by_task: Vec<Vec<PreparedRun>> = Vec::new();
    for run in runs {
        match by_task.iter_mut().find(|runs| runs.iter().any(|other| other.label == run.label)) {
            Some(runs) => runs.push(run),
            None => by_task.push(vec![run]),
        }
    }
    Ok(by_task)
}

/// Takes samples that cannot be read out of a log, so that they are run again.
fn give_up_bad_samples(path: &Path, args: &EvalArgs, context: &Context<'_>) -> Result<(), Diagnostics> {
    if !args.skip_bad_samples {
        return Ok(());
    }
    let Some(given_up) = remove_damaged_samples(path, args.read_limits.limits())? else { return Ok(()) };
    let names = given_up.samples.join(", ");
    let text =
        format!("damaged, and run again: {names}; the log as it was is {}", given_up.kept_as.display());
    Diagnostic::warning(errorbar_report::clean(&text)).about(path.display()).print(context.quiet);
    Ok(())
}

/// The task of a log, checked, with the options that the log records. All runs share the connections.
fn resume(
    path: &Path,
    tasks: &[String],
    calls: &mut Option<Arc<Calls>>,
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<PreparedRun, Diagnostics> {
    give_up_bad_samples(path, args, context)?;
    let log = open_resumable_with(path, args.read_limits.limits())?;
    let named = tasks.first().map(String::as_str);
    let task = tasks::task_of_log(named, &args.task_args, &log, context)?;
    let recorded = log.options(&task, context.registry)?;
    let mut options = RunOptions {
        errors: recorded.errors.as_ref().map(|recorded| args.errors.over(recorded)),
        // Another server than that of the log is refused later.
        base_url: args.model_args.base_url.clone(),
        role_base_urls: args.model_args.roles.role_base_urls.clone(),
        ..options_over(recorded, args)?
    };
    let unnamed = log.unnamed_servers(&task, &options, context.registry);
    if !unnamed.is_empty() {
        return Err(unnamed_servers(&unnamed, &log, named, context).into());
    }
    args.model_args.calling.apply(&mut options, watcher)?;
    options.calls = Arc::clone(calls.get_or_insert(options.calls));
    let prepared = prepare(&format!("{}: {}", path.display(), log.eval.task), &task, &options, context)?;
    let label = prepared.name.clone();
    Ok(PreparedRun { task: prepared, label, start: RunStart::Resumed(log) })
}

/// The results of all runs, and what there is to report of them.
fn conclude(
    outcomes: Vec<RunOutcome>,
    requirements: &Requirements<'_>,
    args: &EvalArgs,
    context: &Context<'_>,
) -> CommandOutcome {
    let (mut outcome, mut reports, mut tokens) = (CommandOutcome::default(), Vec::new(), Vec::new());
    let several = outcomes.len() > 1;
    let first = outcomes.first().map(|run| run.label.clone());
    let has_several_tasks = outcomes.iter().any(|run| Some(&run.label) != first.as_ref());
    let mut set = EvaluationSet::default();
    for RunOutcome { label: task, model, finished, is_earlier } in outcomes {
        let label = if several { format!("{task} with {model}") } else { task.clone() };
        let finished = match finished {
            Some(Ok(finished)) => finished,
            Some(Err(error)) => {
                outcome.diagnostics.push(error);
                set.add_missing(&task, &model, "failed");
                continue;
            }
            None => {
                let text = "not run, because the run was cancelled before";
                outcome.diagnostics.push(Diagnostic::warning(text).about(&label));
                outcome.status = Outcome::Negative;
                set.add_missing(&task, &model, "not run");
                continue;
            }
        };
        let (ending, is_complete) = run_diagnostics::diagnostics(&finished, context);
        outcome.diagnostics.extend(ending.about(&label));
        if !is_complete {
            outcome.status = Outcome::Negative;
        }
        let ratings = finished.beyond_threshold.as_ref().map(|(reducer, highest)| {
            beyond_threshold_problem(reducer.as_ref(), *highest, Diagnostic::warning)
        });
        outcome.diagnostics.extend(ratings.map(|problem| problem.about(&label)));
        // What an earlier run used is not used now.
        let usage = finished.usage.iter().filter(|_| !is_earlier);
        outcome.diagnostics.extend(usage.map(|(model, usage)| usage_note(model, usage).about(&label)));
        let used = finished.usage.get(&finished.model).map(|usage| usage.total_tokens);
        let log = finished.log.clone();
        let Some(mut report) = report(finished) else {
            set.add_missing(&task, &model, "no results");
            continue;
        };
        report.earlier_run = is_earlier;
        set.add(&task, &model, &report);
        outcome.diagnostics.extend(findings(&report));
        // Once, however many runs there are.
        if reports.is_empty() && !context.quiet {
            outcome.diagnostics.extend(unused_cluster_of_run(&log, context.registry));
        }
        reports.push(report);
        tokens.push(used);
    }
    outcome.diagnostics.extend(requirements.check("eval", &reports));
    if !reports.is_empty() {
        let set = has_several_tasks.then_some(set);
        outcome.output = with_comparison(reports, &tokens, set, &args.output);
    }
    outcome
}

/// The results of a run, with what is known of it.
fn report(finished: FinishedRun) -> Option<Report> {
    let FinishedRun { log, task, model, results, limits, self_graded, status, total, stopped, .. } = finished;
    let unfinished = status_of_unfinished(status)
        .map(|status| PartialRun { status: status.to_owned(), planned: Some(total) });
    let mut report = Report::new(log.display().to_string(), results?).of_run(task, model);
    (report.partial_run, report.limits, report.self_graded) = (unfinished, limits, self_graded);
    if let Some(StopReason::RuleHeld { rule, reason, samples, planned }) = stopped {
        report.early_stop =
            Some(StoppedRun { rule, reason, samples: samples as u64, planned: planned as u64 });
    }
    Some(report)
}

/// The results, and behind them, where people read it, the models that did one task side by side, or a table of all tasks
/// and models.
fn with_comparison(
    reports: Vec<Report>,
    tokens: &[Option<u64>],
    set: Option<EvaluationSet>,
    args: &OutputArgs,
) -> Output {
    let tables = match set {
        Some(_) => Vec::new(),
        None => SideBySide::of(&reports, tokens),
    };
    let text = move |format: Format, color: bool| -> String {
        let side_by_side = tables.iter().map(|table_of_task| match format {
            Format::Markdown => table_of_task.to_markdown(),
            Format::Latex => table_of_task.to_latex(),
            _ => table_of_task.to_table(&table().color(color)),
        });
        let set = set.iter().map(|set| match format {
            Format::Markdown => set.to_markdown(),
            Format::Latex => set.to_latex(),
            _ => set.to_table(&table().color(color)),
        });
        side_by_side.chain(set).map(|table| format!("\n{table}")).collect()
    };
    match (args.reports(reports), args.format) {
        (Output::Text(render), format) => Output::text(move |color| render(color) + &text(format, color)),
        (Output::Data(data), format @ (Format::Markdown | Format::Latex)) => {
            Output::Data([data, text(format, false).into_bytes()].concat())
        }
        (output, _) => output,
    }
}

/// A note of the limits of a resumed run: what was used before does not count.
fn limits_note(run: &PreparedTask) -> Option<Diagnostic> {
    let UsageLimits { time, tokens, cost } = run.run_limits;
    let time = time.map(|time| format!("{} s", time.as_secs_f64()));
    let tokens = tokens.map(|tokens| format!("{} tokens", thousands(tokens)));
    let cost = cost.map(|cost| format!("a cost of {}", shown_cost(cost)));
    let limits: Vec<String> = [time, tokens, cost].into_iter().flatten().collect();
    (!limits.is_empty()).then(|| {
        let text = format!("the limits of the run count from 0 again: {}", limits.join(", "));
        Diagnostic::note(text).about(&run.name)
    })
}

/// A note of each program that a resumed run starts.
fn programs_note(run: &PreparedTask) -> Vec<Diagnostic> {
    let note = |command| Diagnostic::note(format!("runs the program `{command}`")).about(&run.name);
    run.programs().into_iter().map(note).collect()
}

/// The tokens that a run has used.
pub(in crate::commands) fn usage_note(model: &str, usage: &Usage) -> Diagnostic {
    let cached = match usage.input_tokens_cache_read {
        Some(cached) if cached > 0 => format!(" (and {} from the server's cache)", thousands(cached)),
        _ => String::new(),
    };
    let cost =
        usage.total_cost.map(|cost| format!(", at a cost of {}", shown_cost(cost))).unwrap_or_default();
    let (input, output) = (thousands(usage.input_tokens), thousands(usage.output_tokens));
    Diagnostic::note(format!("{model} has read {input} tokens{cached} and written {output}{cost}"))
}

/// What was out of the ordinary with calls of models.
pub(in crate::commands) fn call_notes(counts: &CallCounts) -> Diagnostics {
    let plural =
        |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut notes = Vec::new();
    if counts.cached > 0 {
        notes.push(format!("{} from the cache", plural(counts.cached, "answer was", "answers were")));
    }
    if counts.retried > 0 {
        let requests = plural(counts.retried, "request was", "requests were");
        notes.push(format!("{requests} retried, of {} in all", counts.requests));
    }
    for (model, least) in &counts.lowered {
        notes.push(format!("{model} had as few as {least} connections, because it refused more"));
    }
    let note = (!notes.is_empty()).then(|| Diagnostic::note(notes.join("; ")));
    let unread = (counts.unreadable_usage > 0).then(|| {
        let answers = plural(counts.unreadable_usage, "answer has", "answers have");
        Diagnostic::warning(format!(
            "{answers} a `usage` that cannot be read: its tokens are in no sum, and count for no limit; the log has it"
        ))
    });
    let cache = counts.cache_problem.as_ref();
    let cache = cache.map(|problem| Diagnostic::warning(format!("answers could not be cached: {problem}")));
    note.into_iter().chain(unread).chain(cache).collect()
}

const STOP_WHEN: &str = "--stop-when";
/// No rule, not even those of the task.
const NEVER: &str = "never";

/// The rules of the option; none if it is not given.
fn stop_rules(texts: &[String], log_dir: &Path) -> Result<Option<Vec<StopRule>>, Diagnostics> {
    if texts.is_empty() {
        return Ok(None);
    }
    if texts.iter().any(|text| text.trim() == NEVER) {
        return match texts {
            [_] => Ok(Some(Vec::new())),
            _ => Err(Diagnostic::error(format!("`{STOP_WHEN} {NEVER}` is given beside other rules"))
                .hint("leave out one of them")
                .into()),
        };
    }
    all(texts.iter().map(|text| stop_rule(text, log_dir))).map(Some)
}

fn stop_rule(text: &str, log_dir: &Path) -> Result<StopRule, Diagnostics> {
    let mut rule: StopRule =
        text.parse().map_err(|error| Diagnostic::of_spec(Opt::StopWhen, text, &error))?;
    if let RuleMeasure::BetterThan { log, .. } | RuleMeasure::WorseThan { log, .. } = &mut rule.measure {
        *log = resolve_in(Path::new(log.as_str()), log_dir)?.display().to_string();
    }
    Ok(rule)
}
