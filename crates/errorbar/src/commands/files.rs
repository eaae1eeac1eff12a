//! The files that arguments mean: a file is itself, a folder the eval logs in it, a pattern what it matches.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::logs::is_log;

/// The files, and what could not be looked at.
#[derive(Debug, Default)]
pub(crate) struct InputFiles {
    /// In the order of the arguments; those of a folder or a pattern by their path.
    pub(crate) files: Vec<PathBuf>,
    /// Problems, each with the way out.
    pub(crate) problems: Vec<(String, String)>,
}

/// Finds the files that paths mean.
///
/// A folder stands for the eval logs in it and in the folders below it, but for hidden ones and for those behind a
/// link; a `.json` file in there that is something else is left out. Names of logs begin with the time of the run,
/// so the newest of a folder comes last. A pattern (`*`, `?`, `[…]`) that the shell has not filled in is filled in
/// here. A file that is not there stays, so that opening it gives the error; a pattern that matches nothing
/// is a problem.
pub(crate) fn expand(paths: &[PathBuf]) -> InputFiles {
    let mut expanded = InputFiles::default();
    for path in paths {
        match pattern(path).filter(|_| !path.exists()) {
            None => expanded.add(path),
            Some(pattern) => {
                let matched = matches(pattern);
                if matched.is_empty() {
                    let problem = format!("{}: the pattern matches no file", path.display());
                    expanded
                        .problems
                        .push((problem, "check it; `*`, `?` and `[…]` are understood".to_owned()));
                }
                matched.iter().for_each(|path| expanded.add(path));
            }
        }
    }
    expanded
}

impl InputFiles {
    fn add(&mut self, path: &Path) {
        if !path.is_dir() {
            self.files.push(path.to_owned());
            return;
        }
        let before = (self.files.len(), self.problems.len());
        self.walk(path);
        if (self.files.len(), self.problems.len()) == before {
            let problem = format!("{}: no eval log is in this folder", path.display());
            self.problems.push((problem, "give a folder with .eval or .json logs in it".to_owned()));
        }
    }

    fn walk(&mut self, folder: &Path) {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let entries = match entries {
                Ok(entries) => entries,
                Err(error) => {
                    let problem = format!("{}: cannot read the folder: {error}", folder.display());
                    self.problems.push((problem, "check that you may read it".to_owned()));
                    continue;
                }
            };
            for entry in entries {
                let path = entry.path();
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_hidden => folders.push(path),
                    Ok(kind) if kind.is_dir() => {}
                    _ if is_log(&path) && path.is_file() && !is_other_json(&path) => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        self.files.append(&mut found);
    }
}

/// The path as a pattern, if it is one.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']))
}

/// What a pattern matches, by path.
fn matches(pattern: &str) -> Vec<PathBuf> {
    glob::glob(pattern).map(|found| found.filter_map(Result::ok).collect()).unwrap_or_default()
}

/// Whether a `.json` file begins otherwise than a log does; other tools keep their own among the logs.
fn is_other_json(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 2048;
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return false;
    }
    let mut head = Vec::new();
    if File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).is_err() {
        // Opening it as a log will say why.
        return false;
    }
    let head: String = String::from_utf8_lossy(&head).split_whitespace().collect();
    !head.contains("\"eval\":{")
}

#[cfg(test)]
mod tests {
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
        assert!(expanded.problems.is_empty());
    }

    #[test]
    fn what_is_named_stays_as_it_is() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let expanded =
            expand(&[path("sub/data.json"), path("missing.eval"), path("no*such"), path("b.eval")]);
        assert_eq!(names(folder.path(), &expanded), ["sub/data.json", "missing.eval", "b.eval"]);
        assert!(expanded.problems[0].0.ends_with("no*such: the pattern matches no file"), "{expanded:?}");
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
    fn a_folder_without_logs_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let expanded = expand(&[folder.path().to_owned()]);
        assert!(expanded.files.is_empty());
        assert!(expanded.problems[0].0.contains("no eval log"), "{:?}", expanded.problems);
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
