//! Results as one JSON array, an object per log; the form that design.md promises to keep. A run that did not reach its
//! end also has `status` and `planned_samples`; `skipped_samples` counts those that could not be read, and `limits` those
//! that a limit ended, by its kind.

use std::collections::BTreeMap;
use std::io;

use errorbar_core::Results;
use serde::Serialize;

use crate::{Render, Report};

/// Strict JSON: a number that is not finite is null.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

#[derive(Serialize)]
struct Log<'a> {
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
    results: &'a Results,
}

impl Render for Json {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let logs: Vec<Log<'_>> = reports
            .iter()
            .map(|report| Log {
                log: &report.log,
                task: report.task.as_deref(),
                model: report.model.as_deref(),
                status: report.unfinished.as_ref().map(|unfinished| unfinished.status.as_str()),
                planned_samples: report.unfinished.as_ref().and_then(|unfinished| unfinished.planned),
                skipped_samples: (report.skipped > 0).then_some(report.skipped),
                limits: &report.limits,
                results: &report.results,
            })
            .collect();
        serde_json::to_writer_pretty(&mut *out, &logs)?;
        writeln!(out)
    }
}
