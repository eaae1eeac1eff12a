//! `errorbar list tasks PATH`: the tasks of task files, without their datasets.

use std::path::{Path, PathBuf};

use errorbar_core::Registry;
use errorbar_eval::{TaskArgument, TaskOutline, outline_task_file};
use errorbar_report::{Listing, ListingCell};
use serde_json::{Value as Json, json};

use super::Outcome;
use super::common::Format;
use super::files::task_files;
use super::tasks::not_a_task;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The tasks of these files and of those in these folders. What cannot be read is reported, and the others are listed.
pub(super) fn run(paths: &[PathBuf], format: Format, registry: &Registry) -> Outcome {
    let (mut tasks, mut diagnostics) = (Vec::new(), Diagnostics::default());
    for path in paths {
        for file in diagnostics.collect(files(path)).into_iter().flatten() {
            match outline_task_file(&file, registry) {
                Ok(found) if found.is_empty() => diagnostics.push(not_a_task(&file)),
                Ok(found) => tasks.extend(found),
                Err(error) => diagnostics.extend(Diagnostics::from(error)),
            }
        }
    }
    let output = match format {
        _ if tasks.is_empty() && format.is_for_people() => Default::default(),
        Format::Json => format.listing(for_programs(&tasks)),
        _ => format.listing(for_people(&tasks)),
    };
    Outcome { output, diagnostics, ..Outcome::default() }
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

/// An argument with its default, as it is given.
fn with_default(argument: &TaskArgument) -> String {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{}={}", argument.name, text(&argument.default))
}

fn for_people(tasks: &[TaskOutline]) -> Listing {
    let titles = ["task", "name", "dataset", "scorer", "arguments"];
    let mut listing = Listing::new(titles).droppable(["name", "dataset"]);
    for task in tasks {
        let args: Vec<String> = task.args.iter().map(with_default).collect();
        listing.push([
            ListingCell::from(task.address()),
            ListingCell::from(task.name.as_str()),
            ListingCell::from(task.dataset.clone()),
            ListingCell::from(task.scorers.join(", ")),
            ListingCell::from(args.join(" ")),
        ]);
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
