//! Work that may take long without waiting for anything, away from the threads that samples run on.

use std::panic::resume_unwind;

use errorbar_core::{Error, Result};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::text::{SearchBudget, TextError};

/// An answer of this many bytes is searched in less time than it takes to hand it to another thread, unless the pattern
/// looks around.
pub(super) const QUICK_SEARCH: usize = 16 << 10;

/// Stops the work when nothing waits for it any more, because the time limit of the sample was reached.
struct StopOnDrop(SearchBudget);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs a search on its own thread, so that a time limit ends the wait for it, and then stops the search.
pub(super) async fn search<T: Send + 'static>(
    work: impl FnOnce(&SearchBudget) -> Result<T, TextError> + Send + 'static,
) -> Result<T> {
    let budget = SearchBudget::default();
    let _stop = StopOnDrop(budget.clone());
    let found = match Handle::try_current() {
        Ok(_) => match spawn_blocking(move || work(&budget)).await {
            Ok(found) => found,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => return Err(Error::custom(format!("the search was not run: {error}"))),
            },
        },
        // A caller that has another runtime has no threads of ours.
        Err(_) => work(&budget),
    };
    found.map_err(|error| Error::custom(error.to_string()))
}
