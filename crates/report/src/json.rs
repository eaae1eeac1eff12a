//! Results as one JSON array, an object for each log; `docs/schema/results.schema.json` is its schema.
//!
//! `results` is what logs record, `estimates` has a flat record for each estimate. A run that did not reach its end also
//! has `status` and `planned_samples`; `skipped_samples` counts those that could not be read, `limits` those that a limit
//! ended, by its kind; `self_graded` is a model that graded its own answers.

use std::collections::BTreeMap;
use std::io;

use errorbar_core::evaluation::Results;
use serde::Serialize;
use serde_json::json;

use crate::record::{EstimateRecord, estimates};
use crate::{Listing, Render, Report};

/// The version of the schema.
const SCHEMA: u32 = 1;

/// Strict JSON: a number that is not finite is null.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

#[derive(Serialize)]
struct Log<'a> {
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
    self_graded: Option<&'a str>,
    results: serde_json::Value,
    estimates: Vec<EstimateRecord>,
}

impl Render for Json {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let logs: Vec<Log<'_>> = reports
            .iter()
            .map(|report| Log {
                schema: SCHEMA,
                log: &report.log,
                task: report.task.as_deref(),
                model: report.model.as_deref(),
                status: report.unfinished.as_ref().map(|unfinished| unfinished.status.as_str()),
                planned_samples: report.unfinished.as_ref().and_then(|unfinished| unfinished.planned),
                skipped_samples: (report.skipped > 0).then_some(report.skipped),
                limits: &report.limits,
                self_graded: report.self_graded.as_deref(),
                results: projected(&report.results),
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
}

/// The results as logs record them.
///
/// MERGE: replace the body by `serde_json::to_value(errorbar_log::inspect::ResultsJson::…)` (and add `errorbar-log` to
/// the dependencies). Until then it has the fields without the naming and numbering of keys that the projection owns:
/// one entry for each metric that gives one number.
fn projected(results: &Results) -> serde_json::Value {
    let scores = results.scores.iter().map(|score| {
        let counts = &score.counts;
        let metrics: serde_json::Map<String, serde_json::Value> = score
            .metrics
            .iter()
            .filter_map(|metric| {
                let value = metric.value.number()?;
                let entry = json!({
                    "name": metric.metric, "group": null, "value": value, "params": metric.params, "metadata": null,
                });
                Some((metric.metric.clone(), entry))
            })
            .collect();
        json!({
            "name": score.name(), "scorer": score.scorer, "reducer": score.reducer,
            "scored_samples": counts.scored, "unscored_samples": counts.unscored, "missing_samples": counts.missing,
            "errored_samples": counts.errored, "epochs": counts.epochs, "unreduced": score.unreduced,
            "unscored_epochs": counts.unscored_epochs, "missing_epochs": counts.missing_epochs,
            "unconvertible": counts.unconvertible, "params": score.params, "metrics": metrics,
            "failures": score.failures,
        })
    });
    let mut projected = json!({
        "total_samples": results.total_samples,
        "completed_samples": results.completed_samples,
        "scores": scores.collect::<Vec<_>>(),
    });
    if let Some(object) = projected.as_object_mut().filter(|_| !results.warnings.is_empty()) {
        object.insert("warnings".to_owned(), json!(results.warnings));
    }
    projected
}
