//! The servers of runs: named before they are asked, and given again by whoever resumes a run.

use std::path::Path;

use errorbar_eval::{ModelServer, RecordedServer, ResumableLog};
use errorbar_report::clean;

use super::Context;
use crate::{message, shell};

/// Names the servers that will be asked, and get the key.
pub(super) fn note(asked: impl Iterator<Item = ModelServer>) {
    let mut servers: Vec<(String, Vec<String>)> = Vec::new();
    for ModelServer { address, model, role, .. } in asked {
        let asked = match role {
            Some(role) => format!("{model} as {role}"),
            None => model,
        };
        match servers.iter_mut().find(|(known, _)| *known == address) {
            Some((_, models)) if models.contains(&asked) => {}
            Some((_, models)) => models.push(asked),
            None => servers.push((address, vec![asked])),
        }
    }
    if !servers.is_empty() {
        let named = servers.iter().map(|(address, models)| format!("{address} ({})", models.join(", ")));
        message::note(format!("asking {}", clean(&named.collect::<Vec<_>>().join(", "))));
    }
}

/// The command that resumes a run, with the addresses that it wants to be given.
pub(super) fn resume_command(
    program: &str,
    tasks: &[String],
    log: &Path,
    servers: &[RecordedServer],
) -> String {
    let mut words = vec![program.to_owned(), "eval".to_owned()];
    words.extend(tasks.iter().map(|task| shell::word(task)));
    words.extend(["--resume".to_owned(), shell::word(&log.display().to_string())]);
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

/// Refuses to resume a run on servers that only its log names: the key of the environment would be sent there.
pub(super) fn refuse_unnamed(
    unnamed: &[RecordedServer],
    log: &ResumableLog,
    tasks: &[String],
    context: &Context<'_>,
) {
    let all = log.servers();
    let named = unnamed.iter().map(|server| format!("{} (of {})", server.base_url, server.model));
    message::error(clean(&format!(
        "{}: the log alone names the server {}, and the key is not sent to a server that only a log names",
        log.path().display(),
        named.collect::<Vec<_>>().join(", ")
    )));
    let query = match all.iter().any(|server| server.has_query) {
        true => "; what stands behind the `?` is in no log: give it too",
        false => "",
    };
    let command = resume_command(context.program, tasks, log.path(), &all);
    message::hint(format!("if you trust it, name it yourself: `{command}`{query}"));
}
