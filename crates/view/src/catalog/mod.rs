//! The logs of the folder, and what is known of them without reading their samples.
//!
//! A log is read again when its size or its modification time changes. That of a run in progress changes all the time, and
//! reading it takes longer the longer it is, so it is read again only when that takes a small part of the time.

mod beneath;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use axum::http::StatusCode;
use errorbar_core::chat::Usage;
use errorbar_core::{Estimate, EstimateRow, NoHeadline, Registry};
use errorbar_log::eval::{
    EvalLog, LogError, LogErrorKind, LogLimits, LogSummary, ScoreOptions, Stats, Status, compare, find_logs,
    plan_from_header,
};
use errorbar_log::inspect::recorded_name;
use jiff::Timestamp;
use rayon::prelude::*;

/// A list that is younger than this is not made again.
const FRESH: Duration = Duration::from_millis(400);
/// The part of the time that reading a log in progress may take is one in this many.
const COST_SHARE: u32 = 10;
/// A log without an end that was not written to for so long is not in progress, unless a process of this machine holds it.
const SILENT: Duration = Duration::from_secs(5);

/// A number that the server gave to a log.
pub(crate) type LogId = u32;

/// A log of the folder.
#[derive(Debug)]
pub(crate) struct LogEntry {
    pub(crate) id: LogId,
    /// Below the folder.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    stamp: Stamp,
    /// What it holds, or why it cannot be read.
    pub(crate) summary: Result<ListedLog, String>,
    /// When it was read, and how long that took.
    read: (Instant, Duration),
    /// When it was first seen in progress, and the samples that it had: what its speed is measured from.
    pub(crate) first_seen: Option<(Instant, u64)>,
}

/// What changes when a file is written to: when that was, and its length.
type Stamp = (Option<SystemTime>, u64);

fn is_silent((modified, _): Stamp) -> bool {
    let since = modified.and_then(|modified| modified.elapsed().ok());
    since.is_some_and(|since| since > SILENT)
}

/// All logs at a moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// By path.
    pub(crate) logs: Vec<Arc<LogEntry>>,
    /// What could not be read on the way to them.
    pub(crate) problems: Vec<String>,
    /// Changes with anything.
    pub(crate) version: u64,
    /// Changes with logs that are not in progress.
    pub(crate) list_version: u64,
}

#[derive(Default)]
struct State {
    snapshot: Arc<Snapshot>,
    scanned: Option<Instant>,
    ids: HashMap<PathBuf, LogId>,
}

/// The logs of a folder.
pub(crate) struct Catalog {
    folder: PathBuf,
    registry: Registry,
    state: Mutex<State>,
}

impl Catalog {
    pub(crate) fn new(folder: PathBuf, registry: Registry) -> Self {
        Catalog { folder, registry, state: Mutex::new(State::default()) }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The logs as they are now, give or take [`FRESH`]. Reads files.
    pub(crate) fn refresh(&self) -> Arc<Snapshot> {
        // Whoever comes second waits for the first, and finds a fresh list.
        let mut state = self.lock();
        if state.scanned.is_some_and(|scanned| scanned.elapsed() < FRESH) {
            return Arc::clone(&state.snapshot);
        }
        let before = Arc::clone(&state.snapshot);
        let snapshot = self.scan(&before, &mut state.ids);
        state.snapshot = Arc::new(snapshot);
        state.scanned = Some(Instant::now());
        Arc::clone(&state.snapshot)
    }

    /// Opens the log of a number.
    ///
    /// # Errors
    /// A log that is no longer in the folder, or cannot be read.
    pub(crate) fn open(&self, id: LogId) -> Result<EvalLog, PageError> {
        let find =
            |snapshot: &Snapshot| snapshot.logs.iter().find(|log| log.id == id).map(|log| log.path.clone());
        let known = find(&self.lock().snapshot);
        let gone = || PageError::NotFound("this log is no longer in the folder".to_owned());
        let path = known.or_else(|| find(&self.refresh())).ok_or_else(gone)?;
        let opened = self.open_path(&path, LogLimits::default());
        opened.map_err(|error| if is_gone(&error) { gone() } else { PageError::Unusable(reason(error)) })
    }

    /// The one place where logs are opened.
    fn open_path(&self, path: &Path, limits: LogLimits) -> Result<EvalLog, LogError> {
        let file = beneath::open(path, &self.folder).map_err(LogErrorKind::Open)?;
        EvalLog::from_file(file, path, limits)
    }

    /// Whether a process has locked a log. Its lock file is opened as the log is: one outside the folder says nothing.
    fn is_held(&self, log: &EvalLog) -> bool {
        log.lock_holder_with(|lock| beneath::open(lock, &self.folder)).is_some()
    }

    fn scan(&self, before: &Snapshot, ids: &mut HashMap<PathBuf, LogId>) -> Snapshot {
        let found = find_logs(&self.folder);
        let problems = found
            .unreadable
            .iter()
            .map(|(folder, error)| format!("{}: cannot read the folder: {error}", self.name_of(folder)));
        // A folder that a run has yet to create is an empty one.
        let problems = problems.filter(|_| self.folder.exists()).collect();
        let known: HashMap<&Path, &Arc<LogEntry>> =
            before.logs.iter().map(|log| (log.path.as_path(), log)).collect();
        let inside: Vec<PathBuf> =
            found.logs.into_iter().filter(|path| is_inside(path, &self.folder)).collect();
        let numbered: Vec<(LogId, PathBuf)> = inside
            .into_iter()
            .map(|path| {
                let next = ids.len() as LogId + 1;
                (*ids.entry(path.clone()).or_insert(next), path)
            })
            .collect();
        let logs: Vec<Arc<LogEntry>> = numbered
            .into_par_iter()
            .filter_map(|(id, path)| {
                let earlier = known.get(path.as_path()).copied();
                self.entry(id, path, earlier)
            })
            .collect();
        let is_same = |filter: fn(&LogEntry) -> bool| {
            let shown = |logs: &[Arc<LogEntry>]| -> Vec<*const LogEntry> {
                logs.iter().filter(|log| filter(log)).map(Arc::as_ptr).collect()
            };
            shown(&logs) == shown(&before.logs)
        };
        let version = before.version + u64::from(!is_same(|_| true));
        let list_version = before.list_version + u64::from(!is_same(|log| !log.is_running()));
        Snapshot { logs, problems, version, list_version }
    }

    /// A log as it is now; none if it is gone.
    fn entry(&self, id: LogId, path: PathBuf, earlier: Option<&Arc<LogEntry>>) -> Option<Arc<LogEntry>> {
        let metadata = fs::metadata(&path).ok()?;
        let stamp: Stamp = (metadata.modified().ok(), metadata.len());
        if let Some(earlier) = earlier {
            let (at, cost) = earlier.read;
            let is_running = earlier.is_running();
            let is_too_early = is_running && at.elapsed() < cost * COST_SHARE;
            let is_held = || self.open_path(&path, LIMITS).is_ok_and(|log| self.is_held(&log));
            let may_have_ended = || is_running && is_silent(stamp) && !is_held();
            if is_too_early || (earlier.stamp == stamp && !may_have_ended()) {
                return Some(Arc::clone(earlier));
            }
        }
        let started = Instant::now();
        let summary = match self.open_path(&path, LIMITS) {
            Ok(log) => {
                let is_written = || !is_silent(stamp) || self.is_held(&log);
                ListedLog::read(&log, is_written, &self.registry)
            }
            Err(error) if is_gone(&error) => return None,
            Err(error) => Err(reason(error)),
        };
        let first_seen = match (&summary, earlier.and_then(|earlier| earlier.first_seen)) {
            (Ok(ListedLog { progress: Some(_), .. }), Some(seen)) => Some(seen),
            (Ok(ListedLog { progress: Some(progress), .. }), None) => Some((started, progress.done)),
            _ => None,
        };
        let (name, read) = (self.name_of(&path), (Instant::now(), started.elapsed()));
        Some(Arc::new(LogEntry { id, name, path, stamp, summary, read, first_seen }))
    }

    fn name_of(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let shown = if below.as_os_str().is_empty() { path } else { below };
        shown.display().to_string()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What a panic left behind is a list that is made again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogEntry {
    pub(crate) fn is_running(&self) -> bool {
        self.summary.as_ref().is_ok_and(|summary| summary.state == RunState::Running)
    }

    /// How long the rest of the run will take, by its speed since it was first seen.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let progress = self.summary.as_ref().ok()?.progress.as_ref()?;
        let (since, done) = self.first_seen?;
        let (at, _) = self.read;
        let (gained, left) = (progress.done.checked_sub(done)?, progress.total?.checked_sub(progress.done)?);
        let seconds = at.saturating_duration_since(since).as_secs_f64();
        if gained == 0 || seconds < 1.0 {
            return None;
        }
        Duration::try_from_secs_f64(seconds / gained as f64 * left as f64).ok()
    }
}

/// What is wrong with a log, without its path.
pub(crate) fn reason(error: LogError) -> String {
    match error.member() {
        Some(member) => format!("{member}: {}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Whether there is no such log inside the folder.
fn is_gone(error: &LogError) -> bool {
    matches!(error.kind(), LogErrorKind::Open(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Whether a file is inside the folder, links resolved: what is listed. What is opened is checked when it is
/// ([`beneath`]).
fn is_inside(path: &Path, folder: &Path) -> bool {
    // Folders behind a link are not entered, so only the file itself may be one.
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if !is_link {
        return true;
    }
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

// What a list shows of a log.

/// The most that is held of one log for the list. Several are read at a time.
pub(super) const LIMITS: LogLimits = LogLimits {
    max_decompressed: 16 << 30,
    max_ratio: 100,
    max_record: 16 << 20,
    max_memory: Some(64 << 20),
};

/// A file with no more bytes than this is read for a figure that its header does not have as a whole.
const SMALL: u64 = 1 << 20;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunState {
    /// Samples are being added.
    Running,
    /// It reached its end.
    Done,
    /// The user stopped it.
    Cancelled,
    /// An error ended it.
    Failed,
    /// It has no end, and nobody writes to it.
    Interrupted,
}

impl RunState {
    pub(crate) const ALL: [RunState; 5] =
        [RunState::Running, RunState::Done, RunState::Cancelled, RunState::Failed, RunState::Interrupted];

    pub(crate) fn name(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Done => "done",
            RunState::Cancelled => "cancelled",
            RunState::Failed => "error",
            RunState::Interrupted => "not finished",
        }
    }
}

/// A log in the list.
#[derive(Clone, Debug)]
pub(crate) struct ListedLog {
    /// What its header says; the results are taken out.
    pub(crate) log: LogSummary,
    pub(crate) state: RunState,
    /// The figure to show first.
    pub(crate) figure: Option<Figure>,
    /// Why there is none, though the log records results.
    pub(crate) no_figure: Option<String>,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
    /// How far it is, if it is in progress.
    pub(crate) progress: Option<Progress>,
}

/// A number, and which it is.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: FigureTitle,
    pub(crate) estimate: Estimate,
    /// Whether it is what the header records, which may be less than could be computed.
    pub(crate) is_recorded: bool,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Samples times epochs in the log.
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    pub(crate) errored: u64,
    /// The samples of each epoch that are in the log.
    pub(crate) by_epoch: Vec<(u32, u64)>,
    /// Why there is no estimate.
    pub(crate) problem: Option<String>,
}

impl ListedLog {
    /// Reads what is recorded; of a run in progress, or one that was killed, the scores as well. `is_written` says whether
    /// a log without an end is written to.
    pub(super) fn read(
        log: &EvalLog,
        is_written: impl Fn() -> bool,
        registry: &Registry,
    ) -> Result<Self, String> {
        let summary = LogSummary::read(log).map_err(reason)?;
        let state = match summary.status {
            Status::Success => RunState::Done,
            Status::Cancelled => RunState::Cancelled,
            Status::Error => RunState::Failed,
            // The lock ends with the process, whatever ends that; a run elsewhere, or of another program, has none.
            Status::Started if is_written() => RunState::Running,
            Status::Started => RunState::Interrupted,
        };
        let mut summary = ListedLog::new(summary, state);
        if summary.figure.is_none() && matches!(state, RunState::Running | RunState::Interrupted) {
            summary.read_scores(log, registry);
        } else if summary.is_short_of_report() && log.file_stamp().0 <= SMALL {
            // Where it fails, what is recorded is the best that there is.
            let _ = summary.estimate(log, registry, &mut Progress::default());
        }
        Ok(summary)
    }

    /// Whether the report may have more than the header: no rule stopped the run, whose figures have no error, and the figure
    /// is none, or has none.
    fn is_short_of_report(&self) -> bool {
        let is_short = match &self.figure {
            Some(figure) => !figure.is_complete(),
            None => self.no_figure.is_none() && self.log.completed > 0,
        };
        is_short && self.log.stopped_early.is_none()
    }

    fn new(mut log: LogSummary, state: RunState) -> Self {
        let (tokens, cost) = usage(&log.stats);
        let results = log.results.take();
        let (figure, no_figure) = match results.as_ref().map(|results| results.headline_row()) {
            Some(Ok(row)) => (Some(Figure::recorded(&row)), None),
            Some(Err(reason)) => (None, Some(reason.to_string())),
            None => (None, None),
        };
        ListedLog { log, state, figure, no_figure, tokens, cost, progress: None }
    }

    /// The estimate over the samples that are there.
    fn read_scores(&mut self, log: &EvalLog, registry: &Registry) {
        let mut progress =
            Progress { done: log.sample_count() as u64, total: self.log.total, ..Progress::default() };
        if progress.done > 0 {
            let found = self.estimate(log, registry, &mut progress);
            progress.problem = found.err();
        }
        match self.state {
            RunState::Running => self.progress = Some(progress),
            _ => self.log.error = self.log.error.take().or(progress.problem),
        }
    }

    fn estimate(
        &mut self,
        log: &EvalLog,
        registry: &Registry,
        progress: &mut Progress,
    ) -> Result<(), String> {
        let header = log.header().map_err(reason)?;
        let (plan, _) = plan_from_header(&header, registry).map_err(reason)?;
        let options = ScoreOptions::new(plan.metadata_keys()).score_parts(plan.score_parts());
        let columns = log.scores(&header, &options.skip_bad_samples(true)).map_err(reason)?.columns;
        if matches!(self.state, RunState::Running | RunState::Interrupted) {
            let mut by_epoch: BTreeMap<u32, u64> = BTreeMap::new();
            (0..columns.len()).for_each(|row| *by_epoch.entry(columns.epoch(row)).or_default() += 1);
            (progress.by_epoch, progress.errored) =
                (by_epoch.into_iter().collect(), columns.errored() as u64);
            self.log.completed = progress.done.saturating_sub(progress.errored);
        }
        let results = plan.evaluate(&columns).map_err(|error| error.to_string())?.results;
        // Figures of custom metrics are those of the log, whatever is computed without them.
        if header.results.as_ref().is_some_and(|recorded| !compare(recorded, &results).is_empty()) {
            return Err("the log records other figures than those that follow from its samples".to_owned());
        }
        let row = results.headline_row();
        self.no_figure = row.as_ref().err().and_then(NoHeadline::in_words);
        self.figure = row.ok().map(|row| Figure::of_estimate(&row));
        Ok(())
    }
}

impl Figure {
    fn recorded(row: &EstimateRow<'_>) -> Self {
        let figure = Figure::of_estimate(row);
        let title = FigureTitle { metric: recorded_name(row).to_owned(), ..figure.title };
        Figure { title, is_recorded: true, ..figure }
    }

    fn of_estimate(row: &EstimateRow<'_>) -> Self {
        let place = row.index.map(|index| index.to_string());
        let title = FigureTitle {
            metric: row.metric.to_owned(),
            reducer: row.reducer.map(str::to_owned),
            scorer: row.field.unwrap_or(row.scorer).to_owned(),
            part: row.label.or(row.key).map(str::to_owned).or(place),
        };
        Figure { title, estimate: row.estimate.clone().into_owned(), is_recorded: false }
    }

    /// Whether it is a number with an error that says something.
    fn is_complete(&self) -> bool {
        let has_error = self.estimate.error.as_ref().is_ok_and(|error| !error.degenerate);
        self.estimate.value.is_ok() && has_error
    }
}

/// What makes figures of several logs the same figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FigureTitle {
    pub(crate) metric: String,
    pub(crate) reducer: Option<String>,
    pub(crate) scorer: String,
    /// The group, the key or the position, of a metric that gives several numbers.
    pub(crate) part: Option<String>,
}

impl FigureTitle {
    /// What stands before the scorer, the scorer, and what follows it.
    pub(crate) fn parts(&self) -> (String, &str, String) {
        let reducer =
            self.reducer.as_ref().map(|reducer| format!(", reduced by {reducer}")).unwrap_or_default();
        let part = self.part.as_ref().map(|part| format!(", {part}")).unwrap_or_default();
        (format!("{} of ", self.metric), &self.scorer, reducer + &part)
    }
}

impl std::fmt::Display for FigureTitle {
    /// `accuracy of choice`, `accuracy of choice, reduced by pass_at_2, physics`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, scorer, after) = self.parts();
        write!(f, "{before}{scorer}{after}")
    }
}

/// The tokens and the cost of all models, as far as they are recorded.
fn usage(stats: &Stats) -> (Option<u64>, Option<f64>) {
    let used = || stats.model_usage.values();
    let tokens = used().map(|usage: &Usage| usage.total_tokens).fold(0, u64::saturating_add);
    let costs: Vec<f64> = used().filter_map(|usage| usage.total_cost).collect();
    let cost = (!costs.is_empty()).then(|| costs.iter().sum());
    ((tokens > 0).then_some(tokens), cost)
}

impl ListedLog {
    /// When the run was made, for sorting; the text of the log if it is no time.
    pub(crate) fn sort_time(&self) -> String {
        let time: Option<Timestamp> = self.log.created.parse().ok();
        time.map_or_else(|| self.log.created.clone(), |time| time.to_string())
    }
}

// The pages of logs, which are made by whoever starts the server.

/// Makes the report page of logs.
///
/// The page is that of a report, and what it takes to compute one (the registry of metrics, the alignment of samples) is
/// known where reports are made. So the server gets it as a value. Logs are opened by the server, which checks that they
/// are inside of its folder.
pub trait ReportPages: Send + Sync {
    /// The page of one log, or of several compared, as HTML whose sample browser fetches `samples.json` and `sample.json`
    /// from beside the page.
    ///
    /// # Errors
    /// Logs that cannot be read or compared.
    fn page(&self, logs: &[EvalLog]) -> Result<String, PageError>;
}

/// Why there is no page.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageError {
    /// What was requested does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The logs cannot be read, or not be compared.
    #[error("{0}")]
    Unusable(String),
}

impl PageError {
    /// Logs that cannot be read, or not be compared, and why.
    pub fn unusable(reason: impl Into<String>) -> Self {
        PageError::Unusable(reason.into())
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            PageError::NotFound(_) => StatusCode::NOT_FOUND,
            PageError::Unusable(_) => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}
