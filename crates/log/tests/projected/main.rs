//! Results as logs record them, beyond what the conformance cases reach: gaps and order of rows, details of scores,
//! notes, warnings, builders with bad arguments, which sample an error names, published figures, properties.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::excessive_precision,
    reason = "a test that meets something unexpected should stop there; published figures have the digits they have"
)]

mod edges_blocks;
mod edges_conversions;
mod edges_errors;
mod edges_groups;
mod edges_notes;
mod edges_reducers;
mod edges_rows;
mod edges_support;
mod properties;
mod published;
mod recorded;
mod regressions;
mod results;
mod whole_numbers;
