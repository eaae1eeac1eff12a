//! Shards: logs of parts of a run, at `NAME.shards/K/`, beside the log `NAME.eval` that they are merged into.
//!
//! A folder that holds both holds every sample twice. A shard is skipped where the merged log is there, is of a run that
//! reached its end, and is newer than the shard; in all other cases the shard may have samples that the merged log has
//! not. This is the rule by which the reference's viewer hides shards.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::header::Status;
use super::reader::EvalLog;

/// Removes the shards that a merged log among these covers, and returns how many there were.
pub(super) fn remove_merged(logs: &mut Vec<PathBuf>) -> u64 {
    let names: HashSet<PathBuf> = logs.iter().cloned().collect();
    let mut finished: HashMap<PathBuf, Option<SystemTime>> = HashMap::new();
    let before = logs.len();
    logs.retain(|log| {
        let merged: Vec<PathBuf> = merged_logs(log).into_iter().filter(|log| names.contains(log)).collect();
        if merged.is_empty() {
            return true;
        }
        let ends = merged.iter().map(|path| *finished.entry(path.clone()).or_insert_with(|| end_of(path)));
        // If there are several, the oldest of them decides.
        let covers = ends.collect::<Option<Vec<SystemTime>>>().and_then(|ends| ends.into_iter().min());
        covers.zip(modified(log)).is_none_or(|(merged, shard)| shard >= merged)
    });
    (before - logs.len()) as u64
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

/// When a merged log was written, if its run reached its end.
fn end_of(path: &Path) -> Option<SystemTime> {
    let header = EvalLog::open(path).and_then(|log| log.short_header()).ok()?;
    if header.status == Status::Success { modified(path) } else { None }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(logs, [new, tie, alone, deeper, merged.clone()]);

        // One that has not reached its end may lack samples.
        log(&merged, "started", 5);
        let mut logs = all.clone();
        assert_eq!(remove_merged(&mut logs), 0);
        assert_eq!(logs, all);
        // One that is not asked for covers nothing.
        let mut logs = vec![at("run.shards/1/a.eval")];
        assert_eq!(remove_merged(&mut logs), 0);
    }
}
