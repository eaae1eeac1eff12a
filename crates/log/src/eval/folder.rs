//! The logs in a folder.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use errorbar_files::{
    LOG_HEAD_BYTES, begins_as_log, begins_as_manifest, has_log_name, has_run_name, is_cut_off,
};
use serde_json::Value as Json;

use super::header::{EvalInfo, Status};
use super::reader::EvalLog;

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
    found.covered_shards = remove_merged(&mut found.logs);
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

// Shards: logs of parts of a run, at `NAME.shards/K/`, beside the log `NAME.eval` that they are merged into.
//
// A folder that holds both holds every sample twice. A shard is skipped where the merged log is there, is of a run that
// reached its end, and is newer than the shard; in all other cases the shard may have samples that the merged log has
// not. This is the rule by which the reference's viewer hides shards. Times are lost where a folder is copied, so a
// shard is skipped as well if the merged log names it among those that were complete.

/// Removes the shards that a merged log among these covers, and returns how many there were.
fn remove_merged(logs: &mut Vec<PathBuf>) -> u64 {
    let names: HashSet<PathBuf> = logs.iter().cloned().collect();
    let mut finished: HashMap<PathBuf, Option<Merged>> = HashMap::new();
    let before = logs.len();
    logs.retain(|log| {
        let paths: Vec<PathBuf> = merged_logs(log).into_iter().filter(|log| names.contains(log)).collect();
        for path in &paths {
            finished.entry(path.clone()).or_insert_with(|| Merged::finished(path));
        }
        // If there are several, the oldest of them decides.
        let merged: Option<Vec<&Merged>> = paths.iter().map(|path| finished.get(path)?.as_ref()).collect();
        let Some(merged) = merged.filter(|merged| !merged.is_empty()) else { return true };
        let is_older = || {
            let oldest = merged.iter().map(|merged| merged.modified).min();
            oldest.zip(modified(log)).is_some_and(|(merged, shard)| shard < merged)
        };
        !is_older() && !merged.iter().all(|merged| merged.records(log))
    });
    (before - logs.len()) as u64
}

/// A merged log whose run reached its end.
struct Merged {
    modified: SystemTime,
    eval: EvalInfo,
}

impl Merged {
    fn finished(path: &Path) -> Option<Self> {
        let header = EvalLog::open(path).and_then(|log| log.short_header()).ok()?;
        let modified = modified(path).filter(|_| header.status == Status::Success)?;
        Some(Merged { modified, eval: header.eval })
    }

    /// Whether it names this shard among those that were complete when they were merged. Another attempt has another name.
    fn records(&self, shard: &Path) -> bool {
        let name = |path: Option<&Path>| path?.file_name()?.to_str().map(str::to_owned);
        let (Some(folder), Some(file)) = (name(shard.parent()), name(Some(shard))) else { return false };
        self.eval.merged_shards().any(|merged| {
            let is = |key: &str, value: &str| merged.get(key).and_then(Json::as_str) == Some(value);
            is("shard", &folder) && is("log", &file) && is("status", "success")
        })
    }
}

/// The logs that a shard at this path may be merged into.
fn merged_logs(shard: &Path) -> Vec<PathBuf> {
    let Some(folder) = shard.parent().and_then(Path::parent) else { return Vec::new() };
    let name =
        folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".shards"));
    match name {
        Some(name) if !name.is_empty() => {
            [".eval", "-recovered.eval"].map(|end| folder.with_file_name(format!("{name}{end}"))).to_vec()
        }
        _ => Vec::new(),
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
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

#[cfg(test)]
mod shards_tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::*;

    /// A log of this status, last written this many seconds after the first.
    fn log(path: &Path, status: &str, seconds: u64) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!(r#"{{"version":2,"status":"{status}","eval":{{"task":"t"}},"samples":[]}}"#);
        fs::write(path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        path.to_owned()
    }

    #[test]
    fn a_shard_is_skipped_if_a_finished_log_is_newer() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let old = log(&at("run.shards/1/a.eval"), "success", 0);
        let new = log(&at("run.shards/2/b.eval"), "success", 9);
        let tie = log(&at("run.shards/3/c.eval"), "success", 5);
        let alone = log(&at("lone.shards/1/d.eval"), "success", 0);
        let deeper = log(&at("run.shards/1/scans/e.eval"), "success", 0);
        let merged = log(&at("run.eval"), "success", 5);
        let all = vec![old, new.clone(), tie.clone(), alone.clone(), deeper.clone(), merged.clone()];

        let mut logs = all.clone();
        assert_eq!(remove_merged(&mut logs), 1);
        assert_eq!(logs, [new.clone(), tie, alone, deeper, merged.clone()]);

        // One that has not reached its end may lack samples.
        log(&merged, "started", 5);
        let mut logs = all.clone();
        assert_eq!(remove_merged(&mut logs), 0);
        assert_eq!(logs, all);
        // Copies of both have any times; a merged log names the shards that were complete.
        let recorded = |status: &str| {
            let ledger = format!(r#"{{"ledger":[{{"shard":"2","log":"b.eval","status":"{status}"}}]}}"#);
            let text = format!(
                r#"{{"version":2,"status":"success","eval":{{"task":"t","shards":{ledger}}},"samples":[]}}"#
            );
            fs::write(&merged, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
            File::options().write(true).open(&merged).unwrap().set_modified(time).unwrap();
            let mut logs = all.clone();
            remove_merged(&mut logs);
            all.iter().filter(|log| !logs.contains(log)).cloned().collect::<Vec<_>>()
        };
        assert_eq!(recorded("success"), [new]);
        assert_eq!(recorded("started"), Vec::<PathBuf>::new());
        // One that is not asked for covers nothing.
        let mut logs = vec![at("run.shards/1/a.eval")];
        assert_eq!(remove_merged(&mut logs), 0);
    }
}
