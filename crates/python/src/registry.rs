//! What can be named: everything built in, and what is written in Python.

use std::sync::Arc;

use errorbar::{AnyScorer, collected_registry};
use errorbar_core::{MetadataKeys, Registry, Role, metric_fn, reducer_fn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::python::{PyScorer, PythonEntry, compute_metric, reduce};

/// Everything built in, and these functions.
pub(crate) fn registry(py: Python<'_>, entries: &[PythonEntry]) -> PyResult<Registry> {
    let invalid = |error: errorbar_core::Error| PyValueError::new_err(error.to_string());
    let mut registry = collected_registry().map_err(invalid)?;
    for (kind, name, doc, function, names) in entries {
        let (function, names, of) = (function.clone_ref(py), names.clone(), name.clone());
        let added = match kind.as_str() {
            "metric" => {
                let keys = MetadataKeys::Only(names.iter().map(|key| key.as_str().into()).collect());
                let compute =
                    move |scores: &errorbar_core::Scores<'_>| compute_metric(&of, &function, &names, scores);
                let metric = metric_fn(name, compute).keys(keys).role(Role::Location);
                registry.add_metric_object(Arc::new(metric), doc)
            }
            "reducer" => {
                let reducer =
                    reducer_fn(name, move |scores: &[errorbar::Score]| reduce(&of, &function, scores));
                registry.add_reducer_object(Arc::new(reducer), doc)
            }
            _ => {
                let metrics = format!("[{}]", names.join(", "));
                let metrics = metrics.parse().map_err(errorbar_core::Error::from);
                let metrics = metrics.and_then(|metrics| registry.metrics(&metrics)).map_err(invalid)?;
                let scorer = AnyScorer::from(PyScorer { name: of, function, metrics });
                registry.add_object(scorer.spec(), doc, scorer)
            }
        };
        added.map_err(invalid)?;
    }
    Ok(registry)
}
