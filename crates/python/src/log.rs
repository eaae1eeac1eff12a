//! Logs as frames: samples, evaluations and messages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use errorbar::analysis::{Diagnostic, Diagnostics, LimitRequest, request_from_json};
use errorbar_log::eval::frames::{Dialect, FrameOptions, eval_frame, log_paths, message_frame, sample_frame};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::compute;
use crate::error::raised;
use crate::frame::Frame;

/// Reads logs into a frame; `kind` is `samples`, `evals` or `messages`, and `limits` are those of a request.
#[pyfunction]
#[pyo3(signature = (kind, logs, limits, *, inspect = false))]
pub(crate) fn log_frame(
    py: Python<'_>,
    kind: &str,
    logs: Vec<PathBuf>,
    limits: &str,
    inspect: bool,
) -> PyResult<Py<Frame>> {
    let read = match kind {
        "samples" => sample_frame,
        "evals" => eval_frame,
        "messages" => message_frame,
        other => return Err(PyValueError::new_err(format!("there is no frame of {other}"))),
    };
    let limits: LimitRequest = raised(py, request_from_json(limits).map_err(Diagnostics::from))?;
    let limits = limits.limits();
    let dialect = if inspect { Dialect::Inspect } else { Dialect::Plain };
    let stopped = Arc::new(AtomicBool::new(false));
    let is_stopped = Arc::clone(&stopped);
    let batch = compute(py, &stopped, move || {
        let interrupted = || is_stopped.load(Ordering::Relaxed);
        let options = FrameOptions::new().dialect(dialect).limits(limits).interrupted(&interrupted);
        log_paths(&logs).and_then(|logs| read(&logs, &options))
    })?;
    let batch = raised(py, batch.map_err(|error| Diagnostic::from(error).into()))?;
    Frame::new(batch.schema(), vec![batch]).into_python(py)
}
