//! Tasks on the command line: a file or a registered name, with arguments.

use std::path::Path;

use errorbar_core::spec::{Arg, Spec, nearest};
use errorbar_core::{Error, Registry};
use errorbar_eval::{ResumableLog, Task, load_task_file};

use super::Context;
use super::servers::resume_command;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The task of this file or name.
pub(super) fn task(named: &str, args: &[String], context: &Context<'_>) -> Result<Task, Diagnostics> {
    if is_file(named) { from_file(Path::new(named), args, context) } else { registered(named, args, context) }
}

/// The task of a log that is resumed: the named one, or the one that the log names, with the arguments that it records.
pub(super) fn task_of_log(
    named: Option<&str>,
    log: &ResumableLog,
    context: &Context<'_>,
) -> Result<Task, Diagnostics> {
    let name = match (named, log.task_file(), log.registered()) {
        (Some(named), ..) if is_file(named) => return from_file(Path::new(named), &[], context),
        (Some(named), ..) => named,
        (None, Some(file), _) if file.is_file() => return from_file(file, &[], context),
        (None, Some(file), _) => {
            let problem = format!("the task file of the log, {}, does not exist", file.display());
            let resume = resume_command(context.program, &["TASK".to_owned()], log.path(), &log.servers());
            let hint = format!("the log has the path that the run was given; name the file: `{resume}`");
            return Err(Diagnostic::error(problem).hint(hint).into());
        }
        (None, None, Some(name)) => name,
        (None, None, None) => {
            let problem = format!("the log does not record where its task `{}` comes from", log.task());
            let hint = "name the task too: a file, or a task of this program";
            return Err(Diagnostic::error(problem).hint(hint).into());
        }
    };
    let spec = Spec::from_log(name, log.passed_args().as_object()).map_err(errorbar_core::Error::from)?;
    Ok(build(&spec, context)?)
}

fn is_file(named: &str) -> bool {
    let path = Path::new(named);
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) || path.is_file()
}

/// The error of a file that is no task file, by its name.
fn check_extension(path: &Path, program: &str) -> Result<(), Diagnostic> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (problem, hint) = match extension.as_str() {
        "eval" => (
            "this is a log, not a task",
            format!("`{program} score` computes its metrics, `--resume` continues its run"),
        ),
        "csv" | "tsv" | "json" | "jsonl" => (
            "this is a dataset, not a task",
            "write a task file (.toml) that names it: dataset = { path = \"…\" }".to_owned(),
        ),
        _ => return Ok(()),
    };
    Err(Diagnostic::error(problem).about(path.display()).hint(hint))
}

fn from_file(path: &Path, args: &[String], context: &Context<'_>) -> Result<Task, Diagnostics> {
    check_extension(path, context.program)?;
    if !args.is_empty() {
        let problem = format!("-T: {} is a task file, which takes no arguments", path.display());
        let hint = "change the file, or override it with options such as --epochs and --metric";
        return Err(Diagnostic::error(problem).hint(hint).into());
    }
    Ok(load_task_file(path, context.registry)?)
}

fn registered(named: &str, args: &[String], context: &Context<'_>) -> Result<Task, Diagnostics> {
    let mut spec = match named.parse::<Spec>() {
        Ok(spec) => spec,
        Err(error) if named.contains('(') => {
            return Err(Diagnostic::error(format!("task `{named}`: {error}")).into());
        }
        Err(_) => Spec::new(named),
    };
    for arg in args {
        let Some((key, value)) = arg.split_once('=') else {
            let problem = format!("-T {arg}: an argument of a task is written key=value");
            return Err(Diagnostic::error(problem).into());
        };
        spec = spec.kwarg(key.trim(), literal(value));
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
