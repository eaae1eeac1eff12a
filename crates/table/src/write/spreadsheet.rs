//! Cells that a spreadsheet takes for text.

use std::borrow::Cow;

/// A cell of CSV for spreadsheets: one that begins as a formula does (with `=`, `+`, `-`, `@`, a tab or a carriage return),
/// and is no number, gets an apostrophe in front of it, which makes it a text. The buttons of pages do the same.
///
/// ```
/// use errorbar_table::write::spreadsheet_cell;
///
/// assert_eq!(spreadsheet_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
/// assert_eq!(["-0.5", "+1e3", "a=b"].map(spreadsheet_cell), ["-0.5", "+1e3", "a=b"]);
/// ```
pub fn spreadsheet_cell(text: &str) -> Cow<'_, str> {
    let is_number = || text.trim().parse().is_ok_and(f64::is_finite);
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}
