//! Logs as frames: samples, evaluations and messages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use errorbar_log::eval::LogError;
use errorbar_log::eval::frames::{Dialect, FrameOptions, eval_frame, log_paths, message_frame, sample_frame};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::compute;
use crate::frame::Frame;

/// Reads logs into a frame; `kind` is `samples`, `evals` or `messages`.
#[pyfunction]
#[pyo3(signature = (kind, logs, *, inspect = false))]
pub(crate) fn log_frame(
    py: Python<'_>,
    kind: &str,
    logs: Vec<PathBuf>,
    inspect: bool,
) -> PyResult<Py<Frame>> {
    let read = match kind {
        "samples" => sample_frame,
        "evals" => eval_frame,
        "messages" => message_frame,
        other => return Err(PyValueError::new_err(format!("there is no frame of {other}"))),
    };
    let dialect = if inspect { Dialect::Inspect } else { Dialect::Plain };
    let stopped = Arc::new(AtomicBool::new(false));
    let is_stopped = Arc::clone(&stopped);
    let batch = compute(py, &stopped, move || {
        let interrupted = || is_stopped.load(Ordering::Relaxed);
        let options = FrameOptions::new().dialect(dialect).interrupted(&interrupted);
        log_paths(&logs).and_then(|logs| read(&logs, &options))
    })?;
    let batch = batch.or_else(|error| Err(raised(py, &error)?))?;
    Frame::new(batch.schema(), vec![batch]).into_python(py)
}

/// The exception of a log that cannot be read.
fn raised(py: Python<'_>, error: &LogError) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    fields.set_item("path", error.path())?;
    fields.set_item("sample", error.sample())?;
    let class = py.import("errorbar._errors")?.getattr("LogError")?;
    Ok(PyErr::from_value(class.call((error.to_string(),), Some(&fields))?))
}
