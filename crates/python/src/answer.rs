//! What the functions of the package return: one value that is a frame, JSON, a table for a terminal and one for a page.

use std::fmt;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::error::Messages;
use crate::frame::{ArrowData, Frame, Tabular};

/// What an answer says, in each form. Nothing is made before it is wanted.
pub(crate) trait Content: Tabular {
    /// As the command prints it with `--format json`.
    fn json(&self) -> String;
    /// As the command prints it.
    fn text(&self) -> String;
    /// Part of a page.
    fn html(&self) -> String;
}

/// The base of all results.
#[pyclass(module = "errorbar", frozen, subclass, extends = ArrowData)]
pub(crate) struct Answer {
    content: Arc<dyn Content>,
    /// What a reader should know.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// What was done, and how the input was understood.
    #[pyo3(get)]
    notes: Vec<String>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("warnings", &self.warnings).finish_non_exhaustive()
    }
}

impl Answer {
    pub(crate) fn new(content: impl Content + 'static, messages: &Messages) -> Self {
        let (warnings, notes) = (messages.warnings(), messages.notes.clone());
        Answer::restored(content, warnings, notes)
    }

    /// With messages that were issued already.
    pub(crate) fn restored(
        content: impl Content + 'static,
        warnings: Vec<String>,
        notes: Vec<String>,
    ) -> Self {
        Answer { content: Arc::new(content), warnings, notes }
    }

    /// What makes an object of Python, of a class that is derived from this one.
    pub(crate) fn initializer(self) -> PyClassInitializer<Self> {
        let rows: Arc<dyn Content> = Arc::clone(&self.content);
        ArrowData::initializer(self, rows)
    }
}

#[pymethods]
impl Answer {
    /// As the command prints it with `--format json`, byte for byte.
    fn to_json(&self) -> String {
        self.content.json()
    }

    /// The same as `to_json`, as Python lists and dictionaries.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.content.json(),))
    }

    /// A row for each figure, as a frame.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<Py<Frame>> {
        self.content.frame()?.into_python(py)
    }

    /// Without the end of the last line, which Python adds.
    fn __repr__(&self) -> String {
        self.content.text().trim_end().to_owned()
    }

    fn _repr_html_(&self) -> String {
        self.content.html()
    }
}
