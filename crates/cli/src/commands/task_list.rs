//! `errorbar list tasks PATH`: the tasks of task files, without their datasets.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use errorbar_analysis::hints;
use errorbar_core::Registry;
use errorbar_core::spec::nearest;
use errorbar_eval::{TaskArgument, TaskLoadError, TaskOutline, outline_task_file};
use errorbar_report::{Listing, ListingCell, Render as _, clean, wrap};
use serde_json::json;

use super::tasks::{file_and_name, not_a_task};
use super::{CommandOutcome, files_below};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format;
use crate::format::{Format, WHOLE_LINES, table, text_of};
use crate::output::{Output, Stream};

/// The tasks of these files and of those in these folders. What cannot be read is reported, and the others are listed.
pub(super) fn run(paths: &[PathBuf], format: Format, registry: &Registry) -> CommandOutcome {
    let (mut tasks, mut diagnostics) = (Vec::new(), Diagnostics::default());
    for path in paths {
        let (path, name) = match file_and_name(&path.display().to_string()) {
            Some((file, Some(name))) => (file, Some(name)),
            _ => (path.clone(), None),
        };
        for file in diagnostics.collect(files(&path)).into_iter().flatten() {
            match outline_task_file(&file, registry) {
                Ok(found) if found.is_empty() => diagnostics.push(not_a_task(&file)),
                Ok(found) => {
                    tasks.extend(diagnostics.collect(named(found, name.as_deref())).into_iter().flatten())
                }
                Err(error) => diagnostics.extend(Diagnostics::from(error)),
            }
        }
    }
    let output = match format {
        _ if tasks.is_empty() && format.is_for_people() => Default::default(),
        Format::Json => format.listing(for_programs(&tasks)),
        // Arguments need more space than a column has.
        Format::Table => {
            let (listing, width) =
                (for_people(&tasks, false), Stream::Stdout.columns().unwrap_or(WHOLE_LINES));
            Output::text(move |color| {
                table().width(width).color(color).listing_text(&listing) + &arguments(&tasks)
            })
        }
        _ => format.listing(for_people(&tasks, true)),
    };
    CommandOutcome { output, diagnostics, ..CommandOutcome::default() }
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = task_files(path)?;
    match files.is_empty() {
        true => Err(Diagnostic::error("no task file (.toml) is in this folder").about(path.display()).into()),
        false => Ok(files),
    }
}

/// The task of this name, or all.
fn named(tasks: Vec<TaskOutline>, name: Option<&str>) -> Result<Vec<TaskOutline>, Diagnostics> {
    let Some(name) = name else { return Ok(tasks) };
    let known: Vec<String> = tasks.iter().filter_map(|task| task.key.clone()).collect();
    let file = tasks.first().map(|task| task.file.display().to_string()).unwrap_or_default();
    let found: Vec<TaskOutline> =
        tasks.into_iter().filter(|task| task.key.as_deref() == Some(name)).collect();
    if found.is_empty() {
        let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        let error = TaskLoadError::UnknownTask { name: name.to_owned(), nearest, known };
        return Err(hints::eval::task_diagnostic(&error).about(file).into());
    }
    Ok(found)
}

/// An argument with its default, as it is given.
fn with_default(argument: &TaskArgument) -> String {
    format!("{}={}", argument.name, text_of(&argument.default))
}

/// The arguments of tasks with their choices and what they are for; those of tasks that share them once.
fn arguments(tasks: &[TaskOutline]) -> String {
    let width = format::width().saturating_sub(6);
    let mut text = String::new();
    for shared in tasks
        .chunk_by(|a, b| a.args == b.args)
        .filter(|shared| shared.iter().any(|task| !task.args.is_empty()))
    {
        let addresses: Vec<String> = shared.iter().map(TaskOutline::address).collect();
        let _ = writeln!(text, "\nArguments of {} (-T NAME=VALUE)", clean(&addresses.join(", ")));
        for argument in shared.first().into_iter().flat_map(|task| &task.args) {
            let choices: Vec<String> = argument.choices.iter().map(text_of).collect();
            let choices = match choices.as_slice() {
                [] => String::new(),
                choices => format!(" (one of {})", choices.join(", ")),
            };
            let doc = argument.doc.as_ref().map(|doc| format!(": {doc}")).unwrap_or_default();
            for (at, line) in
                wrap(&clean(&format!("{}{choices}{doc}", with_default(argument))), width).iter().enumerate()
            {
                let _ = writeln!(text, "{}{line}", if at == 0 { "  " } else { "      " });
            }
        }
    }
    text
}

fn for_people(tasks: &[TaskOutline], has_arguments: bool) -> Listing {
    let titles = ["task", "name", "dataset", "scorer", "arguments"];
    let titles = titles.into_iter().take(if has_arguments { 5 } else { 4 });
    let mut listing = Listing::new(titles).droppable(["name", "dataset"]);
    for task in tasks {
        let mut cells = vec![
            ListingCell::from(task.address()),
            ListingCell::from(task.name.as_str()),
            ListingCell::from(task.dataset.clone()),
            ListingCell::from(task.scorers.join(", ")),
        ];
        if has_arguments {
            let args: Vec<String> = task.args.iter().map(with_default).collect();
            cells.push(ListingCell::from(args.join(" ")));
        }
        listing.push(cells);
    }
    listing
}

fn for_programs(tasks: &[TaskOutline]) -> Listing {
    let mut listing = Listing::new(["task", "file", "name", "dataset", "scorers", "args"]);
    for task in tasks {
        let argument = |TaskArgument { name, default, choices, doc, .. }: &TaskArgument| json!({"name": name, "default": default, "choices": choices, "doc": doc});
        listing.push([
            ListingCell::from(task.address()),
            ListingCell::from(task.file.display().to_string()),
            ListingCell::from(task.name.as_str()),
            ListingCell::from(task.dataset.clone()),
            ListingCell::new("", json!(task.scorers)),
            ListingCell::new("", task.args.iter().map(argument).collect()),
        ]);
    }
    listing
}

/// The TOML files in a folder and in the folders below it, but for hidden ones and for those behind a link; by path.
pub(super) fn task_files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let files = files_below(folder, |_| false)?;
    Ok(files.into_iter().filter(|path| is_toml(path) && path.is_file()).collect())
}
