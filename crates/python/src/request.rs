//! What requests ask for, by the names that arguments have.

use errorbar::analysis::{CompareRequest, LimitRequest, PowerRequest, ScoreRequest, VerifyRequest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

/// The names of what a request can ask for.
#[pyfunction]
pub(crate) fn request_fields(verb: &str) -> PyResult<Vec<String>> {
    fn fields(request: &impl Serialize) -> Vec<String> {
        match serde_json::to_value(request) {
            Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        }
    }
    Ok(match verb {
        "score" => fields(&ScoreRequest::default()),
        "compare" => fields(&CompareRequest::default()),
        "power" => fields(&PowerRequest::default()),
        "verify" => fields(&VerifyRequest::default()),
        "limits" => fields(&LimitRequest::default()),
        other => return Err(PyValueError::new_err(format!("there is no request to {other}"))),
    })
}
