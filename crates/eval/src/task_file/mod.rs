//! Tasks written down in TOML, for people who do not write Rust.
//!
//! ```toml
//! name = "gpqa"                       # the default is the file's name
//! dataset = { path = "gpqa_main.csv", input = "question", target = "answer", choices = ["a", "b", "c", "d"] }
//! solver = ["system_message('Answer carefully.')", "multiple_choice()"]
//! scorer = "choice()"
//! metrics = ["grouped(accuracy(), 'category')", "stderr(cluster='category')"]
//! epochs = { count = 5, reducers = ["at_least_2", "at_least_5"] }
//! ```
//!
//! A file is checked as a whole: every mistake that can be found without calling a model is reported, each with
//! its place and the nearest name that would be right. For that the text is read into tables that know
//! their places ([`section`]), not into structs: serde would stop at the first mistake.

mod args;
mod dataset;
mod few_shot;
#[cfg(test)]
mod field_tests;
mod fit;
mod mistake;
mod options;
mod section;
mod specs;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use errorbar_core::registry::EntryKind;
use errorbar_core::spec::Spec;
use errorbar_core::{Registry, Result};
use errorbar_files::{is_url, read_small, url_hint};
use toml::de::DeTable;

use crate::task::Origin;
use crate::task_check;
use crate::{AnyScorer, AnySolver, Chain, Dataset, ModelChoice, Sample, Task};
use args::{GivenArgument, TaskTable};
use mistake::{Mistakes, SampleCheck};
use section::{TaskFile, TomlField, TomlSection, TomlString, all};

pub use args::TaskArgument;
pub use mistake::{Mistake, TaskFileError, TaskLoadError, TaskOutline, TaskSelection};

/// Reads a task file and checks it as a whole. Paths in it are relative to its folder; its templates may only name files
/// in there, or in paths that the registry [allows](Registry::confined).
///
/// # Errors
/// Every mistake that can be found without calling a model, with its place. A file of several tasks:
/// [`load_tasks`] reads those.
///
/// ```
/// use errorbar_eval::{built_in_registry, load_task_file};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.toml");
/// # std::fs::write(folder.path().join("quiz.csv"), "input,target\n1 + 1?,2\n")?;
/// std::fs::write(&path, "dataset = { path = 'quiz.csv' }\nsovler = 'generate'\nscorer = 'includes'\n")?;
/// let error = load_task_file(&path, &built_in_registry()).unwrap_err();
/// assert!(error.to_string().ends_with("quiz.toml:2:1: unknown key `sovler`; did you mean `solver`?"), "{error}");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn load_task_file(path: &Path, registry: &Registry) -> Result<Task, TaskFileError> {
    parse_task_file(&read_text(path)?, path, registry)
}

/// Checks the text of a task file; the path is where it is from, and what paths in it are relative to.
///
/// # Errors
/// As for [`load_task_file`].
pub fn parse_task_file(text: &str, path: &Path, registry: &Registry) -> Result<Task, TaskFileError> {
    let mut tasks = match parse_tasks(text, path, &TaskSelection::default(), registry) {
        Ok(tasks) => tasks,
        Err(TaskLoadError::File(error)) => return Err(error),
        Err(other) => return Err(refuse(path, text.to_owned(), 0..0, &other.to_string(), None)),
    };
    match (tasks.pop(), tasks.is_empty()) {
        (Some(task), true) => Ok(task),
        _ => {
            Err(refuse(path, text.to_owned(), 0..0, "the file has several tasks, and one is expected", None))
        }
    }
}

/// Reads the tasks of a file: its only one, or those under `[task.NAME]`, in their order.
///
/// ```
/// use errorbar_eval::{TaskSelection, built_in_registry, load_tasks};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.toml");
/// # std::fs::write(folder.path().join("law.csv"), "input,target\n1 + 1?,2\n")?;
/// # std::fs::write(folder.path().join("logic.csv"), "input,target\n1 + 1?,2\n")?;
/// let file = r#"
/// scorer = "includes()"
/// args = { shots = 5 }
///
/// [task.law]
/// dataset = "law.csv"
///
/// [task.logic]
/// dataset = "logic.csv"
/// "#;
/// std::fs::write(&path, file)?;
/// let args = vec![("shots".to_owned(), "3".into())];
/// let tasks = load_tasks(&path, &TaskSelection { args, ..TaskSelection::default() }, &built_in_registry())?;
/// assert_eq!(tasks.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Mistakes in the file; a name or an argument that no task of it has; a value that an argument cannot have.
pub fn load_tasks(
    path: &Path,
    selection: &TaskSelection,
    registry: &Registry,
) -> Result<Vec<Task>, TaskLoadError> {
    parse_tasks(&read_text(path)?, path, selection, registry)
}

fn parse_tasks(
    text: &str,
    path: &Path,
    selection: &TaskSelection,
    registry: &Registry,
) -> Result<Vec<Task>, TaskLoadError> {
    let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
    if selection.recorded_digest.as_ref().is_some_and(|recorded| *recorded != digest) {
        return Err(TaskLoadError::OtherDigest);
    }
    let registry = registry.importing().relative_to(path.parent().unwrap_or(Path::new("")));
    let registry = registry.confined(registry.allowed_paths().unwrap_or_default().iter().cloned());
    let given: Vec<GivenArgument> =
        selection.args.iter().map(|(name, value)| GivenArgument::new(name, value)).collect();
    let file = TaskFile {
        text,
        registry: &registry,
        mistakes: Mistakes::default(),
        limit: selection.limit,
        is_of_log: selection.recorded_digest.is_some(),
    };
    let (table, broken) = mistake::parse(&file);
    let mut tables = args::tasks(&file, table);
    // What stands in a file that is no TOML may not have been understood.
    if !file.mistakes.is_broken.get() {
        selection.name.as_ref().map_or(Ok(()), |name| args::select(&mut tables, name))?;
        args::pass(&mut tables, &given)?;
    }
    // Behind an argument that is unknown, everything else would only be a consequence of it.
    let is_filled = args::fill_all(&mut tables, &file);
    let mut tasks: Vec<Task> =
        tables.iter().filter(|_| is_filled).map(|task| read(&file, task, &broken, path)).collect();
    tasks.iter_mut().for_each(|task| task.origin.file_digest = Some(digest.clone()));
    Ok(file.mistakes.none_or(tasks, path, text)?)
}

/// What the tasks of a file are called, are about and can be given, without their datasets; none, if the file is not a
/// task file.
///
/// # Errors
/// A file that cannot be read, or is not TOML; keys that a task file does not have; solvers and scorers that there are not.
pub fn outline_task_file(path: &Path, registry: &Registry) -> Result<Vec<TaskOutline>, TaskFileError> {
    let text = read_text(path)?;
    let registry = &registry.relative_to(path.parent().unwrap_or(Path::new("")));
    let file =
        TaskFile { text: &text, registry, mistakes: Mistakes::default(), limit: None, is_of_log: false };
    let (table, broken) = mistake::parse(&file);
    let is_task = |table: &DeTable<'_>| ["dataset", "scorer"].iter().any(|key| table.contains_key(*key));
    if !is_task(&table) && !table.contains_key("task") && broken.is_empty() {
        return Ok(Vec::new());
    }
    let mut tables = args::tasks(&file, table);
    let is_filled = args::fill_all(&mut tables, &file);
    let outlines: Vec<TaskOutline> = tables.iter().map(|task| outline(&file, task, &broken, path)).collect();
    for task in tables.iter().filter(|_| is_filled) {
        let keys = TomlSection::of_file(&file, &task.table, &broken);
        // A list of tasks runs no code, so what would be imported is not looked for.
        keys.get("solver").filter(|field| !names_import(field)).map(with_string::<AnySolver>);
        keys.get("scorer").filter(|field| !names_import(field)).map(with_string::<AnyScorer>);
    }
    file.mistakes.none_or(outlines, path, &text)
}

/// Whether a spec of the field is imported, as `module:function`.
fn names_import(field: &TomlField<'_>) -> bool {
    let strings = field.as_list().unwrap_or_else(|| vec![*field]);
    let spec = |field: &TomlField<'_>| field.as_string()?.value.parse::<Spec>().ok();
    strings.iter().filter_map(spec).any(|spec| spec.is_import())
}

fn outline(file: &TaskFile<'_>, task: &TaskTable<'_>, broken: &[Range<usize>], path: &Path) -> TaskOutline {
    let keys = TomlSection::of_file(file, &task.table, broken);
    let dataset = keys.get("dataset").and_then(|field| match field.as_string() {
        Some(path) => Some(path),
        None => field.as_table()?.into_iter().find(|entry| entry.key() == "path")?.as_string(),
    });
    let scorers = keys.get("scorer").map(|field| match field.as_list() {
        Some(items) => items.iter().filter_map(TomlField::as_string).collect(),
        None => field.as_string().into_iter().collect::<Vec<_>>(),
    });
    TaskOutline {
        file: path.to_owned(),
        key: task.key.clone(),
        name: name(&keys, task, path).unwrap_or_default(),
        dataset: dataset.map(|path| path.value.to_owned()),
        scorers: scorers.into_iter().flatten().map(|scorer| scorer.value.to_owned()).collect(),
        args: task.arguments.iter().map(|argument| argument.declared.clone()).collect(),
    }
}

/// What logs call a task.
fn name(keys: &TomlSection<'_>, task: &TaskTable<'_>, path: &Path) -> Option<String> {
    match (keys.get("name"), &task.key) {
        (None, Some(key)) => Some(key.clone()),
        (field, _) => options::name(field, path),
    }
}

/// The error of a file with one mistake.
fn refuse(
    path: &Path,
    text: String,
    place: Range<usize>,
    message: &str,
    hint: Option<String>,
) -> TaskFileError {
    let mistakes = Mistakes::default();
    mistakes.add(place, message, hint);
    TaskFileError { path: path.to_owned(), mistakes: mistakes.in_order(&text), text }
}

fn read_text(path: &Path) -> Result<String, TaskFileError> {
    if is_url(path) {
        let problem = "cannot read the task file: this is an address, and not the path of a file";
        return Err(refuse(path, String::new(), 0..0, problem, Some(url_hint(path))));
    }
    let bytes = read_small(path).map_err(|error| {
        let hint = (error.kind() == ErrorKind::NotFound).then(|| "check the path".to_owned());
        refuse(path, String::new(), 0..0, &format!("cannot read the task file: {error}"), hint)
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        refuse(path, text, good..good + 1, "a task file is UTF-8, and this is not", None)
    })
}

/// The task, without what mistakes were reported in.
fn read(file: &TaskFile<'_>, task: &TaskTable<'_>, broken: &[Range<usize>], path: &Path) -> Task {
    let mistakes = &file.mistakes;
    let keys = TomlSection::of_file(file, &task.table, broken);

    let mut read = Task::new(Vec::<Sample>::new());
    read.name = name(&keys, task, path);
    read.version = keys.get("version").and_then(options::version);
    read.metadata = keys.get("metadata").and_then(options::metadata).unwrap_or_default();
    read.fail_on_error = keys.get("fail_on_error").and_then(options::fail_on_error);
    read.time_limit = keys.get("time_limit").and_then(options::time_limit);
    read.metrics = keys.get("metrics").and_then(options::metrics);
    read.errors = keys.get("errors").and_then(options::errors).unwrap_or_default();
    read.stop_when = keys.get("stop_when").and_then(options::stop_when).unwrap_or_default();
    read.generate = keys.get("generate").and_then(options::generate).unwrap_or_default();
    read.epochs = keys.get("epochs").and_then(options::epochs);
    let solvers = keys.get("solver").map(with_string::<AnySolver>);
    let scorers = keys.get("scorer").map(with_string::<AnyScorer>);
    let model = keys.get("model").and_then(options::model);
    let dataset = keys.get("dataset").map(|field| dataset::read(field, file.limit));
    let examples = keys.get("few_shot").map(|field| {
        let entry = task.examples.as_ref().map(|(key, value)| TomlField { key, value, file });
        few_shot::read(field, entry, dataset.as_ref().and_then(Option::as_ref))
    });
    if scorers.is_none() {
        let hint = "set how answers are scored: scorer = \"includes()\"";
        mistakes.missing(0..0, "the task has no `scorer`", hint);
    }
    if dataset.is_none() {
        let hint = "set where the samples are: dataset = { path = \"questions.csv\" }";
        mistakes.missing(0..0, "the task has no `dataset`", hint);
    }

    let scorers = scorers.unwrap_or_else(|| vec![None]);
    let dataset = dataset.flatten();
    let fit = fit::FileParts {
        solvers: solvers.as_deref(),
        scorers: &scorers,
        metrics: keys.get("metrics"),
        errors: keys.get("errors"),
        dataset: dataset.as_ref(),
        is_broken: mistakes.is_broken.get(),
    };
    if let Some((section, wanted)) = keys.get("headline").and_then(options::headline) {
        // What was not understood may have been right.
        let is_known =
            |key: &str, is_read: bool| !mistakes.is_broken.get() && (is_read || keys.get(key).is_none());
        let known: Option<Vec<&AnyScorer>> = all(scorers.iter().map(|scorer| Some(&scorer.as_ref()?.1)));
        let names = known.as_ref().map(|known| task_check::scorer_names(known.iter().copied()));
        let metrics = known.filter(|_| is_known("metrics", read.metrics.is_some()));
        let metrics =
            metrics.and_then(|known| task_check::metric_names(read.metrics.as_ref(), known.into_iter()));
        let reducers = match &read.epochs {
            None => is_known("epochs", false).then(Vec::new),
            Some(epochs) => {
                epochs.reducers(file.registry).ok().map(|reducers| task_check::reducer_names(&reducers))
            }
        };
        for (part, problem) in task_check::headline(&wanted, names, metrics, reducers) {
            if let Some(field) = section.get(part) {
                field.report(problem.message, Some(problem.hint));
            }
        }
        read.headline = Some(wanted);
    }
    fit.check(&read.errors, mistakes);
    if let Some(Ok(samples)) = dataset.as_ref().map(Dataset::samples) {
        let effects = fit.effects();
        let by_solver = solvers.iter().flatten().flatten().map(|(place, solver)| -> SampleCheck<'_> {
            (place.span.clone(), Box::new(|sample| solver.check(sample)))
        });
        let by_scorer = scorers.iter().flatten().map(|(place, scorer)| -> SampleCheck<'_> {
            (place.span.clone(), Box::new(|sample| scorer.check_behind(sample, &effects)))
        });
        let by_examples = examples.iter().flatten().map(|(place, examples)| -> SampleCheck<'_> {
            (place.clone(), Box::new(|sample| examples.check(sample)))
        });
        mistake::refuse(samples, by_examples.chain(by_solver).chain(by_scorer), mistakes);
        if let Some((place, ModelChoice::Built(model))) = &model {
            let refused = model.check(samples);
            refused.unwrap_or_else(|error| mistakes.add(place.clone(), error.to_string(), None));
        }
    }

    let built = |(_, solver): WithString<'_, AnySolver>| solver;
    let steps = solvers
        .map_or_else(|| vec![read.solver.clone()], |all| all.into_iter().flatten().map(built).collect());
    // None of them is no step.
    let examples = examples.flatten().filter(|(_, examples)| examples.count > 0);
    read.solver = chained(examples.map(|(_, examples)| examples.into()).into_iter().chain(steps).collect());
    read.scorers = scorers.into_iter().flatten().map(|(_, scorer)| scorer).collect();
    read.model = model.map(|(_, model)| model);
    if let Some(dataset) = dataset {
        read.dataset = dataset;
    }
    read.origin = Origin {
        file: Some(path.to_owned()),
        file_digest: None,
        registered: task.key.clone(),
        args: task.args(),
        passed: task.passed_args(),
    };
    read
}

/// Something that was built, and the string of the file that it was built from.
type WithString<'d, T> = (TomlString<'d>, T);

/// One spec or a list of specs, of which there must be one. One that is wrong is `None`.
fn with_string<'d, T: EntryKind>(field: TomlField<'d>) -> Vec<Option<WithString<'d, T>>> {
    let kind = T::KIND;
    let strings = field.strings(&format!("a {kind} in quotes, or a list of {kind}s"));
    if strings.as_ref().is_some_and(Vec::is_empty) {
        field.expected(&format!("at least one {kind}")).unwrap_or_default()
    }
    let build = |string: Option<TomlString<'d>>| {
        let string = string?;
        let built = specs::build(&string, |registry, spec| registry.build::<T>(spec))?;
        Some((string, built))
    };
    strings.map_or_else(|| vec![None], |strings| strings.into_iter().map(build).collect())
}

/// One after the other; a single one needs no chain.
fn chained(mut solvers: Vec<AnySolver>) -> AnySolver {
    match (solvers.pop(), solvers.is_empty()) {
        (Some(only), true) => only,
        (last, _) => Chain::new(solvers.into_iter().chain(last)).into(),
    }
}
