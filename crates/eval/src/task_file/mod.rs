//! Tasks written down in TOML, for people who do not write Rust.
//!
//! ```toml
//! name = "gpqa"                       # the file's name, if nothing is said
//! dataset = { path = "gpqa_main.csv", input = "question", target = "answer", choices = ["a", "b", "c", "d"] }
//! solver = ["system_message('Answer carefully.')", "multiple_choice()"]
//! scorer = "choice()"
//! metrics = ["grouped(accuracy(), 'category')", "stderr(cluster='category')"]
//! epochs = { count = 5, reducers = ["at_least_2", "at_least_5"] }
//! ```
//!
//! A file is checked as a whole: every mistake that can be found without asking a model is told, each with the
//! place it is at and the nearest name that would be right. For that the text is read into tables that know
//! their places ([`section`]), not into structs: serde would stop at the first mistake.

mod check;
mod dataset;
mod epochs;
mod errors;
mod generate;
mod metrics;
mod mistake;
mod options;
mod section;
mod spec_place;
mod specs;
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
use mistake::Mistakes;
use section::{TomlField, TomlSection, all};
use text::TomlString;

pub use mistake::{Mistake, TaskFileError};

/// Reads a task file and checks it as a whole. Paths in it are relative to its folder.
///
/// # Errors
/// Every mistake that can be found without asking a model, with its place.
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
        let mut mistakes = Mistakes::default();
        mistakes.add(place, message, None);
        let mistakes = mistakes.in_order(&text);
        TaskFileError { path: path.to_owned(), text, mistakes }
    };
    let cannot =
        |problem: String| refuse(String::new(), 0..0, format!("cannot read the task file: {problem}"));
    let bytes = read_small(path).map_err(|error| cannot(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        refuse(text, good..good + 1, "a task file is UTF-8 text, and this is not".to_owned())
    })?;
    parse_task_file(&text, path, registry)
}

/// Checks the text of a task file; the path says where it is from, and what paths in it are relative to.
///
/// # Errors
/// As for [`load_task_file`].
pub fn parse_task_file(text: &str, path: &Path, registry: &Registry) -> Result<Task, TaskFileError> {
    let mut mistakes = Mistakes::default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let task = read(text, path, &registry.relative_to(folder), &mut mistakes);
    match task {
        Some(task) if mistakes.count() == 0 => Ok(task),
        _ => {
            let mistakes = mistakes.in_order(text);
            Err(TaskFileError { path: path.to_owned(), text: text.to_owned(), mistakes })
        }
    }
}

/// The task, unless something in the way of it was told.
fn read(text: &str, path: &Path, registry: &Registry, mistakes: &mut Mistakes) -> Option<Task> {
    let (table, broken) = syntax::parse(text, mistakes);
    let file = TomlSection::of_file(text, &table, &broken, mistakes);

    let name = options::name(file.get("name"), path, mistakes);
    let version = file.get("version").and_then(|field| options::version(field, mistakes));
    let metadata = file.get("metadata").and_then(|field| options::metadata(field, mistakes));
    let fail_on_error = file.get("fail_on_error").and_then(|field| options::fail_on_error(field, mistakes));
    let time_limit = file.get("time_limit").and_then(|field| options::time_limit(field, mistakes));
    let metrics = file.get("metrics").and_then(|field| metrics::read(field, registry, mistakes));
    let epochs = file.get("epochs").map(|field| epochs::read(field, registry, mistakes));
    let errors = file.get("errors").and_then(|field| errors::read(field, mistakes));
    let solvers = file.get("solver").map(|field| placed::<AnySolver>(field, registry, mistakes));
    let scorers = file.get("scorer").map(|field| placed::<AnyScorer>(field, registry, mistakes));
    let model = file.get("model").and_then(|field| options::model(field, registry, mistakes));
    let generate = file.get("generate").and_then(|field| generate::read(field, mistakes));
    let dataset = file.get("dataset").map(|field| dataset::read(field, registry.folder(), mistakes));
    if scorers.is_none() {
        let hint = "say how answers are judged: scorer = \"includes()\"";
        mistakes.missing(0..0, "the task has no `scorer`", hint);
    }
    if dataset.is_none() {
        let hint = "say where the samples are: dataset = { path = \"questions.csv\" }";
        mistakes.missing(0..0, "the task has no `dataset`", hint);
    }

    let scorers = scorers.unwrap_or_else(|| vec![None]);
    let dataset = dataset.flatten();
    let headline = file.get("headline").and_then(|field| {
        let reducers = match &epochs {
            // Without a word about epochs there is no reducer, unless the word was not understood.
            None => (!mistakes.broken).then(Vec::new),
            Some(epochs) => epochs.as_ref().map(|epochs| epochs.reducers.clone().unwrap_or_default()),
        };
        options::headline(field, scorer_names(&scorers).as_deref(), reducers.as_deref(), mistakes)
    });
    if let Some(Ok(samples)) = dataset.as_ref().map(Dataset::samples) {
        let solvers = solvers.iter().flatten().flatten().map(check::by_solver);
        let checks = solvers.chain(scorers.iter().flatten().map(check::by_scorer));
        check::refuse(samples, checks, mistakes);
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
    task.headline = headline;
    task.fail_on_error = fail_on_error;
    task.time_limit = time_limit;
    task.model = model.map(|(_, model)| model);
    task.generate = generate.unwrap_or_default();
    task.origin.file = Some(path.to_owned());
    Some(task)
}

/// Something that was built, and its place in the file.
type WithSpan<T> = (Range<usize>, T);

/// One spec or a list of specs, of which there must be one. There is nothing in the place of one that is wrong.
fn placed<T: EntryKind>(
    field: TomlField<'_>,
    registry: &Registry,
    mistakes: &mut Mistakes,
) -> Vec<Option<WithSpan<T>>> {
    let kind = T::KIND;
    let texts = field.texts(&format!("a {kind} in quotes, or a list of {kind}s"), mistakes);
    if texts.as_ref().is_some_and(Vec::is_empty) {
        field.expected(&format!("at least one {kind}"), mistakes);
    }
    let build = |text: Option<TomlString<'_>>| {
        let text = text?;
        let built = specs::build(&text, registry, mistakes, |spec| registry.build::<T>(spec))?;
        Some((text.span, built))
    };
    texts.map_or_else(|| vec![None], |texts| texts.into_iter().map(build).collect())
}

/// What results call the scorers, if all of them are known.
fn scorer_names(scorers: &[Option<WithSpan<AnyScorer>>]) -> Option<Vec<String>> {
    let name = |scorer: &Option<WithSpan<AnyScorer>>| Some(scorer.as_ref()?.1.spec().log_name().into_owned());
    let names: Vec<String> = all(scorers.iter().map(name))?;
    Some(unique_names(names.iter().map(String::as_str)))
}

/// One after the other; a single one needs no chain.
fn chained(mut solvers: Vec<WithSpan<AnySolver>>) -> AnySolver {
    match (solvers.pop(), solvers.is_empty()) {
        (Some((_, only)), true) => only,
        (last, _) => Chain::new(solvers.into_iter().chain(last).map(|(_, solver)| solver)).into(),
    }
}
