//! Diagnostics as exceptions and warnings.

use errorbar::analysis::{Diagnostic, DiagnosticKind, Diagnostics, Severity, Surface};
use errorbar::table::TableLocation;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The module with the classes.
const MODULE: &str = "errorbar._errors";

/// What there is to report, split by what becomes of it.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// What makes a call raise.
    pub(crate) errors: Vec<Diagnostic>,
    /// What a reader of the results should know.
    pub(crate) warnings: Vec<Diagnostic>,
    /// What was done.
    pub(crate) notes: Vec<String>,
}

impl Messages {
    pub(crate) fn new(diagnostics: Diagnostics) -> Self {
        let mut messages = Messages::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => messages.errors.push(diagnostic),
                Severity::Warning | Severity::Failure => messages.warnings.push(diagnostic),
                Severity::Note => messages.notes.push(text(&diagnostic)),
            }
        }
        messages
    }

    /// The exception of what went wrong, if something did. The results of everything else are its `results`.
    pub(crate) fn raise<'py>(
        &self,
        py: Python<'py>,
        results: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let [first, others @ ..] = self.errors.as_slice() else { return Ok(()) };
        let error = exception(py, first)?;
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(|other| exception(py, other)).collect::<PyResult<_>>()?;
            error.setattr("others", others)?;
        }
        error.setattr("results", results()?)?;
        Err(PyErr::from_value(error))
    }

    /// Issues the warnings, from the line of Python that called the package.
    pub(crate) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if self.warnings.is_empty() {
            return Ok(());
        }
        let warn = py.import(MODULE)?.getattr("warn")?;
        self.warnings.iter().try_for_each(|warning| warn.call1((text(warning),)).map(drop))
    }

    /// The warnings as strings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.iter().map(text).collect()
    }
}

/// A call that ends with a value or with what went wrong.
pub(crate) fn raised<T>(py: Python<'_>, result: Result<T, Diagnostics>) -> PyResult<T> {
    result.or_else(|diagnostics| {
        Messages::new(diagnostics).raise(py, || Ok(py.None().into_bound(py)))?;
        Err(PyRuntimeError::new_err("something failed without a reason, which is a bug"))
    })
}

/// A message with its hint.
fn text(diagnostic: &Diagnostic) -> String {
    match diagnostic.on(Surface::Python) {
        (text, Some(hint)) => format!("{text} ({hint})"),
        (text, None) => text,
    }
}

/// The exception of a diagnostic.
pub(crate) fn exception<'py>(py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let class = match diagnostic.kind {
        DiagnosticKind::Spec => "SpecError",
        DiagnosticKind::Table => "TableError",
        DiagnosticKind::Log => "LogError",
        _ => "InputError",
    };
    let fields = PyDict::new(py);
    let place = diagnostic.place.as_deref();
    fields.set_item("path", place.map(|place| &place.path))?;
    fields.set_item("sample", place.and_then(|place| place.sample.as_ref()))?;
    match place.and_then(|place| place.location) {
        Some(TableLocation::Line(line)) => fields.set_item("line", line)?,
        Some(TableLocation::Row(row)) => fields.set_item("row", row)?,
        _ => {}
    }
    let (text, hint) = diagnostic.on(Surface::Python);
    fields.set_item("hint", hint)?;
    py.import(MODULE)?.getattr(class)?.call((text,), Some(&fields))
}
