//! The logs in a folder.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use errorbar_files::{
    LOG_HEAD_BYTES, begins_as_log, begins_as_manifest, has_log_name, has_run_name, is_cut_off,
};

use super::shards;

/// What [`find_logs`] found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FoundLogs {
    /// The logs, by path. Names of logs begin with the time of the run, so the newest of a folder comes last.
    pub logs: Vec<PathBuf>,
    /// Folders that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    /// How many logs of parts of a run were left out, because the merged log has their samples.
    pub covered_shards: u64,
}

/// Finds the logs in a folder and in the folders below it, but for hidden ones and for those behind a link. A `.json` file
/// that is something else is skipped.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("run.eval"), "")?;
/// std::fs::write(folder.path().join("notes.json"), "{}")?;
/// let found = errorbar_log::eval::find_logs(folder.path());
/// assert_eq!(found.logs, [folder.path().join("run.eval")]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn find_logs(folder: &Path) -> FoundLogs {
    let mut found = FoundLogs::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        match fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Err(error) => found.unreadable.push((folder, error)),
            Ok(entries) => entries.iter().for_each(|entry| visit(entry, &mut folders, &mut found.logs)),
        }
    }
    found.logs.sort();
    found.covered_shards = shards::remove_merged(&mut found.logs);
    found
}

/// Whether a file is an eval log: by its name, and a `.json` file also by how it begins, because tables and results of
/// other tools have that name, too.
pub fn is_log_file(path: &Path) -> bool {
    has_log_name(path) && !is_other_json(path)
}

/// Keeps an entry of a folder that is a log, or a folder to read next.
fn visit(entry: &DirEntry, folders: &mut Vec<PathBuf>, logs: &mut Vec<PathBuf>) {
    let path = entry.path();
    let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    match entry.file_type() {
        Ok(kind) if kind.is_dir() && !is_hidden => folders.push(path),
        Ok(kind) if kind.is_dir() => {}
        // What a link led to is gone: opening it gives the error.
        Ok(kind) if kind.is_symlink() && is_missing(&path) => {
            let is_log = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("eval"));
            logs.extend((is_log || has_run_name(&path)).then_some(path));
        }
        // Only a link has to be followed to see what it is.
        Ok(kind) if (kind.is_file() || path.is_file()) && is_log_file(&path) => logs.push(path),
        _ => {}
    }
}

fn is_missing(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Whether a `.json` file begins otherwise than a log does, and is not what a run left that was killed: empty, or cut off
/// and called as runs call their logs. Other tools keep their own among the logs, and the reference's
/// sets of evaluations a manifest of all headers (`logs.json`).
fn is_other_json(path: &Path) -> bool {
    // Opening it as a log gives the error of one that cannot be read.
    let is_rest = |head: &[u8]| head.is_empty() || has_run_name(path) && is_cut_off(head);
    let is_other = |head: Vec<u8>| !begins_as_log(&head) && !is_rest(&head);
    head_of_json(path).is_some_and(is_other)
}

/// Whether a file is what the reference's sets of evaluations keep beside their logs: a manifest of all headers
/// (`logs.json`), the record of the set (`eval-set.json`) or its id (`.eval-set-id`).
pub fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".eval-set-id")
        || path.is_file() && head_of_json(path).is_some_and(|head| begins_as_manifest(&head))
}

/// The first bytes of a `.json` file.
fn head_of_json(path: &Path) -> Option<Vec<u8>> {
    path.extension().filter(|extension| extension.eq_ignore_ascii_case("json"))?;
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(LOG_HEAD_BYTES as u64).read_to_end(&mut head)).ok()?;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_leaves_is_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let run = "2026-11-19T03-57-33-00-00_quiz_5x3sFdUTTR9gmYZ7PjYxWV";
        let files = [
            ("empty.json", ""),
            (&format!("{run}.json"), "{"),
            (&format!("{run}2.json"), r#"{"version": 2, "stat"#),
            (&format!("{run}3.json"), r#"{"accuracy": 0.5}"#),
            ("other.json", "{"),
            (
                "sorted.json",
                r#"{"eval": {"config": {}, "created": "2026-11-19", "dataset": {}}, "version": 2}"#,
            ),
        ];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let names: Vec<_> =
            find_logs(folder.path()).logs.iter().map(|log| log.file_name().unwrap().to_owned()).collect();
        let run = |end: &str| format!("{run}{end}.json");
        assert_eq!(names, [&run(""), &run("2"), "empty.json", "sorted.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_log_that_is_gone_is_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run.eval", "notes.json", "notes.txt"] {
            std::os::unix::fs::symlink(folder.path().join("gone"), folder.path().join(name)).unwrap();
        }
        assert_eq!(find_logs(folder.path()).logs, [folder.path().join("run.eval")]);
    }
}
