//! The logs of the folder, and what is known of them without reading their samples.
//!
//! A log is read again when its size or its modification time changes. That of a run in progress changes all the time, and
//! reading it takes longer the longer it is, so it is read again only when that takes a small part of the time.

mod beneath;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use errorbar_core::Registry;
use errorbar_log::eval::{EvalLog, LogError, LogErrorKind, LogLimits, find_logs};
use rayon::prelude::*;
use summary::LIMITS;

use crate::pages::PageError;
pub(crate) use summary::{Figure, FigureTitle, ListedLog, Progress, RunState};

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

/// What changes when a file is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
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
        let stamp = Stamp { modified: metadata.modified().ok(), len: metadata.len() };
        if let Some(earlier) = earlier {
            let (at, cost) = earlier.read;
            let is_running = earlier.is_running();
            let is_too_early = is_running && at.elapsed() < cost * COST_SHARE;
            let is_held = || self.open_path(&path, LIMITS).is_ok_and(|log| self.is_held(&log));
            let may_have_ended = || is_running && stamp.is_silent() && !is_held();
            if is_too_early || (earlier.stamp == stamp && !may_have_ended()) {
                return Some(Arc::clone(earlier));
            }
        }
        let started = Instant::now();
        let summary = match self.open_path(&path, LIMITS) {
            Ok(log) => {
                let is_written = || !stamp.is_silent() || self.is_held(&log);
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

impl Stamp {
    fn is_silent(&self) -> bool {
        let since = self.modified.and_then(|modified| modified.elapsed().ok());
        since.is_some_and(|since| since > SILENT)
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
