//! The list shows what the report of a log shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use errorbar_core::Registry;
use errorbar_log::eval::{
    EvalInfo, EvalLog, LogSummary, LogWriter, PlanRecord, ScoreOptions, StartRecord, compare, find_logs,
    plan_from_header,
};

use super::{Catalog, ListedLog, RunState};

/// A value and its error, to the digits that logs of any version have in common.
#[derive(Debug)]
struct Shown {
    value: Option<f64>,
    stderr: Option<f64>,
    is_random: bool,
}

fn is_same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The main figure of the report of a log; none if there is none, or if the log records figures that do not follow from its
/// samples: of custom metrics, or of samples that it does not have.
fn of_report(log: &EvalLog, registry: &Registry) -> Option<Shown> {
    let header = log.header().ok()?;
    let (plan, _) = plan_from_header(&header, registry).ok()?;
    let options = ScoreOptions::new(plan.metadata_keys()).score_parts(plan.score_parts());
    let columns = log.scores(&header, &options.skip_bad_samples(true)).ok()?.columns;
    let results = plan.evaluate(&columns).ok()?.results;
    if columns.is_empty() || header.results.is_some_and(|recorded| !compare(&recorded, &results).is_empty()) {
        return None;
    }
    let row = results.headline_row().ok()?;
    let is_random = row.estimate.draws.is_some() || row.error_metric.is_some_and(is_bootstrap);
    Some(Shown { value: row.estimate.number(), stderr: informative(row.estimate.stderr()), is_random })
}

/// Whether an error is drawn at random: the reference has other random numbers, and no seed.
fn is_bootstrap(metric: &errorbar_core::MetricResult) -> bool {
    metric.spec.to_string().contains("bootstrap")
}

/// An error of 0 is shown as unknown.
fn informative(stderr: Option<f64>) -> Option<f64> {
    stderr.filter(|stderr| *stderr > 1e-12)
}

#[test]
fn the_list_and_the_report_show_the_same_figure() {
    let registry = Registry::built_in();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<PathBuf> = vec![repository.join("conformance/old_logs/logs")];
    // More logs than are committed: those of a folder.
    folders.extend(std::env::var_os("ERRORBAR_CONFORMANCE_LOGS").map(PathBuf::from));
    let mut differing = Vec::new();
    let (mut compared, mut by_header) = (0, 0);
    for path in folders.iter().flat_map(|folder| find_logs(folder).logs) {
        let Ok(log) = EvalLog::open(&path) else { continue };
        let Some(report) = of_report(&log, &registry) else { continue };
        let Ok(summary) = ListedLog::read(&log, || false, &registry) else { continue };
        compared += 1;
        let figure = summary.figure.as_ref().map(|figure| &figure.estimate);
        let listed = Shown {
            value: figure.and_then(|estimate| estimate.number()),
            stderr: informative(figure.and_then(|estimate| estimate.stderr())),
            is_random: report.is_random,
        };
        let same_error = report.is_random || is_same(listed.stderr, report.stderr);
        if !is_same(listed.value, report.value) || !same_error {
            differing.push(format!("{}: list {listed:?}, report {report:?}", path.display()));
        }
        // `log list` has the header alone: what it shows is the same figure, though it may lack parts.
        let Ok(LogSummary { results: Some(results), .. }) = LogSummary::read(&log) else { continue };
        let Ok(row) = results.headline_row() else { continue };
        let (value, stderr) = (row.estimate.number(), row.estimate.stderr());
        by_header += 1;
        let same_error = stderr.is_none() || report.is_random || is_same(informative(stderr), report.stderr);
        if (value.is_some() && report.value.is_some() && !is_same(value, report.value)) || !same_error {
            let header = Shown { value, stderr, is_random: report.is_random };
            differing.push(format!("{}: header {header:?}, report {report:?}", path.display()));
        }
    }
    assert!(compared > 30 && by_header > 30, "{compared} logs, {by_header} headers");
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

/// Whoever can write to the folder can put a link there: only what is inside the folder says that a run is in progress.
#[test]
#[cfg(target_os = "linux")]
fn a_lock_file_outside_the_folder_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let (log, lock) = (logs.join("a.eval"), logs.join("a.eval.lock"));
    let writer =
        LogWriter::create(&log, &StartRecord::new(EvalInfo::default(), PlanRecord::default())).unwrap();
    let record = fs::read(&lock).unwrap();
    drop(writer);
    let long_ago = SystemTime::now() - Duration::from_secs(600);
    fs::File::options().append(true).open(&log).unwrap().set_modified(long_ago).unwrap();
    let state = || {
        let snapshot = Catalog::new(logs.clone(), Registry::built_in()).refresh();
        snapshot.logs[0].summary.as_ref().unwrap().state
    };
    fs::write(&lock, &record).unwrap();
    assert_eq!(state(), RunState::Running);
    fs::rename(&lock, folder.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", &lock).unwrap();
    assert_eq!(state(), RunState::Interrupted);
}
