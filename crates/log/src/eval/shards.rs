//! Shards: logs of parts of a run, at `NAME.shards/K/`, beside the log `NAME.eval` that they are merged into.
//!
//! A folder that holds both holds every sample twice. A shard is skipped where the merged log is there, is of a run that
//! reached its end, and is newer than the shard; in all other cases the shard may have samples that the merged log has
//! not. This is the rule by which the reference's viewer hides shards. Times are lost where a folder is copied, so a
//! shard is skipped as well if the merged log names it among those that were complete.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value as Json;

use super::header::{EvalInfo, Status};
use super::reader::EvalLog;

/// Removes the shards that a merged log among these covers, and returns how many there were.
pub(super) fn remove_merged(logs: &mut Vec<PathBuf>) -> u64 {
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
