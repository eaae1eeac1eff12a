//! How long a search may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The default time limit of a search. An answer that takes longer was made for it, or the pattern was.
const LONGEST: Duration = Duration::from_secs(20);

/// How long a search may take. Clones are stopped together.
#[derive(Clone, Debug)]
pub(crate) struct SearchBudget {
    limit: Duration,
    started: Instant,
    stopped: Arc<AtomicBool>,
}

/// Why a search ends without a result.
pub(super) enum BudgetError {
    /// It took longer than this.
    Time(Duration),
    /// The caller has stopped waiting.
    Stopped,
}

impl Default for SearchBudget {
    fn default() -> Self {
        SearchBudget::new(LONGEST)
    }
}

impl SearchBudget {
    /// From now on.
    pub(crate) fn new(limit: Duration) -> Self {
        SearchBudget { limit, started: Instant::now(), stopped: Arc::default() }
    }

    /// Ends the searches that have it.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> Result<(), BudgetError> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(BudgetError::Stopped);
        }
        if self.started.elapsed() > self.limit { Err(BudgetError::Time(self.limit)) } else { Ok(()) }
    }
}
