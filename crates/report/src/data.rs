//! Formats for machines: CSV and JSON.

use errorbar_log::inspect::ResultsJson;
use errorbar_table::write::spreadsheet_cell;
use serde_json::json;

use crate::comparison::{ComparisonView, comparison_columns, gate_rule, ranking_record};
use crate::record::{Record, all_estimates, csv_field, estimate_columns, estimates};
use crate::{Listing, Render, Report};

/// A header and a row for each estimate: `log`, `task`, `model`, then [`estimate_columns`].
///
/// Every row has by itself which log, task and model it is of, so that rows of several logs can be joined and pivoted; a
/// table of scores has neither task nor model. What does not exist is left empty, with the reasons as JSON in the column
/// `undefined`. A metric that failed has a row too, with its error there and no value. If figures of a log are recorded
/// and not computed, a last column, `recorded`, says which.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv {
    /// Whether a cell that begins as a formula does gets an apostrophe in front of it ([`spreadsheet_cell`]).
    pub is_for_spreadsheets: bool,
}

impl Render for Csv {
    fn to_text(&self, reports: &[Report]) -> String {
        self.text(estimate_rows(reports))
    }

    fn listing_text(&self, listing: &Listing) -> String {
        let rows = listing.rows().iter().map(|row| row.iter().map(|cell| cell.field()).collect());
        self.text(std::iter::once(listing.keys().collect()).chain(rows))
    }

    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
        let titles = comparison_columns().iter().map(|(name, _)| (*name).to_owned()).collect();
        let rows = view.records().into_iter().map(|record| record.values().map(csv_field).collect());
        self.text(std::iter::once(titles).chain(rows))
    }
}

impl Csv {
    /// Writing to memory does not fail.
    fn text(self, rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            let safe = |cell: String| match self.is_for_spreadsheets {
                true => spreadsheet_cell(&cell).into_owned(),
                false => cell,
            };
            let _ = writer.write_record(row.into_iter().map(safe));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

fn estimate_rows(reports: &[Report]) -> Vec<Vec<String>> {
    let has_recorded = reports.iter().any(|report| report.recorded);
    let recorded = |text: &str| has_recorded.then(|| text.to_owned());
    let names = estimate_columns().into_iter().map(|(name, _)| name);
    let titles = ["log", "task", "model"].into_iter().chain(names).map(str::to_owned);
    let mut rows = vec![titles.chain(recorded("recorded")).collect()];
    for report in reports {
        let own = [Some(&report.log), report.task.as_ref(), report.model.as_ref()];
        let own = own.map(|name| name.cloned().unwrap_or_default());
        let is_recorded = recorded(if report.recorded { "true" } else { "false" });
        rows.extend(all_estimates(&report.results).iter().map(|record| {
            own.iter().cloned().chain(record.values().map(csv_field)).chain(is_recorded.clone()).collect()
        }));
    }
    rows
}

// Results as one JSON array, an object for each log; `docs/schema/results.schema.json` is its schema.
//
// `results` is what logs record, `estimates` has a flat record for each estimate. A run that did not reach its end also
// has `status` and `planned_samples`, one that a rule stopped `early_stop`; `skipped_samples` counts those that could not be read, `limits` those that a limit
// ended, by its kind; `self_graded` is a model that graded its own answers, and `earlier_run` marks
// results that were there before; `recorded` those that a log without samples records.

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
    fn to_text(&self, reports: &[Report]) -> String {
        let logs: serde_json::Value = reports.iter().map(log_json).collect();
        format!("{logs:#}\n")
    }

    fn listing_text(&self, listing: &Listing) -> String {
        format!("{:#}\n", listing.to_json())
    }

    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
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
        format!("{json:#}\n")
    }
}
