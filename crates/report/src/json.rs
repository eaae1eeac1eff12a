//! Results as one JSON array, an object per log; the form that design.md promises to keep.

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
                results: &report.results,
            })
            .collect();
        serde_json::to_writer_pretty(&mut *out, &logs)?;
        writeln!(out)
    }
}
