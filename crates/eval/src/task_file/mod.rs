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

mod check;
mod dataset;
mod epochs;
mod errors;
mod fit;
mod generate;
mod metrics;
mod mistake;
mod options;
mod section;
mod spec_place;
mod specs;
mod stop_when;
mod syntax;
#[cfg(test)]
mod tests;
mod text;

use std::ops::Range;
use std::path::Path;

use errorbar_core::registry::EntryKind;
use errorbar_core::{Registry, Result, unique_names};

use crate::small_file::read_small;
use crate::{AnyScorer, AnySolver, Chain, Dataset, ModelChoice, Task};
use check::SampleCheck;
use mistake::Mistakes;
use section::{TaskFile, TomlField, TomlSection, all};
use text::TomlString;

pub use mistake::{Mistake, TaskFileError};

/// Reads a task file and checks it as a whole. Paths in it are relative to its folder.
///
/// # Errors
/// Every mistake that can be found without calling a model, with its place.
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
    let refuse = |text: String, place: Range<usize>, message: String| {
        let mistakes = Mistakes::default();
        mistakes.add(place, message, None);
        TaskFileError { path: path.to_owned(), mistakes: mistakes.in_order(&text), text }
    };
    let bytes = read_small(path)
        .map_err(|error| refuse(String::new(), 0..0, format!("cannot read the task file: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        refuse(text, good..good + 1, "a task file is UTF-8, and this is not".to_owned())
    })?;
    parse_task_file(&text, path, registry)
}

/// Checks the text of a task file; the path is where it is from, and what paths in it are relative to.
///
/// # Errors
/// As for [`load_task_file`].
pub fn parse_task_file(text: &str, path: &Path, registry: &Registry) -> Result<Task, TaskFileError> {
    let registry = registry.relative_to(path.parent().unwrap_or(Path::new("")));
    let file = TaskFile { text, registry: &registry, mistakes: Mistakes::default() };
    match read(&file, path) {
        Some(task) if file.mistakes.count() == 0 => Ok(task),
        _ => {
            let mistakes = file.mistakes.in_order(text);
            Err(TaskFileError { path: path.to_owned(), text: text.to_owned(), mistakes })
        }
    }
}

/// The task, unless a mistake in the way of it was reported.
fn read(file: &TaskFile<'_>, path: &Path) -> Option<Task> {
    let mistakes = &file.mistakes;
    let (table, broken) = syntax::parse(file);
    let keys = TomlSection::of_file(file, &table, &broken);

    let name = options::name(keys.get("name"), path);
    let version = keys.get("version").and_then(options::version);
    let metadata = keys.get("metadata").and_then(options::metadata);
    let fail_on_error = keys.get("fail_on_error").and_then(options::fail_on_error);
    let time_limit = keys.get("time_limit").and_then(options::time_limit);
    let metrics = keys.get("metrics").and_then(metrics::read);
    let epochs = keys.get("epochs").map(epochs::read);
    let errors = keys.get("errors").and_then(errors::read);
    let stop_when = keys.get("stop_when").and_then(stop_when::read);
    let solvers = keys.get("solver").map(with_string::<AnySolver>);
    let scorers = keys.get("scorer").map(with_string::<AnyScorer>);
    let model = keys.get("model").and_then(options::model);
    let generate = keys.get("generate").and_then(generate::read);
    let dataset = keys.get("dataset").map(dataset::read);
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
    let headline = keys.get("headline").and_then(|field| {
        let reducers = match &epochs {
            // Without epochs there is no reducer, unless they were not understood.
            None => (!mistakes.is_broken.get()).then(Vec::new),
            Some(epochs) => epochs.as_ref().map(|epochs| epochs.reducers.clone().unwrap_or_default()),
        };
        let metrics = fit.metric_names(metrics.as_ref());
        let scorers = scorer_names(&scorers);
        options::headline(field, scorers.as_deref(), metrics.as_deref(), reducers.as_deref())
    });
    fit.check(errors.as_ref(), mistakes);
    if let Some(Ok(samples)) = dataset.as_ref().map(Dataset::samples) {
        let effects = fit.effects();
        let by_solver = solvers.iter().flatten().flatten().map(|(place, solver)| -> SampleCheck<'_> {
            (place.span.clone(), Box::new(|sample| solver.check(sample)))
        });
        let by_scorer = scorers.iter().flatten().map(|(place, scorer)| -> SampleCheck<'_> {
            (place.span.clone(), Box::new(|sample| scorer.check_behind(sample, &effects)))
        });
        check::refuse(samples, by_solver.chain(by_scorer), mistakes);
        if let Some((place, ModelChoice::Built(model))) = &model {
            let refused = model.check(samples);
            refused.unwrap_or_else(|error| mistakes.add(place.clone(), error.to_string(), None));
        }
    }

    let mut task = Task::new(dataset?);
    if let Some(solvers) = solvers {
        task.solver = chained(all(solvers.into_iter())?);
    }
    task.scorers = all(scorers.into_iter().map(|scorer| Some(scorer?.1)))?;
    task.name = name;
    task.version = version;
    task.metadata = metadata.unwrap_or_default();
    task.metrics = metrics;
    task.epochs = epochs.flatten().map(|epochs| epochs.epochs);
    task.errors = errors.unwrap_or_default();
    task.stop_when = stop_when.unwrap_or_default();
    task.headline = headline;
    task.fail_on_error = fail_on_error;
    task.time_limit = time_limit;
    task.model = model.map(|(_, model)| model);
    task.generate = generate.unwrap_or_default();
    task.origin.file = Some(path.to_owned());
    Some(task)
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

/// What results call the scorers, if all of them are known.
fn scorer_names(scorers: &[Option<WithString<'_, AnyScorer>>]) -> Option<Vec<String>> {
    let name =
        |scorer: &Option<WithString<'_, AnyScorer>>| Some(scorer.as_ref()?.1.spec().log_name().into_owned());
    let names: Vec<String> = all(scorers.iter().map(name))?;
    Some(unique_names(names.iter().map(String::as_str)))
}

/// One after the other; a single one needs no chain.
fn chained(mut solvers: Vec<WithString<'_, AnySolver>>) -> AnySolver {
    match (solvers.pop(), solvers.is_empty()) {
        (Some((_, only)), true) => only,
        (last, _) => Chain::new(solvers.into_iter().chain(last).map(|(_, solver)| solver)).into(),
    }
}
