//! Running async code from callers that are not async.

use std::future::Future;
use std::thread;

use super::stop::CancelToken;
use crate::{Error, Result};

/// Runs a future to its end on all cores.
///
/// # Errors
/// The system gives no threads.
pub fn block_on<F: Future>(future: F) -> Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Error::Runtime)?;
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
struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None for a process that ignores it, as one started with `nohup` does.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Interrupts {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Interrupts {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: match ignores_hangup() {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            },
        })
    }

    async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hangup => {}
        }
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
