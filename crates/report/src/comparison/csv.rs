//! Comparisons as CSV, a row for each, with the keys of [`ComparisonRecord`] as columns.

use std::io;

use serde_json::Value as Json;

use super::{ComparisonRecord, ComparisonView};
use crate::listing::csv_field;

/// A header and a row for each comparison. Nested data, such as the reasons in `undefined`, is JSON in its cell.
pub(crate) fn write(view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let fields = |record: &ComparisonRecord| -> io::Result<Vec<(String, String)>> {
        let Json::Object(fields) = serde_json::to_value(record)? else { return Ok(Vec::new()) };
        Ok(fields.into_iter().map(|(name, value)| (name, csv_field(&value))).collect())
    };
    writer.write_record(fields(&ComparisonRecord::default())?.iter().map(|(name, _)| name))?;
    for comparison in &view.report.comparisons {
        let record = ComparisonRecord::in_view(comparison, view);
        writer.write_record(fields(&record)?.iter().map(|(_, cell)| cell))?;
    }
    writer.flush()
}
