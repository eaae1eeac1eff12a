//! Stopping a run before its end.

use std::sync::Arc;

use tokio::sync::watch;

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// Somebody cancelled it.
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
    /// The log could not be written.
    LogFailed,
}

/// Cancels a run from elsewhere; clones cancel the same run.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<watch::Sender<Option<Stop>>>);

impl Default for Cancel {
    fn default() -> Self {
        Cancel::new()
    }
}

impl Cancel {
    /// Nothing is cancelled yet.
    pub fn new() -> Self {
        Cancel(Arc::new(watch::Sender::new(None)))
    }

    /// Lets the samples that are done be the last: the log is finished as cancelled.
    pub fn cancel(&self) {
        self.stop(Stop::Cancelled);
    }

    /// Whether the run is stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Stops for a reason; the first one counts.
    pub(crate) fn stop(&self, reason: Stop) {
        self.0.send_if_modified(|stop| {
            let is_first = stop.is_none();
            if is_first {
                *stop = Some(reason);
            }
            is_first
        });
    }

    /// Why the run is stopped, if it is.
    pub(crate) fn reason(&self) -> Option<Stop> {
        self.0.borrow().clone()
    }

    /// Waits until the run is stopped.
    pub(crate) async fn stopped(&self) {
        // The sender lives as long as `self`, so this ends only when there is a reason.
        let _ = self.0.subscribe().wait_for(Option::is_some).await;
    }
}
