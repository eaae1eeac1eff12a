//! Runs of a set that an earlier call has completed or begun.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use errorbar_eval::{EarlierRun, PreparedTask, ResumableLog, open_earlier};
use errorbar_log::eval::{EvalLog, LogLimits};
use rayon::prelude::*;

use super::{EvalArgs, PreparedRun, RunStart};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::counted;
use errorbar_analysis::{expand_folder, newest_first};

/// Finds the logs of runs that were made before, in the folder that logs are written to. Returns what there is to report of
/// them.
pub(super) fn find(runs: &mut [Vec<PreparedRun>], args: &EvalArgs) -> Diagnostics {
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
        let found = Found::of(&run.task, &logs, &resumed);
        diagnostics.extend(found.problems.into_iter().map(|problem| problem.about(&subject)));
        if let Some(log) = found.complete {
            complete += 1;
            diagnostics.push(note("complete", log.path()).about(&subject));
            run.start = RunStart::Complete(log);
        } else if let Some(log) = found.incomplete {
            diagnostics.push(note("not complete, and resumed", log.path()).about(&subject));
            resumed.insert(log.path().to_owned());
            run.start = RunStart::Resumed(log);
        }
    }
    diagnostics.push(Diagnostic::note(format!("{complete} of {} complete", counted(total, "run"))));
    diagnostics
}

fn note(state: &str, log: &Path) -> Diagnostic {
    Diagnostic::note(format!("{state}: {}", log.display()))
}

fn names(task: &PreparedTask) -> (String, String) {
    (task.name().to_owned(), task.model_name().to_owned())
}

/// The log, if it is of one of these tasks and models. One that cannot be read, or of another program, is none.
fn of_these(path: &Path, limits: LogLimits, wanted: &HashSet<(String, String)>) -> Option<ResumableLog> {
    let eval = EvalLog::open_with(path, limits).ok()?.short_header().ok()?.eval;
    wanted.contains(&(eval.task, eval.model)).then(|| open_earlier(path, limits).ok()).flatten()
}

/// What was found of a run.
#[derive(Default)]
struct Found {
    complete: Option<ResumableLog>,
    incomplete: Option<ResumableLog>,
    problems: Vec<Diagnostic>,
}

impl Found {
    /// The newest complete log of a run, or else the newest that can be resumed.
    fn of(task: &PreparedTask, logs: &[ResumableLog], resumed: &HashSet<PathBuf>) -> Self {
        let mut found = Found::default();
        for log in logs {
            match task.earlier_run(log) {
                Ok(EarlierRun::Complete) => {
                    found.problems.clear();
                    found.complete = Some(log.clone());
                    return found;
                }
                Ok(EarlierRun::Incomplete) if found.incomplete.is_none() && !resumed.contains(log.path()) => {
                    found.incomplete = Some(log.clone());
                }
                Ok(EarlierRun::Changed(change)) => {
                    found
                        .problems
                        .push(note(&format!("not that of the task as it is now ({change})"), log.path()));
                }
                Ok(_) => {}
                Err(error) => {
                    let problem = format!("{} is not used: {error}", log.path().display());
                    found.problems.push(Diagnostic::warning(problem));
                }
            }
        }
        found
    }
}
