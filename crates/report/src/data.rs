//! Formats for machines: CSV and JSON.

use std::io;

use errorbar_log::inspect::ResultsJson;
use errorbar_table::write::spreadsheet_cell;
use serde_json::json;

use crate::comparison::{ComparisonView, comparison_columns, gate_rule, ranking_record};
use crate::listing::csv_field;
use crate::record::{Record, all_estimates, estimate_columns, estimates};
use crate::{Listing, Render, Report};

/// A header and a row for each estimate: `log`, `task`, `model`, then [`estimate_columns`].
///
/// Every row has by itself which log, task and model it is of, so that rows of several logs can be joined and pivoted; a
/// table of scores has neither task nor model. What does not exist is left empty, with the reasons as JSON in the column
/// `undefined`. A metric that failed has a row too, with its error there and no value. If figures of a log are recorded
/// and not computed, a last column, `recorded`, says which.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv;

/// The same for spreadsheets: a cell that begins as a formula does gets an apostrophe in front of it
/// ([`spreadsheet_cell`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct SafeCsv;

impl Render for SafeCsv {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        write_safe(&Csv.to_text(reports), out)
    }

    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()> {
        write_safe(&Csv.listing_text(listing), out)
    }

    fn comparison(&self, view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        write_safe(&Csv.comparison_text(view), out)
    }
}

/// Writes CSV again, with cells that a spreadsheet takes for text.
fn write_safe(exact: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(exact.as_bytes());
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
    for row in rows.records() {
        writer.write_record(row?.iter().map(|cell| spreadsheet_cell(cell).into_owned()))?;
    }
    writer.flush()
}

/// The columns before those of an estimate.
const REPORT: [&str; 3] = ["log", "task", "model"];

impl Render for Csv {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let has_recorded = reports.iter().any(|report| report.recorded);
        let recorded = has_recorded.then_some("recorded");
        let names = estimate_columns().into_iter().map(|(name, _)| name);
        writer.write_record(REPORT.into_iter().chain(names).chain(recorded))?;
        for report in reports {
            let own = [Some(&report.log), report.task.as_ref(), report.model.as_ref()];
            let own = own.map(|name| name.map_or("", String::as_str));
            for record in all_estimates(&report.results) {
                let cells = cells(&record);
                let recorded = has_recorded.then_some(if report.recorded { "true" } else { "false" });
                writer
                    .write_record(own.into_iter().chain(cells.iter().map(String::as_str)).chain(recorded))?;
            }
        }
        writer.flush()
    }

    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(listing.keys())?;
        for row in listing.rows() {
            writer.write_record(row.iter().map(|cell| cell.field()))?;
        }
        writer.flush()
    }

    fn comparison(&self, view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(comparison_columns().iter().map(|(name, _)| name))?;
        for record in view.records() {
            writer.write_record(cells(&record))?;
        }
        writer.flush()
    }
}

/// The values of a record in order, each as one cell; nested data, such as the reasons in `undefined`, is JSON in its cell.
fn cells(record: &Record) -> Vec<String> {
    record.values().map(csv_field).collect()
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
