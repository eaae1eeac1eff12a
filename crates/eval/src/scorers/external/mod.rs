//! Programs that score: long-lived processes that get a JSON object per line on stdin and answer with one per line on
//! stdout.
//!
//! ```text
//!            Pool::score                        ┌ writer ──▶ stdin  ┐
//!  sample ──▶ slot ──▶ a process with room ──▶ ─┤                   process (its own group)
//!         ◀── reply by its number, or why not ─ └ reader ◀── stdout ┘
//! ```
//!
//! Each process has threads of its own for its pipes, so neither side can block the other, and nothing depends on the
//! runtime that samples run on. A process holds as many samples at once as it has slots; time is counted from the moment
//! that it is sent a sample.

mod group;
mod process;
mod program;
mod protocol;
#[cfg(all(test, unix))]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use errorbar_core::Score;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::lock;
use process::Process;

pub(crate) use group::end_all;
pub(super) use program::Program;
pub(super) use protocol::Question;

/// Why a program gave no score. The caller adds the name of the command.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(in crate::scorers) struct CommandError(String);

impl CommandError {
    fn not_started(problem: String) -> Self {
        CommandError(format!("cannot be started: {problem}"))
    }

    /// With the last lines of stderr, where there are any.
    fn with_stderr(message: String, stderr: &str) -> Self {
        CommandError(match stderr {
            "" => message,
            stderr => format!("{message}\nlast lines of its stderr:\n{stderr}"),
        })
    }
}

/// How long processes may take to end by themselves when they are not needed any more.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many processes there are, and what each may do.
#[derive(Clone, Copy, Debug)]
pub(in crate::scorers) struct PoolOptions {
    pub(in crate::scorers) processes: usize,
    /// How many samples a process has at once.
    pub(in crate::scorers) concurrency: usize,
    /// How long a process may take for a sample.
    pub(in crate::scorers) timeout: Duration,
    /// How often processes that have ended are replaced.
    pub(in crate::scorers) max_restarts: u32,
}

/// The processes of a program, started when they are needed and a bounded number of times.
#[derive(Debug)]
pub(in crate::scorers) struct Pool {
    program: Program,
    options: PoolOptions,
    slots: Arc<Semaphore>,
    next: AtomicU64,
    state: Mutex<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    processes: Vec<Arc<Process>>,
    /// How many have ended, and how the last one did.
    ended: u32,
    last: Option<CommandError>,
}

impl Pool {
    pub(in crate::scorers) fn new(program: Program, options: PoolOptions) -> Self {
        let slots = options.processes.saturating_mul(options.concurrency).clamp(1, Semaphore::MAX_PERMITS);
        Pool {
            program,
            options,
            slots: Arc::new(Semaphore::new(slots)),
            next: AtomicU64::new(1),
            state: Mutex::default(),
        }
    }

    /// The score of a sample.
    pub(in crate::scorers) async fn score(&self, mut question: Question<'_>) -> Result<Score, CommandError> {
        let closed = |_| CommandError::not_started("its processes are gone".to_owned());
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(closed)?;
        let seq = self.next.fetch_add(1, Ordering::Relaxed);
        question.seq = seq;
        let line = question.line()?;
        let process = self.process()?;
        let mut reply = process.send(seq, line, slot);
        // A caller that has another runtime has no clock of ours.
        if Handle::try_current().is_err() {
            return reply.get().await;
        }
        let timeout = self.options.timeout;
        match tokio::time::timeout(timeout, reply.get()).await {
            Ok(score) => score,
            Err(_) => Err(CommandError::with_stderr(
                format!(
                    "gave no answer within {} s; it must read its stdin line by line, and write a line and flush stdout \
                     after each (in Python: print(…, flush=True)); if it needs more time, raise the timeout",
                    timeout.as_secs_f64()
                ),
                &process.stderr(),
            )),
        }
    }

    /// A process that can take a sample: of those with room the one that has fewest, or else a new one.
    ///
    /// # Errors
    /// A process that has written what is no answer while it had no sample: the next sample reports it.
    fn process(&self) -> Result<Arc<Process>, CommandError> {
        let state = &mut *lock(&self.state);
        let mut stray = None;
        let ended = state.processes.extract_if(.., |process| process.ended().is_some());
        for end in ended.filter_map(|process| process.ended()) {
            state.ended += 1;
            stray = Some(end.error.clone()).filter(|_| end.is_stray).or(stray);
            state.last = Some(end.error);
        }
        let loads = state.processes.iter().filter_map(|process| Some((process.load()?, process)));
        let free = loads.filter(|(load, _)| *load < self.options.concurrency).min_by_key(|(load, _)| *load);
        if let Some((_, process)) = free {
            return Ok(Arc::clone(process));
        }
        if let (true, Some(last)) = (state.ended > self.options.max_restarts, &state.last) {
            let count = state.ended;
            return Err(CommandError(format!(
                "has ended {count} times and is not started again; the last time it {last}"
            )));
        }
        if let Some(error) = stray {
            return Err(error);
        }
        let process = Process::start(&self.program)?;
        state.processes.push(Arc::clone(&process));
        Ok(process)
    }
}

#[cfg(test)]
impl Pool {
    pub(super) fn are_all_ended(&self) -> bool {
        lock(&self.state).processes.iter().all(|process| process.ended().is_some())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        let processes = std::mem::take(&mut lock(&self.state).processes);
        processes.iter().for_each(|process| process.close());
        processes.iter().for_each(|process| process.end_by(deadline));
    }
}
