//! Over results made by hand: no figure is lost, no unknown shown as a number, no line too wide.

mod comparison_fixtures;
mod comparison_machines;
mod comparisons;
mod epochs;
mod fixtures;
mod fragments;
mod machines;
mod models;
mod names;
mod people;

use crate::Report;

/// All reports of the fixtures.
fn all() -> Vec<Report> {
    vec![
        fixtures::ten_groups(),
        fixtures::scorers_and_reducers(false),
        fixtures::scorers_and_reducers(true),
        fixtures::all_correct(),
        fixtures::everything(),
    ]
}
