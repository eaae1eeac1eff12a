//! Runs that are continued from their logs.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_eval::{Calls, RunOptions, UsageLimits, open_resumable_with};
use errorbar_log::eval::remove_damaged_samples;

use super::prepare::prepare;
use super::{EvalArgs, PreparedRun, RunStart};
use crate::commands::{Context, servers, stop_rules, tasks};
use crate::diagnostic::{Diagnostic, Diagnostics, Print, all};
use crate::progress::Watcher;
use errorbar_analysis::resolve_in;

/// The runs of all logs that are resumed, those of one task side by side. Everything that is wrong is reported at once.
pub(super) fn resume_all(
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
        return Err(servers::unnamed(&unnamed, &log, named, context).into());
    }
    args.model_args.calling.apply(&mut options, watcher)?;
    options.calls = Arc::clone(calls.get_or_insert(options.calls));
    let prepared = prepare(&format!("{}: {}", path.display(), log.task()), &task, &options, context)?;
    let label = prepared.name().to_owned();
    Ok(PreparedRun { task: prepared, label, start: RunStart::Resumed(log) })
}
