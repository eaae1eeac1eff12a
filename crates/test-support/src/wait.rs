//! Waiting for another process or thread, without guessing how long it takes.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Long enough for the slowest machine: reached only if what is waited for never comes.
const DEADLINE: Duration = Duration::from_secs(120);

/// Waits until a condition holds and returns what it gives. Panics with `what` if it never does.
///
/// The pause between two looks decides nothing: a test waits for the condition, however long it takes.
pub fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(started.elapsed() < DEADLINE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}
