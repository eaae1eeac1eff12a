//! Results as logs record them, beyond what the conformance cases reach: gaps and order of rows, details of scores,
//! notes, warnings, builders with bad arguments, which sample an error names, published figures, properties.

#![allow(clippy::excessive_precision, reason = "figures stand as they were computed")]

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
