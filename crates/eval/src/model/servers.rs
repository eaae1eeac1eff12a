//! Which servers have answered: one that never has ends the run, before samples fail for hours.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::lock;

/// The longest attempt to reach a server that is expected; a slow answer is another matter.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(10);

/// The servers of all models that share their calls.
#[derive(Debug, Default)]
pub(super) struct ServerStatuses(Mutex<HashMap<String, Arc<ServerStatus>>>);

/// What is known of one server.
#[derive(Debug, Default)]
pub(super) struct ServerStatus {
    has_answered: AtomicBool,
    /// When it was first not reached.
    failed: OnceLock<Instant>,
}

impl ServerStatuses {
    pub(super) fn get(&self, name: &str) -> Arc<ServerStatus> {
        let mut servers = lock(&self.0);
        match servers.get(name) {
            Some(server) => Arc::clone(server),
            None => Arc::clone(servers.entry(name.to_owned()).or_default()),
        }
    }
}

impl ServerStatus {
    /// It has answered, if only with an error.
    pub(super) fn answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// How long to wait before the next attempt to reach it, of the wait that was meant; nothing if it is to be given
    /// up, so that the last attempt ends within the time since the first failure that is allowed.
    pub(super) fn wait(&self, wait: Duration, last_attempt: Duration, allowed: Duration) -> Option<Duration> {
        let failed = *self.failed.get_or_init(Instant::now);
        let next_attempt = last_attempt.min(LONGEST_ATTEMPT);
        let left = allowed.checked_sub(failed.elapsed())?.checked_sub(next_attempt)?;
        Some(wait.min(left)).filter(|_| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_last_attempt_ends_in_time() {
        let server = ServerStatus::default();
        assert_eq!(server.wait(SECOND, Duration::ZERO, 1000 * SECOND), Some(SECOND));
        // Waits are cut short, and an attempt that took long leaves less time.
        assert_eq!(server.wait(2000 * SECOND, 5 * SECOND, 1000 * SECOND), Some(995 * SECOND));
        // What took longer than any attempt to connect was a slow answer.
        assert_eq!(server.wait(SECOND, 5000 * SECOND, 1000 * SECOND), Some(SECOND));
        tokio::time::advance(900 * SECOND).await;
        assert_eq!(server.wait(2000 * SECOND, 5 * SECOND, 1000 * SECOND), Some(95 * SECOND));
        assert_eq!(server.wait(SECOND, 5 * SECOND, 5 * SECOND), None);
        assert_eq!(server.wait(SECOND, Duration::ZERO, Duration::ZERO), None);
    }
}
