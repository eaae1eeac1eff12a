//! Stopping a run before its end.

use std::sync::Arc;

use tokio::sync::watch;

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
    /// A model refuses the key: unauthorized or forbidden.
    AccessRefused {
        /// Which.
        model: String,
        /// The request, the answer, and the way out.
        problem: String,
    },
    /// The server of a model has never answered.
    Unreachable {
        /// Which model.
        model: String,
        /// The request, why there was no answer, and the way out.
        problem: String,
    },
    /// The certificate of a model's server is not trusted.
    Untrusted {
        /// Which model.
        model: String,
        /// The request, and why.
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
#[derive(Clone, Debug)]
pub struct CancelToken {
    stop: Arc<watch::Sender<Option<StopReason>>>,
    /// What cancels this one too.
    parent: Option<Arc<watch::Sender<Option<StopReason>>>>,
}

impl Default for CancelToken {
    fn default() -> Self {
        CancelToken::new()
    }
}

impl CancelToken {
    /// Nothing is cancelled yet.
    pub fn new() -> Self {
        CancelToken { stop: Arc::new(watch::Sender::new(None)), parent: None }
    }

    /// What this one cancels too, and what can be stopped by itself: one run of several.
    pub(crate) fn child(&self) -> Self {
        CancelToken { parent: Some(Arc::clone(&self.stop)), ..CancelToken::new() }
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
        let own = self.stop.borrow().clone();
        own.or_else(|| self.parent.as_ref()?.borrow().clone())
    }

    /// Waits until the run is stopped.
    pub(crate) async fn stopped(&self) {
        // The senders live as long as `self`, so waiting ends only when there is a reason.
        let mut own = self.stop.subscribe();
        let Some(parent) = &self.parent else {
            let _ = own.wait_for(Option::is_some).await;
            return;
        };
        let mut parent = parent.subscribe();
        tokio::select! {
            _ = own.wait_for(Option::is_some) => {}
            _ = parent.wait_for(Option::is_some) => {}
        }
    }
}
