//! Tasks on the command line: files, folders of them, tasks of files, registered names; with arguments.

use std::path::{Component, Path, PathBuf};

use errorbar_core::spec::{Arg, Spec, nearest};
use errorbar_core::{Error, Metadata, Registry};
use errorbar_eval::{
    ResumableLog, Task, TaskLoadError, TaskOutline, TaskSelection, load_tasks, outline_task_file,
};
use indexmap::{IndexMap, IndexSet};
use serde_json::Value as Json;

use super::Context;
use super::run_diagnostics::resume_command;
use super::task_list::task_files;
use crate::diagnostic::{Diagnostic, Diagnostics, Print, all};
use errorbar_analysis::hints;

/// A task of the command line.
#[derive(Debug)]
pub(super) struct NamedTask {
    /// What it is called there: a file, a task of a file (`FILE@NAME`), a task of this program.
    pub(super) named: String,
    pub(super) task: Task,
}

/// Where tasks are, before they are read.
enum TaskSource {
    /// A file, and the only task of it that is meant.
    File(PathBuf, Option<String>),
    Registered(String),
}

/// The tasks of these files, folders and names, in this order, with at most `limit` samples read of each; those of a
/// folder by their paths, those of a file in its order.
pub(super) fn tasks(
    named: &[String],
    args: &[String],
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<Vec<NamedTask>, Diagnostics> {
    let given = given_args(args)?;
    let sources = all(named.iter().map(|named| sources(named, context)))?;
    let sources: Vec<TaskSource> = sources.into_iter().flatten().collect();
    // Of several tasks each gets the arguments that it has; one that none has is a mistake.
    let is_one = sources.len() == 1;
    let known: Vec<Vec<String>> = match is_one {
        true => Vec::new(),
        false => sources.iter().map(|source| source.argument_names(&given, context)).collect(),
    };
    let unknown = given.keys().find(|name| !is_one && !known.iter().flatten().any(|known| known == *name));
    if let Some(name) = unknown {
        return Err(unknown_argument(name, known.iter().flatten()).into());
    }
    let of_source = |(at, source): (usize, &TaskSource)| {
        let takes = |name: &String| known.get(at).is_none_or(|known| known.contains(name));
        let mut given = given.clone();
        given.retain(|name, _| takes(name));
        match source {
            TaskSource::File(path, name) => {
                let (name, args) = (name.clone(), texts(&given));
                from_file(path, TaskSelection { name, args, limit, recorded_digest: None }, context)
            }
            TaskSource::Registered(named) => {
                let task = registered(named, &given, context)?;
                Ok(vec![NamedTask { named: named.clone(), task }])
            }
        }
    };
    Ok(all(sources.iter().enumerate().map(of_source))?.into_iter().flatten().collect())
}

impl TaskSource {
    /// The arguments that its tasks have. A file with mistakes may have any: they are reported when it is loaded.
    fn argument_names(&self, given: &IndexMap<String, String>, context: &Context<'_>) -> Vec<String> {
        match self {
            TaskSource::File(path, name) => {
                let Ok(outlines) = outline_task_file(path, context.registry) else {
                    return given.keys().cloned().collect();
                };
                let is_meant = |task: &&TaskOutline| name.is_none() || task.key == *name;
                let args = outlines.iter().filter(is_meant).flat_map(|task| &task.args);
                args.map(|argument| argument.name.clone()).collect()
            }
            TaskSource::Registered(named) => {
                let name = named.split('(').next().unwrap_or_default();
                let entry = context.registry.list::<Task>().find(|entry| entry.name == name);
                entry.iter().flat_map(|entry| &entry.params).map(|param| param.name.to_string()).collect()
            }
        }
    }
}

/// What a word of the command line means.
fn sources(named: &str, context: &Context<'_>) -> Result<Vec<TaskSource>, Diagnostics> {
    let path = Path::new(named);
    if path.is_dir() {
        return files_of_folder(path, context);
    }
    Ok(vec![match file_and_name(named) {
        Some((file, name)) => TaskSource::File(file, name),
        None => TaskSource::Registered(named.to_owned()),
    }])
}

/// The task files of a folder. Other TOML files are reported and skipped.
fn files_of_folder(folder: &Path, context: &Context<'_>) -> Result<Vec<TaskSource>, Diagnostics> {
    let (mut sources, mut others) = (Vec::new(), Diagnostics::default());
    for path in task_files(folder)? {
        match outline_task_file(&path, context.registry) {
            Ok(tasks) if tasks.is_empty() => others.push(not_a_task(&path)),
            _ => sources.push(TaskSource::File(path, None)),
        }
    }
    if sources.is_empty() {
        others.push(Diagnostic::error("no task file (.toml) is in this folder").about(folder.display()));
        return Err(others);
    }
    others.print(context.quiet);
    Ok(sources)
}

/// The note that a TOML file is skipped.
pub(super) fn not_a_task(path: &Path) -> Diagnostic {
    Diagnostic::note("not a task file: it has neither `dataset` nor `scorer`").about(path.display())
}

/// A file, and the task of it that is meant: `FILE.toml`, `FILE.toml@NAME`.
pub(super) fn file_and_name(named: &str) -> Option<(PathBuf, Option<String>)> {
    let is_toml = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let path = Path::new(named);
    if is_toml(path) || path.is_file() {
        return Some((path.to_owned(), None));
    }
    // A name may have an `@` in it, and so may a folder.
    let ats = named.match_indices('@').map(|(at, _)| named.split_at(at));
    let (file, name) = ats.map(|(file, name)| (Path::new(file), name)).find(|(file, _)| is_toml(file))?;
    Some((file.to_owned(), name.strip_prefix('@').map(str::to_owned)))
}

/// The arguments of the options `-T`, by name.
fn given_args(args: &[String]) -> Result<IndexMap<String, String>, Diagnostics> {
    let mut given = IndexMap::new();
    for (name, value) in all(args.iter().map(|arg| Ok(key_and_value(arg)?)))? {
        if given.insert(name.clone(), value).is_some() {
            let problem = format!("-T: the argument `{name}` is given twice");
            return Err(Diagnostic::error(problem)
                .hint(format!("a list is one value: -T {name}=a,b"))
                .into());
        }
    }
    Ok(given)
}

/// The task of a log that is resumed: the named one, or the one that the log names, with the arguments that it records.
///
/// A log may come from anywhere, and a task reads files and runs programs. So a file that only the log names is one of
/// the current folder as the log knows it, and strings among the arguments are given by the user.
pub(super) fn task_of_log(
    named: Option<&str>,
    args: &[String],
    log: &ResumableLog,
    context: &Context<'_>,
) -> Result<Task, Diagnostics> {
    let given = given_args(args)?;
    let resume = |task: &str| resume_command(context, Some(task), &file_args(log), &log.path, &log.servers());
    let untrusted = |file: &Path, problem: &str| {
        let problem = format!("the log alone names the task file {}, {problem}", file.display());
        let hint = format!("if you trust it, name it yourself: `{}`", resume(&shown(file)));
        Diagnostics::from(Diagnostic::error(problem).about(log.path.display()).hint(hint))
    };
    let of_file = |file: &Path, name: Option<&str>, digest: Option<&str>| -> Result<Task, Diagnostics> {
        let is_given = |name: &str| given.contains_key(name);
        let of_log = || log.eval.task_args_passed.iter().filter(|(name, _)| !is_given(name));
        if let Some((name, value)) = of_log().find(|(_, value)| !is_taken_from_log(value)) {
            let problem = format!(
                "the log alone gives the task the argument {name} = {value}, and a string may name a file or a program"
            );
            let hint =
                format!("if you trust it, give it yourself: `{}`", resume(named.unwrap_or(&shown(file))));
            return Err(Diagnostic::error(problem).about(log.path.display()).hint(hint).into());
        }
        let of_log = of_log().map(|(name, value)| (name.clone(), value.clone()));
        let selection = TaskSelection {
            name: name.map(str::to_owned),
            args: of_log.chain(texts(&given)).collect(),
            limit: None,
            recorded_digest: digest.map(str::to_owned),
        };
        check_extension(file, context.program)?;
        let mut tasks = load_tasks(file, &selection, context.registry).map_err(|error| match error {
            TaskLoadError::OtherDigest => untrusted(file, "which has changed since the run was started"),
            error => load_problems(file, error),
        })?;
        match (tasks.pop(), tasks.is_empty()) {
            (Some(only), true) => {
                // Of a file that only the log names, the user learns it in any case.
                Diagnostic::note(format!("resumed with the task file {}", file.display()))
                    .about(log.path.display())
                    .print(context.quiet && digest.is_none());
                Ok(only)
            }
            _ => {
                let problem = format!("{} has several tasks, and the log is of one", file.display());
                let hint = format!("name it: {}@NAME", file.display());
                Err(Diagnostics::from(Diagnostic::error(problem).hint(hint)))
            }
        }
    };
    let recorded = log.eval.task_registry_name.as_deref();
    if let Some((file, name)) = named.and_then(file_and_name) {
        // The log knows which of several tasks it is of.
        let name = name.as_deref().or(recorded.filter(|_| log.task_file().is_some()));
        return of_file(&file, name, None);
    }
    let name = match (named, log.task_file(), recorded) {
        (Some(named), ..) => named,
        (None, Some(file), _) if !file.is_file() => {
            let problem = format!("the task file of the log, {}, does not exist", file.display());
            let hint =
                format!("the log has the path that the run was given; name the file: `{}`", resume("TASK"));
            return Err(Diagnostic::error(problem).hint(hint).into());
        }
        (None, Some(file), _) if !is_in_current_folder(file) => {
            return Err(untrusted(file, "which is not in this folder, and a task runs programs"));
        }
        (None, Some(file), name) => {
            let Some(digest) = log.task_file_digest() else {
                return Err(untrusted(file, "without a digest of it, and a task runs programs"));
            };
            return of_file(file, name, Some(digest));
        }
        (None, None, Some(name)) => name,
        (None, None, None) => {
            let problem = format!("the log does not record where its task `{}` comes from", log.eval.task);
            let hint = "name the task too: a file, or a task of this program";
            return Err(Diagnostic::error(problem).hint(hint).into());
        }
    };
    if let Some((given, _)) = given.first() {
        let problem = format!("-T {given}: a task of this program is resumed with the arguments of the log");
        return Err(Diagnostic::error(problem).hint("leave it out").into());
    }
    let spec = Spec::from_log(name, &log.eval.task_args_passed).map_err(errorbar_core::Error::from)?;
    Ok(build(&spec, context)?)
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// Whether a task file lies directly in the current folder, with no path of its own and no link that leads elsewhere.
pub(super) fn is_in_current_folder(file: &Path) -> bool {
    let mut parts = file.components().filter(|part| *part != Component::CurDir);
    let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let folder = Path::new(".").canonicalize();
    let place = file.canonicalize();
    is_name && place.is_ok_and(|place| folder.is_ok_and(|folder| place.parent() == Some(folder.as_path())))
}

/// The arguments of a task file that a log records.
pub(super) fn file_args(log: &ResumableLog) -> Metadata {
    log.task_file().map(|_| log.eval.task_args_passed.clone()).unwrap_or_default()
}

/// Whether a value is taken from a log alone: a string, also in a list, may name a file or a program.
pub(super) fn is_taken_from_log(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => true,
        Json::Array(values) => values.iter().all(is_taken_from_log),
        Json::String(_) | Json::Object(_) => false,
    }
}

/// The error of a file that is no task file, by its name.
fn check_extension(path: &Path, program: &str) -> Result<(), Diagnostic> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (problem, hint) = match extension.as_str() {
        "eval" => (
            "this is a log, not a task",
            format!("`{program} score` computes its metrics, `--resume` continues its run"),
        ),
        "csv" | "tsv" | "json" | "jsonl" | "parquet" => (
            "this is a dataset, not a task",
            "write a task file (.toml) that names it: dataset = { path = \"…\" }".to_owned(),
        ),
        _ => return Ok(()),
    };
    Err(Diagnostic::error(problem).about(path.display()).hint(hint))
}

fn from_file(
    path: &Path,
    selection: TaskSelection,
    context: &Context<'_>,
) -> Result<Vec<NamedTask>, Diagnostics> {
    check_extension(path, context.program)?;
    let tasks = load_tasks(path, &selection, context.registry).map_err(|error| load_problems(path, error))?;
    let named = |task: Task| {
        let named = match task.name_in_file() {
            Some(name) => format!("{}@{name}", path.display()),
            None => path.display().to_string(),
        };
        NamedTask { named, task }
    };
    Ok(tasks.into_iter().map(named).collect())
}

fn load_problems(path: &Path, error: TaskLoadError) -> Diagnostics {
    match error {
        TaskLoadError::File(error) => Diagnostics::from(error),
        other => hints::eval::task_diagnostic(&other).about(path.display()).into(),
    }
}

/// An argument of the option `-T`.
fn key_and_value(arg: &str) -> Result<(String, String), Diagnostic> {
    match arg.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.to_owned())),
        None => Err(Diagnostic::error(format!("-T {arg}: an argument of a task is written key=value"))),
    }
}

fn texts(given: &IndexMap<String, String>) -> Vec<(String, Json)> {
    given.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str()))).collect()
}

/// The error of an argument that none of several tasks has.
fn unknown_argument<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Diagnostic {
    let known: Vec<String> = known.cloned().collect::<IndexSet<String>>().into_iter().collect();
    let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    let error = TaskLoadError::UnknownArgument { name: name.to_owned(), nearest, known };
    hints::eval::task_diagnostic(&error)
}

fn registered(
    named: &str,
    args: &IndexMap<String, String>,
    context: &Context<'_>,
) -> Result<Task, Diagnostics> {
    let mut spec = match named.parse::<Spec>() {
        Ok(spec) => spec,
        Err(error) if named.contains('(') => {
            return Err(Diagnostic::error(format!("task `{named}`: {error}")).into());
        }
        Err(_) => Spec::new(named),
    };
    for (key, value) in args {
        spec = spec.kwarg(key.as_str(), literal(value));
    }
    Ok(build(&spec, context)?)
}

/// A number, a list and so on as specs write them; anything else is a string, as it is.
fn literal(text: &str) -> Arg {
    match text.parse::<Arg>() {
        Ok(Arg::Spec(_)) | Err(_) => Arg::Str(text.to_owned()),
        Ok(arg) => arg,
    }
}

fn build(spec: &Spec, context: &Context<'_>) -> Result<Task, Diagnostic> {
    context.registry.build::<Task>(spec).map_err(|error| match error {
        Error::UnknownName { name, .. } => {
            Diagnostic::error(format!("unknown task `{name}`")).hint(advice(&name, context.registry))
        }
        error => Diagnostic::from(error).about(format_args!("task {}", spec.name)),
    })
}

fn advice(name: &str, registry: &Registry) -> String {
    let names = || registry.list::<Task>().map(|listing| listing.name.as_str());
    match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names().next().is_none() => {
            "this program defines no tasks; name a task file (.toml)".to_owned()
        }
        None => format!(
            "tasks of this program: {}; or name a task file (.toml)",
            names().collect::<Vec<_>>().join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_a_file_is_behind_an_at() {
        let parts = |named: &str| {
            file_and_name(named).map(|(file, name)| (file.display().to_string(), name.unwrap_or_default()))
        };
        let pair = |file: &str, name: &str| Some((file.to_owned(), name.to_owned()));
        assert_eq!(parts("a/b.toml"), pair("a/b.toml", ""));
        assert_eq!(parts("a/b.toml@law"), pair("a/b.toml", "law"));
        assert_eq!(parts("a@b/c.toml@law@2"), pair("a@b/c.toml", "law@2"));
        assert_eq!(parts("quiz"), None);
        assert_eq!(parts("quiz@law"), None);
    }

    #[test]
    fn values_are_literals_or_strings() {
        assert_eq!(literal("5"), Arg::Int(5));
        assert_eq!(literal("0.5"), Arg::Float(0.5));
        assert_eq!(literal("true"), Arg::Bool(true));
        assert_eq!(literal("'5'"), Arg::from("5"));
        assert_eq!(literal("data/x.csv"), Arg::from("data/x.csv"));
        assert_eq!(literal("plain words"), Arg::from("plain words"));
        assert_eq!(literal("word"), Arg::from("word"));
    }
}
