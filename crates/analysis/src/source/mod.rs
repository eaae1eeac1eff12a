//! The files that arguments mean: a file is itself, a folder the eval logs in it, a pattern what it matches.

pub(crate) mod handles;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use errorbar_log::eval::{FoundLogs, LogError, LogErrorKind, find_logs, is_manifest};
use errorbar_table::MemoryTables;
use glob::{MatchOptions, glob_with};
use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text::counted;

/// The files, and what could not be read on the way to them.
#[derive(Debug, Default)]
pub struct InputFiles {
    /// In the order of the arguments; those of a folder or a pattern by their path.
    pub files: Vec<PathBuf>,
    /// Those that were given as files. The others are logs that a folder stands for.
    named: HashSet<PathBuf>,
    /// What there is to report of them.
    pub diagnostics: Diagnostics,
}

/// The number of skipped logs that are named.
const SKIPPED_NAMED: usize = 10;

/// Finds the files that paths mean.
///
/// A folder stands for the eval logs in it and in the folders below it, but for hidden ones and for those behind a
/// link; a `.json` file in there that is something else is skipped. Names of logs begin with the time of the run,
/// so the newest of a folder comes last. A handle (`@1`, `latest`) stands for the log that it means. A pattern (`*`,
/// `?`, `[…]`) that the shell has not expanded is expanded here. A file that does not exist stays, so that opening it
/// gives the error; a pattern without a match is an error. What sets of evaluations keep beside their logs is skipped in a
/// pattern as in a folder; it is an error if it is named.
pub fn expand(paths: &[PathBuf]) -> InputFiles {
    expand_with(paths, &MemoryTables::default())
}

/// The same, where paths may also be the names of tables in memory.
pub fn expand_with(paths: &[PathBuf], memory: &MemoryTables) -> InputFiles {
    let mut input = InputFiles::default();
    for path in paths {
        if memory.contains(path) {
            input.add_file(path);
            continue;
        }
        match pattern(path).filter(|_| !path.exists()) {
            None => match handles::resolve(path) {
                Ok(path) if is_manifest(&path) => input.diagnostics.push(manifest(&path)),
                Ok(path) => input.add(&path),
                Err(diagnostics) => input.diagnostics.extend(diagnostics),
            },
            Some(pattern) => {
                let (skipped, matched): (Vec<PathBuf>, Vec<PathBuf>) =
                    matches(pattern).into_iter().partition(|path| is_manifest(path));
                if let (Some(only), true) = (skipped.first(), matched.is_empty()) {
                    input.diagnostics.push(manifest(only));
                } else if matched.is_empty() {
                    let hint = "check it; `*`, `?` and `[…]` are understood";
                    input.fail(path, "the pattern matches no file", hint);
                }
                matched.iter().for_each(|path| input.add(path));
            }
        }
    }
    input
}

/// The logs in a folder.
pub fn expand_folder(folder: &Path) -> InputFiles {
    let mut input = InputFiles::default();
    input.add(folder);
    input
}

impl InputFiles {
    /// Does the same with every file, several at a time. What fails is among the diagnostics, and so is what `act` adds to
    /// those that it gets. A log of a folder that cannot be used is skipped, unless nothing else is left.
    pub fn map<T: Send>(
        self,
        act: impl Fn(&Path, &mut Diagnostics) -> Result<T, Diagnostics> + Sync,
    ) -> (Vec<T>, Diagnostics) {
        let act = |path: &PathBuf| {
            let mut diagnostics = Diagnostics::default();
            (act(path, &mut diagnostics), diagnostics)
        };
        let results = self.files.par_iter().map(act).collect();
        self.combine(results)
    }

    /// The same with what came of each file, in their order, and what there is to report about it.
    pub fn combine<T>(self, results: Vec<(Result<T, Diagnostics>, Diagnostics)>) -> (Vec<T>, Diagnostics) {
        let InputFiles { files, named, mut diagnostics } = self;
        let (mut values, mut unusable) = (Vec::with_capacity(results.len()), Vec::new());
        for (path, (result, about)) in files.iter().zip(results) {
            match result {
                Err(problems) if !named.contains(path) && problems.are_of_a_log() => unusable.push(problems),
                result => {
                    diagnostics.extend(about);
                    values.extend(diagnostics.collect(result));
                }
            }
        }
        match values.is_empty() {
            true => diagnostics.extend(unusable.into_iter().flatten()),
            false => {
                let found = files.iter().filter(|path| !named.contains(*path)).count();
                diagnostics.extend(skipped(unusable, found));
            }
        }
        (values, diagnostics)
    }

    /// The same, where a log of a folder that cannot be used is an error too.
    #[must_use]
    pub fn all_named(mut self) -> Self {
        self.named.extend(self.files.iter().cloned());
        self
    }

    /// Adds the files of another argument.
    pub fn append(&mut self, other: InputFiles) {
        self.files.extend(other.files);
        self.named.extend(other.named);
        self.diagnostics.extend(other.diagnostics);
    }

    fn fail(&mut self, path: &Path, problem: impl Into<String>, hint: &str) {
        self.diagnostics.push(Diagnostic::error(problem.into()).about(path.display()).hint(hint));
    }

    fn add_file(&mut self, path: &Path) {
        self.files.push(path.to_owned());
        self.named.insert(path.to_owned());
    }

    fn add(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.add_file(path);
        }
        let FoundLogs { mut logs, unreadable, covered_shards, .. } = find_logs(path);
        let is_readable = unreadable.is_empty();
        for (folder, error) in unreadable {
            self.fail(&folder, format!("cannot read the folder: {error}"), "check that you may read it");
        }
        if logs.is_empty() && is_readable {
            let hint = "give a folder with .eval or .json logs in it";
            self.fail(path, "no eval log is in this folder", hint);
        }
        if covered_shards > 0 {
            let shards = counted(covered_shards, "shard log");
            let text = format!("{shards} skipped: the merged log has their samples");
            self.diagnostics.push(Diagnostic::note(text).about(path.display()));
        }
        self.files.append(&mut logs);
    }
}

/// The warning that logs of folders were skipped.
fn skipped(unusable: Vec<Diagnostics>, found: usize) -> Option<Diagnostic> {
    let count = unusable.len();
    let first: Vec<Diagnostic> =
        unusable.into_iter().filter_map(|problems| problems.into_iter().next()).collect();
    let texts: Vec<String> = first.iter().map(|problem| problem.text().to_string()).collect();
    let mut lines: Vec<&str> = texts.iter().take(SKIPPED_NAMED).map(String::as_str).collect();
    let more = format!("… and {} more", count.saturating_sub(SKIPPED_NAMED));
    lines.extend((count > SKIPPED_NAMED).then_some(more.as_str()));
    let text = format!("skipped {count} of {}: {}", counted(found as u64, "log"), lines.join("\n"));
    let hint = first.first()?.hint_text();
    let is_common = first.iter().all(|problem| problem.hint_text() == hint);
    Some(Diagnostic::warning(text).hint_if(hint.filter(|_| is_common).cloned()))
}

/// The path as a pattern, if it is one.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']))
}

/// What a pattern matches, by path: as in a shell, a name that begins with a dot only if the pattern has the dot.
fn matches(pattern: &str) -> Vec<PathBuf> {
    // With this option, the crate finds no hidden name even where the pattern has the dot.
    let has_dot = pattern.split('/').any(|part| part.starts_with('.') && part.contains(['*', '?', '[']));
    let options = MatchOptions { require_literal_leading_dot: !has_dot, ..MatchOptions::new() };
    glob_with(pattern, options).map(|found| found.filter_map(Result::ok).collect()).unwrap_or_default()
}

/// The error of a file that is beside logs and is none.
fn manifest(path: &Path) -> Diagnostic {
    LogError::from(LogErrorKind::Manifest).at(path).into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LOG: &str = "{\"version\": 2, \"status\": \"success\",\n  \"eval\": { }}";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("b.eval", ""),
            ("a.json", LOG),
            ("sub/deep/c.EVAL", ""),
            ("sub/data.json", "[1, 2]"),
            ("sub/config.json", "{\"eval\": 1}"),
            ("sub/evalplus.json", "{\"date\": \"2024\", \"eval\": {\"HumanEval/0\": []}}"),
            ("sub/notes.txt", LOG),
            (".hidden/d.eval", ""),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn names(folder: &Path, expanded: &InputFiles) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        expanded.files.iter().map(name).collect()
    }

    #[test]
    fn a_folder_stands_for_the_logs_in_it() {
        let folder = folder();
        let expanded = expand(&[folder.path().to_owned()]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval", "sub/deep/c.EVAL"]);
        assert!(expanded.diagnostics.is_empty());
    }

    #[test]
    fn what_is_named_stays_as_it_is() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let expanded =
            expand(&[path("sub/data.json"), path("missing.eval"), path("no*such"), path("b.eval")]);
        assert_eq!(names(folder.path(), &expanded), ["sub/data.json", "missing.eval", "b.eval"]);
        let problems: Vec<String> =
            expanded.diagnostics.into_iter().map(|problem| problem.text().to_string()).collect();
        assert_eq!(problems, [format!("{}: the pattern matches no file", path("no*such").display())]);
    }

    #[test]
    fn patterns_are_filled_in_unless_a_file_has_that_name() {
        let folder = folder();
        let expanded = expand(&[folder.path().join("*.[ej]*")]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval"]);
        fs::write(folder.path().join("x[1].eval"), "").unwrap();
        fs::write(folder.path().join("x1.eval"), "").unwrap();
        let expanded = expand(&[folder.path().join("x[1].eval")]);
        assert_eq!(names(folder.path(), &expanded), ["x[1].eval"]);
        let expanded = expand(&[folder.path().join("s?b")]);
        assert_eq!(names(folder.path(), &expanded), ["sub/deep/c.EVAL"], "a folder that matches");
    }

    #[test]
    fn manifests_are_skipped_in_patterns_and_refused_by_name() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("logs.json"), format!("{{\"b.eval\": {LOG}}}")).unwrap();
        fs::write(path("eval-set.json"), "{\"eval_set_id\": \"abc\", \"tasks\": []}").unwrap();
        fs::write(path(".eval-set-id"), "abc").unwrap();
        let expanded = expand(&[path("*")]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval", "sub/deep/c.EVAL"]);
        assert!(expanded.diagnostics.is_empty());
        for named in ["logs.json", "eval-set.json", ".eval-set-id", "*s.json", ".eval*"] {
            let expanded = expand(&[path(named), path("b.eval")]);
            assert_eq!(names(folder.path(), &expanded), ["b.eval"], "{named}");
            let problems: Vec<Diagnostic> = expanded.diagnostics.into_iter().collect();
            let problem = problems.first().unwrap();
            assert!(
                problem.text().to_string().ends_with("this is a manifest of Inspect's eval_set, not a log"),
                "{named}"
            );
            assert!(problem.hint_text().is_some());
        }
    }

    #[test]
    fn a_folder_without_logs_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let expanded = expand(&[folder.path().to_owned()]);
        assert!(expanded.files.is_empty());
        assert_eq!(expanded.diagnostics.into_iter().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_do_not_go_round_in_circles() {
        let folder = folder();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/again")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("b.eval"), folder.path().join("sub/b.eval")).unwrap();
        let expanded = expand(&[folder.path().to_owned()]);
        assert_eq!(names(folder.path(), &expanded), ["a.json", "b.eval", "sub/b.eval", "sub/deep/c.EVAL"]);
    }
}
