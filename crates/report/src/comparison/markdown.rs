//! Comparisons as Markdown.

use super::ComparisonView;
use super::tables::{ComparedRow, ComparedTable, ComparisonTables, RowContent};
use crate::markdown::{escape, pipe_table};

/// Comparisons for a page, or, if brief, for the comment of a pull request.
pub(crate) fn text(view: &ComparisonView<'_>, is_brief: bool) -> String {
    let _ = is_brief;
    let tables = ComparisonTables::of(view.report);
    let mut text = String::new();
    for table in &tables.compared {
        let (titles, rows) = cells(table, "– ");
        text += &format!("\n**{}**\n\n{}", escape(&table.name), pipe_table(&titles, &rows));
    }
    text
}

/// The titles and the cells of a table.
pub(super) fn cells(table: &ComparedTable, indent: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut titles = vec![table.label_title.to_owned()];
    titles.extend(table.base_title.clone());
    titles.extend([table.other_title.clone(), "difference".to_owned()]);
    titles.push(table.correction.map_or_else(|| "p".to_owned(), |correction| format!("p ({correction})")));
    titles.extend(["verdict".to_owned(), "notes".to_owned()]);
    let row = |row: &ComparedRow| {
        let label = if row.nested { format!("{indent}{}", row.label) } else { row.label.clone() };
        let mut cells = vec![label];
        match &row.content {
            RowContent::Heading => {}
            RowContent::Base(value) => cells.push(value.to_string()),
            RowContent::Compared(figures) => {
                cells.extend(table.base_title.as_ref().map(|_| figures.base.short()));
                cells.extend([figures.other.short(), figures.difference.to_string()]);
                cells.extend([figures.p.clone(), figures.verdict.to_string()]);
            }
        }
        cells.resize(titles.len() - 1, String::new());
        cells.push(row.notes.join(" · "));
        cells
    };
    let rows = table.rows.iter().map(row).collect();
    (titles, rows)
}
