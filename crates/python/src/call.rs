//! How Python calls the engine: without the GIL, on our own threads, with Ctrl-C, and without a panic that escapes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::pool::{give_up, pool};

/// Set when a caller no longer waits for what is computed.
pub(crate) type Cancelled = Arc<AtomicBool>;

/// How often a caller that waits looks for signals.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Computes on the pool while other Python threads run. The caller looks for signals meanwhile: after Ctrl-C the call
/// raises at once, and what was under way is dropped when it ends, on threads that no other call waits for.
pub(crate) fn compute<T: Send + 'static>(
    py: Python<'_>,
    cancelled: &Cancelled,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    // A metric in Python that calls this package is on a thread of the pool already, and must not wait for another.
    if rayon::current_thread_index().is_some() {
        return py.detach(|| caught(work));
    }
    let pool = pool().map_err(PyRuntimeError::new_err)?;
    let (done, mut receiver) = sync_channel(1);
    pool.spawn(move || drop(done.send(caught(work))));
    loop {
        let result;
        (result, receiver) = py.detach(move || (receiver.recv_timeout(SIGNALS_EVERY), receiver));
        match result {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                cancelled.store(true, Ordering::Relaxed);
                give_up(&pool);
            })?,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked("the thread ended")),
        }
    }
}

/// Computes here; a panic is an exception.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(panic_text(&*panic)))
}

fn panicked(text: &str) -> PyErr {
    PyRuntimeError::new_err(format!("errorbar failed, which is a bug: {text}"))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}
