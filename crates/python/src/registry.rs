//! What can be named: everything built in, and what is written in Python.

use std::sync::Arc;

use errorbar::Score;
use errorbar::eval::{AnyScorer, collected_registry};
use errorbar_core::registry::EntrySource;
use errorbar_core::{
    Error, MetadataKeys, Metric, Reducer, Registry, Result, Role, Scores, Spec, metric_fn, reducer_fn,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::python::{Exit, PyScorer, PythonEntry, compute_metric, reduce};

/// Everything built in, these functions, and what else Python knows or can import. Whoever computes with them raises what
/// they raised to end the program.
pub(crate) fn registry(py: Python<'_>, entries: &[PythonEntry]) -> PyResult<(Registry, Exit)> {
    let exit = Exit::default();
    let invalid = |error: Error| PyValueError::new_err(error.to_string());
    let mut registry =
        collected_registry().map_err(invalid)?.with_source(Arc::new(PythonSource(exit.clone())));
    for entry in entries {
        add(py, &entry.1, entry, &exit, &mut registry).map_err(|error| match error {
            // Nothing built in can be replaced from Python.
            Error::NameTaken { kind, name } => {
                let text = format!("{name:?} is the name of a {kind} that is built in");
                PyValueError::new_err(format!("{text}: name yours with @errorbar.{kind}(name=\"my_{name}\")"))
            }
            other => invalid(other),
        })?;
    }
    Ok((registry, exit))
}

/// Functions of modules, which may be imported after the registry is made.
struct PythonSource(Exit);

impl EntrySource for PythonSource {
    fn add_entry(&self, name: &str, may_import: bool, registry: &mut Registry) -> Result<()> {
        let failed = |problem: String| Error::Import { name: name.to_owned(), problem };
        let folder = registry.folder().to_owned();
        let added = Python::try_attach(|py| {
            let found = py
                .import("errorbar._custom")
                .and_then(|module| module.getattr("found"))
                .and_then(|found| found.call1((name, folder, may_import)))
                .and_then(|entry| entry.extract::<Option<PythonEntry>>());
            match found {
                Ok(Some(entry)) => match add(py, name, &entry, &self.0, registry) {
                    // It is of another kind than what is looked for, and known already.
                    Err(Error::NameTaken { .. }) => Ok(()),
                    added => added,
                },
                Ok(None) => Ok(()),
                Err(error) => {
                    self.0.note(py, &error);
                    Err(failed(error.value(py).to_string()))
                }
            }
        });
        added.unwrap_or_else(|| Err(failed("Python has ended".to_owned())))
    }
}

/// Adds a function under a name that may differ from its own: `module:function`.
fn add(py: Python<'_>, under: &str, entry: &PythonEntry, exit: &Exit, registry: &mut Registry) -> Result<()> {
    let (kind, name, doc, function, names) = entry;
    let exit = exit.clone();
    let (function, names, of) = (function.clone_ref(py), names.clone(), name.clone());
    let under = Spec { package: None, name: under.to_owned(), ..Spec::new("") };
    match kind.as_str() {
        "metric" => {
            let keys = MetadataKeys::Only(names.iter().map(|key| key.as_str().into()).collect());
            let compute = move |scores: &Scores<'_>| compute_metric(&of, &function, &exit, &names, scores);
            let metric: Arc<dyn Metric> = Arc::new(metric_fn(name, compute).keys(keys).role(Role::Location));
            registry.add_object(under, doc, metric)
        }
        "reducer" => {
            let reduce = move |scores: &[Score]| reduce(&of, &function, &exit, scores);
            let reducer: Arc<dyn Reducer> = Arc::new(reducer_fn(name, reduce));
            registry.add_object(under, doc, reducer)
        }
        _ => {
            let metrics = format!("[{}]", names.join(", ")).parse()?;
            // What the scorer names is imported or defined beside it.
            let metrics =
                registry.clone().with_source(Arc::new(PythonSource(exit.clone()))).metrics(&metrics)?;
            let scorer = AnyScorer::from(PyScorer { name: of, function, metrics, exit });
            registry.add_object(under, doc, scorer)
        }
    }
}
