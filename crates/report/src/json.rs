//! Results as one JSON array, an object for each log; `docs/schema/results.schema.json` is its schema.
//!
//! `results` is what logs record, `estimates` has a flat record for each estimate. A run that did not reach its end also
//! has `status` and `planned_samples`, one that a rule stopped `early_stop`; `skipped_samples` counts those that could not be read, `limits` those that a limit
//! ended, by its kind; `self_graded` is a model that graded its own answers, and `earlier_run` marks
//! results that were there before; `recorded` those that a log without samples records.

use std::io;

use errorbar_log::inspect::ResultsJson;
use serde_json::json;

use crate::comparison::{ComparisonView, gate_rule, ranking_record};
use crate::record::{Record, estimates};
use crate::{Listing, Render, Report};

/// The version of the schema.
const SCHEMA: u32 = 1;

/// Strict JSON: a number that is not finite is null.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

/// The object of a log. Behind the first four, a key is there if there is something to be known.
fn log_json(report: &Report) -> Record {
    let partial = report.partial_run.as_ref();
    let always = [
        ("schema", json!(SCHEMA)),
        ("log", json!(report.log)),
        ("task", json!(report.task)),
        ("model", json!(report.model)),
    ];
    let known = [
        ("status", json!(partial.map(|run| &run.status))),
        ("planned_samples", json!(partial.and_then(|run| run.planned))),
        ("skipped_samples", json!((report.skipped > 0).then_some(report.skipped))),
        ("limits", json!((!report.limits.is_empty()).then_some(&report.limits))),
        ("early_stop", json!(report.early_stop)),
        ("self_graded", json!(report.self_graded)),
        ("earlier_run", json!(report.earlier_run.then_some(true))),
        ("recorded", json!(report.recorded.then_some(true))),
        ("results", json!(ResultsJson::new(&report.results))),
        ("estimates", estimates(&report.results).into()),
    ];
    let known = known.into_iter().filter(|(_, value)| !value.is_null());
    always.into_iter().chain(known).map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Render for Json {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let logs: Vec<Record> = reports.iter().map(log_json).collect();
        serde_json::to_writer_pretty(&mut *out, &logs)?;
        writeln!(out)
    }

    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &listing.to_json())?;
        writeln!(out)
    }

    fn comparison(&self, view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let report = view.report;
        let gate = report.options.gate.map(|gate| {
            let (rule, value) = gate_rule(gate);
            json!({ "rule": rule, "value": value })
        });
        // `docs/schema/compare.schema.json` is its schema.
        let json = json!({
            "schema": SCHEMA,
            "comparisons": view.records(),
            "flips": view.flips.unwrap_or_default(),
            // If they were asked for; more than `flips` has if the list was cut.
            "changed_samples": view.changed_count(),
            "sides": report.sides,
            "rankings": report.rankings.iter().map(|ranking| ranking_record(ranking, view)).collect::<Vec<_>>(),
            "gate": gate,
            "warnings": report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }
}
