//! `compare`, and what came of it.

use std::path::PathBuf;

use errorbar::analysis::{Analysis, CompareRequest, Comparisons, Diagnostics, Outcome, request_from_json};
use errorbar_report::{
    ComparisonView, Json, Render, TerminalTable, comparison_columns, fragment, gate_diagnostics,
};
use pyo3::prelude::*;

use crate::answer::{Answer, Content};
use crate::call::{Cancelled, compute};
use crate::error::{Messages, raised};
use crate::frame::{Frame, Tabular, frame_of_records};
use crate::python::PythonEntry;
use crate::registry::registry;
use crate::table::{NamedTable, memory_tables};

/// Compares models.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    request: &str,
    tables: Vec<NamedTable<'_>>,
    entries: Vec<PythonEntry>,
) -> PyResult<Py<Comparison>> {
    let (registry, exit) = registry(py, &entries)?;
    let cancelled = Cancelled::default();
    let tables = memory_tables(&tables, true, &cancelled)?;
    let request: CompareRequest = raised(py, request_from_json(request).map_err(Diagnostics::from))?;
    let gate = request.gate.clone();
    let work = move || Analysis::new(&registry).tables(tables).compare(&paths, &request);
    let answer = compute(py, &cancelled, work)?;
    exit.check()?;
    let mut diagnostics = answer.diagnostics;
    let Some(comparisons) = answer.value else { return raised(py, Err(diagnostics)) };
    diagnostics.extend(comparisons.warnings());
    diagnostics.extend(gate_diagnostics(&comparisons.report, &gate));
    let passed = comparisons.report.options.gate.map(|_| diagnostics.outcome() == Outcome::Done);
    let messages = Messages::new(diagnostics);
    let answer = Answer::new(ComparedSides(comparisons), &messages);
    let class = answer.initializer().add_subclass(Comparison { passed });
    let comparison = Bound::new(py, class)?;
    messages.raise(py, || Ok(comparison.clone().into_any()))?;
    messages.warn(py)?;
    Ok(comparison.unbind())
}

/// Comparisons of models.
#[pyclass(module = "errorbar", frozen, extends = Answer)]
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Whether the gate holds (`margin=`, `equivalent=`, `min_difference=`, `fail_if_worse=`), as the exit code of the
    /// command says; None without a gate.
    #[pyo3(get)]
    passed: Option<bool>,
}

struct ComparedSides(Comparisons);

impl Content for ComparedSides {
    fn json(&self) -> String {
        Json.comparison_text(&ComparisonView::of(&self.0))
    }

    fn text(&self) -> String {
        TerminalTable::default().comparison_text(&ComparisonView::of(&self.0))
    }

    fn html(&self) -> String {
        fragment::comparisons(&self.0.report)
    }
}

impl Tabular for ComparedSides {
    fn frame(&self) -> PyResult<Frame> {
        frame_of_records(&comparison_columns(), &ComparisonView::of(&self.0).records())
    }
}
