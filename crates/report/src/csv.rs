//! Results as CSV, a row for each estimate, for spreadsheets and data frames.

use std::io;

use errorbar_table::write::spreadsheet_cell;

use crate::comparison::{ComparisonView, comparison_columns};
use crate::listing::csv_field;
use crate::record::{Record, all_estimates, estimate_columns};
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
