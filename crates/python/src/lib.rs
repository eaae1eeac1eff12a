//! The Python package `errorbar`: the engine, called from Python.
//!
//! The module `errorbar._errorbar` is private; what people import is the thin layer in `python/errorbar`, which turns
//! arguments into requests and errors into exceptions. Nothing is computed here that the command line does not compute in
//! the same way: both call [`errorbar::analysis`]. A file per topic.

mod answer;
mod call;
mod cli;
mod compare;
mod error;
mod frame;
mod inspect;
mod log;
mod partial;
mod pool;
mod power;
mod python;
mod registry;
mod request;
mod restored;
mod score;
mod stream;
mod table;

/// The native part of errorbar.
#[pyo3::pymodule(name = "_errorbar")]
mod module {
    #[pymodule_export]
    use crate::answer::Answer;
    #[pymodule_export]
    use crate::cli::main;
    #[pymodule_export]
    use crate::compare::{Comparison, compare};
    #[pymodule_export]
    use crate::frame::{ArrowData, Frame};
    #[pymodule_export]
    use crate::inspect::{MetricEngine, ReducerEngine};
    #[pymodule_export]
    use crate::log::log_frame;
    #[pymodule_export]
    use crate::partial::{Partial, finish_states, merge_states, partial, partials, row_columns};
    #[pymodule_export]
    use crate::power::{PowerPlan, Verification, power, verify};
    #[pymodule_export]
    use crate::python::PyScores;
    #[pymodule_export]
    use crate::request::request_fields;
    #[pymodule_export]
    use crate::restored::restored_results;
    #[pymodule_export]
    use crate::score::{Results, score};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
