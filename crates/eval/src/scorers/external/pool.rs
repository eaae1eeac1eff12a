//! The processes of a program, started when they are needed and a bounded number of times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use errorbar_core::Score;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::error::CommandError;
use super::process::Process;
use super::program::Program;
use super::protocol::Question;
use crate::lock;

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

/// The processes of a program.
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
    processes: Vec<Arc<Mutex<Process>>>,
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
    pub(in crate::scorers) async fn score(&self, question: &Question<'_>) -> Result<Score, CommandError> {
        let closed = |_| CommandError::NotStarted { problem: "its processes are gone".to_owned() };
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(closed)?;
        let seq = self.next.fetch_add(1, Ordering::Relaxed);
        let line = question.line(seq)?;
        let process = self.process()?;
        let mut reply = lock(&process).send(seq, line, slot);
        // A caller that has another runtime has no clock of ours.
        if Handle::try_current().is_err() {
            return reply.get().await;
        }
        let timeout = self.options.timeout;
        match tokio::time::timeout(timeout, reply.get()).await {
            Ok(score) => score,
            Err(_) => Err(CommandError::TimedOut { timeout, stderr: lock(&process).stderr() }),
        }
    }

    /// A process that can take a sample: of those with room the one that has fewest, or else a new one.
    ///
    /// # Errors
    /// A process that has written what is no answer while it had no sample: the next sample reports it.
    fn process(&self) -> Result<Arc<Mutex<Process>>, CommandError> {
        let state = &mut *lock(&self.state);
        let mut stray = None;
        state.processes.retain(|process| match lock(process).ended() {
            None => true,
            Some(end) => {
                state.ended += 1;
                if end.error.is_of_protocol() && !end.is_reported {
                    stray = Some(end.error.clone());
                }
                state.last = Some(end.error);
                false
            }
        });
        let loads = state.processes.iter().filter_map(|process| Some((lock(process).load()?, process)));
        let free = loads.filter(|(load, _)| *load < self.options.concurrency).min_by_key(|(load, _)| *load);
        if let Some((_, process)) = free {
            return Ok(Arc::clone(process));
        }
        if let (true, Some(last)) = (state.ended > self.options.max_restarts, &state.last) {
            let (count, last) = (state.ended, Box::new(last.clone()));
            return Err(CommandError::EndedTooOften { count, last });
        }
        if let Some(error) = stray {
            return Err(error);
        }
        let process = Arc::new(Mutex::new(Process::start(&self.program)?));
        state.processes.push(Arc::clone(&process));
        Ok(process)
    }
}

#[cfg(test)]
impl Pool {
    pub(super) fn are_all_ended(&self) -> bool {
        lock(&self.state).processes.iter().all(|process| lock(process).ended().is_some())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        let processes = std::mem::take(&mut lock(&self.state).processes);
        processes.iter().for_each(|process| lock(process).close());
        processes.iter().for_each(|process| lock(process).end_by(deadline));
    }
}
