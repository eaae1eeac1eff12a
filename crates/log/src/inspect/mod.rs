//! The Inspect projection: results as logs of Inspect record them, and back.
//!
//! Results are estimates. A log records numbers under names, and a zero where there is no number. Everything that the
//! reference decides about those names, their numbering and those zeros is decided here and nowhere else:
//! [`project`] goes from estimates to records, [`recover`] from records to estimates with their errors.
//!
//! Our own logs hold the estimate beside each number (`metadata.estimate`), so that reading them back is no guessing. In
//! logs of the reference an error is found by the name and the arguments of its metric (`pairing.rs`).

mod estimates;
mod figures;
mod headline;
mod names;
mod notes;
mod pairing;
mod projection;
mod recover;
mod results_json;

pub use figures::{ReturnedNumbers, returned_numbers};
pub use names::{PICKS_OPTION, picks_option, scorer_metrics};
pub use projection::{Projection, project};
pub use recover::{recorded_name, recover, set_headline};
pub use results_json::ResultsJson;

pub(crate) use figures::{Figure, FigurePart};
pub(crate) use names::{IMPLIED_REDUCER, has_groups, is_grouped, is_same_reducer, metric_name};
pub(crate) use projection::{ProjectedBlock, ProjectedEntry};
pub(crate) use recover::has_estimates;
