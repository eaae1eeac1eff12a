//! `power` and `verify`.

use std::path::PathBuf;

use errorbar::analysis::{
    Analysis, Diagnostics, LogVerification, Outcome, Plans, PowerRequest, VerifyRequest, request_from_json,
};
use errorbar_report::verification::{self, to_json, to_text};
use errorbar_report::{ColumnType, PlansView, TerminalTable, fragment};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::answer::{Answer, Content};
use crate::call::{Cancelled, compute};
use crate::error::{Messages, raised};
use crate::frame::{Frame, Tabular, frame_of_records};
use crate::python::PythonEntry;
use crate::registry::registry;
use crate::table::{NamedTable, memory_tables};

/// Plans evaluations.
#[pyfunction]
pub(crate) fn power(py: Python<'_>, request: &str, tables: Vec<NamedTable<'_>>) -> PyResult<Py<PowerPlan>> {
    let (registry, exit) = registry(py, &[])?;
    let cancelled = Cancelled::default();
    let tables = memory_tables(&tables, true, &cancelled)?;
    let request: PowerRequest = raised(py, request_from_json(request).map_err(Diagnostics::from))?;
    let work = move || Analysis::new(&registry).tables(tables).power(&request);
    let answer = compute(py, &cancelled, work)?;
    exit.check()?;
    let Some(plans) = answer.value else { return raised(py, Err(answer.diagnostics)) };
    let messages = Messages::new(answer.diagnostics);
    let answer = Answer::new(PlannedRows(plans), &messages);
    let plan = Bound::new(py, answer.initializer().add_subclass(PowerPlan))?;
    messages.raise(py, || Ok(plan.clone().into_any()))?;
    messages.warn(py)?;
    Ok(plan.unbind())
}

/// Plans for evaluations: samples, epochs, differences and power.
#[pyclass(module = "errorbar", frozen, extends = Answer)]
#[derive(Debug)]
pub(crate) struct PowerPlan;

struct PlannedRows(Plans);

/// The width of lines.
const WIDTH: usize = 100;

impl Content for PlannedRows {
    fn json(&self) -> String {
        PlansView(&self.0).to_json()
    }

    fn text(&self) -> String {
        PlansView(&self.0).to_text(&TerminalTable::default(), WIDTH)
    }

    fn html(&self) -> String {
        fragment::text(&self.text())
    }
}

impl Tabular for PlannedRows {
    fn frame(&self) -> PyResult<Frame> {
        let listing = PlansView(&self.0).data();
        let rows = match listing.to_json() {
            Value::Array(rows) => rows,
            _ => Vec::new(),
        };
        let records: Vec<Map<String, Value>> = rows.into_iter().filter_map(object).collect();
        let columns: Vec<(&str, ColumnType)> = listing
            .titles()
            .iter()
            .map(|name| {
                let kind = match name.as_str() {
                    "samples" | "epochs" | "calls" => ColumnType::Int,
                    "method" | "design" | "reason" => ColumnType::Text,
                    "cheapest" => ColumnType::Bool,
                    _ => ColumnType::Float,
                };
                (name.as_str(), kind)
            })
            .collect();
        frame_of_records(&columns, &records)
    }
}

/// Checks what logs record.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    logs: Vec<PathBuf>,
    request: &str,
    entries: Vec<PythonEntry>,
) -> PyResult<Py<Verification>> {
    let (registry, exit) = registry(py, &entries)?;
    let request: VerifyRequest = raised(py, request_from_json(request).map_err(Diagnostics::from))?;
    let work = move || Analysis::new(&registry).verify(&logs, &request);
    let found = compute(py, &Cancelled::default(), work)?;
    exit.check()?;
    let messages = Messages::new(found.diagnostics);
    let agrees = found.outcome == Outcome::Done;
    let answer = Answer::new(VerifiedLogs(found.value.unwrap_or_default()), &messages);
    let class = answer.initializer().add_subclass(Verification { agrees });
    let verification = Bound::new(py, class)?;
    messages.raise(py, || Ok(verification.clone().into_any()))?;
    messages.warn(py)?;
    Ok(verification.unbind())
}

/// Whether the results that logs record are those of their samples.
#[pyclass(module = "errorbar", frozen, extends = Answer)]
#[derive(Debug)]
pub(crate) struct Verification {
    /// Whether no figure differs; with `require_checked=True`, whether all were checked too.
    #[pyo3(get)]
    agrees: bool,
}

struct VerifiedLogs(Vec<LogVerification>);

/// The columns of the figures of a log.
const FIGURES: [(&str, ColumnType); 11] = [
    ("log", ColumnType::Text),
    ("scorer", ColumnType::Text),
    ("score", ColumnType::Text),
    ("reducer", ColumnType::Text),
    ("metric", ColumnType::Text),
    ("recorded", ColumnType::Float),
    ("recomputed", ColumnType::Float),
    ("by_name", ColumnType::Bool),
    ("outcome", ColumnType::Text),
    ("reason", ColumnType::Json),
    ("difference", ColumnType::Text),
];

impl Content for VerifiedLogs {
    fn json(&self) -> String {
        to_json(&self.0)
    }

    fn text(&self) -> String {
        to_text(&self.0)
    }

    fn html(&self) -> String {
        fragment::text(&to_text(&self.0))
    }
}

impl Tabular for VerifiedLogs {
    fn frame(&self) -> PyResult<Frame> {
        let mut records = Vec::new();
        for log in &verification::records(&self.0) {
            let figures = log.get("figures").and_then(Value::as_array).into_iter().flatten();
            for mut figure in figures.cloned().filter_map(object) {
                figure.insert("log".to_owned(), log.get("log").cloned().unwrap_or_default());
                records.push(figure);
            }
        }
        frame_of_records(&FIGURES, &records)
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}
