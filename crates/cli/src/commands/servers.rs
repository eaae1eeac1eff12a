//! The servers of runs: named before they are called, and given again when a run is resumed.

use std::path::Path;

use errorbar_core::Metadata;
use errorbar_eval::{ModelServer, RecordedServer, ResumableLog};
use errorbar_report::clean;
use indexmap::{IndexMap, IndexSet};

use super::Context;
use super::tasks::{file_args, is_taken_from_log};
use crate::diagnostic::Diagnostic;
use errorbar_analysis::shell;

/// A note of the servers that will be called, and get the key.
pub(super) fn note(servers: impl Iterator<Item = ModelServer>) -> Option<Diagnostic> {
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
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.extend(["-T".to_owned(), shell::word(&format!("{name}={value}"))]);
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
pub(super) fn unnamed(
    unnamed: &[RecordedServer],
    log: &ResumableLog,
    task: Option<&str>,
    context: &Context<'_>,
) -> Diagnostic {
    let all = log.servers();
    let named = unnamed.iter().map(|server| format!("{} (of {})", server.base_url, server.model));
    let problem = clean(&format!(
        "{}: the log alone names the server {}, and the key is not sent to a server that only a log names",
        log.path().display(),
        named.collect::<Vec<_>>().join(", ")
    ));
    let query = match all.iter().any(|server| server.has_query) {
        true => "; what follows the `?` is in no log: give it too",
        false => "",
    };
    let command = resume_command(context, task, &file_args(log), log.path(), &all);
    Diagnostic::error(problem).hint(format!("if you trust it, name it yourself: `{command}`{query}"))
}
