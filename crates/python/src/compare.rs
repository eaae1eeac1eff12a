//! `compare`, and what came of it.

use std::ffi::OsString;

use errorbar::analysis::{Analysis, Compared, Comparisons, Status};
use errorbar_report::{ComparisonRecord, fragment};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::answer::{Answer, Content};
use crate::call::{Cancelled, compute};
use crate::error::{Messages, raised};
use crate::frame::{Frame, Tabular, fields_of, frame_of_records};
use crate::python::PythonEntry;
use crate::registry::registry;
use crate::table::{NamedTable, memory_tables};

/// Compares models: `errorbar compare` with these arguments.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    args: Vec<OsString>,
    tables: Vec<NamedTable<'_>>,
    entries: Vec<PythonEntry>,
) -> PyResult<Py<Comparison>> {
    let (registry, exit) = registry(py, &entries)?;
    let cancelled = Cancelled::default();
    let tables = memory_tables(&tables, true, &cancelled)?;
    let work = move || Analysis::new(&registry).tables(tables).compare(args);
    let Compared { comparisons, status, diagnostics } = compute(py, &cancelled, work)?;
    exit.check()?;
    let Some(comparisons) = comparisons else { return raised(py, Err(diagnostics)) };
    let messages = Messages::new(diagnostics);
    let passed = comparisons.report().options.gate.map(|_| status == Status::Fine);
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
        self.0.to_json()
    }

    fn text(&self) -> String {
        self.0.to_text()
    }

    fn html(&self) -> String {
        fragment::comparisons(self.0.report())
    }
}

impl Tabular for ComparedSides {
    fn frame(&self) -> PyResult<Frame> {
        let records: Vec<Map<String, Value>> =
            self.0.records().iter().map(fields_of).collect::<PyResult<_>>()?;
        frame_of_records(&ComparisonRecord::COLUMNS, &records)
    }
}
