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

use serde_json::Value;

use crate::{ColumnType, Report};

/// Whether records have these fields, in order, and columns of these types hold their values.
fn check_columns(columns: &[(&str, ColumnType)], records: &Value) {
    let records = records.as_array().unwrap();
    for record in records {
        let fields = record.as_object().unwrap();
        assert_eq!(
            fields.keys().collect::<Vec<_>>(),
            columns.iter().map(|(name, _)| *name).collect::<Vec<_>>()
        );
        for (name, kind) in columns {
            assert!(kind.holds(&fields[*name]), "{name}: {}", fields[*name]);
        }
    }
}

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
