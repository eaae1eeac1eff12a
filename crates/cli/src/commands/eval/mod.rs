//! `errorbar eval`: runs tasks and writes their logs.
//!
//! Every task is built and checked before the first one runs, and everything that is wrong is reported at once.

mod args;
mod conclude;
mod earlier;
mod notes;
mod prepare;
mod resume;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use errorbar_eval::{
    Calls, CancelToken, FinishedRun, PreparedTask, Quiet, ResumableLog, block_on, cancel_on_interrupt,
};
use futures_util::future::join_all;

use super::{CommandResult, Context, servers};
use crate::diagnostic::{Diagnostic, Diagnostics, Print};
use crate::format::Format;
use crate::output::Stream;
use crate::progress::Watcher;
pub(crate) use args::EvalArgs;
pub(super) use notes::{call_notes, usage_note};
use notes::{limits_note, programs_note};

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
        false => resume::resume_all(args, &watcher, context)?,
        true => prepare::prepare_all(args, &watcher, context)?,
    };
    for run in runs.iter().flatten() {
        requirements.check_plan(run.task.plan()).map_err(|diagnostics| diagnostics.about(&run.label))?;
    }
    if args.skip_complete {
        earlier::find(&mut runs, args).print(context.quiet);
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
    let mut outcome = conclude::conclude(outcomes, &requirements, args, context);
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
    let servers = servers::note(to_run().flat_map(|run| run.task.servers()));
    let limits = resumed(runs).filter_map(|run| limits_note(&run.task));
    let connections = calls.and_then(|calls| args.model_args.calling.connections.note_fewer(calls));
    // The warnings of a task do not depend on the model.
    let warnings = runs.iter().filter_map(|models| models.first()).flat_map(|run| {
        let warnings = run.task.warnings().iter();
        warnings.map(|warning| Diagnostic::warning(warning.to_string()).about(&run.label))
    });
    servers.into_iter().chain(connections).chain(limits).chain(warnings).collect()
}

/// A run, and how it ended.
struct RunOutcome {
    label: String,
    model: String,
    ending: RunEnding,
}

enum RunEnding {
    Ended(Box<errorbar_eval::Result<FinishedRun>>),
    /// All of it was there before.
    Skipped(Box<errorbar_eval::Result<FinishedRun>>),
    /// It was not started, because the user had cancelled the one before.
    NotRun,
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
                let ending = match &start {
                    // What is there is shown, whether the user has cancelled the others or not.
                    RunStart::Complete(log) => RunEnding::Skipped(Box::new(task.skip(log, &Quiet))),
                    _ if cancel.is_stopped() => RunEnding::NotRun,
                    RunStart::Resumed(log) => {
                        RunEnding::Ended(Box::new(task.resume(log, observer, cancel).await))
                    }
                    RunStart::New => RunEnding::Ended(Box::new(task.run(observer, cancel).await)),
                };
                RunOutcome { label, model, ending }
            }
        });
        outcomes.extend(join_all(runs).await);
    }
    outcomes
}
