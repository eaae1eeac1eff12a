//! Results as CSV, a row per figure, for spreadsheets and data frames.

use std::io;

use errorbar_core::{Block, Entry};

use crate::{Render, Report};

/// A header and a row per figure. Every row says by itself which log, task and model it is of, so that rows of several
/// logs can be told apart, joined and pivoted; a table of scores has neither task nor model. The value of an undefined
/// figure is left empty, with the reason beside it: a spreadsheet would average the zero that logs record. A metric
/// that failed has a row too, with the error and no value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv;

const COLUMNS: usize = 19;

const HEADER: [&str; COLUMNS] = [
    "log",
    "task",
    "model",
    "scorer",
    "name",
    "reducer",
    "key",
    "metric",
    "group",
    "value",
    "undefined",
    "scored",
    "unscored",
    "missing",
    "params",
    "error",
    "unconvertible",
    "unscored_epochs",
    "missing_epochs",
];

impl Render for Csv {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(HEADER)?;
        for report in reports {
            for block in &report.results.scores {
                for (key, entry) in &block.metrics {
                    writer.write_record(figure(report, block, key, entry))?;
                }
                for failure in &block.failures {
                    let error = failure.error.to_string();
                    let row = [&failure.metric, &failure.metric, "", "", ""];
                    writer.write_record(record(report, block, row, ["", &error]))?;
                }
            }
        }
        writer.flush()
    }
}

fn figure(report: &Report, block: &Block, key: &str, entry: &Entry) -> [String; COLUMNS] {
    let undefined = match entry.undefined_reason() {
        None if entry.value.is_nan() => Some("not a number"),
        reason => reason,
    };
    let value = if undefined.is_some() { String::new() } else { entry.value.to_string() };
    let params = if entry.params.is_empty() {
        String::new()
    } else {
        serde_json::to_string(&entry.params).unwrap_or_default()
    };
    let group = entry.group.as_deref().unwrap_or_default();
    let figure = [key, &entry.name, group, &value, undefined.unwrap_or_default()];
    record(report, block, figure, [&params, ""])
}

/// A row: the figure, its arguments and its error, between what is the same for the whole report or block.
fn record(report: &Report, block: &Block, figure: [&str; 5], about: [&str; 2]) -> [String; COLUMNS] {
    let [key, metric, group, value, undefined] = figure;
    let [params, error] = about;
    let reducer = block.reducer.as_deref().unwrap_or_default();
    let counts = [block.scored_samples, block.unscored_samples, block.missing_samples];
    let [scored, unscored, missing] = counts.map(|count| count.to_string());
    let counts = [block.unconvertible, block.unscored_epochs, block.missing_epochs];
    let [unconvertible, unscored_epochs, missing_epochs] = counts.map(|count| count.to_string());
    [
        &report.log,
        report.task.as_deref().unwrap_or_default(),
        report.model.as_deref().unwrap_or_default(),
        &block.scorer,
        &block.name,
        reducer,
        key,
        metric,
        group,
        value,
        undefined,
        &scored,
        &unscored,
        &missing,
        params,
        error,
        &unconvertible,
        &unscored_epochs,
        &missing_epochs,
    ]
    .map(str::to_owned)
}
