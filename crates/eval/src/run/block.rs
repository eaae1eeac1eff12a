//! The way into the async room for callers that are not async.

use std::future::Future;

use super::stop::Cancel;
use crate::{Error, Result};

/// Runs a future to its end on all cores.
///
/// # Errors
/// The system gives no threads.
pub fn block_on<F: Future>(future: F) -> Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::refused(format!("cannot start the runtime: {error}")))?;
    let output = runtime.block_on(future);
    // Samples that were left behind must not keep the program alive.
    runtime.shutdown_background();
    Ok(output)
}

/// Cancels a run at the first Ctrl-C or request to terminate, after which `told` is called; the second ends the
/// process at once. To be called within [`block_on`].
pub fn cancel_on_interrupt(cancel: Cancel, told: impl FnOnce() + Send + 'static) {
    tokio::spawn(async move {
        if interrupt().await.is_err() {
            return;
        }
        cancel.cancel();
        told();
        if interrupt().await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
}

/// The exit code of a process that was interrupted, by custom.
const INTERRUPTED: i32 = 130;

#[cfg(unix)]
async fn interrupt() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn interrupt() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
