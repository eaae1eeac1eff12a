//! Stopping a run before its end.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use errorbar_log::eval::Transcript;
use futures_util::future::select_all;
use tokio::sync::watch;

use super::running::RunningFigures;
use super::stopping::SequenceProgress;
use crate::{Error, ModelErrorKind, Result};

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The run was cancelled.
    Cancelled,
    /// Too many samples failed.
    TooManyErrors {
        /// How many.
        failed: usize,
        /// Of how many.
        total: usize,
        /// The last of them.
        sample: String,
        /// And why it failed.
        problem: String,
    },
    /// A limit of the run was passed.
    LimitReached {
        /// Which, in words.
        limit: String,
    },
    /// A model that no request can reach: its server refuses the key, has never answered, or is not trusted.
    ModelFailed {
        /// Why: `AccessRefused`, `Unreachable` or `Untrusted`.
        kind: ModelErrorKind,
        /// The model.
        model: String,
        /// The message.
        problem: String,
    },
    /// The log could not be written.
    LogFailed,
    /// A rule held by which the run stops early, which is no failure.
    RuleHeld {
        /// The rule.
        rule: String,
        /// Why it held, in words.
        reason: String,
        /// The number of samples that the run took.
        samples: usize,
        /// Of how many.
        planned: usize,
    },
}

/// Cancels runs from elsewhere; clones cancel the same runs.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    stop: StopSignal,
    /// What cancels this one too.
    parents: Vec<StopSignal>,
}

type StopSignal = Arc<watch::Sender<Option<StopReason>>>;

impl CancelToken {
    /// Nothing is cancelled yet.
    pub fn new() -> Self {
        CancelToken::default()
    }

    /// What this one cancels too, and what can be stopped by itself: one run of several.
    pub(crate) fn child(&self) -> Self {
        CancelToken { parents: self.signals().cloned().collect(), ..CancelToken::new() }
    }

    fn signals(&self) -> impl Iterator<Item = &StopSignal> {
        std::iter::once(&self.stop).chain(&self.parents)
    }

    /// Lets the samples that are done be the last: logs are finished as cancelled.
    pub fn cancel(&self) {
        self.stop(StopReason::Cancelled);
    }

    /// Whether the run is stopped.
    pub fn is_stopped(&self) -> bool {
        self.reason().is_some()
    }

    /// Stops for a reason; the first one counts.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.stop.send_if_modified(|stop| {
            let is_first = stop.is_none();
            if is_first {
                *stop = Some(reason);
            }
            is_first
        });
    }

    /// Why the run is stopped, if it is.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        self.signals().find_map(|signal| signal.borrow().clone())
    }

    /// Waits until the run is stopped.
    pub(crate) async fn stopped(&self) {
        // The senders live as long as `self`, so waiting ends only when there is a reason.
        let wait = |signal: &StopSignal| {
            let mut receiver = signal.subscribe();
            Box::pin(async move { drop(receiver.wait_for(Option::is_some).await) })
        };
        select_all(self.signals().map(wait)).await;
    }
}

// Running async code from callers that are not async.

/// Runs a future to its end on all cores.
///
/// # Errors
/// The system gives no threads.
pub fn block_on<F: Future>(future: F) -> Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::other(format!("cannot start the runtime: {error}")))?;
    let output = runtime.block_on(future);
    // Samples that were left behind must not keep the program alive.
    runtime.shutdown_background();
    Ok(output)
}

/// Cancels a run at the first Ctrl-C, request to terminate or loss of the terminal, after which `on_interrupt` is called; the second ends the
/// process at once.
///
/// On its own thread: solvers and scorers that block the runtime's threads must not keep the user from ending
/// the run.
pub fn cancel_on_interrupt(cancel: CancelToken, on_interrupt: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async move {
            let Ok(mut interrupts) = Interrupts::new() else { return };
            interrupts.next().await;
            cancel.cancel();
            on_interrupt();
            interrupts.next().await;
            // Programs that score are busy, and would go on.
            crate::scorers::end_all();
            std::process::exit(INTERRUPTED);
        });
    });
}

/// The conventional exit code of an interrupted process.
const INTERRUPTED: i32 = 130;

/// The signals that request the process to end, received without a gap.
#[cfg(unix)]
struct Interrupts(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Interrupts {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        // A process that ignores it, as one started with `nohup` does, continues to.
        if !ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }
        kinds.into_iter().map(signal).collect::<std::io::Result<_>>().map(Interrupts)
    }

    async fn next(&mut self) {
        select_all(self.0.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
    }
}

/// Whether the loss of the terminal is ignored: a process that was started to outlive it must not end then. Where the
/// system does not show it, what the process inherited stays as it is.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    let mask =
        status.as_deref().and_then(|status| status.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(ignored) => ignored & 1 != 0,
        None => true,
    }
}

#[cfg(not(unix))]
struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    fn new() -> std::io::Result<Self> {
        Ok(Interrupts)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

// Who watches a run.

/// How far a run is.
#[derive(Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Samples times epochs whose records are in the log, failed ones among them.
    pub done: usize,
    /// Those of them that an earlier run has done, if it is resumed.
    pub resumed: usize,
    /// Those that failed.
    pub failed: usize,
    /// All there are to do.
    pub total: usize,
    /// The figures so far.
    pub running: &'a mut RunningFigures,
    /// How far the confidence sequence is that may stop the run early.
    pub sequence: Option<SequenceProgress>,
}

/// Watches a run. Every method has an empty default.
pub trait Observer: Send + Sync {
    /// The run begins: the task, its model, the log, how many samples times epochs there are, and how many of them an
    /// earlier run has done.
    fn started(&self, _task: &str, _model: &str, _log: &Path, _total: usize, _resumed: usize) {}

    /// A sample is done: its record is in the log. Called for each, from one thread.
    fn sample_done(&self, _progress: Progress<'_>) {}

    /// A sample failed; `sample_done` follows.
    fn sample_failed(&self, _sample: &str, _epoch: u32, _problem: &str) {}

    /// A sample that is in the log, as people read it; `sample_done` follows. Called for each if it
    /// [wants](Observer::wants_transcripts) them, from one thread.
    fn sample_transcript(&self, _transcript: &Transcript) {}

    /// Whether it wants samples as people read them, which takes some time for each.
    fn wants_transcripts(&self) -> bool {
        false
    }

    /// Whether it will request the figures of a run in progress, which takes some memory.
    fn wants_figures(&self) -> bool {
        false
    }

    /// The run has ended; results are being computed.
    fn ended(&self) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
