//! The Inspect projection: results as logs of Inspect record them, and back.
//!
//! Results are estimates. A log records numbers under names, and a zero where there is no number. Everything that the
//! reference decides about those names, their numbering and those zeros is decided here and nowhere else:
//! [`project`] goes from estimates to records, [`recover`] from records to estimates with their errors.
//!
//! Our own logs hold the estimate beside each number (`metadata.estimate`), so that reading them back is no guessing. In
//! logs of the reference an error is found by the name and the arguments of its metric (`recover.rs`).

pub(crate) use figures::{
    Figure, FigurePart, IMPLIED_REDUCER, has_groups, is_grouped, is_same_reducer, metric_name,
};
pub use figures::{PICKS_OPTION, ReturnedNumbers, picks_option, returned_numbers, scorer_metrics};
pub(crate) use projection::{ProjectedBlock, ProjectedEntry};
pub use projection::{Projection, ResultsJson, project};
pub(crate) use recover::has_estimates;
pub use recover::{recorded_name, recover, set_headline};

mod figures;
mod projection;
mod recover;
