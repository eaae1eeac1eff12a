//! How runs end: what there is to report, and how to continue those that did not reach their end.

use std::path::Path;

use errorbar_analysis::{hints, shell};
use errorbar_core::engine::thousands;
use errorbar_core::{Metadata, ScoreResult};
use errorbar_eval::{
    Error, FinishedRun, ModelErrorKind, ModelServer, RecordedServer, ResumableLog, StopReason,
};
use errorbar_log::eval::LogErrorKind;
use errorbar_report::clean;
use indexmap::{IndexMap, IndexSet};

use super::Context;
use super::tasks::is_in_current_folder;
use super::tasks::{file_args, is_taken_from_log};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::text_of;

/// What there is to report of a run that has ended, and whether it did all that it should.
pub(super) fn diagnostics(finished: &FinishedRun, context: &Context<'_>) -> (Diagnostics, bool) {
    let FinishedRun { log, total, done, failed, .. } = finished;
    let FinishedRun { task_file, passed_args, archive, servers, .. } = finished;
    let task = task_file.as_ref().filter(|file| !is_in_current_folder(file));
    let task = task.map(|file| file.display().to_string());
    let args = task_file.as_ref().map(|_| passed_args.clone()).unwrap_or_default();
    let resume = resume_command(context, task.as_deref(), &args, archive, servers);
    let resume = format!("resume it with `{resume}`");
    if let Some(error) = &finished.log_error {
        return (log_lost(error, finished, &resume).into(), false);
    }
    let mut diagnostics = Diagnostics::default();
    if let Some(error) = &finished.results_error {
        let hint = format!("the samples are in {}; score them with other metrics or reducers", log.display());
        diagnostics.push(Diagnostic::error(format!("the results cannot be computed: {error}")).hint(hint));
    }
    if let Some(StopReason::RuleHeld { reason, samples, planned, .. }) = &finished.stopped {
        let (samples, planned) = (thousands(*samples as u64), thousands(*planned as u64));
        let text = format!("stopped after {samples} of {planned} samples: {reason}");
        diagnostics.push(Diagnostic::note(text).hint(format!("for the others, {resume}")));
    } else if let Some(stop) = &finished.stopped
        && let Some(stopped) = stopped(stop, *done, *total, &resume)
    {
        diagnostics.push(stopped);
        return (diagnostics, false);
    }
    let ran_to_the_end = finished.stopped.is_none() && finished.stop_problem.is_none();
    if ran_to_the_end && !finished.stop_rules.is_empty() {
        let rules = finished.stop_rules.join(", ");
        diagnostics.push(Diagnostic::note(format!("not stopped early: {rules} did not hold before the end")));
    }
    if let Some(problem) = &finished.stop_problem {
        diagnostics.push(Diagnostic::warning(format!("the rule to stop by could not be applied: {problem}")));
    }
    if *failed > 0 {
        diagnostics.push(Diagnostic::warning(format!(
            "{failed} of {total} samples failed and are not in the figures; {resume} to run them again"
        )));
    }
    if finished.limited() > 0 {
        diagnostics.push(Diagnostic::warning(format!(
            "{} of {total} samples reached a limit and were scored as they were; the log has them",
            finished.limited()
        )));
    }
    let has_scores = unscored(finished, context, &mut diagnostics);
    (diagnostics, has_scores && failed < total)
}

/// The log cannot be written any more.
fn log_lost(error: &Error, finished: &FinishedRun, resume: &str) -> Diagnostic {
    let FinishedRun { done, total, .. } = finished;
    match error {
        Error::Log(error) if matches!(error.kind(), LogErrorKind::Gone | LogErrorKind::Displaced) => {
            let problem = format!("after {done} of {total} samples: {error}");
            Diagnostic::failure(problem).hint_if(hints::log_hint(error))
        }
        error => {
            let advice = match error {
                Error::Log(error) => hints::log_hint(error),
                _ => None,
            };
            let advice = advice.map(|advice| format!("{advice}; ")).unwrap_or_default();
            Diagnostic::error(format!("{error}; {done} of {total} samples are in it"))
                .hint(format!("{advice}{resume}"))
        }
    }
}

/// Why a run ended before its end, if it did.
fn stopped(stop: &StopReason, done: usize, total: usize, resume: &str) -> Option<Diagnostic> {
    let ended = format!("ended after {done} of {total} samples, because");
    Some(match stop {
        StopReason::ModelFailed { kind, model, problem } => {
            let (failure, hint) = match kind {
                ModelErrorKind::Unreachable => {
                    let failure = format!("the server of {model} has never answered");
                    (failure, format!("when the server runs, {resume}"))
                }
                ModelErrorKind::Untrusted => (
                    format!("the server of {model} is not trusted"),
                    format!(
                        "if you trust it, name a file with its certificate, or with that of who signed it: {} --ca-file \
                         FILE`",
                        resume.trim_end_matches('`')
                    ),
                ),
                _ => (format!("{model} rejects the key"), format!("when the key is fixed, {resume}")),
            };
            Diagnostic::failure(format!("{ended} {failure}: {problem}")).hint(hint)
        }
        StopReason::Cancelled => {
            Diagnostic::warning(format!("cancelled after {done} of {total} samples; {resume}"))
        }
        StopReason::LimitReached { limit } => Diagnostic::warning(format!("{ended} {limit}; {resume}")),
        StopReason::TooManyErrors { failed, sample, problem, .. } => {
            Diagnostic::warning(format!("{ended} {failed} failed; sample {sample:?}: {problem}; {resume}"))
        }
        _ => return None,
    })
}

/// Reports scorers that could not score any answer; whether another could.
fn unscored(finished: &FinishedRun, context: &Context<'_>, diagnostics: &mut Diagnostics) -> bool {
    let reasons = format!(
        "the log has the reasons: `{} log show {} --unscored`",
        context.program,
        finished.log.display()
    );
    let blocks = finished.results.as_ref().map_or(&[][..], |results| &results.scores);
    let has_samples = finished.failed < finished.total && !blocks.is_empty();
    if has_samples && blocks.iter().all(|block| block.counts.scored == 0) {
        let scorers: IndexSet<String> = blocks.iter().map(|block| format!("`{}`", block.scorer)).collect();
        let scorers = scorers.into_iter().collect::<Vec<_>>().join(", ");
        let problem = format!("no answer could be scored by {scorers}, so the figures mean nothing");
        diagnostics.push(Diagnostic::failure(problem).hint(reasons));
        return false;
    }
    let is_unscored = |block: &&ScoreResult| block.counts.scored == 0 && block.counts.unscored > 0;
    diagnostics.extend(blocks.iter().filter(is_unscored).map(|block| {
        Diagnostic::warning(format!("`{}` could not score any of the answers; {reasons}", block.name()))
    }));
    true
}

/// A note of the servers that will be called, and get the key.
pub(super) fn server_note(servers: impl Iterator<Item = ModelServer>) -> Option<Diagnostic> {
    let mut models: IndexMap<String, IndexSet<String>> = IndexMap::new();
    for ModelServer { address, model, role, .. } in servers {
        let model = role.map_or(model.clone(), |role| format!("{model} as {role}"));
        models.entry(address).or_default().insert(model);
    }
    let named = models.iter().map(|(address, models)| {
        let models: Vec<&str> = models.iter().map(String::as_str).collect();
        format!("{address} ({})", models.join(", "))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| Diagnostic::note(clean(&format!("calling {}", named.join(", ")))))
}

/// The command that resumes a run, with what is not taken from the log alone: the task, arguments, allowed paths, addresses.
pub(super) fn resume_command(
    context: &Context<'_>,
    task: Option<&str>,
    args: &Metadata,
    log: &Path,
    servers: &[RecordedServer],
) -> String {
    let mut words = vec![context.program.to_owned(), "eval".to_owned()];
    words.extend(task.map(|task| shell::path(Path::new(task))));
    for (name, value) in args.iter().filter(|(_, value)| !is_taken_from_log(value)) {
        words.extend(["-T".to_owned(), shell::word(&format!("{name}={}", text_of(value)))]);
    }
    for path in context.registry.allowed_paths().unwrap_or_default() {
        words.extend(["--allow-path".to_owned(), shell::path(path)]);
    }
    words.extend(["--resume".to_owned(), shell::path(log)]);
    for RecordedServer { role, base_url, has_query, .. } in servers {
        // What stands behind a `?` may be secret, and is in no log.
        let url = if *has_query { format!("{base_url}?…") } else { base_url.clone() };
        words.extend(match role {
            None => ["--base-url".to_owned(), shell::word(&url)],
            Some(role) => ["--role-base-url".to_owned(), shell::word(&format!("{role}={url}"))],
        });
    }
    clean(&words.join(" "))
}

/// The error of a run whose servers only its log names: the key of the environment would be sent there.
pub(super) fn unnamed_servers(
    unnamed: &[RecordedServer],
    log: &ResumableLog,
    task: Option<&str>,
    context: &Context<'_>,
) -> Diagnostic {
    let all = log.servers();
    let named = unnamed.iter().map(|server| format!("{} (of {})", server.base_url, server.model));
    let problem = clean(&format!(
        "{}: the log alone names the server {}, and the key is not sent to a server that only a log names",
        log.path.display(),
        named.collect::<Vec<_>>().join(", ")
    ));
    let query = match all.iter().any(|server| server.has_query) {
        true => "; what follows the `?` is in no log: give it too",
        false => "",
    };
    let command = resume_command(context, task, &file_args(log), &log.path, &all);
    Diagnostic::error(problem).hint(format!("if you trust it, name it yourself: `{command}`{query}"))
}
