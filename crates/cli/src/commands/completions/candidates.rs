//! What can stand at a place of the command line: entries, tasks, logs, models.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use errorbar_core::Registry;
use errorbar_eval::{Provider, Task, outline_task_file};
use errorbar_log::eval::EvalLog;
use indexmap::IndexSet;

use crate::commands::list::EntryKind;
use errorbar_analysis::{expand_folder, log_dir, newest_first};

/// The most logs that have a handle among the candidates.
const HANDLES: usize = 9;
/// The most logs whose models are candidates, and the most task files whose tasks are.
const FILES_READ: usize = 30;

/// What completes an argument of a command, if it takes names.
pub(super) fn of_argument(command: &str, arg: &Arg, registry: &Registry) -> Option<ArgValueCompleter> {
    let value = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    let of_specs = |kind: EntryKind| {
        let names = names(kind, registry);
        Some(ArgValueCompleter::new(move |current: &OsStr| in_spec(&names, current)))
    };
    match (arg.get_long(), value) {
        (Some("metric"), _) => of_specs(EntryKind::Metrics),
        (Some("reducer"), _) => of_specs(EntryKind::Reducers),
        (Some("scorer" | "scorers" | "with"), _) => of_specs(EntryKind::Scorers),
        (Some("solver"), _) => of_specs(EntryKind::Solvers),
        (Some("model"), _) => {
            let providers: Vec<Named> = registry
                .list::<Provider>()
                .map(|entry| (format!("{}/", entry.name), entry.summary()))
                .collect();
            Some(ArgValueCompleter::new(move |current: &OsStr| models(&providers, current)))
        }
        (_, Some("LOG")) => Some(ArgValueCompleter::new(logs)),
        (None | Some("from"), Some("FILE")) => Some(ArgValueCompleter::new(tables_and_logs)),
        (None, Some("TASK")) => {
            let registry = registry.clone();
            Some(ArgValueCompleter::new(move |current: &OsStr| tasks(&registry, current)))
        }
        (None, Some("NAME")) if command == "help" => {
            let (commands, registry) = (commands(), registry.clone());
            Some(ArgValueCompleter::new(move |current: &OsStr| topics(&commands, &registry, current)))
        }
        (None, Some("COMMAND")) if command == "man" => {
            let commands = commands();
            Some(ArgValueCompleter::new(move |current: &OsStr| starting(&commands, current)))
        }
        _ => None,
    }
}

/// A name and a sentence about it.
type Named = (String, String);

fn names(kind: EntryKind, registry: &Registry) -> Vec<Named> {
    kind.entries(registry).into_iter().map(|entry| (entry.name.clone(), entry.summary())).collect()
}

fn commands() -> Vec<Named> {
    let command = super::super::command(super::super::NAME);
    let about = |verb: &clap::Command| verb.get_about().map(ToString::to_string).unwrap_or_default();
    command.get_subcommands().map(|verb| (verb.get_name().to_owned(), about(verb))).collect()
}

fn candidate((name, help): &Named) -> CompletionCandidate {
    CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.clone().into()))
}

/// Those that start as the word does. Case matters, as it does in names.
fn starting(named: &[Named], current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    named.iter().filter(|(name, _)| name.starts_with(&*current)).map(candidate).collect()
}

/// Names at the end of a spec: `grouped(acc`, `bootstrap(metric=acc`.
fn in_spec(names: &[Named], current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let begins = current.rfind(['(', '[', ',', ' ', '=']).map_or(0, |at| at + 1);
    let (before, name) = current.split_at(begins);
    starting(names, OsStr::new(name)).into_iter().map(|found| found.add_prefix(before)).collect()
}

/// Commands, entries and kinds of entries.
fn topics(commands: &[Named], registry: &Registry, current: &OsStr) -> Vec<CompletionCandidate> {
    let kinds = EntryKind::value_variants();
    let words = kinds
        .iter()
        .map(|kind| (kind.plural().to_lowercase(), format!("All {}", kind.plural().to_lowercase())));
    let entries = kinds.iter().flat_map(|kind| names(*kind, registry));
    let mut seen = IndexSet::new();
    let all =
        commands.iter().cloned().chain(words).chain(entries).filter(|(name, _)| seen.insert(name.clone()));
    starting(&all.collect::<Vec<_>>(), current)
}

/// Whether a name from a file may be put on a command line.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_./:@+-".contains(c))
}

fn paths(ends: &'static [&'static str], current: &OsStr) -> Vec<CompletionCandidate> {
    let fits = |path: &Path| {
        let end = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
        path.is_file() && (ends.is_empty() || ends.contains(&end.as_str()))
    };
    PathCompleter::any().filter(fits).complete(current)
}

/// Handles of the newest logs, and paths.
fn logs(current: &OsStr) -> Vec<CompletionCandidate> {
    handles(current).into_iter().chain(paths(&["eval", "json"], current)).collect()
}

/// Handles of the newest logs, and any files.
fn tables_and_logs(current: &OsStr) -> Vec<CompletionCandidate> {
    handles(current).into_iter().chain(paths(&[], current)).collect()
}

fn handles(current: &OsStr) -> Vec<CompletionCandidate> {
    let current_text = current.to_string_lossy();
    let is_asked =
        current_text.is_empty() || current_text.starts_with('@') || "latest".starts_with(&*current_text);
    if !is_asked {
        return Vec::new();
    }
    let logs = newest_first(expand_folder(&log_dir()).files);
    let about = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered =
        logs.iter().take(HANDLES).enumerate().map(|(at, path)| (format!("@{}", at + 1), about(path)));
    let latest = logs.first().map(|path| ("latest".to_owned(), about(path)));
    starting(&numbered.chain(latest).collect::<Vec<_>>(), current)
}

/// Task files, folders, tasks of files (`FILE@NAME`) and those of this program.
fn tasks(registry: &Registry, current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let registered: Vec<Named> =
        registry.list::<Task>().map(|entry| (entry.name.clone(), entry.summary())).collect();
    let mut found = starting(&registered, current);
    // The beginning of a name in a file is no path.
    let file = text.split_once(".toml@").map_or_else(|| text.to_string(), |(file, _)| format!("{file}.toml"));
    let files = paths(&["toml"], OsStr::new(&file));
    let is_file =
        |path: &OsStr| Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    for path in files.iter().filter(|path| is_file(path.get_value())).take(FILES_READ) {
        let outlines = outline_task_file(Path::new(path.get_value()), registry).unwrap_or_default();
        let several = outlines.into_iter().filter(|task| task.key.is_some());
        let of_file: Vec<Named> = several.map(|task| (task.address(), String::new())).collect();
        let of_file: Vec<Named> = of_file.into_iter().filter(|(name, _)| is_plain(name)).collect();
        found.extend(starting(&of_file, current));
    }
    let whole = files.into_iter().filter(|path| path.get_value().to_string_lossy().starts_with(&*text));
    let mut all: Vec<CompletionCandidate> = whole.chain(found).collect();
    all.sort_by(|a, b| a.get_value().cmp(b.get_value()));
    all
}

/// The models of the newest logs, and what the names of models begin with; files of recorded answers.
fn models(providers: &[Named], current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    if let Some(path) = text.strip_prefix("replay/") {
        let found = logs(OsStr::new(path)).into_iter().chain(paths(&["jsonl"], OsStr::new(path)));
        let mut seen = IndexSet::new();
        let found = found.filter(|candidate| seen.insert(candidate.get_value().to_owned()));
        return found.map(|candidate| candidate.add_prefix("replay/")).collect();
    }
    let logs = newest_first(expand_folder(&log_dir()).files);
    let model = |path: &std::path::PathBuf| {
        EvalLog::open(path).and_then(|log| log.short_header()).ok().map(|header| header.eval.model)
    };
    let used: IndexSet<String> =
        logs.iter().take(FILES_READ).filter_map(model).filter(|model| is_plain(model)).collect();
    let used: Vec<Named> = used.into_iter().map(|model| (model, String::new())).collect();
    starting(&used, current).into_iter().chain(starting(providers, current)).collect()
}
