//! The command line, in process.

use std::ffi::OsString;

use errorbar::App;
use pyo3::prelude::*;

use crate::python::PythonEntry;
use crate::registry::registry;

/// Runs the command line on these arguments, the first of which is the program's name; returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>, entries: Vec<PythonEntry>) -> PyResult<u8> {
    let (registry, exit) = registry(py, &entries)?;
    let app = App::of_registry(registry);
    let status = py.detach(|| app.run_to_status(args).code());
    exit.check()?;
    Ok(status)
}
