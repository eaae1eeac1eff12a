//! Results as one JSON array, an object for each log; `docs/schema/results.schema.json` is its schema.
//!
//! `results` is what logs record, `estimates` has a flat record for each estimate. A run that did not reach its end also
//! has `status` and `planned_samples`, one that a rule stopped `early_stop`; `skipped_samples` counts those that could not be read, `limits` those that a limit
//! ended, by its kind; `self_graded` is a model that graded its own answers, and `earlier_run` marks
//! results that were there before; `recorded` those that a log without samples records.

use std::collections::BTreeMap;
use std::io;

use errorbar_log::inspect::ResultsJson;
use serde::Serialize;
use serde_json::json;

use crate::comparison::{ComparisonView, gate_rule, ranking_record};
use crate::record::{Record, estimates};
use crate::{Listing, Render, Report, StoppedRun};

/// The version of the schema.
const SCHEMA: u32 = 1;

/// Strict JSON: a number that is not finite is null.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

#[derive(Serialize)]
struct LogReport<'a> {
    schema: u32,
    log: &'a str,
    task: Option<&'a str>,
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_samples: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped_samples: Option<usize>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    limits: &'a BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    early_stop: Option<&'a StoppedRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_graded: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    earlier_run: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recorded: bool,
    results: ResultsJson<'a>,
    estimates: Vec<Record>,
}

impl Render for Json {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let logs: Vec<LogReport<'_>> = reports
            .iter()
            .map(|report| LogReport {
                schema: SCHEMA,
                log: &report.log,
                task: report.task.as_deref(),
                model: report.model.as_deref(),
                status: report.partial_run.as_ref().map(|partial_run| partial_run.status.as_str()),
                planned_samples: report.partial_run.as_ref().and_then(|partial_run| partial_run.planned),
                skipped_samples: (report.skipped > 0).then_some(report.skipped),
                limits: &report.limits,
                early_stop: report.early_stop.as_ref(),
                self_graded: report.self_graded.as_deref(),
                earlier_run: report.earlier_run,
                recorded: report.recorded,
                results: ResultsJson::new(&report.results),
                estimates: estimates(&report.results),
            })
            .collect();
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
