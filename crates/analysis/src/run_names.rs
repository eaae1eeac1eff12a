//! What runs are called, wherever several stand beside each other: in the list of the viewer, on pages, in comparisons.

use std::collections::{HashMap, HashSet};
use std::path::Path;

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
