//! Every example of the manual, run by the built program, with what its log records checked against figures that are
//! computed here from the recorded answers (`data`), or by hand.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helper may fail as the test may"
)]

mod built_in;
mod clustering;
mod colors;
mod data;
mod epochs;
mod grouping;
mod harness;
mod overview;
mod own_mean;
