//! `errorbar eval`: runs tasks and writes their logs.
//!
//! Every task is built and checked before the first one runs, and everything that is wrong is reported at once.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use errorbar_eval::{
    CallCounts, Calls, CancelToken, FailOnError, FinishedRun, LogFormat, ModelChoice, PreparedTask, Provider,
    ResumableLog, RunOptions, StopReason, Task, Usage, UsageLimits, block_on, cancel_on_interrupt,
    open_resumable_with, shown_cost,
};
use errorbar_log::eval::remove_damaged_samples;
use errorbar_report::{PartialRun, Report, SideBySide, StoppedRun};
use futures_util::future::join_all;

use super::common::{Format, OutputArgs, one_of, seconds, table};
use super::error_args::ErrorArgs;
use super::findings::findings;
use super::handles::{DEFAULT_LOG_DIR, LOG_DIR, resolve_in};
use super::logs::LimitArgs;
use super::models::ModelArgs;
use super::requirements::{RequirementArgs, Requirements};
use super::specs::PlanOverrides;
use super::{
    CommandResult, Context, Outcome, Status, ending, logs, servers, stop_rules, tasks, unused_clusters,
};
use crate::diagnostic::{Diagnostic, Diagnostics, all};
use crate::output::{Output, Stream};
use crate::progress::Watcher;

const EXAMPLES: &str = "\
Examples:
  A task file, with the model that it names:
    errorbar eval almanac.toml

  The same with recorded outputs of another model, 20 samples, 3 epochs each:
    errorbar eval almanac.toml --model replay/outputs/wren.jsonl --limit 20 --epochs 3 --reducer mode

  One sample, to see what the model is sent and what it answers:
    errorbar eval almanac.toml --limit 1 --show

  A task of this program, with arguments:
    errorbar eval gpqa -T subset=main

  Fail unless the figures are good enough, as a check of a build does:
    errorbar eval almanac.toml --require 'lower(accuracy) >= 0.75' --junit results.xml

  Stop when the 95 % interval of the accuracy is narrower than 4 points:
    errorbar eval almanac.toml --stop-when 'width(accuracy) < 0.04'

  Resume a run that was interrupted or stopped early, or several:
    errorbar eval --resume logs/2026-11-15T06-09-13+00-00_almanac_1f0c….eval
    errorbar eval --resume latest

Every sample is in the log before it is counted. Ctrl-C ends the run and computes the results over
the samples that are done; a second one ends it at once.

Exit code: 0 if all is well, 1 if a run did not reach its end, no sample succeeded, no answer could
be scored or a requirement is not met, 2 if something could not be read, run or computed.";

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
    #[arg(long, value_name = "FORMAT", value_parser = log_formats())]
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
    /// Resume the run of this log (a path, @1 or latest): keep its samples, run those that are missing or failed;
    /// several logs of a task are resumed side by side
    #[arg(long, value_name = "LOG", num_args = 1.., conflicts_with_all = [
        "task_args", "limit", "sample_ids", "epochs", "reducers", "no_reduce", "metrics", "seed", "roles",
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
    errors: ErrorArgs,
    #[command(flatten)]
    model_args: ModelArgs,
    #[command(flatten)]
    read_limits: LimitArgs,
    #[command(flatten)]
    requirements: RequirementArgs,
}

fn log_formats() -> impl TypedValueParser<Value = LogFormat> {
    one_of([("eval", LogFormat::Eval), ("json", LogFormat::Json)])
}

/// A task that is ready to run with one model, and the log that it resumes.
type PreparedRun = (PreparedTask, Option<ResumableLog>);

pub(crate) fn run(args: &EvalArgs, context: &Context<'_>) -> CommandResult {
    args.errors.check()?;
    let requirements = args.requirements.parse()?;
    // Data stays by itself on standard output.
    let shown_on = if args.output.format == Format::Table { Stream::Stdout } else { Stream::Stderr };
    let watcher = Watcher::new(context.quiet, args.progress_every).showing(args.show.then_some(shown_on));
    let watcher = Arc::new(watcher);
    let runs = match args.resume.is_empty() {
        false => resume_all(args, &watcher, context)?,
        true => prepare_all(args, &watcher, context)?,
    };
    for (run, _) in runs.iter().flatten() {
        requirements.check_plan(run.plan()).map_err(|diagnostics| diagnostics.about(run.name()))?;
    }
    let calls = runs.first().and_then(|models| models.first()).map(|(first, _)| Arc::clone(first.calls()));
    before(&runs, calls.as_deref(), args).print(context.quiet);
    let outcomes = block_on(run_all(runs, &watcher))?;
    let mut outcome = conclude(outcomes, &requirements, args, context);
    if let Some(calls) = calls {
        outcome.diagnostics.extend(call_notes(&calls.counts()));
    }
    Ok(outcome)
}

/// What there is to report before anything runs.
fn before(runs: &[Vec<PreparedRun>], calls: Option<&Calls>, args: &EvalArgs) -> Diagnostics {
    let servers = servers::note(runs.iter().flatten().flat_map(|(run, _)| run.servers()));
    let limits =
        runs.iter().flatten().filter(|(_, log)| log.is_some()).filter_map(|(run, _)| limits_note(run));
    let connections = calls.and_then(|calls| args.model_args.calling.connections.note_fewer(calls));
    // The warnings of a task do not depend on the model.
    let warnings = runs.iter().filter_map(|models| models.first()).flat_map(|(run, _)| {
        run.warnings().iter().map(|warning| Diagnostic::warning(warning.to_string()).about(run.name()))
    });
    servers.into_iter().chain(connections).chain(limits).chain(warnings).collect()
}

/// A note of the limits of a resumed run: what was used before does not count.
fn limits_note(run: &PreparedTask) -> Option<Diagnostic> {
    let UsageLimits { time, tokens, cost } = run.run_limits();
    let time = time.map(|time| format!("{} s", time.as_secs_f64()));
    let tokens = tokens.map(|tokens| format!("{} tokens", grouped(tokens)));
    let cost = cost.map(|cost| format!("a cost of {}", shown_cost(cost)));
    let limits: Vec<String> = [time, tokens, cost].into_iter().flatten().collect();
    (!limits.is_empty()).then(|| {
        let text = format!("the limits of the run count from 0 again: {}", limits.join(", "));
        Diagnostic::note(text).about(run.name())
    })
}

/// The tokens that a run has used.
pub(super) fn usage_note(model: &str, usage: &Usage) -> Diagnostic {
    let cached = match usage.input_tokens_cache_read {
        Some(cached) if cached > 0 => format!(" (and {} from the server's cache)", grouped(cached)),
        _ => String::new(),
    };
    let cost =
        usage.total_cost.map(|cost| format!(", at a cost of {}", shown_cost(cost))).unwrap_or_default();
    let (input, output) = (grouped(usage.input_tokens), grouped(usage.output_tokens));
    Diagnostic::note(format!("{model} has read {input} tokens{cached} and written {output}{cost}"))
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// What was out of the ordinary with calls of models.
pub(super) fn call_notes(counts: &CallCounts) -> Diagnostics {
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

/// How a task ended.
enum TaskOutcome {
    Ended(Box<errorbar_eval::Result<FinishedRun>>),
    /// It was not started, because the user had cancelled the one before.
    NotRun(String),
}

/// Runs one task after the other, each with all its models at once, until the user cancels.
async fn run_all(ready: Vec<Vec<PreparedRun>>, watcher: &Arc<Watcher>) -> Vec<TaskOutcome> {
    let cancel = CancelToken::new();
    let reporter = Arc::clone(watcher);
    cancel_on_interrupt(cancel.clone(), move || reporter.interrupted());
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

/// The options that the command line gives.
fn options(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<RunOptions, Diagnostics> {
    let overrides = PlanOverrides::new(&args.metrics, &args.reducers, args.no_reduce, context)?;
    let mut options = RunOptions {
        stop_when: stop_rules::read(&args.stop_when, &args.log_dir)?,
        limit: args.limit,
        sample_ids: args.sample_ids.clone(),
        epochs: args.epochs,
        reducers: overrides.reducers,
        metrics: overrides.metrics,
        max_samples: args.max_samples.map(NonZeroUsize::get),
        seed: args.seed,
        log_dir: args.log_dir.clone(),
        log_format: args.log_format.unwrap_or_default(),
        log_events: !args.no_log_events,
        fail_on_error: args.fail_on_error,
        limits: UsageLimits { time: args.time_limit, ..UsageLimits::default() },
        ..RunOptions::default()
    };
    args.model_args.apply(&mut options, watcher)?;
    Ok(options)
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
    let prepare_task = |named: &String| {
        let task = tasks::task(named, &args.task_args, context)?;
        let Some(options) = &options else { return Ok(Vec::new()) };
        all(models.iter().map(|model| {
            let errors = Some(args.errors.over(task.error_plan()));
            let options = RunOptions { model: model.clone(), errors, ..options.clone() };
            prepare(named, &task, &options, context).map(|prepared| (prepared, None))
        }))
    };
    let runs = diagnostics.collect(all(args.tasks.iter().map(prepare_task)));
    runs.filter(|_| options.is_some()).ok_or(diagnostics)
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

/// The runs of all logs that are resumed, those of one task side by side. Everything that is wrong is reported at once.
fn resume_all(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<Vec<Vec<PreparedRun>>, Diagnostics> {
    let named = args.resume.iter().map(|log| resolve_in(log, &args.log_dir));
    let named: Vec<PathBuf> = all(named)?;
    // `--resume LOG TASK` names the task too, as `TASK --resume LOG` does.
    let is_task = |path: &&PathBuf| !logs::is_log(path) && !path.is_file();
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
        match by_task.iter_mut().find(|runs| runs.iter().any(|(other, _)| other.name() == run.0.name())) {
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
    let task = tasks::task_of_log(tasks.first().map(String::as_str), &log, context)?;
    let recorded = log.options(&task, context.registry)?;
    let stop_when = stop_rules::read(&args.stop_when, &args.log_dir)?;
    let mut options = RunOptions {
        stop_when: stop_when.or(recorded.stop_when),
        errors: recorded.errors.as_ref().map(|recorded| args.errors.over(recorded)),
        max_samples: args.max_samples.map(NonZeroUsize::get).or(recorded.max_samples),
        fail_on_error: args.fail_on_error.or(recorded.fail_on_error),
        limits: UsageLimits { time: args.time_limit.or(recorded.limits.time), ..recorded.limits },
        log_format: args.log_format.unwrap_or(recorded.log_format),
        log_events: recorded.log_events && !args.no_log_events,
        // Another server than that of the log is refused later.
        base_url: args.model_args.base_url.clone(),
        role_base_urls: args.model_args.roles.role_base_urls.clone(),
        ..recorded
    };
    let unnamed = log.unnamed_servers(&task, &options, context.registry);
    if !unnamed.is_empty() {
        return Err(servers::unnamed(&unnamed, &log, tasks, context).into());
    }
    args.model_args.calling.apply(&mut options, watcher)?;
    options.calls = Arc::clone(calls.get_or_insert(options.calls));
    let named = format!("{}: {}", path.display(), log.task());
    let prepared = prepare(&named, &task, &options, context)?;
    Ok((prepared, Some(log)))
}

/// The results of all runs, and what there is to report of them.
fn conclude(
    outcomes: Vec<TaskOutcome>,
    requirements: &Requirements<'_>,
    args: &EvalArgs,
    context: &Context<'_>,
) -> Outcome {
    let (mut outcome, mut reports, mut tokens) = (Outcome::default(), Vec::new(), Vec::new());
    let several = outcomes.len() > 1;
    for run in outcomes {
        let finished = match run {
            TaskOutcome::NotRun(name) => {
                let text = "not run, because the run was cancelled before";
                outcome.diagnostics.push(Diagnostic::warning(text).about(name));
                outcome.status = Status::Negative;
                continue;
            }
            TaskOutcome::Ended(ended) => match *ended {
                Ok(finished) => finished,
                Err(error) => {
                    outcome.diagnostics.push(error);
                    continue;
                }
            },
        };
        let label = match several {
            true => format!("{} with {}", finished.task, finished.model),
            false => finished.task.clone(),
        };
        let (ending, is_complete) = ending::diagnostics(&finished, context);
        outcome.diagnostics.extend(ending.about(&label));
        if !is_complete {
            outcome.status = Status::Negative;
        }
        let usage = finished.usage.iter().map(|(model, usage)| usage_note(model, usage).about(&label));
        outcome.diagnostics.extend(usage);
        let used = finished.usage.get(&finished.model).map(|usage| usage.total_tokens);
        let log = finished.log.clone();
        if let Some(report) = report(finished) {
            outcome.diagnostics.extend(findings(&report));
            // Once, however many runs there are.
            if reports.is_empty() && !context.quiet {
                outcome.diagnostics.extend(unused_clusters::of_run(&log, context.registry));
            }
            reports.push(report);
            tokens.push(used);
        }
    }
    outcome.diagnostics.extend(requirements.check("eval", &reports));
    if !reports.is_empty() {
        outcome.output = with_comparison(reports, &tokens, &args.output);
    }
    outcome
}

/// The results of a run, with what is known of it.
fn report(finished: FinishedRun) -> Option<Report> {
    let FinishedRun { log, task, model, results, limits, self_graded, status, total, stopped, .. } = finished;
    let unfinished = logs::status_of_unfinished(status)
        .map(|status| PartialRun { status: status.to_owned(), planned: Some(total) });
    let mut report = Report::new(log.display().to_string(), results?).of_run(task, model);
    (report.partial_run, report.limits, report.self_graded) = (unfinished, limits, self_graded);
    if let Some(StopReason::RuleHeld { rule, reason, samples, planned }) = stopped {
        report.early_stop =
            Some(StoppedRun { rule, reason, samples: samples as u64, planned: planned as u64 });
    }
    Some(report)
}

/// The results, and models that did one task side by side, where people read it.
fn with_comparison(reports: Vec<Report>, tokens: &[Option<u64>], args: &OutputArgs) -> Output {
    let tables = SideBySide::of(&reports, tokens);
    let joined = move |write: &dyn Fn(&SideBySide) -> String| -> String {
        tables.iter().map(|table| format!("\n{}", write(table))).collect()
    };
    match (args.reports(reports), args.format) {
        (Output::Text(render), _) => Output::text(move |color| {
            render(color) + &joined(&|tables| tables.to_table(&table().color(color)))
        }),
        (Output::Data(data), Format::Markdown) => {
            Output::Data([data, joined(&SideBySide::to_markdown).into_bytes()].concat())
        }
        (Output::Data(data), Format::Latex) => {
            Output::Data([data, joined(&SideBySide::to_latex).into_bytes()].concat())
        }
        (output, _) => output,
    }
}
