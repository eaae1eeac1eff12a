//! Comparisons as LaTeX: a `tabular` with the rules of the package booktabs for each table.

use super::ComparisonView;
use super::markdown::cells;
use super::tables::ComparisonTables;
use crate::latex::{INDENT, headed, tabular};

pub(crate) fn text(view: &ComparisonView<'_>) -> String {
    let tables = ComparisonTables::of(view.report);
    let mut text = String::from("% Needs \\usepackage{booktabs}.\n");
    for table in &tables.compared {
        let (titles, rows) = cells(table, INDENT);
        text += &headed(&[table.name.clone()], None, &tabular(&"l".repeat(titles.len()), &titles, &rows));
    }
    text
}
