//! `score`, and its results.

use std::path::PathBuf;

use errorbar::analysis::{Analysis, Diagnostics, ScoreRequest, request_from_json};
use errorbar_report::{ColumnType, Json, Render, Report, TerminalTable, all_estimates, estimate_columns};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::answer::{Answer, Content};
use crate::call::{Cancelled, compute};
use crate::error::{Messages, raised};
use crate::frame::{Frame, Tabular, frame_of_records};
use crate::python::PythonEntry;
use crate::registry::registry;
use crate::table::{NamedTable, memory_tables};

/// Computes metrics.
#[pyfunction]
pub(crate) fn score(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    request: &str,
    tables: Vec<NamedTable<'_>>,
    entries: Vec<PythonEntry>,
) -> PyResult<Py<Results>> {
    let (registry, exit) = registry(py, &entries)?;
    let cancelled = Cancelled::default();
    let tables = memory_tables(&tables, false, &cancelled)?;
    let request: ScoreRequest = raised(py, request_from_json(request).map_err(Diagnostics::from))?;
    let work = move || Analysis::new(&registry).tables(tables).score(&paths, &request);
    let answer = compute(py, &cancelled, work)?;
    exit.check()?;
    results_of(py, answer.value.unwrap_or_default(), answer.diagnostics)
}

/// The results of reports; raises what went wrong, and issues warnings.
pub(crate) fn results_of(
    py: Python<'_>,
    reports: Vec<Report>,
    diagnostics: Diagnostics,
) -> PyResult<Py<Results>> {
    let messages = Messages::new(diagnostics);
    let answer = Answer::new(ScoredReports(reports), &messages);
    let results = Bound::new(py, answer.initializer().add_subclass(Results))?;
    messages.raise(py, || Ok(results.clone().into_any()))?;
    messages.warn(py)?;
    Ok(results.unbind())
}

/// The results of logs and tables.
#[pyclass(module = "errorbar", frozen, extends = Answer)]
#[derive(Debug)]
pub(crate) struct Results;

struct ScoredReports(Vec<Report>);

impl Content for ScoredReports {
    fn json(&self) -> String {
        Json.to_text(&self.0)
    }

    fn text(&self) -> String {
        TerminalTable::default().to_text(&self.0)
    }

    fn html(&self) -> String {
        errorbar_report::fragment::reports(&self.0)
    }
}

impl Tabular for ScoredReports {
    fn frame(&self) -> PyResult<Frame> {
        let mut records = Vec::new();
        for report in &self.0 {
            let run = [
                ("log", Some(&report.log)),
                ("task", report.task.as_ref()),
                ("model", report.model.as_ref()),
            ];
            for record in all_estimates(&report.results) {
                let mut fields = Map::new();
                fields
                    .extend(run.iter().map(|(name, text)| ((*name).to_owned(), Value::from(text.cloned()))));
                fields.extend(record);
                records.push(fields);
            }
        }
        let run = ["log", "task", "model"].map(|name| (name, ColumnType::Text));
        frame_of_records(&[run.as_slice(), &estimate_columns()].concat(), &records)
    }
}
