//! `power` and `verify`.

use std::ffi::OsString;

use errorbar::analysis::{Analysis, Planned, Plans, Status, Verified};
use errorbar_report::{ColumnType, fragment};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::answer::{Answer, Content};
use crate::call::{Cancelled, compute};
use crate::error::{Messages, raised};
use crate::frame::{Frame, Tabular, frame_of_records};
use crate::python::PythonEntry;
use crate::registry::registry;
use crate::table::{NamedTable, memory_tables};

/// Plans evaluations: `errorbar power` with these arguments.
#[pyfunction]
pub(crate) fn power(
    py: Python<'_>,
    args: Vec<OsString>,
    tables: Vec<NamedTable<'_>>,
) -> PyResult<Py<PowerPlan>> {
    let (registry, exit) = registry(py, &[])?;
    let cancelled = Cancelled::default();
    let tables = memory_tables(&tables, true, &cancelled)?;
    let work = move || Analysis::new(&registry).tables(tables).power(args);
    let Planned { plans, diagnostics } = compute(py, &cancelled, work)?;
    exit.check()?;
    let Some(plans) = plans else { return raised(py, Err(diagnostics)) };
    let messages = Messages::new(diagnostics);
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

impl Content for PlannedRows {
    fn json(&self) -> String {
        self.0.to_json().to_owned()
    }

    fn text(&self) -> String {
        self.0.to_text().to_owned()
    }

    fn html(&self) -> String {
        fragment::text(self.0.to_text())
    }
}

impl Tabular for PlannedRows {
    fn frame(&self) -> PyResult<Frame> {
        let rows = match self.0.listing().to_json() {
            Value::Array(rows) => rows,
            _ => Vec::new(),
        };
        let records: Vec<Map<String, Value>> = rows.into_iter().filter_map(object).collect();
        let columns: Vec<(&str, ColumnType)> = self
            .0
            .listing()
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

/// Checks what logs record: `errorbar verify` with these arguments.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    args: Vec<OsString>,
    entries: Vec<PythonEntry>,
) -> PyResult<Py<Verification>> {
    let (registry, exit) = registry(py, &entries)?;
    let mut verified = compute(py, &Cancelled::default(), move || Analysis::new(&registry).verify(args))?;
    exit.check()?;
    let messages = Messages::new(std::mem::take(&mut verified.diagnostics));
    let agrees = verified.status == Status::Fine;
    let answer = Answer::new(VerifiedLogs(verified), &messages);
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

struct VerifiedLogs(Verified);

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
        self.0.json.clone()
    }

    fn text(&self) -> String {
        self.0.text.clone()
    }

    fn html(&self) -> String {
        fragment::text(&self.0.text)
    }
}

impl Tabular for VerifiedLogs {
    fn frame(&self) -> PyResult<Frame> {
        let mut records = Vec::new();
        for log in &self.0.logs {
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
