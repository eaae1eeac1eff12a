//! The estimate that our logs record beside a number, so that its error need not be searched for by name.

use std::collections::HashMap;

use errorbar_core::Estimate;
use errorbar_core::{EstimateRow, IntervalSide, Results, Role};
use serde_json::{Map, Value as Json};

use super::figures::{Figure, FigurePart};

/// Where it is in the `metadata` of an entry.
pub(super) const KEY: &str = "estimate";

/// The rows of results, by the estimate that each is of.
pub(super) struct Estimates<'r> {
    by_source: HashMap<*const Estimate, EstimateRow<'r>>,
}

impl<'r> Estimates<'r> {
    pub(super) fn new(results: &'r Results) -> Self {
        let rows = results.rows().into_iter();
        Estimates { by_source: rows.map(|row| (std::ptr::from_ref(row.source), row)).collect() }
    }

    /// What is recorded for a number: its estimate if it has an error or an interval, and null if it is itself a part of
    /// the estimate of another number.
    pub(super) fn of(&self, figure: &Figure<'_>) -> Option<Json> {
        let Some(row) = self.by_source.get(&std::ptr::from_ref(figure.estimate?)) else {
            return Some(Json::Null);
        };
        match (figure.part, figure.result.role) {
            (FigurePart::Upper, _) => Some(Json::Null),
            (FigurePart::Lower, _) => Some(to_json(&row.estimate)),
            (_, Role::ErrorOf) => None,
            _ => {
                let has_error = row.estimate.error.is_ok() || row.estimate.interval.is_ok();
                has_error.then(|| to_json(&row.estimate))
            }
        }
    }
}

fn to_json(estimate: &Estimate) -> Json {
    let mut json = Map::new();
    let mut number = |key: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            json.insert(key.to_owned(), Json::from(value));
        }
    };
    let (error, interval) = (estimate.error.as_ref().ok(), estimate.interval.as_ref().ok());
    number("value", estimate.number());
    number("stderr", error.map(|error| error.se));
    number("stderr_fixed", estimate.notes.stderr_fixed);
    number("lower", interval.map(|interval| interval.lower));
    number("upper", interval.map(|interval| interval.upper));
    number("level", interval.map(|interval| interval.level));
    if let Some(interval) = interval {
        json.insert("method".to_owned(), Json::from(interval.method.to_string()));
        if interval.side != IntervalSide::TwoSided {
            json.insert("side".to_owned(), Json::from(interval.side.name()));
        }
    }
    json.insert("n".to_owned(), Json::from(estimate.n));
    if error.is_some_and(|error| error.degenerate) {
        json.insert("degenerate".to_owned(), Json::from(true));
    }
    Json::Object(json)
}
