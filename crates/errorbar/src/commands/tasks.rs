//! Tasks off the command line: a file or a registered name, with arguments.

use std::path::Path;

use errorbar_core::spec::{Arg, Spec, nearest};
use errorbar_core::{Error, Registry};
use errorbar_eval::{ResumableLog, Task, load_task_file};

use super::Context;
use super::servers::resume_command;
use crate::{message, mistakes};

/// The task of this file or name; nothing if there is none, which then was told.
pub(super) fn task(named: &str, args: &[String], context: &Context<'_>) -> Option<Task> {
    if is_file(named) { from_file(Path::new(named), args, context) } else { registered(named, args, context) }
}

/// The task of this file or name, with the arguments that a log records; nothing if there is none.
pub(super) fn task_as_logged(named: &str, log: &ResumableLog, context: &Context<'_>) -> Option<Task> {
    if is_file(named) {
        return from_file(Path::new(named), &[], context);
    }
    with_logged_args(named, log, context)
}

/// A registered task with the arguments that a log records.
fn with_logged_args(name: &str, log: &ResumableLog, context: &Context<'_>) -> Option<Task> {
    match Spec::from_log(name, log.passed_args().as_object()) {
        Ok(spec) => build(&spec, context),
        Err(error) => {
            message::error(error);
            None
        }
    }
}

/// The task that a log is of; nothing if it is not here, which then was told.
pub(super) fn task_of_log(log: &ResumableLog, context: &Context<'_>) -> Option<Task> {
    if let Some(file) = log.task_file() {
        if !file.is_file() {
            message::error(format!("the task file of the log, {}, is not there", file.display()));
            message::hint(format!(
                "a log names it as the run did; name it yourself: `{}`",
                resume_command(context.program, &["TASK".to_owned()], log.path(), &log.servers())
            ));
            return None;
        }
        return from_file(file, &[], context);
    }
    let Some(name) = log.registered() else {
        message::error(format!("the log does not say where its task `{}` comes from", log.task()));
        message::hint("name the task too: a file, or a task of this program");
        return None;
    };
    with_logged_args(name, log, context)
}

fn is_file(named: &str) -> bool {
    let path = Path::new(named);
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) || path.is_file()
}

/// What a file is that is no task file, by its name.
fn other_kind(path: &Path, program: &str) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let (path, kind) = (path.display(), extension.as_str());
    match kind {
        "eval" => Some(format!(
            "{path} is a log: `{program} score` computes its metrics, `--resume` goes on with its run"
        )),
        "csv" | "tsv" | "json" | "jsonl" => Some(format!(
            "{path} is no task; write a task file (.toml) that names it: dataset = {{ path = \"…\" }}"
        )),
        _ => None,
    }
}

fn from_file(path: &Path, args: &[String], context: &Context<'_>) -> Option<Task> {
    if let Some(problem) = other_kind(path, context.program) {
        message::error(problem);
        return None;
    }
    if !args.is_empty() {
        message::error(format!("-T: {} is a task file, which takes no arguments", path.display()));
        message::hint("change the file, or override it with options such as --epochs and --metric");
        return None;
    }
    match load_task_file(path, context.registry) {
        Ok(task) => Some(task),
        Err(error) => {
            mistakes::show(&error);
            None
        }
    }
}

fn registered(named: &str, args: &[String], context: &Context<'_>) -> Option<Task> {
    let mut spec = match named.parse::<Spec>() {
        Ok(spec) => spec,
        Err(error) if named.contains('(') => {
            message::error(format!("task `{named}`: {error}"));
            return None;
        }
        Err(_) => Spec::new(named),
    };
    for arg in args {
        let Some((key, value)) = arg.split_once('=') else {
            message::error(format!("-T {arg}: an argument of a task is written key=value"));
            return None;
        };
        spec = spec.kwarg(key.trim(), literal(value));
    }
    build(&spec, context)
}

/// A number, a list and so on as specs write them; anything else is a text, as it is.
fn literal(text: &str) -> Arg {
    match text.parse::<Arg>() {
        Ok(Arg::Spec(_)) | Err(_) => Arg::Str(text.to_owned()),
        Ok(arg) => arg,
    }
}

fn build(spec: &Spec, context: &Context<'_>) -> Option<Task> {
    match context.registry.build::<Task>(spec) {
        Ok(task) => Some(task),
        Err(Error::UnknownName { name, .. }) => {
            message::error(format!("unknown task `{name}`"));
            message::hint(advice(&name, context.registry));
            None
        }
        Err(error) => {
            message::error(format!("task {}: {error}", spec.name));
            None
        }
    }
}

fn advice(name: &str, registry: &Registry) -> String {
    let names = || registry.list::<Task>().map(|listing| listing.name.as_str());
    match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names().next().is_none() => {
            "this program has no tasks of its own; name a task file (.toml)".to_owned()
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
    fn values_are_literals_or_texts() {
        assert_eq!(literal("5"), Arg::Int(5));
        assert_eq!(literal("0.5"), Arg::Float(0.5));
        assert_eq!(literal("true"), Arg::Bool(true));
        assert_eq!(literal("'5'"), Arg::from("5"));
        assert_eq!(literal("data/x.csv"), Arg::from("data/x.csv"));
        assert_eq!(literal("plain words"), Arg::from("plain words"));
        assert_eq!(literal("word"), Arg::from("word"));
    }
}
