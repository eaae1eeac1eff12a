//! Runs a task with the built program and reads the log that it writes.

use std::path::Path;
use std::process::Command;

use errorbar_log::eval::{EvalLog, Header, RecordedBlock, RecordedMetric, RecordedResults, Status, convert};
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::data::file;

const MANUAL: &str = env!("CARGO_BIN_EXE_manual");
const OWN_MEAN: &str = env!("CARGO_BIN_EXE_own_mean");

/// A log, and the folder that holds it for as long as it is looked at.
pub(crate) struct Log {
    folder: TempDir,
    log: EvalLog,
    pub(crate) header: Header,
}

/// Runs a task of the program `manual`.
pub(crate) fn run(task: &str) -> Log {
    run_by(MANUAL, task)
}

/// Runs a task of the program `own_mean`.
pub(crate) fn run_own_mean(task: &str) -> Log {
    run_by(OWN_MEAN, task)
}

/// The task in Rust and its twin in a file: both give the same.
pub(crate) fn run_both(task: &str) -> [Log; 2] {
    let twin = file("tasks").join(format!("{task}.toml"));
    [run(task), run(twin.to_str().expect("a path of letters"))]
}

fn run_by(program: &str, task: &str) -> Log {
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(program);
    let ran = command.args(["eval", task, "--log-dir"]).arg(folder.path()).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "eval {task}: {}\n{stderr}", ran.status);
    let log = EvalLog::open(only_log(folder.path())).expect("a log");
    let header = log.header().expect("a header");
    assert_eq!(header.status, Status::Success, "{task}: {stderr}");
    Log { folder, log, header }
}

fn only_log(folder: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let logs: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "eval")).collect();
    assert_eq!(logs.len(), 1, "one log: {logs:?}");
    logs[0].clone()
}

impl Log {
    pub(crate) fn results(&self) -> &RecordedResults {
        self.header.results.as_ref().expect("results")
    }

    /// The only block.
    pub(crate) fn block(&self) -> &RecordedBlock {
        let blocks = &self.results().scores;
        assert_eq!(blocks.len(), 1, "one block: {blocks:?}");
        &blocks[0]
    }

    /// The reducers of the blocks, in order.
    pub(crate) fn reducers(&self) -> Vec<Option<&str>> {
        self.results().scores.iter().map(|block| block.reducer.as_deref()).collect()
    }

    /// The metrics of the task as the log records them, each as name and options.
    pub(crate) fn task_metrics(&self) -> &Json {
        self.header.eval.metrics.as_ref().expect("the task has metrics")
    }

    /// How many samples times epochs it holds.
    pub(crate) fn sample_count(&self) -> usize {
        self.log.sample_count()
    }

    /// The reduced scores, as the log has them.
    pub(crate) fn reductions(&self) -> Json {
        let json = self.folder.path().join("log.json");
        convert(&self.log, &json).expect("written");
        let text = std::fs::read_to_string(json).expect("read");
        let mut log: Json = serde_json::from_str(&text).expect("JSON");
        log["reductions"].take()
    }
}

/// The keys of a block's metrics, in order.
pub(crate) fn keys(block: &RecordedBlock) -> Vec<&str> {
    block.metrics.keys().map(String::as_str).collect()
}

/// A metric of a block.
pub(crate) fn metric<'b>(block: &'b RecordedBlock, key: &str) -> &'b RecordedMetric {
    block.metrics.get(key).unwrap_or_else(|| panic!("no `{key}` in {:?}", keys(block)))
}

/// Checks a figure that is computed here in another way.
#[track_caller]
pub(crate) fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "found {found}, expected {expected}");
}
