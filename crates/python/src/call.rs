//! How Python calls the engine: without the GIL, on our own threads, with Ctrl-C, and without a panic that escapes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::pool::pool;
use crate::table::Cancelled;

/// How often a caller that waits looks for signals.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Computes on the pool while other Python threads run. The caller looks for signals meanwhile: after Ctrl-C the call
/// raises at once, and what was under way is dropped when it ends.
pub(crate) fn compute<T: Send + 'static>(
    py: Python<'_>,
    cancelled: &Cancelled,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let caught = move || catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_text(&*panic));
    // A metric in Python that calls this package is on a thread of the pool already, and must not wait for another.
    if rayon::current_thread_index().is_some() {
        return py.detach(caught).map_err(|text| panicked(&text));
    }
    let pool = pool().map_err(PyRuntimeError::new_err)?;
    let (done, mut receiver) = sync_channel(1);
    pool.spawn(move || drop(done.send(caught())));
    loop {
        let result;
        (result, receiver) = py.detach(move || (receiver.recv_timeout(SIGNALS_EVERY), receiver));
        match result {
            Ok(result) => return result.map_err(|text| panicked(&text)),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                cancelled.store(true, Ordering::Relaxed);
            })?,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked("the thread ended")),
        }
    }
}

fn panicked(text: &str) -> PyErr {
    PyRuntimeError::new_err(format!("errorbar failed, which is a bug: {text}"))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given").to_owned()
}
