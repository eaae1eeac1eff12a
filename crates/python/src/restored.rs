//! Results that were computed in another process.

use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::FromPyArrow;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answer::{Answer, Content};
use crate::frame::{Frame, Tabular};
use crate::score::Results;

/// Results in all forms that they can be wanted in.
struct RestoredContent {
    json: String,
    text: String,
    html: String,
    frame: Frame,
}

impl Content for RestoredContent {
    fn json(&self) -> String {
        self.json.clone()
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn html(&self) -> String {
        self.html.clone()
    }
}

impl Tabular for RestoredContent {
    fn frame(&self) -> PyResult<Frame> {
        Ok(self.frame.clone())
    }
}

/// The results of another process, from what they are in each form.
#[pyfunction]
pub(crate) fn restored_results(
    py: Python<'_>,
    json: String,
    text: String,
    html: String,
    frame: &Bound<'_, PyAny>,
    warnings: Vec<String>,
    notes: Vec<String>,
) -> PyResult<Py<Results>> {
    let reader = RecordBatchStreamReader::from_pyarrow_bound(frame)?;
    let schema = reader.schema();
    let batches = py.detach(|| reader.collect::<Result<Vec<_>, _>>());
    let batches = batches.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let content = RestoredContent { json, text, html, frame: Frame::new(Arc::clone(&schema), batches) };
    let answer = Answer::restored(content, warnings, notes);
    Py::new(py, answer.initializer().add_subclass(Results))
}
