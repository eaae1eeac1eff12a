//! Results as CSV, a row for each estimate, for spreadsheets and data frames.

use std::io;

use errorbar_table::write::spreadsheet_cell;
use serde::Serialize;
use serde_json::Value as Json;

use crate::comparison::{ComparisonRecord, ComparisonView};
use crate::listing::csv_field;
use crate::record::{EstimateRecord, all_estimates};
use crate::{Listing, Render, Report};

/// A header and a row for each estimate: `log`, `task`, `model`, then the keys of [`EstimateRecord`].
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
        let columns = fields(&EstimateRecord::default())?;
        let has_recorded = reports.iter().any(|report| report.recorded);
        let recorded = has_recorded.then_some("recorded");
        let names = columns.iter().map(|(name, _)| name.as_str());
        writer.write_record(REPORT.into_iter().chain(names).chain(recorded))?;
        for report in reports {
            let own = [Some(&report.log), report.task.as_ref(), report.model.as_ref()];
            let own = own.map(|name| name.map_or("", String::as_str));
            for record in all_estimates(&report.results) {
                let fields = fields(&record)?;
                let recorded = has_recorded.then_some(if report.recorded { "true" } else { "false" });
                let cells = fields.iter().map(|(_, cell)| cell.as_str());
                writer.write_record(own.into_iter().chain(cells).chain(recorded))?;
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
        writer.write_record(fields(&ComparisonRecord::default())?.iter().map(|(name, _)| name))?;
        for comparison in &view.report.comparisons {
            let record = ComparisonRecord::in_view(comparison, view);
            writer.write_record(fields(&record)?.iter().map(|(_, cell)| cell))?;
        }
        writer.flush()
    }
}

/// The fields of a record in order, each as one cell; nested data, such as the reasons in `undefined`, is JSON in its cell.
fn fields(record: &impl Serialize) -> io::Result<Vec<(String, String)>> {
    let Json::Object(fields) = serde_json::to_value(record)? else { return Ok(Vec::new()) };
    Ok(fields.into_iter().map(|(name, value)| (name, csv_field(&value))).collect())
}
