//! What every verb works on: the scores of one log, one table, or a part of one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::engine::unique_names;
use errorbar_core::python_text::json_text;
use errorbar_core::{MetadataKeys, Plan, Results, ScoreColumns};
use errorbar_log::eval::{EvalLog, Header, LogError, LogWarning, SampleFields};
use errorbar_table::ScoreTable;
use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::text::Text;

/// Columns of a table that say what a sample asks, and expects.
pub const QUESTION: [&str; 6] = ["input", "question", "prompt", "problem", "text", TARGET];
/// The one of them that is no part of the question.
pub const TARGET: &str = "target";

/// The scores of a log, a table, or a part of one. Cells of tables have their meaning, and missing epochs are missing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// What it is called and what it is of.
    pub identity: Identity,
    /// The scores, and the metadata that was read.
    pub scores: ScoreColumns,
    /// The recorded plan or the default one, with what was asked for.
    pub plan: Plan,
    /// Where it is from.
    pub provenance: Provenance,
}

/// What a run is called and what it is of.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Identity {
    /// The file.
    pub path: PathBuf,
    /// What the user calls it: the name of the file or folder that an argument means.
    pub argument: String,
    /// Which part of the file it is.
    pub part: Option<String>,
    /// The scorer that the scores are of, if scorers are compared.
    pub scorer: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// The model; of a part only if all of it has the same.
    pub model: Option<String>,
    /// The id of the run.
    pub id: Option<String>,
}

/// Where a run is from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Provenance {
    /// A log, of which more can be read.
    Log(Arc<LogSource>),
    /// A part of the samples of a log, with the number of choices that all samples of the log have.
    PartOfLog(Option<u32>),
    /// A table, or a part of one.
    Table(Arc<TableSource>),
}

/// A log, of which more can be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct LogSource {
    /// The log.
    pub log: Arc<EvalLog>,
    /// What it records of its run.
    pub header: Header,
    /// What of the recorded plan cannot be built.
    pub left_out: Vec<LogWarning>,
    /// Samples times epochs that could not be read.
    pub skipped: Vec<LogError>,
    /// Samples times epochs that a limit ended, by its kind.
    pub limits: BTreeMap<String, usize>,
    /// A digest of what each row asks, if that was asked for.
    pub digests: Vec<u64>,
    /// The number of choices of each row, 0 for rows without, if that was asked for.
    pub choice_counts: Vec<u32>,
    /// The recorded figures, where there are no samples to compute others from.
    pub recorded: Option<Results>,
}

/// A table, or a part of one.
#[derive(Debug)]
#[non_exhaustive]
pub struct TableSource {
    /// What is known of it; its columns are the scores of the run.
    pub table: ScoreTable,
    /// Whether the column of its ids is named by the user, or after what it identifies.
    pub has_named_ids: bool,
}

impl Run {
    /// The run of a table. `argument` is what the user calls it, unless the table names a log; `are_several` says whether
    /// the file has several.
    pub(crate) fn of_table(
        mut table: ScoreTable,
        plan: Plan,
        (path, argument): (PathBuf, String),
        (are_several, names_ids): (bool, bool),
    ) -> Run {
        let has_named_ids =
            names_ids || table.mapping.id_columns.iter().any(|name| !name.eq_ignore_ascii_case("id"));
        let identity = Identity {
            path,
            part: table.part.clone().or_else(|| table.log.clone().filter(|_| are_several)),
            argument: table.log.clone().unwrap_or(argument),
            task: table.task.clone(),
            model: table.model.clone(),
            ..Identity::default()
        };
        let scores = std::mem::take(&mut table.columns);
        let provenance = Provenance::Table(Arc::new(TableSource { table, has_named_ids }));
        Run { identity, scores, plan, provenance }
    }

    /// What results of it are called: the file, and the part of it.
    pub fn title(&self) -> String {
        match &self.identity.part {
            Some(part) => format!("{}: {part}", self.identity.path.display()),
            None => self.identity.path.display().to_string(),
        }
    }

    /// The log as a whole.
    pub fn log(&self) -> Option<&LogSource> {
        match &self.provenance {
            Provenance::Log(source) => Some(source),
            _ => None,
        }
    }

    /// The table.
    pub fn table(&self) -> Option<&ScoreTable> {
        match &self.provenance {
            Provenance::Table(source) => Some(&source.table),
            _ => None,
        }
    }

    /// The recorded figures, where there are no samples to compute others from.
    pub fn recorded(&self) -> Option<&Results> {
        self.log()?.recorded.as_ref()
    }

    /// Whether no column identifies the samples.
    pub fn has_synthetic_ids(&self) -> bool {
        self.table().is_some_and(|table| table.has_synthetic_ids)
    }

    /// The metadata keys that there are, whether they were read or not. Of a log those of its first sample, because only
    /// what is computed with was read.
    pub fn known_keys(&self) -> Vec<String> {
        match &self.provenance {
            Provenance::Table(source) => source.table.metadata_keys.clone(),
            Provenance::Log(source) => {
                let first = || {
                    let samples = source.log.samples_with(SampleFields::scores(MetadataKeys::All));
                    samples.ok()?.next()?.ok()
                };
                first().map(|sample| sample.metadata.keys().cloned().collect()).unwrap_or_default()
            }
            Provenance::PartOfLog(_) => Vec::new(),
        }
    }

    /// The number of choices of each row, where it is known.
    pub fn choice_counts(&self) -> Vec<u32> {
        match &self.provenance {
            Provenance::Log(source) => source.choice_counts.clone(),
            Provenance::PartOfLog(choices) => vec![choices.unwrap_or(0); self.scores.len()],
            Provenance::Table(_) => Vec::new(),
        }
    }

    /// What its samples ask, as far as it was read.
    pub(crate) fn questions(&self) -> Questions {
        match &self.provenance {
            Provenance::Log(source) => Questions { columns: Vec::new(), digests: source.digests.clone() },
            Provenance::Table(_) => Questions::of_columns(&self.scores),
            Provenance::PartOfLog(_) => Questions::default(),
        }
    }

    /// The same with the scores of one scorer, under this name.
    pub(crate) fn of_scorer(&self, scorer: &str, name: &str, plan: Plan) -> Option<Run> {
        let identity = Identity { scorer: Some(scorer.to_owned()), ..self.identity.clone() };
        let scores = self.scores.only_scorer(scorer, name)?;
        Some(Run { identity, scores, plan, provenance: self.provenance.clone() })
    }
}

impl LogSource {
    /// Checks that nothing of what the log records would be lost if these results replaced its own.
    ///
    /// # Errors
    /// Something would.
    pub fn check_writable(&self, results: &Results, hint: impl Into<Text>) -> Result<(), Diagnostic> {
        let why = if !self.left_out.is_empty() {
            "not all that the log records can be computed, and it would be lost"
        } else if results.scores.iter().any(|block| !block.failures.is_empty()) {
            "a metric failed"
        } else {
            return Ok(());
        };
        let problem = Diagnostic::error(format!("nothing was written: {why}"));
        Err(problem.about(self.log.path().display()).hint(hint))
    }
}

/// What samples ask, by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Questions {
    /// The columns of a table that the digests are of; empty for those of logs.
    pub(crate) columns: Vec<&'static str>,
    /// One for each row of a log, one for each column and row of a table; empty if nothing is known.
    pub(crate) digests: Vec<u64>,
}

impl Questions {
    /// What the samples of a table ask, if it has columns for that.
    fn of_columns(scores: &ScoreColumns) -> Questions {
        let known: Vec<&str> = scores.metadata_keys().collect();
        let columns: Vec<&'static str> = QUESTION.into_iter().filter(|key| known.contains(key)).collect();
        if columns.is_empty() {
            return Questions::default();
        }
        let mut digests = Vec::with_capacity(scores.len() * columns.len());
        for row in 0..scores.len() {
            let metadata = scores.metadata_row(row);
            digests.extend(columns.iter().map(|key| {
                let mut hasher = DefaultHasher::new();
                metadata.get(key).map(json_text).hash(&mut hasher);
                hasher.finish()
            }));
        }
        Questions { columns, digests }
    }

    /// The digest of a row: of a log the only one, of a table that of a column.
    pub(crate) fn digest(&self, row: usize, column: usize) -> Option<u64> {
        self.digests.get(row * self.columns.len().max(1) + column).copied()
    }
}

/// The plan for only these scorers, each by the name that it has in results.
pub(crate) fn only_scorers(mut plan: Plan, scorers: &[String]) -> Plan {
    if !scorers.is_empty() {
        let names = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        for (scorer, name) in plan.scorers.iter_mut().zip(names) {
            scorer.name = name;
        }
        plan.scorers.retain(|scorer| scorers.contains(&scorer.name));
        plan.only = scorers.to_vec();
    }
    plan
}

/// What the model of a log of recorded outputs starts with; the rest is a path.
const RECORDED: &str = "replay/";

/// The most parts at the end of a model's name that are tried.
const MOST_PARTS: usize = 64;

/// What a run is known by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunIdentity<'a> {
    /// The model; that of recorded outputs is their file.
    pub model: &'a str,
    /// The task, where there are several.
    pub task: Option<&'a str>,
    /// The file.
    pub path: &'a Path,
}

impl<'a> RunIdentity<'a> {
    /// A run of a model, in a file.
    pub fn new(model: &'a str, path: &'a Path) -> Self {
        RunIdentity { model, task: None, path }
    }

    /// The same, of one of several tasks.
    #[must_use]
    pub fn of_task(mut self, task: Option<&'a str>) -> Self {
        self.task = task;
        self
    }
}

/// The shortest names that tell runs apart: the ends of the models' names, as many parts as it takes. Several runs of one
/// model and task have the start of the file's name behind it; where all are, that alone.
///
/// ```
/// use errorbar_analysis::{RunIdentity, run_names};
/// use std::path::Path;
///
/// let names = |runs: [(&'static str, &'static str); 2]| {
///     run_names(&runs.map(|(model, path)| RunIdentity::new(model, Path::new(path))))
/// };
/// assert_eq!(names([("openai/heron", "1.eval"), ("openai/wren", "2.eval")]), ["heron", "wren"]);
/// assert_eq!(names([("a/heron", "1.eval"), ("b/heron", "2.eval")]), ["a/heron", "b/heron"]);
/// assert_eq!(names([("replay/x/heron.jsonl", "1.eval"), ("wren", "2.eval")]), ["heron", "wren"]);
/// assert_eq!(names([("heron", "l/09-14_quiz.eval"), ("heron", "l/09-15_quiz.eval")]), ["09-14", "09-15"]);
/// ```
pub fn run_names(runs: &[RunIdentity<'_>]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.display().to_string()).unwrap_or_default();
    let models = short_models(runs);
    let named: Vec<String> = models
        .into_iter()
        .zip(runs)
        .map(|(model, run)| if model.is_empty() { stem(run.path) } else { model })
        .collect();
    let mut alike: HashMap<(&str, Option<&str>), Vec<&RunIdentity<'_>>> = HashMap::new();
    for (name, run) in named.iter().zip(runs) {
        alike.entry((name, run.task)).or_default().push(run);
    }
    let told_apart: Vec<String> = named
        .iter()
        .zip(runs)
        .map(|(name, run)| match alike.get(&(name.as_str(), run.task)).map(Vec::as_slice) {
            Some(same @ [_, _, ..]) => {
                let stems: Vec<String> = same.iter().map(|run| stem(run.path)).collect();
                let file = match fewest_parts(&stems) {
                    Some(count) => first_parts(&stem(run.path), count),
                    None => run.path.display().to_string(),
                };
                if same.len() == runs.len() { file } else { format!("{name} ({file})") }
            }
            _ => name.clone(),
        })
        .collect();
    let cells: HashSet<(&String, Option<&str>)> =
        told_apart.iter().zip(runs.iter().map(|run| run.task)).collect();
    if cells.len() == runs.len() {
        return fitting_names(told_apart);
    }
    // One file twice.
    let numbered = told_apart.iter().enumerate().map(|(at, name)| format!("{name} #{}", at + 1));
    fitting_names(numbered.collect())
}

/// Names that are repeated in many rows: very long ones are cut in the middle. Equal ones stay equal, and others apart.
pub fn fitting_names(names: Vec<String>) -> Vec<String> {
    const MOST: usize = 500;
    if names.iter().all(|name| name.len() <= MOST) {
        return names;
    }
    let mut taken: HashSet<String> = names.iter().filter(|name| name.len() <= MOST).cloned().collect();
    let mut cut: HashMap<String, String> = HashMap::new();
    let mut fitting = |name: String| {
        if name.len() <= MOST {
            return name;
        }
        let number = cut.len() + 1;
        let short = cut.entry(name).or_insert_with_key(|name| {
            let short = without_middle(name, MOST);
            let short = if taken.contains(&short) { format!("{short} ({number})") } else { short };
            taken.insert(short.clone());
            short
        });
        short.clone()
    };
    names.into_iter().map(&mut fitting).collect()
}

/// The start and the end of a name: names of models and tasks often begin alike.
fn without_middle(name: &str, most: usize) -> String {
    let half = most / 2;
    let start: String = name.chars().take(half).collect();
    let mut end: Vec<char> = name.chars().rev().take(most - half - 1).collect();
    end.reverse();
    start + "…" + &end.into_iter().collect::<String>()
}

/// The fewest parts at the end of the models' names under which different models have different names.
fn short_models(runs: &[RunIdentity<'_>]) -> Vec<String> {
    let distinct: HashSet<&str> = runs.iter().map(|run| run.model).collect();
    let longest = distinct.iter().map(|model| parts(model).count()).max().unwrap_or(0);
    // A name without parts, such as `/`, is none; one of very many is no path.
    for count in 1..=longest.clamp(1, MOST_PARTS) {
        let short: HashSet<String> = distinct.iter().map(|model| last_parts(model, count)).collect();
        if short.len() == distinct.len() {
            return runs.iter().map(|run| last_parts(run.model, count)).collect();
        }
    }
    runs.iter().map(|run| run.model.to_owned()).collect()
}

fn parts(model: &str) -> impl DoubleEndedIterator<Item = &str> {
    model.split('/').filter(|part| !part.is_empty())
}

/// The last parts of a model's name; of recorded outputs the file has no extension.
fn last_parts(model: &str, count: usize) -> String {
    let extension = match model.strip_prefix(RECORDED) {
        Some(file) => Path::new(file).extension().map(|extension| format!(".{}", extension.display())),
        None => None,
    };
    let model = extension.and_then(|extension| model.strip_suffix(&extension)).unwrap_or(model);
    let mut last: Vec<&str> = parts(model).rev().take(count).collect();
    last.reverse();
    last.join("/")
}

/// How many parts of these names, separated by `_`, it takes to tell them apart; none if they are the same.
fn fewest_parts(names: &[String]) -> Option<usize> {
    let longest = names.iter().map(|name| name.split('_').count()).max().unwrap_or(0);
    (1..=longest).find(|count| {
        let first: HashSet<String> = names.iter().map(|name| first_parts(name, *count)).collect();
        first.len() == names.len()
    })
}

fn first_parts(name: &str, count: usize) -> String {
    name.split('_').take(count).collect::<Vec<_>>().join("_")
}

/// The results of one log or table, and where they come from.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The path, as it was given.
    pub log: String,
    /// The number of rows of a table as it is in the file, where that is not the number of samples and epochs.
    pub rows: Option<usize>,
    /// The task, where it is known.
    pub task: Option<String>,
    /// The model, where it is known.
    pub model: Option<String>,
    /// How the run ended, if it did not reach its end.
    pub partial_run: Option<PartialRun>,
    /// How many samples times epochs could not be read and are in no figure.
    pub skipped: usize,
    /// How many samples times epochs a limit ended and were judged as they were, by its kind: `token`, `time` and so on.
    pub limits: BTreeMap<String, usize>,
    /// The rule that stopped the run early, if one did.
    pub early_stop: Option<StoppedRun>,
    /// The model that graded its own answers, if it did.
    pub self_graded: Option<String>,
    /// Whether the results are those of an earlier run, which was complete.
    pub earlier_run: bool,
    /// Whether the figures are those that the log records, because it has no samples.
    pub recorded: bool,
    /// The results.
    pub results: Results,
}

impl Report {
    /// The results of a table, which knows neither task nor model.
    pub fn new(log: impl Into<String>, results: Results) -> Self {
        Report { log: log.into(), results, ..Report::default() }
    }

    /// The same of a task and a model.
    #[must_use]
    pub fn of_run(mut self, task: impl Into<String>, model: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self.model = Some(model.into());
        self
    }
}

/// A run that did not reach its end: its results are over a part of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialRun {
    /// How it ended: `cancelled`, `error`, or `started` if that is unknown.
    pub status: String,
    /// How many samples times epochs it should have had, where that is known.
    pub planned: Option<usize>,
}

/// A run that a rule stopped early: its estimates are for all the samples that were planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoppedRun {
    /// The rule that held.
    pub rule: String,
    /// Why it held, in words.
    pub reason: String,
    /// The number of samples that the run took.
    pub samples: u64,
    /// The number of samples that were planned.
    pub planned: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(runs: &[(&str, Option<&str>, &str)]) -> Vec<String> {
        let runs: Vec<RunIdentity<'_>> = runs
            .iter()
            .map(|(model, task, path)| RunIdentity::new(model, Path::new(path)).of_task(*task))
            .collect();
        run_names(&runs)
    }

    #[test]
    fn very_long_names_are_cut() {
        let long = |end: &str| format!("{}{end}", "x".repeat(100_000));
        let names = fitting_names(vec![long("a"), "short".to_owned(), long("b"), long("a")]);
        assert!(names.iter().all(|name| name.len() <= 600), "{names:?}");
        assert_eq!((names[1].as_str(), &names[0]), ("short", &names[3]));
        assert_ne!(names[0], names[2]);
    }

    #[test]
    fn names_are_as_long_as_it_takes() {
        let one = |model: &str| names(&[(model, None, "f.eval")]).remove(0);
        assert_eq!(one("openai/heron"), "heron");
        assert_eq!(one("together/aviary-labs/heron-4.1"), "heron-4.1", "a dot is no extension");
        assert_eq!(one("replay/out/heron.v2.jsonl"), "heron.v2");
        assert_eq!(one("vllm//models/heron/"), "heron");
        assert_eq!(one(""), "f", "a log without a model");
        assert_eq!(one("///"), "f");
        let of = |a: &str, b: &str| names(&[(a, None, "1.eval"), (b, None, "2.eval")]);
        assert_eq!(of("x/a/heron", "x/b/heron"), ["a/heron", "b/heron"]);
        assert_eq!(of("heron", "x/heron"), ["heron", "x/heron"]);
        assert_eq!(of("replay/a.jsonl", "replay/a.csv"), ["replay/a.jsonl", "replay/a.csv"]);
        assert_eq!(names(&[]), [""; 0]);
    }

    #[test]
    fn runs_of_one_model_are_told_apart_by_their_files() {
        let stamped = |day: &str| format!("logs/2026-11-{day}T06-13_quiz_x{day}.eval");
        let (first, second) = (stamped("16"), stamped("17"));
        assert_eq!(
            names(&[("a/heron", None, &first), ("a/wren", None, &first), ("a/heron", None, &second)]),
            ["heron (2026-11-16T06-13)", "wren", "heron (2026-11-17T06-13)"]
        );
        let tasks = [("heron", Some("law"), "1.eval"), ("heron", Some("logic"), "2.eval")];
        assert_eq!(names(&tasks), ["heron", "heron"], "one of each task");
        let folders = [("heron", None, "a/1.eval"), ("heron", None, "b/1.eval")];
        assert_eq!(names(&folders), ["a/1.eval", "b/1.eval"]);
        let twice = [("heron", None, "1.eval"), ("heron", None, "1.eval")];
        assert_eq!(names(&twice), ["1.eval #1", "1.eval #2"]);
    }
}
